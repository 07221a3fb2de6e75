"""The requests of the page: its files, the stream of updates, and what the person does.

Only loopback names are answered, and only the page itself can act: other web pages in the same browser are refused.
"""

import json
import mimetypes
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lichessbot.rehearsal.browser.feed import Feed
from lichessbot.rehearsal.browser.person import Person
from lichessbot.rehearsal.rules.errors import ApiError, Forbidden, NotFound, Refused
from lichessbot.rehearsal.server import export
from lichessbot.rehearsal.server.streams import StreamedResponse

PATHS: Final = ("/play/", "/static/")       # and "/", the page
STATIC: Final = Path(__file__).parents[2] / "static"
FOLDERS: Final = ("common", "play", "vendor")       # the page's, below it
MAX_BODY_BYTES: Final = 4096
LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "::1")

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

Handler = Callable[[Request], Awaitable[Response | None]]

Endpoint = Callable[[Request], Awaitable[Response]]


class Page:
    """The web page of `person` as an ASGI application."""

    def __init__(self, person: Person) -> None:
        self._person = person
        self._feeds: set[Feed] = set()
        files = (file for folder in FOLDERS for file in (STATIC / folder).rglob("*") if file.is_file())
        self._files = {file.relative_to(STATIC).as_posix(): file for file in files}
        self._app = Starlette(
            routes=[
                Route("/", self._guarded(self._file)),
                Route("/static/{path:path}", self._guarded(self._file)),
                Route("/play/events", self._guarded(self._events)),
                Route("/play/challenge", self._guarded(self._challenge), methods=["POST"]),
                Route("/play/challenge/cancel", self._guarded(self._cancel), methods=["POST"]),
                Route("/play/challenge/answer", self._guarded(self._answer), methods=["POST"]),
                Route("/play/game/{game_id}/pgn", self._guarded(self._pgn)),
                Route("/play/game/{game_id}/{command}", self._guarded(self._command), methods=["POST"]),
            ],
            exception_handlers={HTTPException: _answer_unknown},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def end_streams(self) -> None:
        """End the streams of all open pages; they connect again if they can."""
        for feed in self._feeds:
            feed.end()

    def close(self) -> None:
        """End the streams of all open pages, and the analysis."""
        self.end_streams()
        self._person.end_analysis()

    def _guarded(self, handler: Handler) -> Endpoint:
        """Return `handler` with the checks of the sender, errors as JSON, and the headers of every answer.

        A handler that returns nothing has done what the person wants.
        """

        async def answer(request: Request) -> Response:
            try:
                check_sender(request)
                response = await handler(request) or JSONResponse({"ok": True})
            except ApiError as error:
                response = JSONResponse({"error": _sentence(str(error))}, error.status)
            response.headers.update(_HEADERS)
            return response

        return answer

    async def _file(self, request: Request) -> Response:
        path = request.path_params.get("path", "play/index.html")
        if path not in self._files:
            raise NotFound
        kind = "text/javascript" if path.endswith(".js") else mimetypes.guess_type(path)[0]
        return Response(self._files[path].read_bytes(), media_type=kind)

    async def _events(self, request: Request) -> Response:
        shown = request.query_params.get("game", "")
        feed = Feed(self._person, shown if self._person.has_game(shown) else None)
        self._feeds = {it for it in self._feeds if it.is_open} | {feed}
        return StreamedResponse(feed.body(), "text/event-stream", feed.close)

    async def _challenge(self, request: Request) -> None:
        await self._person.challenge(await _form(request))

    async def _cancel(self, request: Request) -> None:
        self._person.cancel_challenge()

    async def _answer(self, request: Request) -> None:
        form = await _form(request)
        await self._person.answer_challenge(accept=form.get("accept") is True)

    async def _command(self, request: Request) -> None:
        form = await _form(request)
        await self._person.command(request.path_params["game_id"], request.path_params["command"], form)

    async def _pgn(self, request: Request) -> Response:
        game = self._person.session(request.path_params["game_id"]).game
        text = export.pgn(game, self._person.site.url, is_for_players=True)
        return Response(text, media_type="application/x-chess-pgn")


def is_page(path: str) -> bool:
    """Return whether a path belongs to the page, not to the API of the site."""
    return path == "/" or path.startswith(PATHS)


def check_sender(request: Request) -> None:
    """Raise Forbidden unless the request is for this machine and, if it changes something, from the page itself.

    A page of another site can send requests here, under a name of its own that leads to loopback or as a form.
    """
    host = request.headers.get("host", "")
    if _host_name(host) not in LOOPBACK_NAMES:
        raise Forbidden(f"this page is only at {' or '.join(LOOPBACK_NAMES[:2])}")
    if request.method in ("GET", "HEAD"):
        return
    if request.headers.get("origin") not in (None, f"http://{host}"):
        raise Forbidden("the request comes from another page")
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise Forbidden("the request comes from another page")
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Forbidden("the request is not JSON: expected the content type application/json")


def _host_name(host: str) -> str | None:
    """Return the name in a Host header, without the port; None if there is none."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


async def _form(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request. Raises Refused."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise Refused(f"the request is longer than {MAX_BODY_BYTES} bytes")
    try:
        form = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise Refused("the request is not valid JSON") from error
    if not isinstance(form, dict):
        raise Refused("the request is not a JSON object")
    return {key: _whole(value) if isinstance(value, str) else value for key, value in form.items()}


def _whole(text: str) -> str:
    """Return text without half characters, which JSON can spell but no answer can contain."""
    return text.encode(errors="replace").decode()


async def _answer_unknown(_request: Request, error: Exception) -> Response:
    """Answer an unknown path or a wrong method."""
    assert isinstance(error, HTTPException)
    headers = {**_HEADERS, **(error.headers or {})}
    return JSONResponse({"error": f"{error.detail.capitalize()}."}, error.status_code, headers)


def _sentence(text: str) -> str:
    """Return an error as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
