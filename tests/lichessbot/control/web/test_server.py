"""The web server on a real socket: what it answers, what it refuses, and clients that are rude."""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from lichessbot import recorded_games
from lichessbot.control.status import Activity, ChatLine, Status, StreamStatus
from lichessbot.control.web import server, snapshots
from lichessbot.control.web.connections import MOST_CONNECTIONS
from lichessbot.control.web.guard import SECURITY_HEADERS
from lichessbot.control.web.server import WebServer
from lichessbot.control.web.site import Site
from lichessbot.recorded_games import RecordedGames
from lichessbot.storage.database import FILE_NAME
from lichessbot.storage.statistics import aggregate
from tests.lichessbot.cli.records.test_games import fill
from tests.lichessbot.control.status_of import GAME, STATUS
from tests.lichessbot.control.web.conftest import Daemon
from tests.patience import PATIENCE_S, until

HOSTILE = "<script>alert(1)</script>\n\ndata: x\r\u202e\x1b[2J"


def test_the_status_is_the_same_tree_as_on_the_socket_with_texts_as_they_came(daemon: Daemon) -> None:
    game = replace(GAME, white=replace(GAME.white, name=HOSTILE), chat=(ChatLine(HOSTILE, "\ud800", "player"),))
    daemon.status = replace(STATUS, games=(game,))
    reply = daemon.get("/api/status")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert reply.json == json.loads(json.dumps(asdict(daemon.status)))
    with daemon.follow() as events:
        assert next(events) == reply.json, "and no text ends a line of the stream"


def test_the_headers_of_the_events_come_without_events(daemon: Daemon) -> None:
    reply = daemon.get("/api/events", "HEAD")
    assert (reply.status, reply.headers["content-type"]) == (200, "text/event-stream")
    assert reply.headers["x-accel-buffering"] == "no", "or nginx would collect events before it passes them on"
    assert daemon.get("/healthz").status == 200
    assert daemon.asked == 0


def test_every_answer_has_the_headers_that_protect_its_reader(daemon: Daemon) -> None:
    (daemon.files / "operator" / "index.html").write_text("page")
    for path in ("/", "/api/status", "/healthz", "/metrics", "/nothing", "/api/games?limit=x", "/static/none.js"):
        for reply in (daemon.get(path), daemon.get(path, "HEAD"), daemon.get(path, "POST")):
            assert {name: reply.headers.get(name.lower()) for name in SECURITY_HEADERS} == SECURITY_HEADERS
            assert "server" not in reply.headers
    foreign = SECURITY_HEADERS["Cross-Origin-Resource-Policy"]
    assert foreign == "same-origin", "or a page of another site loads our icon and knows that a bot runs here"
    assert "unsafe" not in SECURITY_HEADERS["Content-Security-Policy"]
    assert "http" not in SECURITY_HEADERS["Content-Security-Policy"]


def test_the_page_is_checked_by_its_tag(daemon: Daemon) -> None:
    assert daemon.get("/").status == 404
    (daemon.files / "operator" / "index.html").write_text("page")
    (daemon.files / "operator" / "main.js").write_text("code")
    first = daemon.get("/")
    assert (first.status, first.text, first.headers["content-type"]) == (200, "page", "text/html; charset=utf-8")
    etag = first.headers["etag"]
    for tags in (etag, f'"of-another-version", {etag}', f"W/{etag}"):  # weak, as a proxy makes it that compresses
        known = daemon.get("/", If_None_Match=tags)
        assert (known.status, known.body) == (304, b"")
    assert daemon.get("/static/operator/main.js").text == "code"
    head = daemon.get("/static/operator/main.js", "HEAD")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", "4")
    for path in ("/static/../conftest.py", "/static/%2e%2e/state/lichessbot.sqlite", "/static//etc/passwd", "/static/"):
        assert daemon.get(path).status == 404


def test_health_is_of_the_process_and_readiness_of_the_stream(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "EVERY_S", 0.0)
    assert (daemon.get("/healthz").status, daemon.asked) == (200, 0)
    assert daemon.get("/readyz").status == 200
    for events in (None, StreamStatus(is_open=False, open_for_s=None, silent_for_s=4.0)):
        daemon.status = replace(STATUS, connection=replace(STATUS.connection, events=events, summary="connecting"))
        reply = daemon.get("/readyz")
        assert (reply.status, reply.text) == (503, "the event stream is not open: connecting\n")
    daemon.status = replace(STATUS, activity=Activity.PAUSED)
    reply = daemon.get("/readyz")
    assert (reply.status, reply.text) == (503, "the daemon is paused, and takes no new games\n")


def test_a_bug_costs_one_answer_and_is_logged(
    daemon: Daemon, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lichessbot.control.web.routes.metrics", lambda status, pages: 1 // 0)
    reply = daemon.get("/metrics")
    assert (reply.status, reply.text) == (500, "a bug in the daemon: see its log\n")
    assert daemon.get("/api/status").status == 200
    (crash,) = [record for record in caplog.records if record.exc_info]
    assert crash.message.startswith("web.crashed")


def test_a_bug_outside_of_an_answer_is_logged_but_a_failing_system_is_no_bug(
    daemon: Daemon, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(error: Exception) -> None:
        raise error

    assert daemon.get("/healthz").status == 200  # the loop runs
    for error in (OSError("too many open files"), ZeroDivisionError("a bug")):
        daemon.web._service._loop.call_soon_threadsafe(fail, error)
    until(lambda: "ZeroDivisionError: a bug" in caplog.text)
    (crash,) = caplog.records
    assert crash.message.startswith("web.crashed")


def test_a_daemon_that_is_too_busy_answers_so(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lichessbot.control.web.snapshots.PATIENCE_S", 0.2)
    daemon.describe = lambda: None
    for path in ("/readyz", "/api/status", "/metrics"):
        assert daemon.get(path).status == 503
    assert daemon.get("/healthz").status == 200
    with daemon.follow() as events:
        assert next(events) is None


def test_a_password_opens_the_page(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path, "0.0.0.0", "sesame")
    with closing(daemon):
        assert daemon.web.address.startswith("0.0.0.0:")
        daemon.web.address = daemon.web.address.replace("0.0.0.0", "127.0.0.1")
        for path in ("/", "/healthz", "/api/events", "/static/x.js"):
            assert daemon.get(path).status == 401
        assert daemon.get("/healthz", Authorization="Basic eDpzZXNhbWU=", Host="bot.example").status == 200
        began = time.monotonic()
        for pretended in ("192.0.2.1", "192.0.2.2"):
            wrong = daemon.get("/healthz", Authorization="Basic eDpzZXNhbQ==", X_Forwarded_For=pretended)
            assert wrong.status == 401
        assert time.monotonic() - began >= 1.0, "nobody escapes the wait by another address"


# The records


def test_the_history_is_read_from_the_records(daemon: Daemon, tmp_path: Path) -> None:
    fill(tmp_path)
    assert [it["id"] for it in daemon.get("/api/games?limit=2&speed=").json["games"]] == ["game0003", "game0002"]
    assert len(daemon.get("/api/games/game0003").json["moves"]) == 6
    pgn = daemon.get("/api/games/game0003.pgn")
    assert (pgn.headers["content-type"], pgn.text.count("[%clk")) == ("application/x-chess-pgn", 6)
    assert daemon.get("/api/statistics").json["score"] == {"won": 2, "drawn": 0, "lost": 1}
    assert daemon.get("/api/games/game0003", "HEAD").body == b""
    assert daemon.asked == 0


def test_a_wrong_question_about_the_records_is_answered_in_a_line(daemon: Daemon, tmp_path: Path) -> None:
    reply = daemon.get("/api/games?speed=%1b[2J%e2%80%ae")
    assert (reply.status, reply.text.isascii(), reply.text.count("\n")) == (400, True, 1)
    paths = ["/api/games/none0000", "/api/games/none0000.pgn", "/api/games/a/b", "/api/games/.pgn", "/api/games/"]
    for path in (*paths, "/api/games/%e2%80%ae"):
        reply = daemon.get(path)
        assert (reply.status, reply.text.isascii(), reply.text.count("\n")) == (404, True, 1)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / FILE_NAME).write_bytes(b"x" * 5000)
    assert daemon.get("/api/statistics").status == 503


def test_many_who_ask_for_statistics_have_them_counted_once(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    monkeypatch.setattr(recorded_games, "aggregate", lambda games: counted.append(1) or aggregate(games))
    threads = [threading.Thread(target=daemon.get, args=("/api/statistics",)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(counted) == 1


def test_games_are_listed_while_statistics_are_counted(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def statistics(records: RecordedGames) -> bytes:
        begun.set()
        assert goes_on.wait(PATIENCE_S)
        return b"{}"

    monkeypatch.setattr(RecordedGames, "statistics", statistics)
    asking = threading.Thread(target=daemon.get, args=("/api/statistics",))
    asking.start()
    try:
        assert begun.wait(PATIENCE_S)
        assert daemon.get("/api/games").status == 200
    finally:
        goes_on.set()
        asking.join(PATIENCE_S)


# Rude clients


@pytest.fixture
def set_patience(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, float], None]:
    """Return a function that sets how long later connections are waited for: for a REQUEST or READING."""

    def set_to(name: str, seconds: float) -> None:
        monkeypatch.setattr(f"lichessbot.control.web.connections.{name}_PATIENCE_S", seconds)

    set_to("REQUEST", PATIENCE_S)
    set_to("READING", PATIENCE_S)
    return set_to


@pytest.fixture
def raw(daemon: Daemon) -> Iterator[Any]:
    """Return a function that opens a connection and sends these bytes."""
    with ExitStack() as stack:
        host, _, port = (daemon.web.address or "").partition(":")

        def send(data: bytes) -> socket.socket:
            connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=PATIENCE_S))
            with suppress(ConnectionError):  # the server may end it before it has read all
                connection.sendall(data)
            return connection

        yield send


def ended(connection: socket.socket) -> bool:
    """Whether the server ends the connection, after whatever it answers."""
    deadline = time.monotonic() + PATIENCE_S
    try:
        while connection.recv(1 << 16):
            assert time.monotonic() < deadline, "it goes on and on"
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize(
    "sent",
    [
        b"", b"GET", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"\x16\x03\x01\x02\x00\x01" * 20,
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /he",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000,
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc",
    ],
)  # fmt: skip
def test_a_client_without_a_complete_request_is_cut_off(
    daemon: Daemon, raw: Any, sent: bytes, set_patience: Callable[[str, float], None], caplog: pytest.LogCaptureFixture
) -> None:
    set_patience("REQUEST", 0.5)
    assert ended(raw(sent))
    set_patience("REQUEST", PATIENCE_S)
    assert daemon.get("/healthz").status == 200
    assert not caplog.records, "what strangers send is no news"


def test_a_connection_is_kept_for_the_next_request_but_not_for_half_of_one(
    raw: Any, set_patience: Callable[[str, float], None]
) -> None:
    asking = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connection = raw(asking)
    with connection.makefile("rb") as heard:
        assert next(line for line in heard if line == b"ok\n")
        set_patience("REQUEST", 0.5)  # from the end of the next answer on
        connection.sendall(asking)
        assert next(line for line in heard if line == b"ok\n")
    connection.sendall(asking[:-5])
    assert ended(connection)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    ],
)  # fmt: skip
def test_nothing_after_a_refused_request_is_taken_for_another_one(raw: Any, head: bytes) -> None:
    connection = raw(head + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    heard = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert heard.count(b"HTTP/1.1 ") == 1
    assert heard.startswith(b"HTTP/1.1 4")


def test_a_client_that_does_not_read_costs_only_itself(
    daemon: Daemon, raw: Any, set_patience: Callable[[str, float], None]
) -> None:
    set_patience("READING", 0.5)
    game = replace(GAME, chat=(ChatLine("x", "y" * 30_000_000, "player"),))
    daemon.status = replace(STATUS, games=(game,))
    lazy = raw(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    head = b""
    while b"event: status" not in head:
        head += lazy.recv(100)
    daemon.status = STATUS
    until(lambda: "lichessbot_pages_open 0" in daemon.get("/metrics").text)
    assert ended(lazy)


def test_nothing_is_written_for_a_client_that_does_not_read(
    daemon: Daemon, raw: Any, set_patience: Callable[[str, float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Status] = []
    monkeypatch.setattr(snapshots, "in_json", lambda status: written.append(status) or b"x" * 30_000_000)
    monkeypatch.setattr(snapshots, "EVERY_S", 0.01)
    daemon.describe = lambda: replace(STATUS, process_id=daemon.asked)  # each is news
    raw(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    until(lambda: daemon.asked >= 30)
    assert len(written) <= 2, "the second one waits"


def test_a_client_that_reads_again_is_written_to_again(
    daemon: Daemon, raw: Any, set_patience: Callable[[str, float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_patience("REQUEST", 0.5)
    set_patience("READING", 0.5)
    monkeypatch.setattr(snapshots, "EVERY_S", 0.05)
    # A busy machine may keep a client from asking or reading for so long.
    until(lambda: _reads_again(daemon, raw))


def _reads_again(daemon: Daemon, raw: Any) -> bool:
    """Whether a client that has asked, and was waited for, hears of news later than it would have been cut off."""
    daemon.status = replace(STATUS, games=(replace(GAME, chat=(ChatLine("x", "y" * 30_000_000, "player"),)),))
    client = raw(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    with client.makefile("rb") as heard, suppress(ConnectionError, StopIteration):
        next(line for line in heard if line == b"event: status\n")
        daemon.status = STATUS
        next(line for line in heard if line == b"event: status\n")
        time.sleep(0.8)
        daemon.status = replace(STATUS, process_id=4712)
        return any(b'"process_id":4712' in line for line in heard if line.startswith(b"data: "))
    return False


def test_more_clients_than_the_most_are_sent_away_and_come_back(daemon: Daemon, raw: Any) -> None:
    asking = b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    began = time.monotonic()
    pages = [raw(asking) for _ in range(MOST_CONNECTIONS)]
    for page in pages:
        assert page.recv(12) == b"HTTP/1.1 200"
    assert ended(raw(asking))
    assert daemon.asked <= 2 + (time.monotonic() - began) / snapshots.EVERY_S
    pages[0].close()
    until(lambda: _is_answered(raw))


def _is_answered(raw: Any) -> bool:
    try:
        return bool(raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").recv(12) == b"HTTP/1.1 200")
    except ConnectionError:
        return False


# Begin and end


def test_closing_ends_the_streams_at_once(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_CLOSE_WAITS_AT_MOST_S", 60.0)
    with daemon.follow() as first, daemon.follow() as second:
        assert next(first)
        assert next(second)
        began = time.monotonic()
        daemon.web.close()
        assert time.monotonic() - began < 20.0
        assert list(first) == list(second) == []
    assert not daemon.web._thread.is_alive()


def begin_and_end(web: WebServer) -> None:
    web.load()
    web.start(lambda request: None)
    web.close()


def test_the_page_may_be_at_an_ipv6_address(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        pytest.skip(f"this machine has no IPv6: {error}")
    caplog.set_level(logging.INFO)
    daemon = Daemon(tmp_path, "::1")
    with closing(daemon):
        assert daemon.web.address.startswith("[::1]:")
        assert f"web.open url=http://{daemon.web.address}" in caplog.text
        assert daemon.get("/healthz").status == 200


def test_an_address_in_use_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        web = WebServer(Site("localhost", port, RecordedGames(tmp_path), tmp_path))
        begin_and_end(web)
    (record,) = caplog.records
    assert (record.levelno, web.address) == (logging.WARNING, None)
    assert f'web.unavailable address=localhost:{port} error="Address already in use"' in record.message


def test_without_a_thread_the_page_is_given_up(
    tmp_path: Path, no_thread_once: None, caplog: pytest.LogCaptureFixture
) -> None:
    web = WebServer(Site("127.0.0.1", 0, RecordedGames(tmp_path), tmp_path))
    begin_and_end(web)
    (record,) = caplog.records
    assert (record.levelno, web.address) == (logging.WARNING, None)
    assert "can't start new thread" in record.message


def test_a_server_that_cannot_be_imported_or_dies_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site("127.0.0.1", 0, RecordedGames(tmp_path), tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("lichessbot.control.web.service.Service.__init__", lambda self, site: 1 // 0)
        begin_and_end(WebServer(site))
    web = WebServer(site)
    web.load()
    with monkeypatch.context() as patch:
        patch.setattr("lichessbot.control.web.service.application", lambda site, snapshots: 1 // 0)
        web.start(lambda request: None)
        for thread in threading.enumerate():
            if thread.name == "web":
                thread.join(PATIENCE_S)
        web.close()
    assert [record.message.split(" ")[0] for record in caplog.records if record.exc_info] == ["web.crashed"] * 2
