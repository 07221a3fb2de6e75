"""Both ends of the control socket, on real sockets: what clients send, leave out and do not read."""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lichessbot.control import client
from lichessbot.control.client import NoAnswer, NoDaemon
from lichessbot.control.commands import ControlAnswer, ControlCommand
from lichessbot.control.server import ControlServer
from lichessbot.control.sockets import SOCKET_NAME, read_line
from tests.fakes.main_thread import PATIENT, FakeMainThread
from tests.patience import PATIENCE_S, until

SHORT_S = 0.5
ask = partial(client.ask, patience_s=PATIENCE_S)


def connected(folder: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(PATIENCE_S)
    connection.connect(str(folder / SOCKET_NAME))
    return connection


def told(folder: Path, sent: bytes) -> dict[str, object]:
    """What the server answers to these bytes."""
    with connected(folder) as connection:
        connection.sendall(sent)
        heard = b"".join(iter(lambda: connection.recv(4096), b""))
    return json.loads(heard)


def _join(options: bytes) -> bytes:
    return b'{"command": "join-tournament", "argument": "hL7vMrFQ", "options": %s}\n' % options


def test_a_command_is_done_and_answered(main_thread: FakeMainThread, tmp_path: Path) -> None:
    assert ask(tmp_path, ControlCommand.BLOCK, "Somebody") == ControlAnswer(ok=True, text="did block")
    assert [(request.command, request.argument) for request in main_thread.seen] == [(ControlCommand.BLOCK, "Somebody")]


def test_the_socket_is_for_its_owner_alone(main_thread: FakeMainThread, tmp_path: Path) -> None:
    mode = (tmp_path / SOCKET_NAME).stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"\n", "expected one line of JSON, found b''"),
        (b"GET / HTTP/1.1\r\n\r\n", "expected one line of JSON"),
        (b"\xff\xfe\x00\n", "expected one line of JSON"),
        (b"[" * 4000 + b"\n", "expected one line of JSON"),
        (b"1" * 4000 + b"\n", "expected "),
        (b"[1]\n", "expected a JSON object"),
        (b"{}\n", "command: expected one of status, pause,"),
        (b'{"command": "shutdown"}\n', "found 'shutdown'"),
        (b'{"command": ["pause"]}\n', "command: expected one of"),
        (b'{"command": "pause", "argument": "now"}\n', "pause: expected no argument, found 'now'"),
        (b'{"command": "block"}\n', "block: expected the name of a player, found ''"),
        (b'{"command": "block", "argument": "a\\u001b[2J"}\n', "found 'a\\x1b[2J'"),
        (b'{"command": "block", "argument": 7}\n', "found 7"),
        (b'{"command": "matchmaking", "argument": "maybe"}\n', "matchmaking: expected on or off"),
        (b'{"command": "rechallenge"}\n', "rechallenge: expected sent or received, found ''"),
        (b'{"command": "join-tournament", "argument": "short"}\n', "expected the id of an arena, found 'short'"),
        (_join(b'{"password": 7}'), "join-tournament: expected only the options team and password, each a text"),
        (_join(b'{"passwort": "sesame"}'), "join-tournament: expected only the options team and password, each a text"),
        (_join(b'["sesame"]'), "join-tournament: expected only the options team and password, each a text"),
        (b'{"command": "pause", "options": {"team": "coders"}}\n', "pause: expected no options"),
    ],
)
def test_garbage_is_answered_with_what_was_expected(
    main_thread: FakeMainThread, tmp_path: Path, sent: bytes, reason: str
) -> None:
    answer = told(tmp_path, sent)
    assert answer["ok"] is False
    assert reason in str(answer["text"])
    assert not main_thread.seen


def test_a_line_that_never_ends_is_cut(main_thread: FakeMainThread, tmp_path: Path) -> None:
    assert told(tmp_path, b"x" * 4097)["text"] == "expected a line of at most 4096 bytes"
    with connected(tmp_path) as connection, pytest.raises((ConnectionResetError, BrokenPipeError)):
        connection.sendall(b"x" * (1 << 26))
    assert not main_thread.seen


def test_a_line_that_is_cut_short_is_no_command(main_thread: FakeMainThread, tmp_path: Path) -> None:
    with connected(tmp_path) as connection:
        connection.sendall(b'{"command": "quit"}')
        connection.shutdown(socket.SHUT_WR)
        assert b"the connection ended before" in connection.recv(4096)
    assert not main_thread.seen


def test_silent_and_slow_clients_are_sent_away_and_delay_nobody_for_long(tmp_path: Path) -> None:
    with closing(FakeMainThread(tmp_path, replace(PATIENT, request_s=SHORT_S))):
        began = time.monotonic()
        silent = [connected(tmp_path) for _ in range(30)]
        # They hold every place, twice over. A client may itself be slow to ask: another one follows.
        assert any(ask(tmp_path, ControlCommand.PAUSE).ok for _ in range(5))
        assert time.monotonic() - began < len(silent) * SHORT_S, "not one after the other"
        for connection in silent:
            assert b"no request came within" in connection.recv(4096)
            connection.close()


def test_a_request_byte_by_byte_has_no_more_time_than_another(tmp_path: Path) -> None:
    with closing(FakeMainThread(tmp_path, replace(PATIENT, request_s=SHORT_S))), connected(tmp_path) as connection:
        began, heard = time.monotonic(), None
        connection.settimeout(0.1)
        while heard is None:
            with suppress(BrokenPipeError, ConnectionResetError):   # the server may have answered and closed meanwhile
                connection.sendall(b" ")
            try:
                heard = connection.recv(4096)
            except TimeoutError:
                assert time.monotonic() - began < PATIENCE_S
    assert b'"ok":false,"text":"no request came within' in heard


def test_a_client_waits_for_a_place_before_the_server_but_not_for_ever(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / SOCKET_NAME))
        listener.listen(0)
        listener.settimeout(PATIENCE_S)
        with connected(tmp_path):     # it has the only place
            with pytest.raises(NoAnswer, match="cannot be reached: Resource temporarily unavailable"):
                ask(tmp_path, ControlCommand.PAUSE, patience_s=0.2)
            asked = pool.submit(ask, tmp_path, ControlCommand.PAUSE)
            time.sleep(0.2)
            listener.accept()[0].close()
        with listener.accept()[0] as connection:
            connection.sendall(b'{"ok": true}\n')
            assert asked.result(PATIENCE_S).ok


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one client is served at a time; to be named before the server."""
    monkeypatch.setattr("lichessbot.control.server._MOST_CLIENTS", 1)


def test_a_client_for_whom_no_thread_can_be_started_is_sent_away(
    one_at_a_time: None,
    main_thread: FakeMainThread,
    tmp_path: Path,
    no_thread_once: None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(NoAnswer, match=r"connection ended before|reset|Broken pipe"):
        ask(tmp_path, ControlCommand.PAUSE)
    assert ask(tmp_path, ControlCommand.PAUSE).ok
    assert "thread.not_started thread=control-client" in caplog.text
    assert "control.crashed" not in caplog.text, "it is no bug"


def test_a_bug_costs_one_answer_and_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    server = ControlServer(tmp_path, lambda request: 1 // 0)
    server.start()
    with closing(server), pytest.raises(NoAnswer):
        ask(tmp_path, ControlCommand.PAUSE)
    until(lambda: "ZeroDivisionError" in caplog.text)
    assert [it.getMessage().split(" ")[0] for it in caplog.records] == ["control.crashed"]


def test_many_clients_at_once_are_all_answered(main_thread: FakeMainThread, tmp_path: Path) -> None:
    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda number: ask(tmp_path, ControlCommand.BLOCK, f"player{number}"), range(40)))
    assert all(answer.ok for answer in answers)
    assert {request.argument for request in main_thread.seen} == {f"player{number}" for number in range(40)}


def test_a_long_answer_arrives_whole(main_thread: FakeMainThread, tmp_path: Path) -> None:
    main_thread.answer = lambda request: ControlAnswer(True, "long " * 1_000_000)
    assert len(ask(tmp_path, ControlCommand.RESUME).text) == 5_000_000


def test_a_client_that_goes_or_does_not_read_costs_only_its_answer(tmp_path: Path) -> None:
    with closing(FakeMainThread(tmp_path, replace(PATIENT, reading_s=SHORT_S))) as main_thread:
        main_thread.answer = lambda request: ControlAnswer(True, "long " * (1_000_000 if request.argument else 1))
        for _ in range(3):
            connected(tmp_path).close()
        deaf = connected(tmp_path)
        deaf.sendall(b'{"command": "block", "argument": "Somebody"}\n')
        assert ask(tmp_path, ControlCommand.RESUME).ok
        until(
            lambda: all(it.name != "control-client" for it in threading.enumerate()),
            "the client that does not read keeps its thread",
        )
        deaf.close()


def test_a_main_thread_that_is_busy_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    with closing(FakeMainThread(tmp_path, replace(PATIENT, main_thread_s=SHORT_S))) as main_thread:
        main_thread.answer = lambda request: None
        answer = ask(tmp_path, ControlCommand.PAUSE)
    assert not answer.ok
    assert "did not answer" in answer.text


def test_a_line_is_not_read_after_its_deadline() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"late\n")
        with pytest.raises(TimeoutError):
            read_line(ours, 100, time.monotonic() - 1.0)


def test_a_client_gives_up_after_its_patience(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mute:
        mute.bind(str(tmp_path / SOCKET_NAME))
        mute.listen()
        with pytest.raises(NoAnswer, match=r"did not answer within 0\.2 s"):
            ask(tmp_path, ControlCommand.STATUS, patience_s=0.2)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"", "ended before"),
        (b"hello\n", "cannot be read: expected one line of JSON"),
        (b'{"ok": true, "status": {}}\n', r"is of an incompatible version \(\d+ fields differ\): restart the daemon"),
    ],
)
def test_an_answer_that_cannot_be_read_is_told_as_such(tmp_path: Path, sent: bytes, reason: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / SOCKET_NAME))
        listener.listen()

        def answer() -> None:
            connection, _ = listener.accept()
            connection.recv(4096)
            connection.sendall(sent)
            connection.close()

        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(answer)
            with pytest.raises(NoAnswer, match=reason):
                ask(tmp_path, ControlCommand.STATUS)
            done.result()


# The file


def test_a_folder_too_deep_for_a_socket_address_is_served_all_the_same(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 20) / ("deeper" * 20)
    folder.mkdir(parents=True)
    main_thread = FakeMainThread(folder)
    assert ask(folder, ControlCommand.PAUSE).ok
    assert stat.S_IMODE((folder / SOCKET_NAME).stat().st_mode) == 0o600
    descriptors = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        assert ask(folder, ControlCommand.PAUSE).ok
    # The server closes its end after the client has the answer.
    until(lambda: len(os.listdir("/proc/self/fd")) <= descriptors)
    main_thread.close()
    with pytest.raises(NoDaemon):
        ask(folder, ControlCommand.PAUSE)


def test_a_folder_too_deep_is_refused_where_the_system_knows_no_shorter_address(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lichessbot.control.sockets._DESCRIPTORS", tmp_path / "none")
    folder = tmp_path / ("deep" * 20) / ("deeper" * 20)
    folder.mkdir(parents=True)
    with closing(FakeMainThread(folder)), pytest.raises(NoAnswer, match="cannot be reached: use a shorter state_dir"):
        ask(folder, ControlCommand.PAUSE)
    assert 'control.unavailable error="use a shorter state_dir: its socket' in caplog.text


def test_the_socket_of_a_daemon_that_was_killed_is_replaced(tmp_path: Path) -> None:
    path = str(tmp_path / SOCKET_NAME)
    subprocess.run([sys.executable, "-c", f"import socket; socket.socket(socket.AF_UNIX).bind({path!r})"], check=True)
    with pytest.raises(NoDaemon):
        ask(tmp_path, ControlCommand.PAUSE)
    main_thread = FakeMainThread(tmp_path)
    assert ask(tmp_path, ControlCommand.PAUSE).ok
    main_thread.close()


def test_the_end_of_one_daemon_leaves_the_socket_of_the_next(tmp_path: Path) -> None:
    first = FakeMainThread(tmp_path)
    second = FakeMainThread(tmp_path)
    first.close()
    assert ask(tmp_path, ControlCommand.PAUSE).ok
    second.close()
    assert not (tmp_path / SOCKET_NAME).exists()


def test_the_end_of_the_daemon_is_no_fault_of_the_socket(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="lichessbot")
    before = set(threading.enumerate())
    server = ControlServer(tmp_path, lambda request: None)
    server.start()
    (thread,) = set(threading.enumerate()) - before
    server.close()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert not caplog.records


@pytest.mark.parametrize("obstacle", ["file", "missing"])
def test_what_stands_in_the_way_is_told_once_and_costs_only_the_commands(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, obstacle: str
) -> None:
    folder = tmp_path / "state"
    if obstacle == "file":
        folder.mkdir()
        (folder / SOCKET_NAME).write_text("of somebody")
    server, threads = ControlServer(folder, lambda request: None), set(threading.enumerate())
    server.start()
    assert set(threading.enumerate()) <= threads, "nobody can come"
    (record,) = caplog.records
    assert record.getMessage().startswith("control.unavailable ")
    assert "lichessbot status" in record.getMessage()
    server.close()
    assert obstacle == "missing" or (folder / SOCKET_NAME).read_text() == "of somebody"


def test_without_a_thread_for_the_socket_it_is_given_up(
    tmp_path: Path, no_thread_once: None, caplog: pytest.LogCaptureFixture
) -> None:
    server = ControlServer(tmp_path, lambda request: None)
    server.start()
    with pytest.raises(NoDaemon):
        ask(tmp_path, ControlCommand.STATUS)
    (record,) = caplog.records
    assert record.getMessage().startswith('control.unavailable error="can\'t start new thread" ')
    server.close()


def test_an_answer_given_just_before_the_end_still_arrives(
    main_thread: FakeMainThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lichessbot.control.server._CLOSE_WAITS_AT_MOST_S", PATIENCE_S)
    closing = threading.Thread(target=main_thread.server.close)
    waits = []

    def leave(request: object) -> ControlAnswer:
        closing.start()
        closing.join(0.2)
        waits.append(closing.is_alive())
        return ControlAnswer(ok=True, text="the daemon ends")

    main_thread.answer = leave
    assert ask(tmp_path, ControlCommand.QUIT).text == "the daemon ends"
    closing.join()
    assert waits == [True], "the process could end before the client has its answer"
    with pytest.raises(NoDaemon):
        ask(tmp_path, ControlCommand.STATUS)


def test_a_folder_that_is_deleted_and_made_again_gets_its_socket_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lichessbot.control.server._LOOKS_EVERY_S", 0.1)
    folder = tmp_path / "state"
    folder.mkdir()
    with closing(FakeMainThread(folder)):
        shutil.rmtree(folder)
        folder.mkdir()  # as the records do
        answer, deadline = None, time.monotonic() + PATIENCE_S
        while answer is None:
            assert time.monotonic() < deadline
            with suppress(NoDaemon):
                answer = ask(folder, ControlCommand.PAUSE)
        assert answer == ControlAnswer(ok=True, text="did pause")
        assert stat.S_IMODE((folder / SOCKET_NAME).stat().st_mode) == 0o600
    assert not (folder / SOCKET_NAME).exists()
