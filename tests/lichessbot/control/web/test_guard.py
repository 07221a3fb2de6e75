"""Who may ask the web server for what."""

import asyncio
import base64
import time
from collections.abc import Iterable

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message

from lichessbot.control.web import guard as guards
from lichessbot.control.web.guard import AccessRules, Guard, Refusal

PASSWORD = "sesame:öffne dich"
OPEN = AccessRules()
CLOSED = AccessRules(PASSWORD)


def refusal(rules: AccessRules, *headers: tuple[str, str], method: str = "GET") -> Refusal | None:
    raw: Iterable[tuple[bytes, bytes]] = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    return rules.objection(method, raw)


def basic(text: str, scheme: str = "Basic") -> tuple[str, str]:
    return "authorization", f"{scheme} {base64.b64encode(text.encode()).decode()}"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080"])
def test_without_a_password_the_page_is_at_addresses_of_this_machine(host: str) -> None:
    assert refusal(OPEN, ("host", host)) is None


@pytest.mark.parametrize(
    "hosts",
    [
        (), ("",), ("evil.example",), ("evil.example:8080",), ("localhost.evil.example",), ("127.0.0.1.evil.example",),
        ("localhost", "evil.example"), ("localhost:8080:9",), ("localhost@evil.example",), ("::1",), ("[::1",),
        ("127.0.0.1 evil",), ("192.168.1.2",), ("localhost:",), ("0.0.0.0",),
    ],
)  # fmt: skip
def test_a_name_that_somebody_has_pointed_at_this_machine_is_refused(hosts: tuple[str, ...]) -> None:
    found = refusal(OPEN, *(("host", host) for host in hosts))
    assert found.status == 421
    assert "expected one of these as Host" in found.text


def test_another_loopback_address_is_known_by_its_own_name() -> None:
    assert refusal(AccessRules(host="127.0.0.2"), ("host", "127.0.0.2:8080")) is None
    assert refusal(OPEN, ("host", "127.0.0.2:8080")) is not None
    assert refusal(AccessRules(host="0:0:0:0:0:0:0:1"), ("host", "[0:0:0:0:0:0:0:1]:8080")) is None


@pytest.mark.parametrize("name", ["", "operator"])
def test_with_a_password_any_user_who_knows_it_sees_the_page_at_any_name(name: str) -> None:
    assert refusal(CLOSED, ("host", "bot.example"), basic(f"{name}:{PASSWORD}")) is None
    assert refusal(CLOSED, ("host", "bot.example"), basic(f"{name}:{PASSWORD}", "basic")) is None


@pytest.mark.parametrize(
    "headers",
    [
        (), (basic("x:"),), (basic("x:sesame"),), (basic(PASSWORD),), (basic(f"x:{PASSWORD} "),),
        (basic(f"x:{PASSWORD}", "Bearer"),), (basic(f"x:{PASSWORD}"), basic(f"x:{PASSWORD}")),
        (("authorization", "Basic"),), (("authorization", "Basic !!!!"),), (("authorization", "Basic \xff\xfe"),),
        (("authorization", ""),), (("authorization", basic(f"x:{PASSWORD}")[1].replace("Basic ", "Basic !")),),
    ],
)  # fmt: skip
def test_nobody_without_the_password_sees_the_page(headers: tuple[tuple[str, str], ...]) -> None:
    found = refusal(CLOSED, ("host", "localhost"), *headers)
    assert (found.status, found.headers["WWW-Authenticate"].startswith("Basic ")) == (401, True)
    assert found.text == "expected the password of status.password_file, with any user name"


async def status_of(
    guard: Guard, password: str | None, address: str = "192.0.2.1", method: str = "GET"
) -> int:
    """Return the status that a client at `address` gets."""
    statuses: list[int] = []
    name, value = basic(f"x:{password}")
    headers = [] if password is None else [(name.encode(), value.encode())]
    scope = {"type": "http", "method": method, "path": "/", "headers": headers, "client": (address, 4711)}

    async def send(message: Message) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    await guard(scope, lambda: asyncio.sleep(60), send)
    (status,) = statuses
    return status


def guard(**times: float) -> Guard:
    return Guard(PlainTextResponse("the page"), CLOSED, lambda error: None, **times)


def test_an_address_that_gave_a_wrong_password_waits_before_the_next_one_is_looked_at() -> None:
    it, pause_s = guard(pause_s=0.05, longest_wait_s=60.0), 0.05

    async def guess() -> list[int]:
        wrong = [status_of(it, f"guess {number}") for number in range(4)]
        return await asyncio.gather(*wrong, status_of(it, PASSWORD))

    began = time.monotonic()
    assert asyncio.run(guess()) == [401, 401, 401, 401, 200]
    assert time.monotonic() - began >= 3 * pause_s, "all at once are looked at one after the other"


def test_a_wrong_password_delays_nobody_else() -> None:
    it = guard(pause_s=600.0)

    async def look() -> list[int]:
        return [await status_of(it, "guess"), await status_of(it, PASSWORD, "192.0.2.2"), await status_of(it, None)]

    assert asyncio.run(asyncio.wait_for(look(), 60.0)) == [401, 200, 401]


@pytest.mark.parametrize(
    ("address", "other", "status"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:9999:9:9:9", 429), ("2001:db8:1:2::1", "2001:db8:1:3::1", 200),
        ("2001:db8:1:2::1", "", 200), ("::ffff:192.0.2.1", "::ffff:192.0.2.2", 200),
    ],
)  # fmt: skip
def test_a_machine_does_not_escape_the_wait_by_another_of_its_addresses(address: str, other: str, status: int) -> None:
    it = guard(pause_s=600.0, longest_wait_s=0.0)

    async def look() -> list[int]:
        return [await status_of(it, "guess", address), await status_of(it, PASSWORD, other)]

    assert asyncio.run(look()) == [401, status]


def test_only_a_wrong_password_makes_an_address_wait() -> None:
    it = guard(pause_s=600.0, longest_wait_s=0.0)

    async def look() -> list[int]:
        return [await status_of(it, PASSWORD, method="POST"), await status_of(it, PASSWORD)]

    assert asyncio.run(look()) == [405, 200]


def test_nobody_waits_for_long() -> None:
    it = guard(pause_s=600.0, longest_wait_s=0.0)

    async def look() -> list[int]:
        return [await status_of(it, "guess"), await status_of(it, PASSWORD)]

    assert asyncio.run(look()) == [401, 429], "not even whether it is right is told"


class Clock:
    """The time of those who only wait for a password to be looked at."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, wait_s: float) -> None:
        until = self.now + wait_s
        await asyncio.sleep(0)
        self.now = max(self.now, until)


def test_an_address_guesses_once_a_second_and_waits_for_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, it = Clock(), guard()
    monkeypatch.setattr(guards, "time", clock)
    monkeypatch.setattr(guards, "asyncio", clock)

    async def guess() -> list[int]:
        return await asyncio.gather(*(status_of(it, f"guess {number}") for number in range(15)))

    assert asyncio.run(guess()) == [401] * 11 + [429] * 4
    assert clock.now == 10


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"])
def test_nothing_can_be_changed(method: str) -> None:
    found = refusal(CLOSED, basic(f"x:{PASSWORD}"), method=method)
    assert (found.status, found.headers["Allow"]) == (405, "GET, HEAD")
    assert found.text == "this page is only for looking: expected GET or HEAD"


@pytest.mark.parametrize(
    "header", [("content-length", "1"), ("content-length", "0, 5"), ("transfer-encoding", "chunked")]
)
def test_a_request_has_no_body(header: tuple[str, str]) -> None:
    assert refusal(OPEN, ("host", "localhost"), header).status == 413
    assert refusal(OPEN, ("host", "localhost"), ("content-length", "0"), method="HEAD") is None


def test_the_password_is_not_shown_by_accident() -> None:
    assert "sesame" not in repr(CLOSED)
