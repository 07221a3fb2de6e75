"""What the main thread answers, and how requests, answers and the status survive the way over the socket."""

import json
import logging
import os
import resource
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from lichessbot.control.commands import (
    CannotDo,
    ControlAnswer,
    ControlCommand,
    ControlRequest,
    answer_line,
    read_answer,
    read_request,
    request_line,
)
from lichessbot.control.counters import Counters
from lichessbot.control.handler import ControlHandler
from lichessbot.control.shutdown import Shutdown
from lichessbot.control.status import Activity, Faults, Limit, RecordsStatus, StreamStatus, clock_time
from lichessbot.errors import ExitCode, Refused, Unreachable, UnreadableLine
from lichessbot.inbox import count_fault
from lichessbot.lichess.commands import CommandFailed, ReadAccount
from lichessbot.lichess.streams import StreamLost
from lichessbot.systemd import ServiceManager
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import EngineDied
from tests.lichessbot.control.status_of import GAME, NOW, STATUS

GRACE_S = 7200.0


class Lobby:
    """A lobby that notes what it is told."""

    summary = ""
    is_open = True
    is_clear = True
    starting = 1

    def __init__(self) -> None:
        self.is_paused = False
        self.engine_failure = ""
        self.done: list[str] = []
        self.failure: Exception | None = None

    def __len__(self) -> int:
        return self.starting

    def describe(self) -> Any:
        return STATUS.lobby

    def pause(self) -> None:
        self.is_paused = True

    def resume(self) -> None:
        self.is_paused = False

    def stop(self) -> None:
        self.done.append("stop")

    def block(self, name: str) -> bool:
        return name != "Known"

    def unblock(self, name: str) -> bool:
        return name == "Known"

    def switch_matchmaking(self, *, on: bool) -> str:
        return f"matchmaking {on}"

    def rechallenge(self, *, received: bool) -> str:
        if self.failure is not None:
            raise self.failure
        return f"challenged, received: {received}"

    def join_tournament(self, tournament_id: str, team: str | None, password: str | None) -> str:
        self.done.append(f"join {tournament_id} {team} {password}")
        return "joined"

    def leave_tournament(self, tournament_id: str) -> str:
        self.done.append(f"leave {tournament_id}")
        return "left"


class Games(list[Any]):
    """Those with a clock, beside three of correspondence."""

    summary = "2 games"
    correspondence_games = 3
    engine_processes = (os.getpid(),)

    def describe(self) -> Any:
        return STATUS.games


class Room:
    """A handler with a lobby, two games and a connection."""

    def __init__(self) -> None:
        self.lobby, self.counters = Lobby(), Counters()
        self.games, self.left_over = Games([GAME, GAME]), list[str]()
        self.connection = SimpleNamespace(summary="listening", is_open=True, describe=lambda: STATUS.connection)
        self.records = SimpleNamespace(failure=None)
        self.shutdown = Shutdown(self.games, self.left_over, self.lobby, ServiceManager({}), Timeouts())
        parts: Any = self.connection, self.games, self.lobby, self.records, self.shutdown, self.counters
        self.handler = ControlHandler(*parts)

    def ask(self, command: ControlCommand, argument: str = "", **options: str) -> ControlAnswer:
        request = ControlRequest(command, argument, options)
        self.handler.handle(request, GRACE_S)
        return request.answer.result(0)


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Room:
    """A room in which no bug was met yet, whatever other tests have logged in this process."""
    monkeypatch.setattr("lichessbot.control.counters.crashes", lambda: 0)
    return Room()


def test_the_start_is_the_same_in_each_status(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    first = room.handler.status()
    assert first.began_epoch_s > 0
    assert first.up_for_s == pytest.approx(0.0, abs=60)
    monkeypatch.setattr("lichessbot.control.handler.time.time", lambda: first.at_epoch_s + 3600)
    assert room.handler.status().began_epoch_s == first.began_epoch_s


def test_the_status_is_what_the_parts_say_of_themselves(room: Room) -> None:
    answer = room.ask(ControlCommand.STATUS)
    status = answer.status
    assert answer.ok
    assert (status.games, status.lobby, status.connection) == (STATUS.games, STATUS.lobby, STATUS.connection)
    assert (status.correspondence_games, status.activity, status.ends_in_s) == (3, Activity.PLAYING, None)
    assert status.engine.processes == 1


def test_looking_leaves_no_trace_in_the_log(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    """Pages and `--watch` look every second."""
    caplog.set_level("DEBUG")
    room.ask(ControlCommand.STATUS)
    assert not caplog.records


def test_the_activity_says_what_happens_to_new_games(room: Room) -> None:
    room.lobby.is_open = False
    assert room.handler.status().activity is Activity.STARTING
    assert room.handler.summary == "listening; 2 games"
    room.ask(ControlCommand.PAUSE)
    assert room.handler.status().activity is Activity.PAUSED
    assert room.handler.summary == "listening; 2 games; paused, takes no new games"
    room.ask(ControlCommand.RESUME)
    assert not room.lobby.is_paused
    room.lobby.engine_failure = "no such program"
    status = room.handler.status()
    assert (status.activity, status.engine.failure) == (Activity.WITHOUT_ENGINE, "no such program")
    assert room.handler.summary == "listening; 2 games; without engine, takes no new games"
    answer = room.ask(ControlCommand.FINISH)
    assert answer.text.endswith("the running ones (3); 3 correspondence games left for its next start")
    status = room.handler.status()
    assert status.activity is Activity.FINISHING
    assert status.ends_in_s == pytest.approx(GRACE_S, abs=60)
    assert room.handler.summary == "listening; 2 games; finishing, takes no new games"


def test_records_that_cannot_be_written_are_told_until_they_can(room: Room) -> None:
    assert room.handler.status().records == RecordsStatus()
    room.records.failure = (time.monotonic() - 3600.0, "database or disk is full")
    records = room.handler.status().records
    assert records.error == "database or disk is full"
    assert records.unwritten_for_s == pytest.approx(3600.0, abs=60)
    assert room.handler.summary == "listening; 2 games; records not written: database or disk is full"
    room.records.failure = None
    assert room.handler.status().records == RecordsStatus()
    assert room.handler.summary == "listening; 2 games"


@pytest.mark.parametrize(
    ("command", "argument", "ok", "text"),
    [
        (
            ControlCommand.PAUSE,
            "",
            True,
            "paused: no new games until `lichessbot resume` or a restart; running games go on",
        ),
        (ControlCommand.RESUME, "", True, "resumed: new games are taken again"),
        (ControlCommand.BLOCK, "New", True, "New is blocked: challenges are declined, and matchmaking sends none"),
        (ControlCommand.BLOCK, "Known", True, "Known was blocked already"),
        (ControlCommand.UNBLOCK, "Known", True, "Known is no longer blocked"),
        (
            ControlCommand.UNBLOCK,
            "New",
            False,
            "New was not blocked by command; names in `block_list` are removed in the configuration",
        ),
        (ControlCommand.MATCHMAKING, "on", True, "matchmaking True"),
        (ControlCommand.MATCHMAKING, "off", True, "matchmaking False"),
        (ControlCommand.RECHALLENGE, "sent", True, "challenged, received: False"),
        (ControlCommand.RECHALLENGE, "received", True, "challenged, received: True"),
    ],
)
def test_each_command_is_done_and_answered(
    room: Room, command: ControlCommand, argument: str, ok: bool, text: str
) -> None:
    assert room.ask(command, argument) == ControlAnswer(ok, text)


def test_tournaments_are_joined_and_left_and_no_password_is_logged(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    room.ask(ControlCommand.FINISH)     # they are for the next start too
    join, leave = ControlCommand.JOIN_TOURNAMENT, ControlCommand.LEAVE_TOURNAMENT
    assert room.ask(join, "hL7vMrFQ", team="coders", password="sesame") == ControlAnswer(ok=True, text="joined")
    assert room.ask(join, "hL7vMrFQ") == ControlAnswer(ok=True, text="joined")
    assert room.ask(leave, "hL7vMrFQ") == ControlAnswer(ok=True, text="left")
    assert room.lobby.done[1:] == ["join hL7vMrFQ coders sesame", "join hL7vMrFQ None None", "leave hL7vMrFQ"]
    assert 'stop.asked signal="the command finish"' in caplog.text
    assert "control command=finish answer=" in caplog.text
    assert "control command=join-tournament argument=hL7vMrFQ answer=joined" in caplog.text
    assert "sesame" not in caplog.text
    assert "sesame" not in repr(ControlRequest(join, "hL7vMrFQ", {"password": "sesame"}))


@pytest.mark.parametrize(
    "command",
    [
        ControlCommand.PAUSE,
        ControlCommand.RESUME,
        ControlCommand.FINISH,
        ControlCommand.MATCHMAKING,
        ControlCommand.RECHALLENGE,
    ],
)
def test_a_daemon_that_finishes_changes_its_mind_no_more(room: Room, command: ControlCommand) -> None:
    room.ask(ControlCommand.FINISH)
    answer = room.ask(command, "on")
    assert not answer.ok
    assert answer.text.startswith("the daemon is finishing")
    assert room.lobby.done == ["stop"]


def test_what_cannot_be_done_is_answered_with_the_reason(room: Room) -> None:
    room.lobby.failure = CannotDo("every slot is taken")
    assert room.ask(ControlCommand.RECHALLENGE) == ControlAnswer(ok=False, text="every slot is taken")


def test_nobody_is_challenged_again_while_lichess_is_out_of_reach(room: Room) -> None:
    room.connection.is_open = False
    answer = room.ask(ControlCommand.RECHALLENGE)
    assert answer == ControlAnswer(False, "Lichess cannot be reached now: try again when it answers")


def test_a_bug_is_answered_too(room: Room) -> None:
    room.lobby.failure = ZeroDivisionError()
    request = ControlRequest(ControlCommand.RECHALLENGE)
    with pytest.raises(ZeroDivisionError):
        room.handler.handle(request, GRACE_S)
    assert request.answer.result(0) == ControlAnswer(ok=False, text="internal error: see the log")


def test_a_stop_names_the_correspondence_games_that_it_leaves(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "lichessbot")
    room.shutdown.signal("SIGTERM", GRACE_S)
    assert "stop.asked signal=SIGTERM games_to_finish=3 correspondence_left=3" in caplog.text


@pytest.mark.parametrize(("games", "left_over", "starting"), [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_leaving_before_all_games_are_joined_and_over_abandons_them(
    room: Room, games: int, left_over: int, starting: int
) -> None:
    room.games[:], room.left_over[:], room.lobby.starting = [GAME] * games, ["abcd1234"] * left_over, starting
    room.ask(ControlCommand.QUIT)
    assert room.shutdown.exit_code is (ExitCode.ABANDONED if games or left_over or starting else ExitCode.OK)


def test_a_first_signal_after_finish_still_lets_the_games_end(room: Room) -> None:
    room.ask(ControlCommand.FINISH)
    room.shutdown.signal("SIGTERM", GRACE_S)
    assert room.shutdown.exit_code is None
    assert room.lobby.done == ["stop"]
    room.shutdown.signal("SIGTERM", GRACE_S)
    assert room.shutdown.exit_code is ExitCode.ABANDONED


def test_quitting_leaves_the_games(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    text = "the daemon ends now; games with time left go on at its next start"
    assert room.ask(ControlCommand.QUIT) == ControlAnswer(ok=True, text=text)
    assert room.shutdown.exit_code is ExitCode.ABANDONED
    assert 'stop.now why="the command quit"' in caplog.text


# The end of the process


def test_the_process_ends_after_its_games_and_what_may_become_one(room: Room) -> None:
    shutdown = room.shutdown
    shutdown.tick(is_connected=True, is_talking=False)
    room.ask(ControlCommand.FINISH)
    reasons = ((1, 0, True, False), (0, 1, True, False), (0, 0, False, False), (0, 0, True, True))
    for games, left_over, is_clear, is_talking in reasons:
        room.games[:], room.left_over[:] = [GAME] * games, ["abcd1234"] * left_over
        room.lobby.is_clear = is_clear
        shutdown.tick(is_connected=True, is_talking=is_talking)
        assert shutdown.exit_code is None
    shutdown.tick(is_connected=True, is_talking=False)
    assert shutdown.exit_code is ExitCode.OK
    shutdown.exit_code = ExitCode.REFUSED
    shutdown.tick(is_connected=True, is_talking=False)
    assert shutdown.exit_code is ExitCode.REFUSED, "Lichess denied the token meanwhile"


def test_if_an_engine_fails_at_the_start_the_process_ends_after_the_games_left_over(room: Room) -> None:
    shutdown = room.shutdown
    assert shutdown.engine_failed(ExitCode.USAGE)
    assert room.lobby.done == ["stop"], "until the games are known, too"
    shutdown.games_known(GRACE_S)
    leave_at = shutdown.leave_at
    shutdown.games_known(2 * GRACE_S)
    assert shutdown.leave_at == leave_at, "a further list of the games gives no further time"
    room.games.clear()
    shutdown.tick(is_connected=True, is_talking=False)
    assert shutdown.exit_code is ExitCode.FAILED, "the service manager starts it again"


def test_an_outage_is_waited_out_only_so_long_as_an_answer_may_become_a_game(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutdown, now = room.shutdown, [time.monotonic()]
    monkeypatch.setattr("lichessbot.control.shutdown.time", SimpleNamespace(monotonic=lambda: now[0]))
    room.ask(ControlCommand.FINISH)
    room.games.clear()
    room.lobby.is_clear = False
    patience_s = Timeouts().request_patience.total_seconds()
    for later_s, is_connected, code in ((0.0, False, None), (patience_s, True, None), (0.0, False, ExitCode.OK)):
        now[0] += later_s
        shutdown.tick(is_connected=is_connected, is_talking=False)
        assert shutdown.exit_code is code


def test_the_second_signal_and_the_end_of_the_grace_leave(room: Room) -> None:
    room.shutdown.signal("SIGTERM", GRACE_S)
    assert room.shutdown.exit_code is None
    room.shutdown.signal("SIGTERM", GRACE_S)
    assert room.shutdown.exit_code is ExitCode.ABANDONED
    late = Room()
    late.shutdown.signal("SIGTERM", 0.0)
    assert late.handler.status().ends_in_s == 0.0
    late.shutdown.tick(is_connected=True, is_talking=False)
    assert late.shutdown.exit_code is ExitCode.ABANDONED


# What is counted


def test_faults_and_the_speed_of_searches_are_counted(room: Room) -> None:
    counted = room.counters.counted
    for report in (
        StreamLost(None, "timed out", timedelta()),
        StreamLost(None, "reopened on request", timedelta(), on_request=True),
        CommandFailed(ReadAccount(), Unreachable("timed out")),
        CommandFailed(ReadAccount(), Refused(400, "no")),
        EngineDied("abcd1234", 1, "killed"),
    ):
        count_fault(report, counted)
    assert counted == Faults(event_streams_lost=1, requests_failed=1, engines_died=1)
    room.counters.note_search("Engine 1", 1_000_000, 1_000_000)
    room.counters.note_search("", 1_000_000, 500_000)
    for nodes, nodes_per_s in ((500, 1_000_000), (5000, 0), (10**400, 10**400)):
        room.counters.note_search("", nodes, nodes_per_s)
    it = room.counters.engine(())
    assert (it.name, it.nodes_per_s, it.searches) == ("Engine 1", 666_667, 2)
    it = Counters().engine(())
    assert (it.name, it.nodes_per_s, it.searches) == ("", 0, 0)


def test_the_memory_is_that_of_the_daemon_and_its_engines() -> None:
    alone = Counters().engine(())
    code = "memory = b'x' * (64 << 20); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
        engine.stdout.readline()
        both = Counters().engine([engine.pid])
        engine.communicate(b"\n")
    assert (alone.processes, both.processes) == (0, 1)
    assert both.memory_bytes - (48 << 20) > alone.memory_bytes > 10 << 20
    most_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert alone.memory_bytes < (most_kib << 10) + (8 << 20), "what is only reserved does not count"
    assert Counters().engine([engine.pid]).memory_bytes > 0, "one that has ended counts nothing"


def test_a_stream_that_is_closed_has_no_age() -> None:
    assert StreamStatus.of(90.0, 99.0, 100.0) == StreamStatus(True, 10.0, 1.0)
    assert StreamStatus.of(None, 70.0, 100.0) == StreamStatus(False, None, 30.0)
    assert StreamStatus.of(None, None, 100.0) == StreamStatus(False, None, None)


def test_a_limit_says_when_it_resumes() -> None:
    assert Limit("bot games", 37, 100).in_words(NOW) == "37 of 100 bot games"
    until = Limit("bot games", 37, 37, NOW + 3600.0, is_used_up=True)
    assert until.in_words(NOW) == f"37 of 37 bot games, resumes {clock_time(NOW + 3600.0, NOW)}"


# Over the socket


def test_a_request_and_an_answer_arrive_as_they_were_sent() -> None:
    assert read_request(request_line(ControlCommand.BLOCK, "Ann")) == ControlRequest(ControlCommand.BLOCK, "Ann")
    options = {"team": "coders", "password": "\ud800"}
    request = ControlRequest(ControlCommand.JOIN_TOURNAMENT, "hL7vMrFQ", options)
    line = request_line(request.command, request.argument, request.options)
    assert read_request(line) == request
    answer = ControlAnswer(ok=True, text="\ud800 \x1b[2J", status=STATUS)
    line = answer_line(answer)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert read_answer(line) == answer


def test_a_newer_daemon_may_tell_more_and_another_less() -> None:
    message = json.loads(answer_line(ControlAnswer(ok=True, status=STATUS)))
    message["status"]["weather"] = "fine"
    assert read_answer(json.dumps(message).encode()).status == STATUS
    del message["status"]["games"]
    with pytest.raises(UnreadableLine, match="incompatible version"):
        read_answer(json.dumps(message).encode())


def test_the_internal_errors_are_those_of_the_log() -> None:
    room = Room()
    before = room.counters.faults.internal_errors
    try:
        raise KeyError("a bug of the test")
    except KeyError as error:
        room.handler._log.crash("test.crashed", error)
    assert room.counters.faults == replace(room.counters.counted, internal_errors=before + 1)
    assert f"internal errors: {before + 1}, see the log" in room.handler.summary
