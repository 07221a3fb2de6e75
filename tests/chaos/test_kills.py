"""SIGKILL at random instants, again and again, with several games running: every one of them goes on."""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from lichessbot.rehearsal.faults.fault_injector import FaultInjector
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.faults.traffic import Place, request_traffic
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.enums import ChatRoom
from lichessbot.rehearsal.rules.game import DRAW_OFFER_SPACING_PLIES
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.fakes.arena import BOT, Arena, SlowOpponent, judge
from tests.fakes.faults import inject

KILLS = 200
GAMES_AT_ONCE = 4
# Some kills come while it starts, the others while it plays.
IN_THE_START = 0.3
STARTING_S, PLAYING_S = 2.0, 3.0
# A busy machine may take ten seconds for each start: with less on the clock a row of kills before the first move, ten
# of them, would lose for anybody.
BASE_S, INCREMENT_S = 900, 10
HELLO, GOODBYE = "Good luck, {opponent}!", "Thanks for the game."
CONFIG = """\
url: {url}
state_dir: state
challenge: {{concurrency: {concurrency}, max_increment: 180, max_base: 10800}}
engine:
  hash_mb: 4
  nodes: 3000
  draw_or_resign: {{offer_draw_enabled: true, offer_draw_score: 2000, offer_draw_moves: 1, offer_draw_pieces: 32}}
greeting: {{hello: "{hello}", goodbye: "{goodbye}"}}
"""


@dataclass
class Watch:
    """Stands before the server and notes what no line of the game shows."""

    arena: Arena
    injector: FaultInjector
    offers: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """By game, after how many plies the bot offered a draw."""

    async def serve(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        traffic = request_traffic(scope["method"], scope["path"])
        if traffic.place is Place.MOVE and b"offeringDraw=true" in scope["query_string"]:
            assert traffic.game_id is not None
            self.offers[traffic.game_id].append(self.arena.session(traffic.game_id).game.ply)
        await self.injector.http_faults.serve(app, scope, receive, send)

    @property
    def bad_moves(self) -> list[str]:
        """What the bot did wrong in its games."""
        return [offence for offence in self.injector.offences if offence.startswith("game ")]


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    # No operator restarts it every few seconds: only here would that meet the limits on streams and account requests.
    # Nor does a person challenge it as often as on a quick machine, where games last two seconds.
    timing = Timing(event_streams_window_s=0.1, account_window_s=0.1, minute_s=1.0, day_s=60.0)
    with RehearsalServer(timing=timing) as server:
        arena = Arena(server, tmp_path, is_copied=False)
        text = CONFIG.format(url=arena.site.url, concurrency=2 * GAMES_AT_ONCE, hello=HELLO, goodbye=GOODBYE)
        (tmp_path / "config.yml").write_text(text)
        try:
            yield arena
        finally:
            arena.close()
        assert arena.token not in arena.log()
        assert "Traceback" not in arena.log()


@pytest.fixture
def watch(arena: Arena) -> Watch:
    watch = Watch(arena, inject(arena.server, arena.token, FaultPlan()))
    arena.server.guard_with(watch.serve)
    return watch


def running(arena: Arena) -> int:
    return len(arena.started) - len(arena.ended)


def keep_playing(arena: Arena, players: dict[Account, str]) -> None:
    """Who neither plays nor waits for an answer challenges the bot; `players` have their latest challenges."""
    busy = {session.game.id for session in arena.started} - {session.game.id for session in arena.ended}
    for player, latest in players.items():
        challenge = arena.site.challenges.get(latest)
        if latest not in busy and (challenge is None or not challenge.is_active):
            players[player] = arena.challenge(player, base_s=BASE_S, increment_s=INCREMENT_S)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1])
def test_games_go_on_however_often_the_daemon_is_killed(arena: Arena, watch: Watch, seed: int) -> None:
    chance = random.Random(seed)
    players = {arena.player(f"Slow{number}", SlowOpponent): "" for number in range(GAMES_AT_ONCE)}
    in_mid_game = 0
    for _ in range(KILLS):
        if chance.random() < IN_THE_START:
            arena.spawn()
            time.sleep(chance.uniform(0.0, STARTING_S))
        else:
            arena.start()
            kill_at = time.monotonic() + chance.uniform(0.0, PLAYING_S)
            while (left_s := kill_at - time.monotonic()) > 0:
                keep_playing(arena, players)
                time.sleep(min(left_s, 0.1))
        in_mid_game += running(arena) > 0
        arena.kill()
    assert arena.leftovers() == []
    arena.start()
    arena.until(lambda: running(arena) == 0, patience_s=600)
    assert arena.stop() == 0
    assert arena.leftovers() == []
    moves = sum(session.game.ply for session in arena.ended)
    print(f"seed {seed}: {KILLS} kills, {in_mid_game} with games running; {len(arena.ended)} games, {moves} plies")
    assert in_mid_game > KILLS * 0.8
    assert watch.bad_moves == []
    for session in arena.ended:
        judge(session)
        said = Counter(line.text for line in session.game.chat if line.username == BOT and line.room is ChatRoom.PLAYER)
        assert all(times == 1 for times in said.values()), (session.game.id, said)
        offered = watch.offers[session.game.id]
        gaps = [later - earlier for earlier, later in pairwise(offered)]
        assert all(gap >= DRAW_OFFER_SPACING_PLIES for gap in gaps), (session.game.id, offered)
    assert any(watch.offers.values())
