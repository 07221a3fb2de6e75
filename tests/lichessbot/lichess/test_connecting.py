"""Connecting to hosts with several addresses, one of which may be dead."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import requests

from lichessbot.lichess import connecting
from lichessbot.lichess.connecting import Names, connect
from lichessbot.lichess.http import configured
from tests.patience import until

NAME = "host.test"
_REAL = socket.getaddrinfo
Address = tuple[str, int]
UNREACHABLE: Address = ("255.255.255.255", 80)
"""No connection is possible: the system says so at once, as for IPv6 on a host without it."""


@pytest.fixture(autouse=True)
def no_names_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_NAMES", Names())


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
        def look_up(host: str, *args: Any, **kwargs: Any) -> Any:
            if host != NAME:
                return _REAL(host, *args, **kwargs)
            return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", it) for it in addresses]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)

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


def test_an_address_that_refuses_is_followed_by_the_next_at_once(
    named: Callable[..., None], refusing: Address, living: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "_HEAD_START_S", 60.0)
    named(refusing, UNREACHABLE, refusing, living)
    with connect(NAME, 80, 30.0) as connection:
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
    assert 0.4 <= time.monotonic() - began_at < 30.0


class NameServer:
    """Answers each lookup with the next of some answers: addresses, or an error; it waits for an event before them."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def look_up(self, *_: Any) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, threading.Event):
            assert answer.wait(60.0)
            answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def found(host: str) -> list[Any]:
    return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, 80))]


OLD, NEW = found("127.0.0.1"), found("127.0.0.2")


def asked(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> NameServer:
    server = NameServer(*answers)
    monkeypatch.setattr(socket, "getaddrinfo", server.look_up)
    return server


def until_new(names: Names) -> None:
    until(lambda: names.addresses(NAME, 80) == NEW)


def test_a_name_server_that_hangs_does_not_delay_a_host_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_LOOKUP_S", 60.0)
    names, resumes, began_at = Names(), threading.Event(), time.monotonic()
    server = asked(monkeypatch, OLD, resumes, *[NEW] * 1000)
    assert names.addresses(NAME, 80) == OLD
    assert [names.addresses(NAME, 80) for _ in range(3)] == [OLD] * 3
    assert time.monotonic() - began_at < 40.0
    assert len(server.answers) >= 1000, "one lookup at a time"
    assert f"lookup-{NAME}" in {it.name for it in threading.enumerate()}
    resumes.set()
    until_new(names)


@pytest.mark.parametrize("failure", [socket.gaierror(socket.EAI_AGAIN, "no name server"), []])
def test_a_name_server_that_fails_does_not_lose_a_host_that_is_known(
    monkeypatch: pytest.MonkeyPatch, failure: Any
) -> None:
    names = Names()
    asked(monkeypatch, OLD, failure, failure, *[NEW] * 1000)
    assert [names.addresses(NAME, 80) for _ in range(3)] == [OLD] * 3
    until_new(names)


def test_a_slow_name_server_is_waited_for_if_the_host_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_LOOKUP_S", 60.0)
    resumes = threading.Event()
    asked(monkeypatch, resumes, NEW)
    threading.Timer(0.5, resumes.set).start()
    assert Names().addresses(NAME, 80) == NEW


def test_a_lookup_that_takes_too_long_helps_the_next_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    names, resumes = Names(), threading.Event()
    monkeypatch.setattr(connecting, "_LOOKUP_S", 0.1)
    server = asked(monkeypatch, resumes, NEW, threading.Event())
    with pytest.raises(socket.gaierror):
        names.addresses(NAME, 80)
    hanging = server.answers.pop()
    resumes.set()
    until(lambda: not server.answers)
    monkeypatch.setattr(connecting, "_LOOKUP_S", 60.0)
    server.answers += [hanging, NEW]
    until_new(names)
    hanging.set()


def test_a_host_is_looked_up_here_if_a_thread_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    asked(monkeypatch, NEW)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert Names().addresses(NAME, 80) == NEW


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_sessions_of_the_daemon_connect_so(
    named: Callable[..., None], silent: Address, opened: ExitStack, scheme: str
) -> None:
    listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
    named(silent, listener.getsockname())
    listener.settimeout(80.0)
    server = threading.Thread(target=lambda: listener.accept()[0].close(), daemon=True)
    server.start()
    began_at = time.monotonic()
    with configured(requests.Session(), None) as session, pytest.raises(requests.ConnectionError):
        session.get(f"{scheme}://{NAME}", timeout=80.0)
    server.join()
    assert time.monotonic() - began_at < 40.0, "urllib3 alone waits 80 seconds for the first address"


def test_a_session_gives_up_a_host_that_is_silent(named: Callable[..., None], silent: Address) -> None:
    named(silent)
    with configured(requests.Session(), None) as session, pytest.raises(requests.ConnectTimeout, match="answers"):
        session.get(f"http://{NAME}", timeout=0.4)


def test_a_name_that_no_host_can_have_is_a_failed_connection() -> None:
    with configured(requests.Session(), None) as session, pytest.raises(requests.ConnectionError):
        session.get(f"http://{'x' * 64}.test", timeout=60.0)
