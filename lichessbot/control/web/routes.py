"""What the web server answers: the page, the status, its events, health, metrics and the history."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from lichessbot.control.status import Activity, Status
from lichessbot.control.web import static
from lichessbot.control.web.metrics import METRICS_TYPE, metrics
from lichessbot.control.web.site import History, NoGame, Site, WrongQuery
from lichessbot.control.web.snapshots import NoStatus, Snapshot, Snapshots
from lichessbot.errors import StateError
from lichessbot.log import inert

_JSON: Final = "application/json"
_PGN: Final = "application/x-chess-pgn"
_INDEX: Final = "operator/index.html"

_Endpoint = Callable[[Request], Awaitable[Response]]


def application(site: Site, snapshots: Snapshots) -> Router:
    """Return the ASGI application."""
    history = _History(site.history)
    routes = [
        Route("/", _Files(site, _INDEX)),
        Route("/static/{path:path}", _Files(site)),
        Route("/healthz", _healthz),
        Route("/readyz", _status_answer(snapshots, _readiness)),
        Route("/api/status", _status_answer(snapshots, lambda it: Response(it.json, media_type=_JSON))),
        Route("/api/events", _Events(snapshots)),
        Route("/api/games", history.games),
        Route("/api/games/{game_id:str}.pgn", history.pgn),
        Route("/api/games/{game_id:str}", history.game),
        Route("/api/statistics", history.statistics),
        Route("/metrics", _status_answer(snapshots, lambda it: _metrics(it, snapshots.followers))),
    ]
    return Router(routes, redirect_slashes=False, default=_not_found)


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("no such page\n", 404)(scope, receive, send)


async def _healthz(request: Request) -> Response:
    return PlainTextResponse("ok\n")


def _status_answer(snapshots: Snapshots, answer: Callable[[Snapshot], Response]) -> _Endpoint:
    """Return an endpoint that answers with the latest status, and with 503 if there is none."""

    async def endpoint(request: Request) -> Response:
        try:
            return answer(await snapshots.latest())
        except NoStatus as error:
            return PlainTextResponse(f"{error}\n", 503)

    return endpoint


def _metrics(snapshot: Snapshot, pages: int) -> Response:
    return Response(metrics(snapshot.status, pages), headers={"Content-Type": METRICS_TYPE})


def _readiness(snapshot: Snapshot) -> Response:
    reason = unready(snapshot.status)
    return PlainTextResponse("ok\n") if reason is None else PlainTextResponse(f"{reason}\n", 503)


def unready(status: Status) -> str | None:
    """Return why the daemon would miss or refuse new games; None if it plays."""
    events = status.connection.events
    if events is None or not events.is_open:
        return f"the event stream is not open: {status.connection.summary}"
    return None if status.activity is Activity.PLAYING else f"the daemon is {status.activity}, and takes no new games"


class _History:
    """Answers from the records, in threads: few at a time, so that many clients do not take time from the games."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._one_at_a_time = asyncio.Lock()
        self._one_statistic_at_a_time = asyncio.Lock()
        """Statistics count all games; requests for one game do not wait for them."""

    async def games(self, request: Request) -> Response:
        query = dict(request.query_params)
        return await self._answer(lambda: self._history.games(query))

    async def game(self, request: Request) -> Response:
        game_id = request.path_params["game_id"]
        return await self._answer(lambda: self._history.game(game_id))

    async def pgn(self, request: Request) -> Response:
        game_id = request.path_params["game_id"]
        return await self._answer(lambda: self._history.pgn(game_id), _PGN)

    async def statistics(self, request: Request) -> Response:
        return await self._answer(self._history.statistics, lock=self._one_statistic_at_a_time)

    async def _answer(
        self, read: Callable[[], bytes], media_type: str = _JSON, lock: asyncio.Lock | None = None
    ) -> Response:
        try:
            async with lock or self._one_at_a_time:
                return Response(await run_in_threadpool(read), media_type=media_type)
        except WrongQuery as error:
            return PlainTextResponse(f"{inert(str(error))}\n", 400)
        except NoGame as error:
            return PlainTextResponse(f"{inert(str(error))}\n", 404)
        except StateError as error:
            return PlainTextResponse(f"{error}\n", 503)


class _Files:
    """Serves one file, or those below the folder."""

    def __init__(self, site: Site, path: str | None = None) -> None:
        self._folder = site.files
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = self._path or scope["path_params"]["path"]
        found = static.find(self._folder, path)
        if found is None:
            await _not_found(scope, receive, send)
            return
        headers = {"ETag": found.etag}
        known = Request(scope).headers.get("if-none-match", "")
        if found.etag in [it.strip().removeprefix("W/") for it in known.split(",")]:
            response = Response(status_code=304, headers=headers)
        else:
            response = Response(found.content, headers=headers, media_type=found.media_type)
        await response(scope, receive, send)


class _Events:
    """The status as server-sent events: at once, and after each change."""

    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        await self._write(send, b"retry: 2000\n\n")

        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        async for snapshot in self._snapshots.follow(gone):
            await self._write(send, b"event: stale\ndata: {}\n\n" if snapshot is None else snapshot.event)
        await send({"type": "http.response.body", "body": b""})

    @staticmethod
    async def _write(send: Send, data: bytes) -> None:
        await send({"type": "http.response.body", "body": data, "more_body": True})
