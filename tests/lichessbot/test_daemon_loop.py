"""The daemon as a process in front of a scripted server: what the embedded Lichess never does."""

import fcntl
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from lichessbot.control.client import ask
from lichessbot.control.commands import ControlCommand
from lichessbot.errors import ExitCode
from tests.fakes.rude_engine import QUICK_PYTHON
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess
from tests.lichessbot.scripted_daemon import (
    ACCOUNT,
    EVENTS,
    Daemon,
    accept,
    challenge,
    decline,
    full,
    game,
    leave_over,
    line,
    playing,
    stream,
    ticking,
)
from tests.patience import PATIENCE_S


def test_an_account_that_cannot_be_read_at_first_is_waited_for(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "0.05"  # three seconds after the 429
    lichess.answer("/api/account", Reply(502, "<html>"), Reply(429, "<html>"), Reply(200, "?"), Reply(body=ACCOUNT))
    daemon.start()
    daemon.until_asked(EVENTS)


def test_an_account_that_answers_while_engines_are_checked_is_not_forgotten_if_the_check_is_given_up(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path
) -> None:
    """The second reload takes the engine of the first one back."""
    daemon.time_scale = "0.05"
    lichess.answer("/api/account", Reply(502, "<html>"))
    daemon.start()
    assert daemon.logged("engine.good")
    config = tmp_path / "config.yml"
    before = config.read_text()
    config.write_text(before.replace("polite", "mute"))
    daemon.signal(signal.SIGHUP)
    assert daemon.logged("reload.in_use engines=old")
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    state = tmp_path / "state"
    daemon.until(lambda: (status := ask(state, ControlCommand.STATUS).status) and status.connection.account)
    config.write_text(before)
    daemon.signal(signal.SIGHUP)
    daemon.until_asked(EVENTS)


def test_a_stream_that_does_not_open_holds_up_no_game(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "0.5"   # 2.5 s for the stream to open, and 7.5 s before its connection counts as dead
    lichess.answer(EVENTS, ticking(line("gameStart", game=game("abcd1234"))))
    lichess.answer(stream("abcd1234"), Reply(delay_s=PATIENCE_S), ticking(full("abcd1234")))
    daemon.start()
    daemon.until(lambda: lichess.paths().count(stream("abcd1234")) >= 2)
    assert daemon.logged('stream.reopen game=abcd1234 reason="no connection within the time limit"')
    assert "stream.lost game=abcd1234" not in daemon.log.partition("stream.reopen")[0]
    daemon.until_moved()


def test_a_game_announced_several_times_is_opened_once(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "1"     # a stream without a byte for some seconds would be opened again
    start = line("gameStart", game=game("abcd1234"))
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": [game("abcd1234")]}))
    lichess.answer(EVENTS, ticking(start, start, 0.3, start))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand")))
    daemon.start()
    daemon.until_asked(stream("abcd1234"))
    daemon.until_asked(EVENTS)
    time.sleep(1.0)
    assert daemon.logged("game.join game=abcd1234", 1)
    assert lichess.paths().count(stream("abcd1234")) == 1


def test_an_arena_is_known_by_its_new_name_too(lichess: ScriptedLichess, daemon: Daemon) -> None:
    arena = {"id": "arena123", "name": "Bots at Noon"}
    lichess.answer(EVENTS, ticking(line("gameStart", game=game("abcd1234", arenaTour=arena))))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234")))
    daemon.start()
    daemon.until(lambda: "tournament.found tournament=arena123" in daemon.log)


def test_an_accepted_challenge_that_becomes_no_game_gives_its_slot_back(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer(accept("one"), Reply())
    lichess.answer(accept("two"), Reply())
    lichess.answer(EVENTS, ticking(challenge("one"), *[0.4, b"\n"] * 8, challenge("two")))
    daemon.start()
    daemon.until_asked(accept("two"))
    assert daemon.logged("challenge.no_game challenge=one")


def test_a_flood_of_challenges_is_one_line_each_in_the_log(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "0.5"   # 7.5 s to send twenty answers
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": [game("abcd1234")]}))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand")))
    names = [f"flood{number:03}" for number in range(20)]
    for name in names:
        lichess.answer(decline(name), Reply())
    flood = [challenge(name, challenger={"id": f"id{name}", "name": name}) for name in names]
    lichess.answer(EVENTS, ticking(*flood))
    daemon.start()
    daemon.until_asked(*map(decline, names))
    assert daemon.logged("challenge.decline ", len(names))
    assert daemon.log.count("challenge.wait") == 1


def test_a_challenge_that_cannot_be_read_is_declined_once(lichess: ScriptedLichess, daemon: Daemon) -> None:
    ours = challenge("ours", variant=None, challenger={"id": "testbot"})
    lichess.answer(EVENTS, ticking(ours, *[challenge("odd", variant="shatranj")] * 2, challenge("last", variant=None)))
    daemon.start()
    daemon.until_asked(decline("odd"), decline("last"))
    assert daemon.logged("challenge.decline ", 2)
    assert daemon.log.count("reason=generic") == 2


def test_an_accepted_challenge_whose_start_was_lost_is_played(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer(accept("abcd1234"), Reply())
    none, one = {"nowPlaying": []}, {"nowPlaying": [game("abcd1234")]}
    lichess.answer("/api/account/playing", Reply(body=none), Reply(body=one))
    lichess.answer(EVENTS, ticking(challenge("abcd1234")))
    daemon.start()
    daemon.until_asked(stream("abcd1234"))


def test_an_accepted_challenge_is_played_while_the_list_is_rate_limited(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer(accept("abcd1234"), Reply())
    limited = Reply(429, {"error": "slow down"}, [("Retry-After", "600")])
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}), limited)
    lichess.answer(EVENTS, ticking(challenge("abcd1234")))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234")))
    daemon.start()
    daemon.until_moved()


def test_strange_lines_do_not_stop_the_daemon(lichess: ScriptedLichess, daemon: Daemon) -> None:
    strange = [
        b"oops\n",
        b"[]\n",
        line("confetti"),
        line("challenge"),
        line("gameStart", game=None),
        challenge("anonymous", challenger=None, timeControl={"type": "unlimited"}, speed="correspondence"),
        challenge("own", challenger={"id": "testbot", "name": "TestBot", "title": "BOT"}),
        line("gameStart", game=game("ducks123", variant={"key": "duck"})),
        line("gameStart", game=game("arena123", compat={"bot": False})),
        line("gameFinish", game=game("unknown1", status={"id": 99, "name": "new"})),
    ]
    lichess.answer(accept("good"), Reply())
    lichess.answer(decline("anonymous"), Reply(404, {"error": "Not found"}))
    lichess.answer(EVENTS, ticking(*strange, challenge("good")))
    daemon.start()
    daemon.until_asked(accept("good"))
    assert accept("own") not in lichess.paths()
    assert stream("ducks123") not in lichess.paths()
    assert stream("arena123") not in lichess.paths()
    assert daemon.logged("event.ignored type=confetti"), daemon.log


def test_a_used_up_quota_stops_only_what_it_names(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "1"
    text = "You played 100 games against other bots today"
    body = {"error": text, "ratelimit": {"key": "bot.vsBot.day", "seconds": 86398}}
    lichess.answer(accept("one"), Reply(429, body))
    lichess.answer(decline("one"), Reply())
    lichess.answer(decline("two"), Reply())
    lichess.answer(accept("three"), Reply())
    bot = {"id": "zeekat", "name": "Zeekat", "title": "BOT"}
    bots = (challenge("one", challenger=bot), 0.5, challenge("two", challenger={**bot, "id": "other", "name": "Other"}))
    lichess.answer(EVENTS, ticking(*bots, 0.2, challenge("three")))
    daemon.start()
    daemon.until_asked(accept("three"))
    daemon.until_asked(decline("one"))
    daemon.until_asked(decline("two"))
    assert accept("two") not in lichess.paths()
    assert "challenge.accept challenge=one" not in daemon.log
    daemon.until(lambda: "challenge.accept challenge=three" in daemon.log)


def test_a_challenge_that_expires_during_a_pause_takes_no_slot(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "1"
    lichess.answer(accept("one"), Reply(429, {"error": "Too many requests. Try again later."}))
    lichess.answer(EVENTS, ticking(challenge("one"), 0.5, challenge("two")))
    daemon.start()
    daemon.until(lambda: "challenge.missed challenge=two" in daemon.log)
    assert "challenge.accept challenge=" not in daemon.log


def test_a_log_that_nobody_reads_holds_up_neither_a_move_nor_the_end(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer(EVENTS, ticking(line("gameStart", game=game("abcd1234"))))
    chat = [line("chatLine", room="player", username="ferdinand", text=f"{number} {'x' * 130}") for number in range(60)]
    move = line("gameState", moves="e2e4", status="started", wtime=60_000, btime=60_000, winc=0, binc=0)
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand"), *chat, 0.4, move))
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with os.fdopen(reading), os.fdopen(writing, "wb") as log:
        daemon.start(log)
        daemon.until_moved()
        deadline = time.monotonic() + PATIENCE_S
        while daemon._process.poll() is None:   # the second does not wait for the game; two at once may be one
            assert time.monotonic() < deadline
            daemon.signal(signal.SIGTERM)
            time.sleep(0.5)
        assert daemon._process.poll() == ExitCode.ABANDONED


def test_a_silent_event_stream_is_replaced(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer(accept("one"), Reply())
    lichess.answer(EVENTS, Reply(lines=[b"\n"], end=End.STALL), ticking(challenge("one")))
    daemon.start()
    daemon.until_asked(accept("one"))
    assert daemon.logged("events.lost")


DENIED = Reply(401, {"error": "No such token"})


def test_a_revoked_token_ends_the_daemon_once_no_request_succeeds(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    daemon.time_scale = "0.05"  # three seconds of denials
    lichess.answer("/api/account", Reply(body=ACCOUNT), DENIED)
    lichess.answer("/api/account/playing", playing(game("abcd1234")), DENIED)
    state = full("abcd1234", white="ferdinand").replace(b"60000", b"1000")  # both clocks run out in two seconds
    lichess.answer(stream("abcd1234"), Reply(lines=[state]), DENIED)
    lichess.answer(EVENTS, Reply(lines=[b"\n"]), DENIED)
    daemon.start()
    assert daemon.exit_code() == 3
    assert "token.denied" in daemon.log
    assert "refused reason=" in daemon.log


def test_a_token_denied_for_a_moment_ends_neither_the_daemon_nor_a_game(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    # Twelve seconds of denials would end it.
    lichess.answer("/api/account", Reply(body=ACCOUNT), DENIED, DENIED, Reply(body=ACCOUNT))
    lichess.answer("/api/account/playing", playing(game("abcd1234")), DENIED, playing(game("abcd1234")))
    lichess.answer(
        stream("abcd1234"), Reply(lines=[full("abcd1234", white="ferdinand")]), DENIED, ticking(full("abcd1234"))
    )
    lichess.answer("/api/bot/game/abcd1234/move/e2e4", Reply())
    lichess.answer(EVENTS, Reply(lines=[b"\n"]), DENIED, DENIED, ticking(challenge("one")))
    daemon.start()
    daemon.until_moved()
    daemon.until(lambda: any("one" in path for path in lichess.paths()))
    assert daemon.logged("token.denied")
    assert "refused reason=" not in daemon.log


def test_a_token_denied_for_long_does_not_end_the_daemon_while_clocks_run(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    daemon.time_scale = "0.05"  # three seconds of denials would end it
    lichess.answer("/api/account", Reply(body=ACCOUNT), DENIED)
    lichess.answer("/api/account/playing", playing(game("abcd1234")), DENIED)
    # A good answer would end the doubt, and the stream is opened again as the opponent is silent.
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand")), DENIED)
    lichess.answer(EVENTS, Reply(lines=[b"\n"]), DENIED, ticking())
    daemon.start()
    assert daemon.logged("token.denied")
    time.sleep(3.5)
    asked = lichess.paths().count("/api/account")
    daemon.until(lambda: lichess.paths().count("/api/account") > asked + 1)
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    daemon.until(lambda: lichess.paths().count(EVENTS) > 2)
    assert "refused reason=" not in daemon.log


def test_a_scope_that_the_list_of_games_asks_for_is_named_once_and_games_are_played(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    daemon.time_scale = "0.05"  # the list is read again after nine seconds
    lichess.answer("/api/account/playing", Reply(403, {"error": "Missing scope: preference:read"}))
    lichess.answer(accept("abcd1234"), Reply())
    lichess.answer(EVENTS, ticking(challenge("abcd1234"), 0.2, line("gameStart", game=game("abcd1234"))))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="testbot")))
    daemon.start()
    daemon.until_moved()
    daemon.until(lambda: sum(path.startswith("/api/account/playing") for path in lichess.paths()) >= 2)
    assert daemon.logged("token.scope_missing scope=preference:read", 1)
    assert "refused reason=" not in daemon.log


def test_a_token_denied_at_the_start_is_refused_at_once(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "20"
    lichess.answer("/api/account", DENIED)
    daemon.start()
    assert daemon.exit_code() == 3
    assert "No such token" in daemon.log


def test_games_left_over_do_not_wait_until_the_engines_of_all_profiles_are_checked(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path, rude_engine: Path
) -> None:
    leave_over(tmp_path, lichess.url, has_clock=True)
    command = [*QUICK_PYTHON, str(rude_engine), "slow"]
    daemon.settings = f"profiles: [{{when: {{speed: rapid}}, engine: {{command: {command}}}}}]\n"
    daemon.time_scale = "1"  # the engine has more than a minute
    daemon.start()
    daemon.until_asked(stream("abcd1234"))
    assert daemon.logged("games.remembered")
    assert "engine.good" not in daemon.log


@pytest.mark.parametrize("failure", [Reply(502), Reply(403, {"error": "Missing scope: preference:read"})])
def test_games_left_over_go_on_without_an_account(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path, failure: Reply
) -> None:
    leave_over(tmp_path, lichess.url, has_clock=True)
    lichess.answer("/api/account", failure)
    daemon.time_scale = "100"  # to wait for an answer would take minutes
    daemon.start()
    daemon.until_asked(stream("abcd1234"))


@pytest.mark.parametrize("has_clock", [True, False])
def test_a_token_denied_for_a_moment_at_the_start_abandons_no_game(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path, has_clock: bool
) -> None:
    leave_over(tmp_path, lichess.url, has_clock=has_clock)
    daemon.time_scale = "0.5"
    lichess.answer("/api/account", DENIED, Reply(body=ACCOUNT))
    daemon.start()
    daemon.until_asked(EVENTS)
    assert daemon.logged("token.denied")


HANGING_BOOK = """
import threading
from lichessbot.move_sources import local
def hang(file):
    print("a book hangs", flush=True)
    threading.Event().wait()
local.Book = hang
"""


def test_a_book_on_a_disk_that_hangs_stops_no_daemon(lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path) -> None:
    daemon.plant = HANGING_BOOK
    daemon.start()
    daemon.until_asked(EVENTS)
    config = tmp_path / "config.yml"
    polyglot = "polyglot: {enabled: true, book: {standard: book.bin}}"
    config.write_text(config.read_text().replace("engine: {", f"engine: {{{polyglot}, "))
    daemon.signal(signal.SIGHUP)
    assert daemon.logged("engine.polyglot.enabled")
    assert daemon.logged("a book hangs")
    assert daemon.logged("engine.good", 2)
    assert ask(tmp_path / "state", ControlCommand.STATUS).ok


def test_a_signal_ends_a_daemon_that_never_reached_lichess(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account", Reply(502, "<html>"))
    daemon.start()
    daemon.until_asked("/api/account")
    daemon.signal(signal.SIGTERM)
    assert daemon.exit_code() == 0


def test_a_signal_in_an_outage_does_not_wait_for_acceptances(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer("/api/account/playing", playing(), Reply(502))
    lichess.answer(accept("one"), Reply(502))
    lichess.answer(EVENTS, Reply(lines=[challenge("one"), 0.3]), Reply(502))
    daemon.start()
    daemon.until_asked(accept("one"))
    daemon.until(lambda: "events.lost" in daemon.log)
    daemon.signal(signal.SIGTERM)
    assert daemon.exit_code() in (0, 4), "3 s of patience, and not stop_grace"


def test_a_signal_does_not_wait_for_chat_during_a_pause(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "1"
    over = line("gameState", moves="", wtime=1, btime=1, status="resign", winner="white")
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    lichess.answer(accept("one"), Reply(429, {"error": "Too many requests. Try again later."}))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand"), 1.5, over))
    lichess.answer(EVENTS, ticking(challenge("one"), seconds=120.0))
    daemon.start()
    daemon.until(lambda: "game.over game=abcd1234" in daemon.log)
    began = time.monotonic()
    daemon.signal(signal.SIGTERM)
    assert daemon.exit_code() == 0
    assert time.monotonic() - began < 12.0, "a chat line would have waited for 60 s, and is worth sending for 15"


@pytest.mark.parametrize("first", ["game", "events"])
def test_our_rating_change_is_logged_after_either_stream_shows_the_end(
    lichess: ScriptedLichess, daemon: Daemon, first: str
) -> None:
    daemon.time_scale = "1"  # the waits are shorter than those for a stream that counts as dead
    game_is_over, told_of_end = threading.Event(), threading.Event()
    over = line("gameState", moves="", wtime=1, btime=1, status="resign", winner="black")
    status = {"id": 31, "name": "resign"}
    told = {"color": "black", "status": status, "winner": "black", "rating": 1500, "ratingDiff": 6}
    ended = game("abcd1234", **told, opponent={"username": "Ferdinand", "ratingDiff": -7})
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand"), game_is_over, over))
    lichess.answer(EVENTS, ticking(b"\n", told_of_end, line("gameFinish", game=ended)))
    daemon.start()
    daemon.until(lambda: "game.state game=abcd1234" in daemon.log)
    if first == "game":
        game_is_over.set()
        daemon.until(lambda: "game.over game=abcd1234" in daemon.log)
    told_of_end.set()
    daemon.until(lambda: "game.rating game=abcd1234" in daemon.log)
    before, _, after = daemon.log.partition("game.rating game=abcd1234 change=6 rating=1506 opponent_change=-7")
    assert "game.over game=abcd1234 status=resign winner=black plies=0 opponent=ferdinand result=won" in before
    assert after


def test_a_state_folder_that_cannot_even_be_looked_at_leaves_the_bot_connected(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    # Root may look everywhere. No system knows names that long, and Python's `exists` raises for them, too.
    daemon.state_dir = "x" * 300
    daemon.start()
    daemon.until_asked(EVENTS)
    assert daemon.logged("store.failed")
    assert "crashed" not in daemon.log
