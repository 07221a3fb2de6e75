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
from lichessbot.rehearsal.rules.timing import monotonic_ms
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.rehearsal.server.site import GameStarted, SiteEvent
from tests.patience import until

Play = Callable[[Callable[[GameSession], bool], int], GameSession]
SEEDS = range(1000)
CLOCK_S = 180


def leaving_ply(seed: int) -> int | None:
    """After which ply the opponent leaves game 1 of that seed."""
    dice = random.Random(f"{seed}/behaviour/1")
    return dice.randrange(*LEAVING_PLIES) if dice.random() < LEAVING else None


@pytest.fixture
def lichess(own_lichess: RehearsalServer) -> RehearsalServer:
    """One server for each test: the players have fixed names."""
    return own_lichess


@pytest.fixture
def play(lichess: RehearsalServer) -> Iterator[Play]:
    """Plays game 1 of a seed until something happens in it; the bot is a player of the house as well."""
    site = lichess.site
    house_bots = lichess.call(lambda: HouseBots(site))
    started: list[GameSession] = []

    def note(happening: SiteEvent) -> None:
        if isinstance(happening, GameStarted):
            started.append(happening.session)

    def begin(seed: int) -> None:
        bot, other = (site.accounts.add(Account(name, 0)) for name in ("Bot", "Other"))
        for account in (bot, other):
            house_bots.add(account, lambda game_id: RandomOpponent("1"))
        grant = site.accounts.grant(site.accounts.issue_token(bot))
        schedule = FaultInjector(site, grant, FaultPlan()).schedule
        Behaviour(site, bot, schedule, 1.0, seed)
        site.observe(note)
        terms = Terms(Variant.STANDARD, RealTime(CLOCK_S, 0), color=ColorChoice.WHITE)
        schedule.enter(site.invite(other, bot, terms).id, 1)

    def play_until(happened: Callable[[GameSession], bool], seed: int) -> GameSession:
        lichess.call(lambda: begin(seed))
        until(lambda: started and lichess.call(lambda: happened(started[0])), patience_s=120.0)
        return started[0]

    yield play_until
    lichess.call(house_bots.close)


def test_opponents_talk_offer_draws_and_want_moves_back(play: Play) -> None:
    session = play(lambda it: it.game.is_over, next(seed for seed in SEEDS if leaving_ply(seed) is None))
    talk = [line.text for line in session.game.chat if line.username == "Other"]
    announced = {line.text for line in session.game.chat if line.username == SYSTEM_NAME}
    assert set(talk) & set(LINES)
    assert "White offers draw" in announced
    assert any(line.startswith("White proposes takeback") for line in announced)
    assert "Black offers draw" not in announced


def test_an_opponent_who_leaves_does_not_come_back(lichess: RehearsalServer, play: Play) -> None:
    seed = next(seed for seed in SEEDS if (leaving_ply(seed) or 99) < 8)
    session = play(lambda it: it.is_left_by(Color.WHITE) and it.game.turn is Color.WHITE, seed)
    game = session.game
    time.sleep(0.5)     # a move would come by now
    lichess.call(lambda: game.check_flag(monotonic_ms() + 1000 * CLOCK_S))
    assert game.status is Status.OUT_OF_TIME
    assert game.turn is Color.WHITE
    assert game.winner is Color.BLACK
    assert game.ply < 10
