"""Connecting to hosts with several addresses, one of which may be dead."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import requests

from lichessbot.lichess.connecting import Names, connect
from lichessbot.lichess.http import configured

NAME = "host.test"
_REAL = socket.getaddrinfo
Address = tuple[str, int]


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def living(opened: ExitStack) -> Address:
    return opened.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()  # type: ignore[no-any-return]


@pytest.fixture
def silent(opened: ExitStack) -> Address:
    """An address whose system drops what asks for a connection, as its queue is full."""
    address: Address = opened.enter_context(socket.create_server(("127.0.0.2", 0), backlog=0)).getsockname()
    for _ in range(4):
        waiting = opened.enter_context(socket.socket())
        waiting.setblocking(False)
        waiting.connect_ex(address)
    with socket.socket() as another:
        another.settimeout(0.5)
        with pytest.raises(TimeoutError):
            another.connect(address)
    return address


@pytest.fixture
def refusing() -> Address:
    with socket.create_server(("127.0.0.3", 0)) as closed:
        address: Address = closed.getsockname()
    return address


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Returns a function that gives a name these addresses."""

    def name(*addresses: Address) -> None:
        def found(host: str, *args: Any, **kwargs: Any) -> Any:
            if host != NAME:
                return _REAL(host, *args, **kwargs)
            return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", it) for it in addresses]

        monkeypatch.setattr(socket, "getaddrinfo", found)

    return name


def test_an_address_that_is_silent_does_not_use_up_the_time_of_the_next(
    named: Callable[..., None], silent: Address, living: Address
) -> None:
    named(silent, living)
    with connect(NAME, 80, 60.0) as connection:
        assert connection.getpeername() == living
        assert connection.gettimeout() == 60.0


def test_the_first_address_is_used_if_it_answers(
    named: Callable[..., None], silent: Address, living: Address
) -> None:
    named(living, silent)
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    with connect(NAME, 80, 60.0, options) as connection:
        assert connection.getpeername() == living
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_address_that_refuses_is_followed_by_the_next(
    named: Callable[..., None], refusing: Address, living: Address
) -> None:
    named(refusing, refusing, living)
    with connect(NAME, 80, 60.0) as connection:
        assert connection.getpeername() == living


def test_the_last_refusal_is_raised(named: Callable[..., None], refusing: Address) -> None:
    named(refusing, refusing)
    with pytest.raises(ConnectionRefusedError):
        connect(NAME, 80, 60.0)


def test_no_more_than_the_given_time_is_spent(named: Callable[..., None], silent: Address) -> None:
    named(silent, silent, silent)
    began_at = time.monotonic()
    with pytest.raises(TimeoutError):
        connect(NAME, 80, 0.4)
    assert time.monotonic() - began_at >= 0.4


def test_a_name_server_that_hangs_does_not_delay_a_host_that_is_known(
    monkeypatch: pytest.MonkeyPatch, living: Address
) -> None:
    names, answered, lookups = Names(), threading.Event(), []
    found = [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", living)]

    def look_up(*_: Any) -> Any:
        lookups.append(1)
        assert len(lookups) == 1 or answered.wait(60.0)
        return found

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert names.addresses(NAME, 80, 60.0) == found
    assert [names.addresses(NAME, 80, 60.0) for _ in range(3)] == [found] * 3
    assert len(lookups) == 2, "one at a time"
    answered.set()


def test_a_name_server_that_fails_does_not_lose_a_host_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    names, found = Names(), [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", 80))]
    answers: list[Any] = [found, socket.gaierror(socket.EAI_AGAIN, "no name server"), found[:0], found * 2]

    def look_up(*_: Any) -> Any:
        if isinstance(answer := answers.pop(0), OSError):
            raise answer
        return answer

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert [names.addresses(NAME, 80, 60.0) for _ in range(3)] == [found] * 3
    assert names.addresses(NAME, 80, 60.0) == found * 2, "the newest addresses"


def test_a_lookup_of_an_unknown_host_takes_no_longer_than_the_connection_may(
    monkeypatch: pytest.MonkeyPatch, opened: ExitStack
) -> None:
    answered = threading.Event()
    opened.callback(answered.set)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: answered.wait(60.0))
    with pytest.raises(socket.gaierror):
        Names().addresses(NAME, 80, 0.2)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_sessions_of_the_daemon_connect_so(
    named: Callable[..., None], silent: Address, opened: ExitStack, scheme: str
) -> None:
    listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
    named(silent, listener.getsockname())
    server = threading.Thread(target=lambda: listener.accept()[0].close())
    server.start()
    began_at = time.monotonic()
    with configured(requests.Session(), None) as session, pytest.raises(requests.ConnectionError):
        session.get(f"{scheme}://{NAME}", timeout=80.0)
    server.join()
    assert time.monotonic() - began_at < 40.0, "urllib3 alone waits 80 seconds for the first address"


def test_a_name_that_no_host_can_have_is_a_failed_connection() -> None:
    with configured(requests.Session(), None) as session, pytest.raises(requests.ConnectionError):
        session.get(f"http://{'x' * 64}.test", timeout=60.0)
