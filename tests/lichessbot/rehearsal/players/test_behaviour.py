"""What the house's players do beside moving, in games of the house against itself."""

import random
import time
from collections.abc import Callable, Iterator

import pytest

from lichessbot.rehearsal.faults.fault_injector import FaultInjector
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.players.behaviour import LEAVING, LEAVING_PLIES, LINES, Behaviour
from lichessbot.rehearsal.players.house_bots import HouseBots
from lichessbot.rehearsal.players.opponents import RandomOpponent
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import Color, ColorChoice, Status, Variant
from lichessbot.rehearsal.rules.game import SYSTEM_NAME
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.rehearsal.server.site import GameEnded, SiteEvent

Play = Callable[[int, int], GameSession]
SEEDS = range(1000)


def leaving_ply(seed: int) -> int | None:
    """After which ply the opponent leaves game 1 of that seed."""
    dice = random.Random(f"{seed}/company/1")
    return dice.randrange(*LEAVING_PLIES) if dice.random() < LEAVING else None


@pytest.fixture
def play(timing: Timing) -> Iterator[Play]:
    """Plays game 1 of a seed to its end; the bot is a player of the house as well."""
    with RehearsalServer(timing=timing) as lichess:
        site = lichess.site
        ended: list[GameSession] = []

        def note(happening: SiteEvent) -> None:
            if isinstance(happening, GameEnded):
                ended.append(happening.session)

        def begin(seed: int, clock_s: int) -> HouseBots:
            bot, other = (site.accounts.add(Account(name, 0)) for name in ("Bot", "Other"))
            house_bots = HouseBots(site)
            for account in (bot, other):
                house_bots.add(account, lambda game_id: RandomOpponent("1"))
            grant = site.accounts.grant(site.accounts.issue_token(bot))
            assert grant is not None
            schedule = FaultInjector(site, bot, grant, FaultPlan()).schedule
            Behaviour(site, bot, schedule, 1.0, seed)
            site.observe(note)
            terms = Terms(Variant.STANDARD, RealTime(clock_s, 0, hurried=True), color=ColorChoice.WHITE)
            schedule.enter(site.invite(other, bot, terms).id, 1)
            return house_bots

        def play_to_the_end(seed: int, clock_s: int) -> GameSession:
            house_bots = lichess.call(lambda: begin(seed, clock_s))
            deadline = time.monotonic() + 120
            while not ended:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            lichess.call(house_bots.close)
            return ended[0]

        yield play_to_the_end


def test_opponents_talk_offer_draws_and_want_moves_back(play: Play) -> None:
    session = play(next(seed for seed in SEEDS if leaving_ply(seed) is None), 180)
    talk = [line.text for line in session.game.chat if line.username == "Other"]
    announced = {line.text for line in session.game.chat if line.username == SYSTEM_NAME}
    assert set(talk) & set(LINES)
    assert "White offers draw" in announced
    assert "Takeback sent" in announced
    assert "Black offers draw" not in announced


def test_an_opponent_who_leaves_does_not_come_back(play: Play) -> None:
    seed = next(seed for seed in SEEDS if (leaving_ply(seed) or 99) < 8)
    game = play(seed, 3).game
    assert game.status is Status.OUT_OF_TIME
    assert game.turn is Color.WHITE
    assert game.winner is Color.BLACK
    assert game.ply < 10
