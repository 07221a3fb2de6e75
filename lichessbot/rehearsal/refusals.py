"""Answers that are none: every shape in which Lichess, or what stands before it, says no (contract 1.1 and 2).

Builds responses; when they are given is not known here.
"""

from collections.abc import Callable

from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from lichessbot.rehearsal.faults import Fault
from lichessbot.rehearsal.timing import Timing

_TOO_MANY = "Too many requests. Try again later."
_QUOTA = "You played 100 games against other bots today, please wait before challenging another bot."
_THEIR_QUOTA = "Eve played 100 games against other bots today, please wait to challenge them."
_REFUSED = "The rehearsal refuses this for once"


def refusal(fault: Fault, timing: Timing) -> Response | None:
    """The answer that stands in for the true one; None if the fault is none of these."""
    answer = _ANSWERS.get(fault)
    return None if answer is None else answer(timing)


def _page(status: int, title: str) -> Response:
    """A page, as a web server in front of the site sends it."""
    text = f"<html><head><title>{status} {title}</title></head><body><h1>{title}</h1></body></html>"
    return HTMLResponse(text, status)


def _quota(status: int, text: str, timing: Timing) -> Response:
    seconds = timing.named_pause_seconds
    return JSONResponse({"error": text, "ratelimit": {"key": "bot.vsBot.day", "seconds": seconds}}, status)


def _retry_after(timing: Timing) -> Response:
    return PlainTextResponse(_TOO_MANY, 429, {"Retry-After": str(timing.named_pause_seconds)})


_ANSWERS: dict[Fault, Callable[[Timing], Response]] = {
    Fault.LIMIT_JSON: lambda timing: JSONResponse({"error": _TOO_MANY}, 429),
    Fault.LIMIT_RATELIMIT: lambda timing: _quota(429, _QUOTA, timing),
    Fault.LIMIT_RETRY_AFTER: _retry_after,
    Fault.LIMIT_HTML: lambda timing: _page(429, "Too Many Requests"),
    Fault.LIMIT_TEXT: lambda timing: PlainTextResponse(_TOO_MANY, 429),
    Fault.LIMIT_BARE: lambda timing: Response(status_code=429),
    Fault.REFUSED_JSON: lambda timing: JSONResponse({"error": _REFUSED}, 400),
    Fault.REFUSED_FORM: lambda timing: JSONResponse({"error": {"global": [_REFUSED]}, "global": [_REFUSED]}, 400),
    Fault.REFUSED_RATELIMIT: lambda timing: _quota(400, _THEIR_QUOTA, timing),
    Fault.REFUSED_TEXT: lambda timing: PlainTextResponse(_REFUSED, 400),
    Fault.REFUSED_BARE: lambda timing: Response(status_code=400),
    Fault.BROKEN_JSON: lambda timing: JSONResponse({"error": "Internal server error"}, 500),
    Fault.GATEWAY_HTML: lambda timing: _page(502, "Bad Gateway"),
    Fault.UNAVAILABLE_TEXT: lambda timing: PlainTextResponse("Service Unavailable", 503),
    Fault.GATEWAY_BARE: lambda timing: Response(status_code=504),
    Fault.DONE_BUT_502: lambda timing: _page(502, "Bad Gateway"),
    Fault.MAINTENANCE: lambda timing: _page(502, "Bad Gateway"),
}
