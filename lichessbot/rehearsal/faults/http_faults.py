"""Faults in the answers to requests: refusals, errors, delays.

An ASGI application around another. It sees every request and every answer, so it also reports successful requests to
the accounting, and moves to the checks of the client.
"""

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lichessbot.rehearsal.faults.accounting import FaultAccounting
from lichessbot.rehearsal.faults.catalogue import Fault, Layer
from lichessbot.rehearsal.faults.client_checks import Arrival, ClientChecks
from lichessbot.rehearsal.faults.schedule import FaultSchedule
from lichessbot.rehearsal.faults.traffic import ARRIVED_HEADER, Place, Traffic, request_traffic
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.errors import (
    GLOBAL_FIELD,
    ApiError,
    InvalidForm,
    NotFound,
    OpponentCapped,
    QuotaUsedUp,
    Refused,
    TooManyRequests,
)
from lichessbot.rehearsal.rules.game import is_legal_move
from lichessbot.rehearsal.rules.quotas import BOT_GAMES_PER_DAY
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.site import Site

HTTP_OK = range(200, 300)
HTTP_REFUSED = range(400, 500)
NAMED_QUOTA = b'"ratelimit"'      # in a 429 that forbids nothing else


class HttpFaults:
    """Stands before the site's application and injects faults into requests of `bot`."""

    def __init__(self, site: Site, bot: Account, schedule: FaultSchedule, accounting: FaultAccounting) -> None:
        self.checks = ClientChecks(site.timing)
        self._site = site
        self._bot = bot
        self._schedule = schedule
        self._accounting = accounting
        self._down_until_ms = 0.0

    async def serve(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to `app` or answer it with a fault; requests of other accounts are passed on."""
        traffic = request_traffic(scope["method"], scope["path"])
        if not self._is_of_the_bot(scope, traffic):
            await app(scope, receive, send)
            return
        arrived_ms = Headers(scope=scope).get(ARRIVED_HEADER)
        self.checks.hear(traffic, monotonic_ms(), None if arrived_ms is None else int(arrived_ms))
        if monotonic_ms() < self._down_until_ms:
            await self._stand_in(Fault.MAINTENANCE, traffic, scope, receive, send)
            return
        self._take_back(traffic)
        fault = self._schedule.strike(Layer.REQUESTS, traffic.place, traffic.game_id)
        match fault:
            case None:
                await app(scope, receive, self._noted(traffic, send))
            case Fault.ANSWER_SLOW:
                await asyncio.sleep(self._site.timing.slow_answer_s)
                await app(scope, receive, self._noted(traffic, send))
            case Fault.DONE_BUT_502:
                await app(scope, receive, self._noted(traffic, _unheard))
                await self._stand_in(fault, traffic, scope, receive, send)
            case Fault.MAINTENANCE:
                self._down_until_ms = monotonic_ms() + 1000 * self._site.timing.restart_s
                self._site.restart()
                await self._stand_in(fault, traffic, scope, receive, send)
            case _:
                await self._stand_in(fault, traffic, scope, receive, send)

    def _is_of_the_bot(self, scope: Scope, traffic: Traffic) -> bool:
        """Return whether the bot sent the request; only the bot requests cloud evaluations, without a token."""
        if traffic.place is Place.CLOUD:
            return True
        token = Headers(scope=scope).get("authorization", "").rpartition(" ")[2]
        grant = self._site.accounts.grant(token)
        return grant is not None and grant.account is self._bot

    def _noted(self, traffic: Traffic, send: Send) -> Send:
        """Return a `send` that also checks and records the answer of the application."""
        arrival, status = self._arrival(traffic), 0

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._check(arrival, is_refused=status in HTTP_REFUSED)
                if status in HTTP_OK:
                    self._accounting.carried_out(traffic)
            elif status == TooManyRequests.status and NAMED_QUOTA not in message.get("body", b""):
                self.checks.was_limited(traffic, self._site.timing.rate_limit_s, monotonic_ms())
            await send(message)

        return note

    async def _stand_in(self, fault: Fault, traffic: Traffic, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer instead of the application."""
        self._check(self._arrival(traffic), is_refused=False)
        if fault.spec.is_a_limit and fault is not Fault.LIMIT_RATELIMIT:
            # A named quota forbids nothing else. Noted before the answer is sent, as the proxy may lose it.
            self.checks.was_limited(traffic, fault.spec.lasts_s(self._site.timing), monotonic_ms())
        answer = _ANSWERS[fault](self._site.timing)
        await answer(scope, receive, send)

    def _take_back(self, traffic: Traffic) -> None:
        """Let a takeback cross the move that arrives, if both sides have moved."""
        session = self._session(traffic)
        if session is None or session.game.is_over or not session.game.both_have_moved:
            return
        if session.game.setup.account(session.game.turn) is self._bot:
            fault = self._schedule.strike(Layer.EVENTS, traffic.place, traffic.game_id)
            if fault is Fault.TAKEBACK:
                session.take_back_last()

    def _session(self, traffic: Traffic) -> GameSession | None:
        """Return the game of a move; None for other requests."""
        if traffic.place is not Place.MOVE or traffic.game_id is None:
            return None
        try:
            return self._site.session(traffic.game_id)
        except NotFound:
            return None

    def _arrival(self, traffic: Traffic) -> Arrival | None:
        """Return a move and its position before it is carried out; None if there is nothing to check."""
        session = self._session(traffic)
        color = None if session is None else session.game.setup.color_of(self._bot)
        if session is None or color is None or traffic.uci is None:
            return None
        game = session.game
        is_legal = not game.is_over and game.turn is color and is_legal_move(game.board(), traffic.uci)
        return Arrival(
            game.id,
            traffic.uci,
            position_ms=game.last_change_ms if game.ended_ms is None else game.ended_ms,
            is_legal=is_legal,
            was_legal=is_legal or game.was_legal(color, traffic.uci),
        )

    def _check(self, arrival: Arrival | None, *, is_refused: bool) -> None:
        if arrival is None:
            return
        game = self._site.session(arrival.game_id).game
        slips_allowed = self._accounting.strikes_in(game.id) + game.takebacks + game.is_over
        self.checks.hear_move(arrival, monotonic_ms(), is_refused=is_refused, slips_allowed=slips_allowed)


async def _unheard(_message: Message) -> None:
    """Drop the application's answer, because another one is sent."""


_REFUSED = "The rehearsal refuses this request once"


def _page(status: int, title: str) -> Response:
    """Return a page like that of a web server in front of the site."""
    text = f"<html><head><title>{status} {title}</title></head><body><h1>{title}</h1></body></html>"
    return HTMLResponse(text, status)


def _error(error: ApiError) -> Response:
    """Return an error as the site itself answers it."""
    return JSONResponse(error.body(), error.status)


_ANSWERS: dict[Fault, Callable[[Timing], Response]] = {
    Fault.LIMIT_JSON: lambda timing: _error(TooManyRequests()),
    Fault.LIMIT_RATELIMIT: lambda timing: _error(QuotaUsedUp(BOT_GAMES_PER_DAY, timing.named_pause_seconds)),
    Fault.LIMIT_RETRY_AFTER: lambda timing: PlainTextResponse(
        str(TooManyRequests()), 429, {"Retry-After": str(timing.named_pause_seconds)}
    ),
    Fault.LIMIT_HTML: lambda timing: _page(429, "Too Many Requests"),
    Fault.LIMIT_TEXT: lambda timing: PlainTextResponse(str(TooManyRequests()), 429),
    Fault.LIMIT_BARE: lambda timing: Response(status_code=429),
    Fault.REFUSED_JSON: lambda timing: _error(Refused(_REFUSED)),
    Fault.REFUSED_FORM: lambda timing: _error(InvalidForm({GLOBAL_FIELD: _REFUSED})),
    Fault.REFUSED_RATELIMIT: lambda timing: _error(
        OpponentCapped("Eve", BOT_GAMES_PER_DAY, timing.named_pause_seconds)
    ),
    Fault.REFUSED_TEXT: lambda timing: PlainTextResponse(_REFUSED, 400),
    Fault.REFUSED_BARE: lambda timing: Response(status_code=400),
    Fault.SCOPE_MISSING: lambda timing: JSONResponse({"error": "Missing scope: preference:read"}, 403),
    Fault.BROKEN_JSON: lambda timing: JSONResponse({"error": "Internal server error"}, 500),
    Fault.GATEWAY_HTML: lambda timing: _page(502, "Bad Gateway"),
    Fault.UNAVAILABLE_TEXT: lambda timing: PlainTextResponse("Service Unavailable", 503),
    Fault.GATEWAY_BARE: lambda timing: Response(status_code=504),
    Fault.DONE_BUT_502: lambda timing: _page(502, "Bad Gateway"),
    Fault.MAINTENANCE: lambda timing: _page(502, "Bad Gateway"),
}
