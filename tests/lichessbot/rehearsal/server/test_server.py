"""The server's thread: what its own code raises is noted, for each of its callers."""

import asyncio
from logging.handlers import BufferingHandler

import requests
from starlette.types import ASGIApp, Receive, Scope, Send

from lichessbot.rehearsal.server.server import RehearsalServer


async def _broken(_app: ASGIApp, _scope: Scope, _receive: Receive, _send: Send) -> None:
    raise KeyError("a request")


def _break() -> None:
    raise ValueError("a callback")


def _lose_a_connection() -> None:
    raise ConnectionResetError("the bot left")


def test_what_requests_and_callbacks_raise_is_noted_and_lost_connections_are_not(
    server_errors: BufferingHandler,
) -> None:
    with RehearsalServer() as server:
        assert requests.get(f"{server.site.url}/api/user/nobody").status_code == 404
        assert server.failures == []
        server.guard_with(_broken)
        assert requests.get(f"{server.site.url}/api/user/nobody").status_code == 500
        for callback in (_lose_a_connection, _break):
            server.call(lambda callback=callback: asyncio.get_running_loop().call_soon(callback))
        server.call(lambda: None)
        assert server.failures == ["KeyError: 'a request'", "ValueError: a callback"]
    server_errors.buffer.clear()  # for this test it was meant
