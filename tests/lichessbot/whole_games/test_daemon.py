"""Whole games of the unchanged daemon against the embedded Lichess; python-chess is the judge."""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import pytest
import requests

from lichessbot.rehearsal.players.start_positions import FROM_POSITION_FENS
from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import ColorChoice, DeclineReason, Scope, Status, Variant
from lichessbot.rehearsal.server.site import GameStarted, SiteEvent
from tests.fakes.arena import BOT, IDLE_ENGINE, PATIENCE_S, Arena, Ponderer, SlowOpponent, judge

PATIENTLY = 20.0        # Lichess has a minute for each answer
CASTLING_START = FROM_POSITION_FENS[0]
# Our own engine, on a machine that is sometimes too busy to start it.
DROWSY_ENGINE = """\
import sys
import time
from pathlib import Path

from engine.__main__ import main

until = time.monotonic() + {patience_s}
while Path({drowsy!r}).exists() and time.monotonic() < until:
    time.sleep(0.05)
sys.exit(main())
"""


def watch_out_for_trouble(arena: Arena) -> None:
    """In a game without faults nothing is to be warned of, but running as root if the tests do."""
    log = arena.log().splitlines()
    assert [line for line in log if " WARNING " in line and " WARNING root " not in line] == []


# Whole games


def test_whole_games_that_start_in_one_burst_are_each_played_once_with_both_colours(arena: Arena) -> None:
    kinds = {
        "Usual": (Variant.STANDARD, None),
        "Rook": (Variant.STANDARD, None),       # castles as in Chess960: Lichess spells that differently only here
        "Shuffled": (Variant.CHESS960, None),
        "Placed": (Variant.FROM_POSITION, CASTLING_START),
    }

    def spell(happening: SiteEvent) -> None:
        if isinstance(happening, GameStarted):
            setup = happening.session.game.setup
            if "Rook" in setup.white.name + setup.black.name:
                happening.session.game.writes_king_takes_rook = True

    arena.server.call(lambda: arena.site.observe(spell))
    arena.configure(concurrency=8)
    arena.time_scale = PATIENTLY
    arena.start()
    for name, (variant, fen) in kinds.items():
        for number, color in enumerate((ColorChoice.WHITE, ColorChoice.BLACK)):
            arena.challenge(arena.player(f"{name}{number}"), color=color, variant=variant, fen=fen, base_s=1800)
    arena.until_ended(8)
    for session in arena.ended:
        judge(session)
        assert arena.logged(f"game.join game={session.game.id}", times=1)
    assert arena.stop() == 0
    watch_out_for_trouble(arena)


def test_black_moves_first_where_the_position_says_so(arena: Arena) -> None:
    arena.start()
    fen = FROM_POSITION_FENS[1]
    assert " b " in fen
    arena.challenge(arena.player("White"), color=ColorChoice.WHITE, variant=Variant.FROM_POSITION, fen=fen)
    arena.challenge(arena.player("Black"), color=ColorChoice.BLACK, variant=Variant.FROM_POSITION, fen=fen)
    arena.until_ended(2)
    for session in arena.ended:
        judge(session)


def test_no_more_games_than_slots_even_in_a_burst_of_twenty(arena: Arena) -> None:
    arena.configure(concurrency=2, depth=2)
    arena.start()
    players = [arena.player(f"Slow{number}", SlowOpponent) for number in range(20)]
    terms = Terms(Variant.STANDARD, RealTime(180, 0))
    # All in one turn of the server: no game ends before the last one.
    ids = arena.server.call(lambda: [arena.site.challenge(player, BOT, terms).id for player in players])
    arena.until(lambda: [arena.decline_reason(it) for it in ids].count(DeclineReason.LATER) >= 16)
    arena.until(lambda: all(arena.is_settled(it) for it in ids))
    arena.until_ended(len(arena.started))
    assert arena.most_at_once == 2
    assert 2 <= len(arena.started) <= 4, "two play at once, two may wait until one of them is done"


def test_a_challenge_canceled_before_our_acceptance_frees_its_slot(arena: Arena) -> None:
    arena.configure(concurrency=1, depth=2)
    first, second = arena.player("First"), arena.player("Second")
    arena.start()

    def challenge_and_cancel() -> None:
        # Both in one turn of the server: the daemon's acceptance comes too late.
        challenge = arena.site.challenge(first, BOT, Terms(Variant.STANDARD, RealTime(30, 0)))
        arena.site.cancel(challenge.id, first)

    arena.server.call(challenge_and_cancel)
    arena.until(lambda: "command.failed" in arena.log())
    arena.challenge(second)
    arena.until_ended(1)


def test_challenges_made_while_we_were_away_are_answered(arena: Arena) -> None:
    arena.challenge(arena.player("Early"))
    arena.start()
    arena.until_ended(1)
    judge(arena.ended[0])


# What goes wrong on the way


def test_a_stream_taken_by_another_client_is_taken_back_and_replays_are_harmless(arena: Arena) -> None:
    arena.configure(depth=2)
    arena.start()
    game_id = arena.challenge(arena.player("Slow", SlowOpponent))
    arena.until(lambda: arena.started)
    arena.until_plies(arena.started[0], 4)
    headers = {"Authorization": f"Bearer {arena.token}"}
    requests.get(f"{arena.site.url}/api/stream/event", headers=headers, stream=True, timeout=PATIENCE_S).close()
    arena.until(lambda: arena.log().count("events.open") >= 2)
    arena.until_ended(1)
    judge(arena.ended[0])
    assert arena.logged(f"game.join game={game_id}", times=1)


def test_the_end_of_the_game_stream_is_not_the_end_of_the_game(arena: Arena) -> None:
    arena.configure(depth=2)
    arena.start()
    arena.challenge(arena.player("Slow", SlowOpponent))
    arena.until(lambda: arena.started)
    session = arena.started[0]
    for plies in (3, 6, 9):
        arena.until_plies(session, plies)
        arena.server.call(session.end_streams)
    arena.until_ended(1)
    judge(session)
    arena.until(lambda: arena.log().count("stream.lost") >= 2)


def test_a_killed_daemon_finds_its_games_and_plays_on(arena: Arena) -> None:
    arena.configure(depth=2)
    arena.start()
    for number in range(2):
        arena.challenge(arena.player(f"Slow{number}", SlowOpponent))
    arena.until(lambda: len(arena.started) == 2)
    for session in arena.started:
        arena.until_plies(session, 4)
    arena.kill()
    assert arena.leftovers() == [], "an engine dies with its daemon"
    arena.configure(concurrency=1, depth=2)
    arena.start()
    for session in arena.started:
        arena.plays_on(session)


@pytest.mark.skipif(sys.platform != "linux", reason="sends a signal to one thread")
def test_a_signal_that_does_not_interrupt_the_wait_is_noticed(arena: Arena) -> None:
    """One that comes just before a wait is like one that another thread gets: nothing ends the wait."""
    arena.configure(engine=IDLE_ENGINE)
    arena.start()
    arena.until(lambda: "events.open" in arena.log())
    time.sleep(0.5)
    pid = arena.process.pid
    threads = {int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()}
    sent_at = time.monotonic()
    tgkill = ctypes.CDLL(None).tgkill
    assert any(tgkill(pid, thread, signal.SIGTERM) == 0 for thread in threads - {pid}), "one may end meanwhile"
    assert arena.wait_for_exit() == 0
    assert time.monotonic() - sent_at < 30.0


def test_a_hung_engine_is_replaced_in_time(arena: Arena) -> None:
    arena.configure(depth=2, engine="own_book: false")  # so that the engine has started by then
    free = arena.begin_a_game(4, color=ColorChoice.WHITE, base_s=60)
    for pid in arena.engines():
        os.kill(pid, signal.SIGSTOP)
    free.set()
    arena.until_ended(1)
    judge(arena.ended[0])
    assert arena.logged("engine.replaced")


def test_a_killed_engine_is_replaced(arena: Arena) -> None:
    arena.configure(depth=2)
    free = arena.begin_a_game(4)
    for pid in arena.engines():
        os.kill(pid, signal.SIGKILL)
    free.set()
    arena.until_ended(1)
    judge(arena.ended[0])


def test_the_next_game_is_played_by_the_engine_of_the_last_one(arena: Arena) -> None:
    arena.configure(depth=1)
    arena.start()
    for number in (1, 2):
        game_id = arena.challenge(arena.player(f"Quick{number}"))
        arena.until(lambda number=number: arena.log().count("game.over") == number)
        if number == 1:
            engines = arena.engines()
            # Before that, the next game would start another. The engine has rested after the check, too.
            assert arena.logged(f"engine.rested game={game_id}")
    assert len(engines) == 1
    assert arena.engines() == engines
    assert arena.stop() == 0
    assert arena.leftovers() == []


def test_while_the_next_engine_is_slow_to_start_the_daemon_itself_moves(arena: Arena) -> None:
    drowsy, program = arena.folder / "drowsy", arena.folder / "program.py"
    program.write_text(DROWSY_ENGINE.format(drowsy=str(drowsy), patience_s=PATIENCE_S))
    arena.configure(depth=2, engine=f"command: [{sys.executable}, {program}]")
    arena.start()
    game_id = arena.challenge(arena.player("Slow", Ponderer), color=ColorChoice.WHITE, base_s=30)
    arena.until(lambda: f"engine.move game={game_id}" in arena.log())
    drowsy.touch()
    for pid in arena.engines():
        os.kill(pid, signal.SIGKILL)
    arena.until(lambda: f"engine.fallback game={game_id}" in arena.log())
    drowsy.unlink()
    arena.until(lambda: f"engine.move game={game_id}" in arena.log().rpartition("engine.fallback")[2])


@pytest.mark.parametrize("color", [ColorChoice.WHITE, ColorChoice.BLACK])
def test_a_game_whose_opponent_never_moves_is_aborted(arena: Arena, color: ColorChoice) -> None:
    arena.configure(abort_time=1)
    arena.start()
    arena.challenge(arena.player("Sleeper", None), color=color)
    arena.until_ended(1)
    assert arena.ended[0].game.status is Status.ABORTED
    arena.until(lambda: "game.over" in arena.log())


# Signals


def test_an_idle_daemon_leaves_at_ctrl_c(arena: Arena) -> None:
    arena.configure(engine=IDLE_ENGINE)
    arena.start()
    arena.signal(signal.SIGINT)
    assert arena.wait_for_exit() == 0


def test_the_first_signal_finishes_the_games_and_takes_no_new_ones(arena: Arena) -> None:
    arena.configure(depth=2)
    free = arena.begin_a_game()
    arena.signal(signal.SIGTERM)
    arena.until(lambda: "a second signal leaves at once" in arena.log())
    late = arena.challenge(arena.player("Late"))
    arena.until(lambda: arena.decline_reason(late) == DeclineReason.LATER)
    free.set()
    assert arena.wait_for_exit() == 0
    (session,) = arena.ended
    judge(session)


def test_the_second_signal_leaves_at_once_and_the_game_can_be_resumed(arena: Arena) -> None:
    arena.configure(depth=2)
    free = arena.begin_a_game(4)
    arena.signal(signal.SIGTERM)
    arena.until(lambda: "stop.asked" in arena.log())
    began = time.monotonic()
    arena.signal(signal.SIGTERM)
    assert arena.wait_for_exit() == 4
    assert time.monotonic() - began < PATIENCE_S, "a game whose opponent thinks was left"
    assert arena.leftovers() == []
    assert arena.ended == []
    free.set()
    arena.start()
    arena.plays_on(arena.started[0])


# Who may run


def test_an_account_that_is_no_bot_ends_the_daemon(arena: Arena) -> None:
    arena.bot.title = None
    arena.configure(engine=IDLE_ENGINE)
    arena.spawn()
    assert arena.wait_for_exit() == 3
    assert arena.logged("lichessbot upgrade")


def test_a_token_without_the_scope_ends_the_daemon(arena: Arena) -> None:
    arena.token = arena.site.accounts.issue_token(arena.bot, frozenset({Scope.CHALLENGE_WRITE}))
    arena.configure(engine=IDLE_ENGINE)
    arena.spawn()
    assert arena.wait_for_exit() == 3
    assert arena.logged("Missing scope")
    assert "token.denied" not in arena.log(), "with no game to save it does not ask again"


def test_the_token_is_on_no_command_line(arena: Arena) -> None:
    arena.configure(engine="own_book: false")
    arena.start()
    arena.challenge(arena.player("Slow", SlowOpponent))
    arena.until(lambda: "engine.move" in arena.log())   # the engine is no longer the copy of the daemon that it was
    assert arena.engines()
    for pid in (arena.process.pid, *arena.engines()):
        assert arena.token.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    for pid in arena.engines():
        assert arena.token.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
