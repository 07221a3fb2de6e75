"""What the operator is told of connections that fail, on real sockets."""

import errno
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from http.client import IncompleteRead

import pytest
import requests
from requests.exceptions import ContentDecodingError
from urllib3.exceptions import DecodeError

from lichessbot.lichess.http import configured, network_error
from tests.patience import PATIENCE_S

NO_TLS = "no TLS connection"
NOT_HTTP = "an answer that is not HTTP"
TLS_BROKE_OFF = "the TLS connection broke off"
BROKEN_OFF = "the connection ended in the middle of the answer"

Serve = Callable[[bytes], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return a function that answers one request with these bytes, and returns the address without its scheme."""
    threads: list[threading.Thread] = []

    def answer(listener: socket.socket, answered: bytes) -> None:
        with listener, listener.accept()[0] as connection:
            connection.recv(1 << 16)
            connection.sendall(answered)

    def begin(answered: bytes) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        threads.append(threading.Thread(target=answer, args=(listener, answered)))
        threads[-1].start()
        return f"127.0.0.1:{listener.getsockname()[1]}/"

    yield begin
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    ("scheme", "answered", "words"),
    [
        ("https", b"HTTP/1.1 400 Bad Request\r\n\r\n", f"{NO_TLS} (http behind an https address?)"),
        ("https", b"\x15\x03\x03\x00\x02\x02\x50", f"{NO_TLS}: tlsv1 alert internal error"),
        ("https", b"", TLS_BROKE_OFF),
        ("http", b"", "the server closed the connection without an answer"),
        ("http", b"\x16\x03\x01 hello\r\n\r\n", NOT_HTTP),
        ("http", b"HTTP/1.1 200 OK\r\n" + b"X-Many: 1\r\n" * 200 + b"\r\n", NOT_HTTP),
        ("http", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", BROKEN_OFF),
    ],
)
def test_a_broken_answer_is_told_in_words(serve: Serve, scheme: str, answered: bytes, words: str) -> None:
    with configured(requests.Session(), None) as session, pytest.raises(requests.RequestException) as caught:
        session.get(f"{scheme}://{serve(answered)}", timeout=PATIENCE_S)
    assert network_error(caught.value) == words


@pytest.mark.parametrize(
    ("error", "cause", "words"),
    [
        (IncompleteRead(b""), ValueError("invalid literal for int() with base 16: b''"), BROKEN_OFF),
        (ContentDecodingError(), DecodeError("failed to decode it"), "an answer that cannot be decompressed"),
        (requests.exceptions.SSLError(), ssl.SSLZeroReturnError(6, "TLS/SSL connection closed"), TLS_BROKE_OFF),
        (requests.ConnectionError(), OSError(errno.EHOSTUNREACH, "No route to host"), "no route to host"),
    ],
)
def test_an_error_is_told_by_its_first_cause_with_plain_words(error: Exception, cause: Exception, words: str) -> None:
    error.__cause__ = cause
    assert network_error(error) == words


def test_a_proxy_that_does_not_answer_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with configured(requests.Session(), proxy) as session, pytest.raises(requests.RequestException) as caught:
        session.get("https://lichess.org/", timeout=PATIENCE_S)
    assert network_error(caught.value) == "no connection through the proxy: connection refused"
