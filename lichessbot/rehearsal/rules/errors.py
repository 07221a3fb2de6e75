"""The error answers of the embedded Lichess. Must not know: the HTTP library.

    ApiError                any answer with status 400 or above
    ├── Refused        400  {"error": "text"}
    ├── InvalidForm    400  {"error": {"field": ["text"]}, "field": ["text"]}
    ├── Unauthorized   401  no token, an unknown one, or one of another account
    ├── MissingScope   403  the token may not do this
    ├── Forbidden      403  the request is not for this caller
    ├── NotFound       404  no such thing, or it belongs to others
    ├── OpponentCapped 400  the other bot has played all its games of the day
    ├── QuotaUsedUp    429  the caller has played all its games of the day
    └── TooManyRequests 429 some other limit
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from lichessbot.rehearsal.rules.enums import Scope

GLOBAL_FIELD = "global"


class ApiError(Exception):
    """An error answer."""

    status: ClassVar[int] = 400

    def body(self) -> dict[str, object]:
        return {"error": str(self)}

    def headers(self) -> dict[str, str]:
        return {}


class Refused(ApiError):
    """The rules do not allow the command now."""


class InvalidForm(ApiError):
    """Invalid parameters: the texts of each field, repeated beside `error`."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {text}" for field, text in problems.items()))
        self._problems = {field: [text] for field, text in problems.items()}

    def body(self) -> dict[str, object]:
        return {"error": self._problems, **self._problems}


class Unauthorized(ApiError):
    """The request has no valid token."""

    status = 401


class MissingScope(ApiError):
    """The token is valid, but lacks the scope."""

    status = 403

    def __init__(self, accepted: Collection[Scope], granted: Collection[Scope]) -> None:
        super().__init__(f"Missing scope: {' || '.join(accepted)}")
        self._accepted = accepted
        self._granted = granted

    def headers(self) -> dict[str, str]:
        return {
            "X-OAuth-Scopes": ",".join(sorted(self._granted)),
            "X-Accepted-OAuth-Scopes": ",".join(self._accepted),
        }


class Forbidden(ApiError):
    """The caller may not make this request."""

    status = 403


class NotFound(ApiError):
    """There is no such thing, or it does not belong to the caller."""

    status = 404

    def __init__(self, text: str = "Not found") -> None:
        super().__init__(text)


class _BotGamesUsedUp(ApiError):
    """The quota of games between bots is used up; with the seconds until it is not."""

    def __init__(self, text: str, seconds: int) -> None:
        super().__init__(text)
        self._seconds = seconds

    def body(self) -> dict[str, object]:
        return {"error": str(self), "ratelimit": {"key": "bot.vsBot.day", "seconds": self._seconds}}


class OpponentCapped(_BotGamesUsedUp):
    """The opponent has played all its games of the day: 400, because the caller has not."""

    def __init__(self, name: str, most: int, seconds: int) -> None:
        until = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="seconds")
        super().__init__(
            f"{name} played {most} games against other bots today, please wait until {until} to challenge them.",
            seconds,
        )


class TooManyRequests(ApiError):
    """A limit that names no quota."""

    status = 429

    def __init__(self, text: str = "Too many requests. Try again later.") -> None:
        super().__init__(text)


class QuotaUsedUp(_BotGamesUsedUp):
    """The caller has played all its games of the day."""

    status = 429

    def __init__(self, most: int, seconds: int) -> None:
        text = f"You played {most} games against other bots today, please wait before challenging another bot."
        super().__init__(text, seconds)
