"""What the embedded Lichess answers when it does not do what was asked. Knows no HTTP library.

    ApiError                any answer with status 400 or above
    ├── Refused        400  {"error": "text"}
    ├── InvalidForm    400  {"error": {"field": ["text"]}, "field": ["text"]}
    ├── Unauthorized   401  no token, unknown token, or a token of somebody else
    ├── MissingScope   403  the token may not do this
    ├── NotFound       404  no such thing, or not yours
    ├── OpponentCapped 400  the other bot has played all its games of the day
    ├── QuotaUsedUp    429  the caller has
    └── TooManyRequests 429 some other limit
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from lichessbot.rehearsal.rules.enums import Scope

GLOBAL_FIELD = "global"


class ApiError(Exception):
    """An answer that refuses a request (contract 1.1)."""

    status: ClassVar[int] = 400

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def body(self) -> dict[str, object]:
        return {"error": self.text}

    def headers(self) -> dict[str, str]:
        return {}


class Refused(ApiError):
    """A command the rules do not allow now."""


class InvalidForm(ApiError):
    """Parameters that did not validate: the texts of each field, repeated beside `error` (contract 1.1)."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {text}" for field, text in problems.items()))
        self._problems = {field: [text] for field, text in problems.items()}

    def body(self) -> dict[str, object]:
        return {"error": self._problems, **self._problems}


class Unauthorized(ApiError):
    """The request does not prove who sends it."""

    status = 401


class MissingScope(ApiError):
    """The token is good, but may not do this."""

    status = 403

    def __init__(self, accepted: Collection[Scope], granted: Collection[Scope]) -> None:
        super().__init__(f"Missing scope: {', '.join(accepted)}")
        self._accepted = accepted
        self._granted = granted

    def headers(self) -> dict[str, str]:
        return {
            "X-OAuth-Scopes": ", ".join(sorted(self._granted)),
            "X-Accepted-OAuth-Scopes": ", ".join(self._accepted),
        }


class NotFound(ApiError):
    """No such thing, or none of the caller's."""

    status = 404

    def __init__(self, text: str = "Not found") -> None:
        super().__init__(text)


class _BotGamesUsedUp(ApiError):
    """The quota of games between bots, with the seconds that it lasts (contract 2)."""

    def __init__(self, text: str, seconds: int) -> None:
        super().__init__(text)
        self._seconds = seconds

    def body(self) -> dict[str, object]:
        return {"error": self.text, "ratelimit": {"key": "bot.vsBot.day", "seconds": self._seconds}}


class OpponentCapped(_BotGamesUsedUp):
    """The opponent has played all its games: not our fault, hence 400."""

    def __init__(self, name: str, most: int, seconds: int) -> None:
        until = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="seconds")
        super().__init__(
            f"{name} played {most} games against other bots today, please wait until {until} to challenge them.",
            seconds,
        )


class TooManyRequests(ApiError):
    """A limit that names no quota."""

    status = 429

    def __init__(self) -> None:
        super().__init__("Too many requests. Try again later.")


class QuotaUsedUp(_BotGamesUsedUp):
    """The caller has played all its games."""

    status = 429

    def __init__(self, most: int, seconds: int) -> None:
        text = f"You played {most} games against other bots today, please wait before challenging another bot."
        super().__init__(text, seconds)
