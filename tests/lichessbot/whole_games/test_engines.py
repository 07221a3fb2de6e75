"""Which engine plays, from the configuration to the moves at the embedded Lichess."""

import os
import re
import shutil
import signal
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.opponents import EngineOpponent, GreedyOpponent
from lichessbot.rehearsal.rules.enums import ColorChoice, DeclineReason, Variant
from lichessbot.storage.database import read_only
from tests.fakes.arena import Arena, SlowOpponent, judge
from tests.fakes.service_manager import ListeningManager

STOCKFISH = shutil.which("stockfish", path="/usr/games:/usr/local/bin:/usr/bin")
needs_stockfish = pytest.mark.skipif(STOCKFISH is None, reason="needs Stockfish")


class Thinker(EngineOpponent):
    """Our own engine, whose reply is often the expected one."""

    def __init__(self, game_id: str) -> None:
        super().__init__(5)


class Fool(GreedyOpponent):
    """Answers the first move with one that no engine expects."""

    def choose(self, board: Board, clocks: Limits) -> str:
        return "f7f6" if "f7f6" in board.legal_moves() else super().choose(board, clocks)


def depths(arena: Arena, game_id: str) -> set[int]:
    """Return the depths of the bot's moves in a game."""
    return {int(depth) for depth in re.findall(rf"engine\.move game={game_id} .*? depth=(\d+)", arena.log())}


def test_the_engine_of_the_check_at_the_start_plays_the_first_game(arena: Arena) -> None:
    arena.configure(engine="own_book: false")
    arena.start()
    (checked,) = arena.engines()
    arena.challenge(arena.player("Slow", SlowOpponent), color=ColorChoice.WHITE)
    arena.until(lambda: arena.started)
    (session,) = arena.started
    arena.until_plies(session, 4)
    assert not session.game.is_over
    assert arena.engines() == [checked]
    arena.until_ended(1)


@needs_stockfish
def test_stockfish_plays_whole_games(arena: Arena) -> None:
    arena.configure(engine=f"command: [{STOCKFISH}], uci_options: {{Skill Level: 20, UCI_ShowWDL: true}}")
    arena.start()
    for variant in (Variant.STANDARD, Variant.CHESS960):
        arena.challenge(arena.player(f"Greedy{variant}"), variant=variant)
    arena.until_ended(2)
    assert arena.stop() == 0
    for session in arena.ended:
        judge(session)
    assert " WARNING engine" not in arena.log()


@needs_stockfish
@pytest.mark.parametrize("errors_are_expected", [True])
def test_an_option_that_the_engine_does_not_offer_ends_the_start_with_one_line(arena: Arena) -> None:
    more = "profiles: [{when: {speed: bullet}, engine: {uci_options: {Skill Level: 21}}}]\n"
    arena.configure(more, engine=f"command: [{STOCKFISH}], uci_options: {{Skil Level: 3}}")
    arena.spawn()
    assert arena.wait_for_exit() == 2
    nearest = "engine.uci_options.Skil Level: the engine offers no such option; nearest: Skill Level"
    assert [line for line in arena.log().splitlines() if "engine.unfit" in line and nearest in line]
    done = arena.tell("check")
    assert done.returncode == 1
    assert re.search(rf"(?m)^FAIL  \S+:\d+: {re.escape(nearest)}", done.stdout)
    range_of_skill = "expected a whole number from 0 to 20, found 21"
    skill = f"profiles #1.engine.uci_options.Skill Level: {range_of_skill}"
    assert re.search(rf"(?m)^FAIL  \S+:\d+: {re.escape(skill)}", done.stdout)


@pytest.mark.parametrize("errors_are_expected", [True])
def test_an_engine_without_chess960_is_refused_if_it_needs_it(arena: Arena, rude_engine: Path) -> None:
    command = f"command: [{sys.executable}, {rude_engine}, polite, e2e4]"
    arena.configure(rules="variants: [standard, chess960]", engine=command)
    arena.spawn()
    assert arena.wait_for_exit() == 2
    assert arena.logged("expected variants that rude (engine) announces (standard), found chess960")


@pytest.mark.parametrize("errors_are_expected", [True])
def test_an_engine_that_fails_at_a_restart_costs_no_game(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    arena.configure(depth=2)
    free = arena.begin_a_game(4)
    arena.until(lambda: read_only(arena.folder / "state", "SELECT * FROM games"))
    arena.kill()
    arena.configure(engine="command: [no-such-engine]")
    monkeypatch.setenv("NOTIFY_SOCKET", str(arena.folder / "notify"))
    with ListeningManager(arena.folder / "notify") as manager:
        arena.spawn()
        free.set()
        arena.until_ended(1)
        judge(arena.ended[0])
        assert arena.wait_for_exit() == 1, "another start is asked for"
    assert "READY=1" in manager.heard, "else the service manager ends it during the game"
    assert arena.logged("engine.unfit")
    assert arena.logged("stop.later games_to_finish=1")
    arena.spawn()
    assert arena.wait_for_exit() == 2


@pytest.mark.parametrize("errors_are_expected", [True])
def test_no_game_begins_while_the_engine_fails(arena: Arena) -> None:
    program = arena.folder / "program"
    sound, broken = (f"#!/bin/sh\n{it}\n" for it in (f"exec {sys.executable} -P -m engine", "exit 1"))

    def install(script: str) -> None:
        program.write_text(script)
        program.chmod(0o755)

    install(sound)
    arena.time_scale = 0.05
    told = arena.folder / "told"
    notify = f"notify: {{command: [sh, -c, 'echo $LICHESSBOT_EVENT >> {told}']}}\n"
    arena.configure(notify, engine=f"command: [{program}]")
    arena.start()
    first = arena.challenge(arena.player("First", SlowOpponent))
    arena.until(lambda: f"move.send game={first} " in arena.log())
    install(broken)
    for engine in arena.engines():
        with suppress(ProcessLookupError):
            os.kill(engine, signal.SIGKILL)
    arena.until(lambda: "engine.fails" in arena.log())
    refused = arena.challenge(arena.player("Second"))
    arena.until(lambda: arena.decline_reason(refused) is DeclineReason.LATER)
    assert "without engine" in arena.tell("status").stdout
    assert "because: an engine fails: " in arena.tell("explain", "--clock", "3+0").stdout
    install(sound)
    arena.until(lambda: "engine.fails" in (log := arena.log()) and "engine.good" in log.partition("engine.fails")[2])
    arena.challenge(arena.player("Third"))
    arena.until_ended(2)
    for session in arena.ended:
        judge(session)
    assert arena.stop() == 0
    assert arena.log().count("engine.fails") == told.read_text().split().count("engine_fails") == 1


def test_a_reload_takes_only_engines_that_answer(arena: Arena) -> None:
    arena.configure(depth=3)
    arena.start()
    arena.configure(engine="command: [no-such-engine]", abort_time=20)
    arena.signal(signal.SIGHUP)
    problem = 'reload.engines_refused kept="engine, profiles" problem="engine: the engine does not start: no program'
    arena.until(lambda: problem in arena.log())
    assert "key=abort_time old=30 new=20" in arena.log(), "the other changes are in use"
    first = arena.challenge(arena.player("First"))
    arena.until_ended(1)
    arena.configure(depth=2, engine="threads: 2")
    arena.signal(signal.SIGHUP)
    arena.until(lambda: "key=engine.depth old=3 new=2" in arena.log() and arena.log().count("engine.good") >= 2)
    second = arena.challenge(arena.player("Second"))
    arena.until_ended(2)
    assert arena.stop() == 0
    assert (depths(arena, first), depths(arena, second)) == ({3}, {2})


def test_a_reload_that_takes_an_engine_back_ends_its_check(arena: Arena, rude_engine: Path) -> None:
    arena.time_scale = 5.0  # which gives the engine more than a minute
    arena.configure()
    arena.start()
    before = set(arena.engines())
    arena.configure(engine=f"command: [{sys.executable}, {rude_engine}, mute]")
    arena.signal(signal.SIGHUP)
    arena.until(lambda: set(arena.engines()) - before)
    arena.configure()
    arena.signal(signal.SIGHUP)
    arena.until(lambda: not set(arena.engines()) - before)
    assert arena.stop() == 0
    assert "reload.engines_refused" not in arena.log()


def test_a_reload_during_the_start_counts(arena: Arena, rude_engine: Path) -> None:
    arena.configure(engine=f"command: [{sys.executable}, {rude_engine}, deaf]")
    arena.spawn()
    arena.until(arena.engines)
    arena.configure(depth=2)
    arena.signal(signal.SIGHUP)
    arena.until(lambda: "events.open" in arena.log())
    game = arena.challenge(arena.player("First"))
    arena.until_ended(1)
    assert arena.stop() == 0
    assert depths(arena, game) == {2}


def test_a_profile_decides_how_deep_the_engine_searches(arena: Arena) -> None:
    more = """\
profiles:
  - {when: {variant: chess960, opponent: bot}, engine: {depth: 2}}
  - {when: {opponent: human}, engine: {depth: 1}}
  - {when: {clock: 30+1}, engine: {depth: 4}}
"""
    arena.configure(more, depth=3)
    arena.start()
    human = arena.challenge(arena.player("Human"), variant=Variant.CHESS960)
    bot = arena.challenge(arena.player("Bot", title="BOT"), variant=Variant.CHESS960)
    plain = arena.challenge(arena.player("Other", title="BOT"))
    slow = arena.challenge(arena.player("Slow"), base_s=1800, increment_s=1)
    arena.until_ended(4)
    assert arena.stop() == 0
    assert [depths(arena, game) for game in (human, bot, plain, slow)] == [{1}, {2}, {3}, {4}]


def test_the_answer_to_a_search_that_was_given_up_is_not_logged_as_a_move(arena: Arena) -> None:
    arena.configure(concurrency=1, depth=2, engine="own_book: false")  # one game: cores enough to ponder
    arena.start()
    game = arena.challenge(arena.player("Fool", Fool), color=ColorChoice.BLACK)
    arena.until_ended(1)
    assert arena.stop() == 0
    events = re.findall(rf"(engine\.move|engine\.unused|move\.send) game={game} ", arena.log())
    assert "engine.unused" in events, "the engine did not ponder, or expected f6"
    moves = [event for event in events if event != "engine.unused"]
    assert "engine.move" in moves
    assert all(after == "move.send" for event, after in pairwise(moves) if event == "engine.move")


def test_the_expected_reply_is_a_ponder_hit(arena: Arena) -> None:
    arena.configure(concurrency=1, depth=6)
    arena.start()
    arena.challenge(arena.player("Thinker", Thinker), color=ColorChoice.WHITE)
    arena.until(lambda: "engine.ponder_hit" in arena.log() or len(arena.ended) > 0)
    assert arena.logged("engine.ponder_hit")
    arena.until_ended(1)
    judge(arena.ended[0])
    assert arena.stop() == 0
