"""Who may ask the web server for what: the rules that hold for every request, and the headers of every answer.

Pure but for the class at the end.
"""

import asyncio
import base64
import hmac
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Final

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SECURITY_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_METHODS: Final = ("GET", "HEAD")
_LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "[::1]")
_HOST: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(?::\d{1,5})?")
# After a wrong password the next one from its address waits this long, so that guessing is hopeless.
_PAUSE_S: Final = 1.0
_LONGEST_WAIT_S: Final = 10.0
_RAW_HEADERS: Final = tuple((name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items())


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to a request that is not allowed."""

    status: int
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AccessRules:
    """What is allowed: with a password, requests that know it; else those to an address of this machine."""

    password: str | None = field(default=None, repr=False)
    host: str = "localhost"

    def objection(self, method: str, headers: Iterable[tuple[bytes, bytes]]) -> Refusal | None:
        """Return why a request is refused; None if it is not."""
        if method not in _METHODS:
            return Refusal(405, "this page is only for looking: expected GET or HEAD", {"Allow": ", ".join(_METHODS)})
        values: dict[bytes, list[str]] = {}
        for name, value in headers:
            values.setdefault(name.lower(), []).append(value.decode("latin-1"))
        if values.get(b"content-length", ["0"]) != ["0"] or b"transfer-encoding" in values:
            return Refusal(413, "expected a request without a body")
        if self.password is not None:
            if is_authorized(values.get(b"authorization", []), self.password):
                return None
            realm = {"WWW-Authenticate": 'Basic realm="lichessbot", charset="UTF-8"'}
            return Refusal(401, "expected the password of status.password_file, with any user name", realm)
        if not self._is_local(values.get(b"host", [])):
            names = "localhost, 127.0.0.1 or [::1]"
            return Refusal(421, f"without a password this page is only at {names}: expected one of these as Host")
        return None

    def _is_local(self, hosts: list[str]) -> bool:
        """Return whether the browser's address is this machine's, and no name that somebody else has pointed at it."""
        found = _HOST.fullmatch(hosts[0].strip()) if len(hosts) == 1 else None
        ours = f"[{self.host}]" if ":" in self.host else self.host
        return found is not None and found[1].lower() in (*_LOCAL_HOSTS, ours)


def is_authorized(values: list[str], password: str) -> bool:
    """Return whether the headers `Authorization` name the password, whatever the user is called."""
    scheme, _, encoded = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    try:
        given = base64.b64decode(encoded.strip(), validate=True).partition(b":")[2]
    except ValueError:                     # not Base64
        given = b""
    # The time that this takes says nothing of the password, only of the length of what was given.
    return hmac.compare_digest(given, password.encode()) and scheme.lower() == "basic"


class Guard:
    """Answers what is not allowed, passes on the rest, and adds the headers of every answer."""

    def __init__(
        self,
        app: ASGIApp,
        rules: AccessRules,
        note_crash: Callable[[Exception], None],
        pause_s: float = _PAUSE_S,
        longest_wait_s: float = _LONGEST_WAIT_S,
    ) -> None:
        self._app = app
        self._rules = rules
        self._note_crash = note_crash
        self._pause_s = pause_s
        self._longest_wait_s = longest_wait_s
        self._paused_until: dict[str, float] = {}
        """By address, after a wrong password; see `_network_of`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": [*message.get("headers", ()), *_RAW_HEADERS]}
            await send(message)

        refusal = await self._refusal(scope)
        if refusal is not None:
            await answer(refusal)(scope, receive, send_with_headers)
            return
        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            self._note_crash(error)
            if not begun:
                await answer(Refusal(500, "a bug in the daemon: see its log"))(scope, receive, send_with_headers)

    async def _refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request is refused; None if it is not.

        A right password waits like a wrong one, or whoever gets no answer at once would know that the guess is wrong.
        """
        method, headers = scope["method"], scope["headers"]
        if all(name.lower() != b"authorization" for name, _ in headers):
            return self._rules.objection(method, headers)
        address, until = _network_of((scope["client"] or ("",))[0]), time.monotonic() + self._longest_wait_s
        while (wait_s := self._paused_until.get(address, 0.0) - time.monotonic()) > 0.0:
            if time.monotonic() >= until:
                return Refusal(429, "too many wrong passwords from this address: try again later")
            await asyncio.sleep(wait_s)
        refusal = self._rules.objection(method, headers)
        if refusal is not None and refusal.status == 401:
            now = time.monotonic()
            self._paused_until = {it: at for it, at in self._paused_until.items() if at > now}
            self._paused_until[address] = now + self._pause_s
        return refusal


def _network_of(address: str) -> str:
    """Return whose address it is: of IPv6 the first 64 bits, as one machine may use any address that begins so."""
    try:
        ip = ip_address(address)
    except ValueError:                     # a socket without addresses
        return address
    if ip.version == 4 or ip.ipv4_mapped is not None:
        return address
    return str(ip_network((ip, 64), strict=False))


def answer(refusal: Refusal) -> Response:
    """Return the answer, which ends the connection: what follows may be a body, and not what a proxy takes it for."""
    return PlainTextResponse(f"{refusal.text}\n", refusal.status, {"Connection": "close", **refusal.headers})
