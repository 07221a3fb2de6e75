"""HTTP sessions that obey only our configuration, and response bodies bounded in size and time.

Every HTTP client of the daemon uses both. Must not know: what is requested from whom.
"""

import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from typing import Final

import requests
from urllib3.exceptions import DecodeError, HTTPError

from lichessbot import __version__
from lichessbot.errors import Unreachable
from lichessbot.lichess.connecting import AnyAddressAdapter
from lichessbot.log import inert

PROGRAM: Final = f"lichessbot/{__version__}"
READ_BYTES: Final = 1 << 16
_PLAIN: Final = (
    (socket.gaierror, "name resolution failed"),
    (ConnectionRefusedError, "connection refused"),
    (RemoteDisconnected, "the server closed the connection without an answer"),
    (ConnectionResetError, "connection reset"),
    (TimeoutError, "timed out"),
    (IncompleteRead, "the connection ended in the middle of the answer"),
    (HTTPException, "an answer that is not HTTP"),
    (DecodeError, "an answer that cannot be decompressed"),
    (ssl.SSLEOFError, "the TLS connection broke off"),
    (ssl.SSLZeroReturnError, "the TLS connection broke off"),
    (requests.exceptions.InvalidJSONError, "an answer that is not JSON, such as a web page"),
)


def configured(
    session: requests.Session, proxy: str | None, adapter: AnyAddressAdapter | None = None, /, **headers: str
) -> requests.Session:
    """Return `session` with these headers, this proxy and this adapter, deaf to ~/.netrc and the environment.

    An entry in ~/.netrc would replace or add a password, and a proxy must only be used if configured.
    """
    session.trust_env = False
    if proxy is not None:
        session.proxies = {"http": proxy, "https": proxy}
    session.headers.update(headers)
    adapter = adapter or AnyAddressAdapter()
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def read_some(response: requests.Response, *, decode: bool) -> bytes:
    """Return the bytes that have arrived, at least one unless the body is over. Raises Unreachable."""
    try:
        # read1 returns what has arrived; every other method waits until a block is full.
        return response.raw.read1(READ_BYTES, decode_content=decode)
    except (HTTPError, OSError) as error:
        raise Unreachable(network_error(error)) from error
    except (ValueError, AttributeError) as error:
        # A TLS socket that another thread shuts down may lose its cipher during a read.
        raise Unreachable(f"interrupted: {error}") from error


def interrupt(response: requests.Response) -> None:
    """End the body for the thread that reads it; callable from any other thread."""
    with suppress(OSError, RuntimeError, ValueError):      # it had ended already
        response.raw.shutdown()


@contextmanager
def _ended_at(response: requests.Response, until: float) -> Iterator[None]:
    """End the body at the monotonic second `until`: the time limits of requests are for each wait, not for all."""
    timer = threading.Timer(until - time.monotonic(), interrupt, [response])
    timer.daemon = True
    with suppress(RuntimeError):           # no thread is left: the time limit of the request has to do
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def read_body(
    response: requests.Response,
    most_bytes: int,
    until: float | None,
    *,
    decode: bool = False,
    partial: bool = False,
) -> bytes:
    """Return the whole body. Raises Unreachable if it breaks off, is too long, or lasts beyond monotonic `until`.

    `partial` returns at `until` what has arrived instead, unless that is nothing. Of an error, whose status is an
    answer too, such a body counts as empty.
    """
    body = b""
    try:
        with _ended_at(response, until) if partial and until is not None else nullcontext():
            while piece := read_some(response, decode=decode):
                body += piece
                if len(body) > most_bytes:
                    raise Unreachable(f"a body of more than {most_bytes} bytes")
                if until is not None and time.monotonic() >= until:
                    raise Unreachable("the body did not arrive in time")
    except Unreachable:
        response.close()
        if partial and body:
            return body
        if response.ok:
            raise
        return b""
    return body


def network_error(error: BaseException) -> str:
    """Return the innermost cause of an error that there are plain words for, else the innermost one."""
    known: str | None = None
    way = "no connection through the proxy: " if isinstance(error, requests.exceptions.ProxyError) else ""
    inner: BaseException | None = error
    while inner is not None:
        error = inner
        known = _in_words(error) or known
        inner = error.__cause__ or error.__context__
    return way + (known or f"{error.__class__.__name__}: {error}")


def _in_words(error: BaseException) -> str | None:
    """Return plain words for one error, if there are any."""
    if (words := next((text for kind, text in _PLAIN if isinstance(error, kind)), None)) is not None:
        return words
    match error:
        case requests.TooManyRedirects(response=response):  # for us, that is one
            return refused_redirect(response)
        case ssl.SSLCertVerificationError(verify_message=reason):  # also if our clock is wrong
            return f"the server's certificate is not trusted: {reason}"
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER"):
            return "no TLS connection (http behind an https address?)"
        case ssl.SSLError(reason=str(reason)):
            return f"no TLS connection: {reason.replace('_', ' ').lower()}"
        case OSError(errno=int(), strerror=str(reason)):  # such as no route to host
            return reason[:1].lower() + reason[1:]
    return None


def refused_redirect(response: requests.Response | None) -> str:
    """Return words for a redirect, with the server that it names as an operator would write it in the config."""
    location = "" if response is None else response.headers.get("Location", "")
    server = re.match(r"https?://[^/?#]{1,100}", location, re.IGNORECASE)
    return f"the server redirects to {inert(server[0]) if server else 'another path'}, which is not followed"
