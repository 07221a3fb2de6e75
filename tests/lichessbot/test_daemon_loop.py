"""The daemon as a process in front of a scripted server: what the embedded Lichess never does."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess

PATIENCE_S = 60.0
TOKEN = "lip_secret0123456789"
# The wait for a game to start becomes 0.25 s, and that for any byte on a stream 0.75 s.
TIME_SCALE = "0.05"
EVENTS = "/api/stream/event"
ACCOUNT = {"id": "testbot", "username": "TestBot", "title": "BOT"}
STANDARD = {"key": "standard", "name": "Standard"}


def line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode() + b"\n"


def challenge(challenge_id: str, **changes: Any) -> bytes:
    body = {
        "id": challenge_id,
        "status": "created",
        "challenger": {"id": "ferdinand", "name": "Ferdinand"},
        "variant": STANDARD,
        "rated": False,
        "speed": "blitz",
        "timeControl": {"type": "clock", "limit": 180, "increment": 2},
    }
    return line("challenge", challenge={**body, **changes}, compat={"bot": True})


def game(game_id: str, **changes: Any) -> dict[str, Any]:
    return {"gameId": game_id, "variant": STANDARD, "speed": "blitz", **changes}


def full(game_id: str, moves: str = "", *, status: str = "started", white: str = "testbot") -> bytes:
    """The first line of a game's stream."""
    state = {"moves": moves, "wtime": 60_000, "btime": 60_000, "winc": 0, "binc": 0, "status": status}
    players = {"white": {"id": white}, "black": {"id": "ferdinand" if white == "testbot" else "testbot"}}
    clock = {"initial": 60_000, "increment": 0}
    return line("gameFull", id=game_id, variant=STANDARD, clock=clock, state=state, **players)


def ticking(*lines: bytes | float, seconds: float = 60.0) -> Reply:
    """A stream with these lines that is then kept alive."""
    ticks: list[bytes | float] = [b"\n", 0.2] * int(seconds / 0.2)
    return Reply(lines=[*lines, *ticks], end=End.STALL)


class Daemon:
    def __init__(self, lichess: ScriptedLichess, folder: Path) -> None:
        self._lichess = lichess
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder / "log"
        self.hash_mb = 1
        self.time_scale = TIME_SCALE
        lichess.answer("/api/account", Reply(body=ACCOUNT))
        lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}))
        lichess.answer(EVENTS, ticking())

    def start(self) -> None:
        config = self._folder / "config.yml"
        config.write_text(
            f"url: {self._lichess.url}\nstate_dir: state\n"
            f"challenge: {{concurrency: 1}}\nengine: {{hash_mb: {self.hash_mb}, depth: 1}}\n"
        )
        command = [sys.executable, "-P", "-m", "lichessbot", "run", "--verbose", "--config", str(config)]
        environment = {**os.environ, "LICHESS_BOT_TOKEN": TOKEN, "LICHESSBOT_TIME_SCALE": self.time_scale}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def until(self, fact: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not fact():
            assert time.monotonic() < deadline, (self.log, self._lichess.paths())
            time.sleep(0.02)

    def until_asked(self, *paths: str) -> None:
        self.until(lambda: set(paths) <= set(self._lichess.paths()))

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()


@pytest.fixture
def daemon(lichess: ScriptedLichess, tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon(lichess, tmp_path)
    yield daemon
    daemon.stop()
    assert "Traceback" not in daemon.log
    assert TOKEN not in daemon.log


def accept(challenge_id: str) -> str:
    return f"/api/challenge/{challenge_id}/accept"


def decline(challenge_id: str) -> str:
    return f"/api/challenge/{challenge_id}/decline"


def stream(game_id: str) -> str:
    return f"/api/bot/game/stream/{game_id}"


def test_an_account_that_cannot_be_read_at_first_is_waited_for(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account", Reply(502, "<html>"), Reply(429, "<html>"), Reply(200, "?"), Reply(body=ACCOUNT))
    daemon.start()
    daemon.until_asked(EVENTS)


def test_games_in_progress_are_found_even_if_the_event_stream_says_nothing(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": [game("abcd1234"), game("wxyz9876")]}))
    daemon.start()
    daemon.until_asked(stream("abcd1234"))
    daemon.until_asked(stream("wxyz9876"))


def test_a_stream_that_does_not_open_holds_up_no_game(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "0.5"   # 2.5 s for the stream to open, and 7.5 s before its connection counts as dead
    lichess.answer(EVENTS, ticking(line("gameStart", game=game("abcd1234"))))
    lichess.answer(stream("abcd1234"), Reply(delay_s=PATIENCE_S), ticking(full("abcd1234")))
    daemon.start()
    daemon.until_asked(stream("abcd1234"))
    asked_at = time.monotonic()
    daemon.until(lambda: lichess.paths().count(stream("abcd1234")) >= 2)
    assert time.monotonic() - asked_at < 6.0
    daemon.until(lambda: any(path.startswith("/api/bot/game/abcd1234/move/") for path in lichess.paths()))


def test_a_game_announced_several_times_is_opened_once(lichess: ScriptedLichess, daemon: Daemon) -> None:
    start = line("gameStart", game=game("abcd1234"))
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": [game("abcd1234")]}))
    lichess.answer(EVENTS, ticking(start, start, 0.3, start))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand")))
    daemon.start()
    daemon.until_asked(stream("abcd1234"))
    daemon.until_asked(EVENTS)
    time.sleep(1.0)
    assert daemon.log.count("game.join game=abcd1234") == 1
    assert lichess.paths().count(stream("abcd1234")) == 1


def test_an_accepted_challenge_that_becomes_no_game_gives_its_slot_back(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer(accept("one"), Reply())
    lichess.answer(accept("two"), Reply())
    lichess.answer(EVENTS, ticking(challenge("one"), *[0.4, b"\n"] * 8, challenge("two")))
    daemon.start()
    daemon.until_asked(accept("two"))
    assert "challenge.no_game challenge=one" in daemon.log


def test_who_waits_for_a_slot_in_vain_is_declined_before_the_challenge_expires(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": [game("abcd1234")]}))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand")))
    lichess.answer(decline("two"), Reply())
    lichess.answer(EVENTS, ticking(challenge("two")))
    daemon.start()
    daemon.until_asked(decline("two"))
    assert json.loads(next(it.body for it in lichess.requests if it.path == decline("two"))) == {"reason": "later"}
    assert "challenge.wait challenge=two" in daemon.log
    assert accept("two") not in lichess.paths()


def test_a_flood_of_challenges_is_one_line_each_in_the_log(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": [game("abcd1234")]}))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand")))
    names = [f"flood{number:03}" for number in range(20)]
    for name in names:
        lichess.answer(decline(name), Reply())
    flood = [challenge(name, challenger={"id": f"id{name}", "name": name}) for name in names]
    lichess.answer(EVENTS, ticking(*flood))
    daemon.start()
    daemon.until_asked(*map(decline, names))
    assert daemon.log.count("challenge.wait") == 1
    assert daemon.log.count("challenge.decline ") == len(names)


def test_an_accepted_challenge_whose_start_was_lost_is_played(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer(accept("abcd1234"), Reply())
    none, one = {"nowPlaying": []}, {"nowPlaying": [game("abcd1234")]}
    lichess.answer("/api/account/playing", Reply(body=none), Reply(body=one))
    lichess.answer(EVENTS, ticking(challenge("abcd1234")))
    daemon.start()
    daemon.until_asked(stream("abcd1234"))


def test_an_accepted_challenge_of_which_nobody_may_be_asked_is_played(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer(accept("abcd1234"), Reply())
    limited = Reply(429, {"error": "slow down"}, [("Retry-After", "600")])
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}), limited)
    lichess.answer(EVENTS, ticking(challenge("abcd1234")))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234")))
    daemon.start()
    daemon.until(lambda: any("/api/bot/game/abcd1234/move/" in path for path in lichess.paths()))


def test_a_challenge_announced_twice_is_answered_once(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer(accept("one"), Reply())
    lichess.answer(EVENTS, ticking(challenge("one"), challenge("one"), 0.2, challenge("one")))
    daemon.start()
    daemon.until_asked(accept("one"))
    time.sleep(0.5)
    assert lichess.paths().count(accept("one")) == 1
    assert decline("one") not in lichess.paths()


def test_strange_lines_do_not_stop_the_daemon(lichess: ScriptedLichess, daemon: Daemon) -> None:
    strange = [
        b"oops\n",
        b"[]\n",
        line("confetti"),
        line("challenge"),
        line("gameStart", game=None),
        challenge("anonymous", challenger=None, timeControl={"type": "unlimited"}, speed="correspondence"),
        challenge("own", challenger={"id": "testbot", "name": "TestBot", "title": "BOT"}),
        line("gameStart", game=game("horde123", variant={"key": "horde"})),
        line("gameStart", game=game("arena123", compat={"bot": False})),
        line("gameFinish", game=game("unknown1", status={"id": 99, "name": "new"})),
    ]
    lichess.answer(accept("good"), Reply())
    lichess.answer(decline("anonymous"), Reply(404, {"error": "Not found"}))
    lichess.answer(EVENTS, ticking(*strange, challenge("good")))
    daemon.start()
    daemon.until_asked(accept("good"))
    assert accept("own") not in lichess.paths()
    assert stream("horde123") not in lichess.paths()
    assert stream("arena123") not in lichess.paths()


def test_an_acceptance_that_is_refused_gives_the_slot_back_at_once(lichess: ScriptedLichess, daemon: Daemon) -> None:
    body = {"error": "Ferdinand played 100 games", "ratelimit": {"key": "bot.vsBot.day", "seconds": 4000}}
    lichess.answer(accept("one"), Reply(400, body))
    lichess.answer(accept("two"), Reply())
    lichess.answer(EVENTS, ticking(challenge("one"), 0.5, challenge("two")))
    daemon.start()
    daemon.until_asked(accept("two"))


def test_a_used_up_quota_forbids_what_it_names_and_nothing_else(lichess: ScriptedLichess, daemon: Daemon) -> None:
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


def test_a_challenge_that_a_pause_outlasts_takes_no_slot(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "1"
    lichess.answer(accept("one"), Reply(429, {"error": "Too many requests. Try again later."}))
    lichess.answer(EVENTS, ticking(challenge("one"), 0.5, challenge("two")))
    daemon.start()
    daemon.until(lambda: "challenge.missed challenge=two" in daemon.log)
    assert "challenge.accept challenge=" not in daemon.log


def test_a_silent_event_stream_is_replaced(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer(accept("one"), Reply())
    lichess.answer(EVENTS, Reply(lines=[b"\n"], end=End.STALL), ticking(challenge("one")))
    daemon.start()
    daemon.until_asked(accept("one"))
    assert "events.lost" in daemon.log


DENIED = Reply(401, {"error": "No such token"})


def test_a_revoked_token_ends_the_daemon_once_nothing_is_answered_any_more(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer("/api/account", Reply(body=ACCOUNT), DENIED)
    lichess.answer("/api/account/playing", playing(game("abcd1234")), DENIED)
    lichess.answer(stream("abcd1234"), Reply(lines=[full("abcd1234", white="ferdinand")]), DENIED)
    lichess.answer(EVENTS, Reply(lines=[b"\n"]), DENIED)
    daemon.start()
    assert daemon._process is not None
    assert daemon._process.wait(PATIENCE_S) == 3
    assert "token.denied" in daemon.log
    assert "refused reason=" in daemon.log


def test_a_token_denied_for_a_moment_ends_neither_the_daemon_nor_a_game(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer("/api/account", Reply(body=ACCOUNT), DENIED, DENIED, Reply(body=ACCOUNT))
    lichess.answer("/api/account/playing", playing(game("abcd1234")), DENIED, playing(game("abcd1234")))
    lichess.answer(
        stream("abcd1234"), Reply(lines=[full("abcd1234", white="ferdinand")]), DENIED, ticking(full("abcd1234"))
    )
    lichess.answer("/api/bot/game/abcd1234/move/e2e4", Reply())
    lichess.answer(EVENTS, Reply(lines=[b"\n"]), DENIED, DENIED, ticking(challenge("one")))
    daemon.start()
    daemon.until(lambda: any("/api/bot/game/abcd1234/move/" in path for path in lichess.paths()))
    daemon.until(lambda: any("one" in path for path in lichess.paths()))
    assert "token.denied" in daemon.log
    assert "refused reason=" not in daemon.log


def test_a_scope_that_the_list_of_games_asks_for_is_named_once_and_games_are_played(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer("/api/account/playing", Reply(403, {"error": "Missing scope: preference:read"}))
    lichess.answer(accept("abcd1234"), Reply())
    lichess.answer(EVENTS, ticking(challenge("abcd1234"), 0.2, line("gameStart", game=game("abcd1234"))))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="testbot")))
    daemon.start()
    daemon.until(lambda: any("/move/" in path for path in lichess.paths()))
    daemon.until(lambda: sum(path.startswith("/api/account/playing") for path in lichess.paths()) >= 2)
    assert daemon.log.count("token.scope_missing scope=preference:read") == 1
    assert "refused reason=" not in daemon.log


def test_a_token_denied_at_the_start_is_refused_at_once(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "20"
    lichess.answer("/api/account", DENIED)
    daemon.start()
    assert daemon._process is not None
    assert daemon._process.wait(PATIENCE_S) == 3


def test_a_signal_ends_a_daemon_that_never_reached_lichess(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account", Reply(502, "<html>"))
    daemon.start()
    daemon.until_asked("/api/account")
    assert daemon._process is not None
    daemon._process.send_signal(signal.SIGTERM)
    assert daemon._process.wait(PATIENCE_S) == 0


def test_a_signal_in_an_outage_waits_for_no_acceptance_that_nobody_can_tell_of(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer("/api/account/playing", playing(), Reply(502))
    lichess.answer(accept("one"), Reply(502))
    lichess.answer(EVENTS, Reply(lines=[challenge("one"), 0.3]), Reply(502))
    daemon.start()
    daemon.until_asked(accept("one"))
    daemon.until(lambda: "events.lost" in daemon.log)
    assert daemon._process is not None
    daemon._process.send_signal(signal.SIGTERM)
    assert daemon._process.wait(PATIENCE_S) in (0, 4), "0.75 s of patience, and not stop_grace"


def test_a_signal_waits_for_no_farewell_that_a_pause_forbids(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "1"
    over = line("gameState", moves="", wtime=1, btime=1, status="resign", winner="white")
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    lichess.answer(accept("one"), Reply(429, {"error": "Too many requests. Try again later."}))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand"), 1.5, over))
    lichess.answer(EVENTS, ticking(challenge("one"), seconds=120.0))
    daemon.start()
    daemon.until(lambda: "game.over game=abcd1234" in daemon.log)
    assert daemon._process is not None
    began = time.monotonic()
    daemon._process.send_signal(signal.SIGTERM)
    assert daemon._process.wait(PATIENCE_S) == 0
    assert time.monotonic() - began < 8.0, "a chat line would have waited for 60 s, and is worth sending for 15"


# What the streams lost, and what a restart should not do twice


def playing(*games: dict[str, Any]) -> Reply:
    return Reply(body={"nowPlaying": list(games)})


def test_a_game_whose_acceptance_got_no_answer_is_found(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer(accept("abcd1234"), Reply(502), Reply(404, {"error": "Not found"}))
    lichess.answer("/api/account/playing", playing(), playing(game("abcd1234")))
    lichess.answer(EVENTS, ticking(challenge("abcd1234")))
    daemon.start()
    daemon.until_asked(stream("abcd1234"))


def test_after_an_unreadable_event_the_games_are_looked_at(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", playing(), playing(game("abcd1234")))
    lichess.answer(EVENTS, ticking(b'{"type":"gameStart","game":{"gam\n'))
    daemon.start()
    daemon.until_asked(stream("abcd1234"))


def test_a_game_that_ended_while_the_event_stream_was_away_is_left(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", playing(game("abcd1234")), playing())
    lichess.answer(EVENTS, Reply(lines=[b"\n", 0.5]), ticking())
    over = Reply(lines=[full("abcd1234", "e2e4 e7e5 g1f3", status="resign")])
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", "e2e4 e7e5 g1f3")), over)
    daemon.start()
    daemon.until(lambda: "game.over game=abcd1234 status=resign" in daemon.log)


def test_a_game_that_ends_while_a_look_is_under_way_is_not_joined_again(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    daemon.time_scale = "0.5"       # the second look is 1.5 s after the first at least, and is waited for 5 s
    both = replace(playing(game("abcd1234"), game("efgh5678")), delay_s=2.5)
    lichess.answer("/api/account/playing", playing(game("abcd1234")), both)
    lichess.answer(EVENTS, Reply(lines=[b"\n", 0.5]), ticking())
    moves = "e2e4 e7e5 g1f3"
    over = line("gameState", moves=moves, wtime=1, btime=1, status="resign", winner="white")
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", moves), 2.5, over))
    lichess.answer(stream("efgh5678"), ticking(full("efgh5678", white="ferdinand")))
    daemon.start()
    daemon.until_asked(stream("efgh5678"))
    assert "game.over game=abcd1234 status=resign" in daemon.log.partition("game.join game=efgh5678")[0]
    assert daemon.log.count("game.join game=abcd1234") == 1


def test_a_game_in_progress_whose_stream_is_refused_is_tried_again(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    refused = Reply(404, {"error": "No such game"})
    lichess.answer(stream("abcd1234"), refused, refused, ticking(full("abcd1234")))
    lichess.answer("/api/bot/game/abcd1234/move/e2e4", Reply())
    daemon.start()
    daemon.until(lambda: any("/api/bot/game/abcd1234/move/" in path for path in lichess.paths()))


def test_a_game_that_can_be_read_ends_the_wait_of_the_event_stream(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "1"
    readable = threading.Event()
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    lichess.answer(stream("abcd1234"), replace(ticking(full("abcd1234", white="ferdinand")), held=readable))
    lichess.answer(EVENTS, *[Reply(502)] * 6, ticking())
    daemon.start()
    daemon.until(lambda: daemon.log.count("events.lost") == 6)
    lost_at = time.monotonic()
    retry_in_s = float(re.findall(r"events\.lost .*retry_in_s=(\S+)", daemon.log)[-1])
    assert retry_in_s >= 4.0, "half of the backoff after six failures"
    readable.set()
    daemon.until(lambda: "events.open" in daemon.log)
    assert time.monotonic() - lost_at < retry_in_s - 1.0


@pytest.mark.parametrize("games", [1, 4])
@pytest.mark.parametrize("first_line", [None, b"<html>\n", full("abcd1234")])
def test_streams_that_end_at_once_do_not_flood_lichess(
    lichess: ScriptedLichess, daemon: Daemon, first_line: bytes | None, games: int
) -> None:
    daemon.time_scale = "1"
    ids = ["abcd1234", "efgh5678", "ijkl9012", "mnop3456"][:games]
    lichess.answer("/api/account/playing", playing(*map(game, ids)))
    for game_id in ids:
        lichess.answer(stream(game_id), Reply(lines=[] if first_line is None else [first_line]))
    daemon.start()
    daemon.until_asked(stream(ids[-1]))
    time.sleep(5.0)
    opened = Counter(path for path in lichess.paths() if path.startswith(stream("")))
    assert max(opened.values()) <= 2 * 5 + 1
    assert opened.total() <= 4 * 5 + games


def test_an_end_in_words_nobody_knows_is_looked_into(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    strange = Reply(lines=[full("abcd1234", status="quantumCollapse")])
    lichess.answer(stream("abcd1234"), strange, ticking(full("abcd1234")))
    daemon.start()
    daemon.until(lambda: any("/api/bot/game/abcd1234/move/" in path for path in lichess.paths()))
    assert daemon.log.count("game.join game=abcd1234") == 2


def test_the_most_urgent_game_is_joined_first_whatever_the_order(lichess: ScriptedLichess, daemon: Daemon) -> None:
    theirs = game("theirs11", isMyTurn=False, secondsLeft=5)
    calm, urgent = (game(name, isMyTurn=True, secondsLeft=left) for name, left in (("calm1111", 90), ("urgent11", 8)))
    lichess.answer("/api/account/playing", playing(theirs, calm, urgent))
    daemon.start()
    daemon.until_asked(EVENTS)
    joined = [part.split()[0] for part in daemon.log.split("game.join game=")[1:]]
    assert joined == ["urgent11", "calm1111", "theirs11"]


def test_a_challenge_that_was_answered_is_not_answered_again_after_a_restart(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer(accept("one"), Reply())
    lichess.answer(EVENTS, ticking(challenge("one")))
    daemon.start()
    daemon.until_asked(accept("one"))
    daemon.until(lambda: "challenge.no_game" in daemon.log)
    daemon.stop()
    asked = lichess.paths().count(EVENTS)
    daemon.start()
    daemon.until(lambda: lichess.paths().count(EVENTS) > asked)
    time.sleep(0.5)
    assert lichess.paths().count(accept("one")) == 1


def test_a_second_daemon_with_the_same_token_is_recognised_and_not_fought(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer(EVENTS, Reply(lines=[b"\n"]))
    daemon.start()
    daemon.until(lambda: "another client seems to use this token" in daemon.log)
    asked = lichess.paths().count(EVENTS)
    time.sleep(2.0)
    assert lichess.paths().count(EVENTS) - asked <= 1


def test_a_page_that_denies_access_does_not_end_the_daemon(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account", Reply(403, "<html>Attention</html>"), Reply(body=ACCOUNT))
    lichess.answer(EVENTS, Reply(403, "<html>Attention</html>"), ticking())
    daemon.start()
    daemon.until(lambda: "events.open" in daemon.log)


def test_tables_that_do_not_fit_are_made_smaller_and_that_is_said(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.hash_mb = 65536
    daemon.start()
    daemon.until_asked(EVENTS)
    assert " WARNING memory " in daemon.log


# Answers that Lichess does not take


def reasons(lichess: ScriptedLichess, challenge_id: str) -> list[object]:
    """What we gave as reasons for declining it."""
    path = decline(challenge_id)
    return [json.loads(request.body)["reason"] for request in lichess.requests if request.path == path]


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (Reply(400, {"error": "The challenge has been canceled."}), []),
        (Reply(404, {"error": "Not found"}), []),
        (Reply(400, {"error": "One played 100 games against other bots today"}), ["later"]),
        (Reply(429, {"error": "Too many requests", "ratelimit": {"key": "a", "seconds": 0.2}}), ["later"]),
    ],
    ids=["canceled", "expired", "quota", "429"],
)
def test_an_acceptance_in_vain_gives_the_slot_back_and_who_still_waits_is_told(
    lichess: ScriptedLichess, daemon: Daemon, refusal: Reply, told: list[object]
) -> None:
    lichess.answer(accept("one"), refusal)
    lichess.answer(decline("one"), Reply())
    lichess.answer(accept("two"), Reply())
    second = challenge("two", challenger={"id": "ada", "name": "Ada"})
    lichess.answer(EVENTS, ticking(challenge("one"), *[0.4, b"\n"] * 4, second))
    daemon.start()
    daemon.until_asked(accept("two"))
    assert reasons(lichess, "one") == told


def test_an_acceptance_that_may_have_taken_effect_keeps_its_slot(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer(accept("abcd1234"), Reply(502), Reply(404, {"error": "Not found"}))
    lichess.answer("/api/account/playing", playing(), playing(game("abcd1234")))
    lichess.answer(decline("two"), Reply())
    second = challenge("two", challenger={"id": "ada", "name": "Ada"})
    lichess.answer(EVENTS, ticking(challenge("abcd1234"), second))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand")))
    daemon.start()
    daemon.until_asked(decline("two"))
    assert accept("two") not in lichess.paths()
    assert stream("abcd1234") in lichess.paths()


def test_a_challenge_told_again_on_a_new_stream_does_not_wait(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand")))
    lichess.answer(decline("old"), Reply())
    told_again = json.loads(challenge("old"))
    del told_again["compat"]
    lichess.answer(EVENTS, ticking(json.dumps(told_again).encode() + b"\n"))
    daemon.start()
    daemon.until_asked(decline("old"))
    assert reasons(lichess, "old") == ["later"]
    assert "challenge.wait" not in daemon.log
