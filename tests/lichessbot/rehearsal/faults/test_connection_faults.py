"""Connections that break, on real sockets: the proxy before the embedded Lichess, and before anything else."""

import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import pytest
import requests

from lichessbot.rehearsal.faults.catalogue import Fault
from lichessbot.rehearsal.faults.connection_faults import Proxy
from lichessbot.rehearsal.faults.schedule import FaultPlan, FaultSchedule
from lichessbot.rehearsal.faults.traffic import ARRIVED_HEADER, Place, Traffic
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client, play, start_game
from tests.lichessbot.rehearsal.faults.injection import CERTAIN, E4_E5, inject_for, placed
from tests.patience import PATIENCE_S

BUSY_S = 0.6
MID_STREAM_SEED = 2         # deals `cut` to the third piece of a game stream
REFUSE_FOR = Proxy._refuse_for
STREAM_PATHS = {Place.EVENT_STREAM: "/api/stream/event", Place.GAME_STREAM: "/api/bot/game/stream/{}"}


@contextmanager
def proxied(
    lichess: RehearsalServer,
    client: Client,
    fault: Fault,
    place: Place,
    *,
    game_id: str | None = None,
    on_loss: Callable[[Traffic], None] = lambda traffic: None,
) -> Iterator[Client]:
    """The same account, by way of the proxy. The fault strikes always, or in mid-stream of the game named."""
    schedule = FaultSchedule(FaultPlan(placed(fault, place), CERTAIN if game_id is None else None, MID_STREAM_SEED))
    if game_id is not None:
        schedule.enter(game_id, 1)
    proxy = Proxy(lichess.port, schedule, lichess.site.timing, on_loss)
    lichess.call(proxy.open)
    yield Client(proxy.url, client.token, client.name)
    lichess.wait_for(proxy.close())


@pytest.fixture
def refusals(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Proxy, float]]:
    """The proxies that refuse connections, each with how long it means to; it begins to count once a test says so."""
    begun: list[tuple[Proxy, float]] = []

    def refuse(proxy: Proxy, pause_s: float) -> None:
        REFUSE_FOR(proxy, 10 * PATIENCE_S)
        begun.append((proxy, pause_s))

    monkeypatch.setattr(Proxy, "_refuse_for", refuse)
    return begun


def read_to_the_end(response: requests.Response) -> tuple[bytes, type[Exception] | None]:
    """What came of a stream, and how its connection ended."""
    read = b""
    try:
        for data in response.iter_content(1):
            read += data
    except requests.RequestException as error:
        return read, type(error)
    return read, None


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.CLOSED, Fault.CUT], ids=lambda fault: fault.label)
@pytest.mark.parametrize("place", STREAM_PATHS, ids=lambda place: place.value)
def test_broken_stream_is_no_clean_end(
    fault: Fault, place: Place, lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    path = STREAM_PATHS[place].format(start_game(ada, bob))
    broken = pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError))
    with proxied(lichess, ada, fault, place) as client, broken:
        client.get(path)


def test_stream_can_break_in_the_middle_of_a_line(lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    with proxied(lichess, ada, Fault.CUT, Place.GAME_STREAM, game_id=game_id) as client:
        response = client.get(STREAM_PATHS[Place.GAME_STREAM].format(game_id), stream=True)
        play(game_id, E4_E5, ada, bob)
        play(game_id, "g1f3 b8c6", ada, bob)
        read, error = read_to_the_end(response)
    assert error is requests.exceptions.ChunkedEncodingError
    assert read.startswith(b'{"type":"gameFull"')
    assert not read.endswith(b"\n")


def test_stalled_stream_is_silent_and_stays_open(
    lichess: RehearsalServer, ada: Client, bob: Client, timing: Timing
) -> None:
    start_game(ada, bob)
    with proxied(lichess, ada, Fault.STALL, Place.EVENT_STREAM) as client:
        address = urlsplit(client.url)
        with socket.create_connection((address.hostname, address.port)) as raw:
            head = f"GET /api/stream/event HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ada.token}\r\n\r\n"
            raw.sendall(head.encode())
            raw.settimeout(3 * timing.tick_s)
            with pytest.raises(TimeoutError):
                raw.recv(1)


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.CLOSED], ids=lambda fault: fault.label)
def test_broken_command_was_not_carried_out(
    fault: Fault, lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    game_id = start_game(ada, bob)
    with proxied(lichess, ada, fault, Place.MOVE) as client, pytest.raises(requests.ConnectionError):
        client.command(game_id, "move/e2e4")
    assert ada.game(game_id).next("gameFull")["state"]["moves"] == ""


def test_command_whose_answer_is_lost_was_carried_out(lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    with proxied(lichess, ada, Fault.ANSWER_LOST, Place.MOVE) as client, pytest.raises(requests.ConnectionError):
        client.command(game_id, "move/e2e4")
    assert ada.game(game_id).next("gameFull")["state"]["moves"] == "e2e4"


@pytest.mark.parametrize("lost", [True, False])
def test_a_pause_does_not_bind_a_client_whose_answer_was_lost(
    lost: bool, lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.LIMIT_JSON, Place.CHAT))
    game_id = start_game(ada, bob)
    elsewhere = Place.CHAT if lost else Place.DECLINE
    with proxied(lichess, ada, Fault.ANSWER_LOST, elsewhere, on_loss=it.http_faults.checks.answer_lost) as client:
        try:
            assert client.command(game_id, "chat").status_code == 429
        except requests.ConnectionError:
            assert lost
        time.sleep(0.4)
        client.get("/api/account")
    assert bool(it.offences) is not lost


@pytest.mark.parametrize(
    ("fault", "losses"), [(Fault.ANSWER_LOST, 1), (Fault.TRICKLE, 1), (Fault.REFUSED, 0), (Fault.RESET, 0)]
)
def test_an_answer_counts_as_lost_once_if_it_does_not_arrive_or_arrives_late(
    fault: Fault, losses: int, lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    game_id = start_game(ada, bob)
    lost: list[Traffic] = []
    through_proxy = proxied(lichess, ada, fault, Place.MOVE, on_loss=lost.append)
    with through_proxy as client, suppress(requests.ConnectionError):
        client.command(game_id, "move/e2e4")
    assert lost == [Traffic(Place.MOVE, game_id, "e2e4")] * losses


def test_answer_is_lost_to_a_client_that_hung_up_while_the_event_loop_was_busy(lichess: RehearsalServer) -> None:
    lost: list[Traffic] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        proxy = Proxy(port, FaultSchedule(FaultPlan()), lichess.site.timing, lost.append)
        lichess.call(proxy.open)
        client = socket.create_connection(("127.0.0.1", urlsplit(proxy.url).port or 0))
        server, _ = listener.accept()
        with server:
            client.sendall(b"POST /api/bot/game/abcdefgh/move/e2e4 HTTP/1.1\r\n\r\n")
            server.recv(1000)

            def answer_and_hang_up() -> None:
                server.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                client.close()

            lichess.call(answer_and_hang_up)
            assert server.recv(1) == b""
        lichess.wait_for(proxy.close())
    assert lost == [Traffic(Place.MOVE, "abcdefgh", "e2e4")]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when data came")
def test_a_request_tells_when_it_arrived_even_if_the_event_loop_was_busy_then(lichess: RehearsalServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        proxy = Proxy(port, FaultSchedule(FaultPlan()), lichess.site.timing)
        lichess.call(proxy.open)
        with socket.create_connection(("127.0.0.1", urlsplit(proxy.url).port or 0)) as client:

            def send_and_be_busy() -> int:
                client.sendall(b"GET /api/account HTTP/1.1\r\nHost: x\r\n\r\n")
                sent_ms = monotonic_ms()
                time.sleep(BUSY_S)
                return sent_ms

            sent_ms = lichess.call(send_and_be_busy)
            server, _ = listener.accept()
            with server:
                request = server.recv(1000).decode()
        lichess.wait_for(proxy.close())
    told = re.fullmatch(rf"GET /api/account HTTP/1.1\r\n{ARRIVED_HEADER}: (\d+)\r\nHost: x\r\n\r\n", request)
    assert abs(int(told[1]) - sent_ms) < 1000 * BUSY_S / 2


def test_trickling_answer_is_whole_in_the_end(lichess: RehearsalServer, ada: Client, timing: Timing) -> None:
    began_s = time.monotonic()
    with proxied(lichess, ada, Fault.TRICKLE, Place.ACCOUNT) as client:
        assert client.get("/api/account").json()["id"] == ada.id
    assert time.monotonic() - began_s >= timing.slow_headers_s


def test_restart_ends_everything_refuses_for_a_while_and_replays(
    lichess: RehearsalServer, ada: Client, bob: Client, timing: Timing, refusals: list[tuple[Proxy, float]]
) -> None:
    game_id = start_game(ada, bob)
    with proxied(lichess, ada, Fault.RESTART, Place.MOVE) as client:
        events = client.events()
        assert events.next("gameStart")["game"]["id"] == game_id
        with pytest.raises(requests.ConnectionError):
            client.command(game_id, "move/e2e4")
        events.rest()
        assert not events.ended_cleanly
        with pytest.raises(requests.ConnectionError, match="refused"):
            client.get("/api/account")
        ((proxy, pause_s),) = refusals
        assert pause_s == timing.restart_s
        before_s = time.monotonic()
        lichess.call(lambda: REFUSE_FOR(proxy, pause_s))
        assert timing.restart_s - 0.01 < wait_until_up(client) - before_s < timing.restart_s + 60.0
        assert client.events().next("gameStart")["game"]["id"] == game_id


def test_a_change_of_networks_leaves_only_new_connections(
    lichess: RehearsalServer, ada: Client, bob: Client, timing: Timing
) -> None:
    game_id = start_game(ada, bob)
    lost: list[Traffic] = []
    with proxied(lichess, ada, Fault.NETWORK_CHANGED, Place.MOVE, on_loss=lost.append) as client:
        address = urlsplit(client.url)
        with socket.create_connection((address.hostname, address.port)) as kept:
            head = f"HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ada.token}\r\n"
            kept.sendall(f"GET /api/account {head}\r\n".encode())
            assert kept.recv(1) == b"H"
            stream = client.game(game_id)
            stream.next("gameFull")
            with suppress(requests.RequestException):           # perhaps half of the answer has come
                client.do(game_id, "move/e2e4")
            kept.sendall(f"POST /api/bot/game/{game_id}/abort {head}Content-Length: 0\r\n\r\n".encode())
            kept.settimeout(3 * timing.tick_s)
            with pytest.raises(TimeoutError):
                b"".join(iter(lambda: kept.recv(1000), b""))
        assert client.game(game_id).next("gameFull")["state"]["moves"] == "e2e4"
    assert Traffic(Place.GAME_STREAM, game_id) in lost


def test_refusal_of_connections_leaves_those_that_stand(
    lichess: RehearsalServer, ada: Client, bob: Client, timing: Timing, refusals: list[tuple[Proxy, float]]
) -> None:
    game_id = start_game(ada, bob)
    with proxied(lichess, ada, Fault.REFUSED, Place.MOVE) as client:
        stream = client.game(game_id)
        stream.next("gameFull")
        client.do(game_id, "move/e2e4")
        assert stream.next("gameState")["moves"] == "e2e4"
        with pytest.raises(requests.ConnectionError, match="refused"):
            client.events()
        ((proxy, pause_s),) = refusals
        assert pause_s == timing.outage_s
        lichess.call(lambda: REFUSE_FOR(proxy, pause_s))
        wait_until_up(client)


def test_no_other_program_gets_the_port_while_connections_are_refused(lichess: RehearsalServer) -> None:
    proxy = Proxy(9, FaultSchedule(FaultPlan()), lichess.site.timing)
    lichess.call(proxy.open)
    lichess.call(lambda: proxy._refuse_for(60.0))
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", urlsplit(proxy.url).port or 0))
    lichess.wait_for(proxy.close())


def wait_until_up(client: Client) -> float:
    """When connections are accepted again, on the monotonic clock."""
    address = urlsplit(client.url)
    while True:
        try:
            socket.create_connection((address.hostname, address.port), PATIENCE_S).close()
        except ConnectionRefusedError:
            time.sleep(0.01)
        else:
            return time.monotonic()


def test_proxy_can_stand_before_any_server(lichess: RehearsalServer) -> None:
    """What it does not understand it passes on."""
    with echoing() as port:
        proxy = Proxy(port, FaultSchedule(FaultPlan()), lichess.site.timing)
        lichess.call(proxy.open)
        with socket.create_connection(("127.0.0.1", urlsplit(proxy.url).port or 0)) as raw:
            for words in (b"EHLO example\r\n", b"GET \xff\r\n", b"\x00\x01"):
                raw.sendall(words)
                assert raw.recv(100) == words
        lichess.wait_for(proxy.close())


def test_a_server_that_is_down_closes_the_connection(lichess: RehearsalServer) -> None:
    with socket.socket() as down:
        down.bind(("127.0.0.1", 0))     # it does not listen, and no other program gets the port
        proxy = Proxy(down.getsockname()[1], FaultSchedule(FaultPlan()), lichess.site.timing)
        lichess.call(proxy.open)
        with socket.create_connection(("127.0.0.1", urlsplit(proxy.url).port or 0)) as raw:
            assert raw.recv(1) == b""
        lichess.wait_for(proxy.close())


@contextmanager
def echoing() -> Iterator[int]:
    """The port of a server that echoes to one client."""

    def echo() -> None:
        connection, _ = listener.accept()
        with connection:
            while data := connection.recv(1000):
                connection.sendall(data)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=echo)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()
