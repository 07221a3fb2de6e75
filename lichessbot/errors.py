"""The exceptions of the daemon; knows nothing of the rooms that raise them.

LichessBotError
├── ConfigError             the config file, the environment or the token file is wrong
├── EngineError             the engine child does not start or does not answer
├── UnreadableLine          a line or body that is not the JSON the contract promises
└── ApiError                a request to Lichess did not succeed
    ├── Refused             an answer: 4xx with its text; repeating it changes nothing
    ├── RateLimited         an answer: 429 with the pause to keep
    └── Unreachable         no answer: network, time-out, 5xx, or a page instead of JSON
"""

from collections.abc import Sequence
from datetime import timedelta


class LichessBotError(Exception):
    """Parent of everything the daemon raises on purpose."""


class ConfigError(LichessBotError):
    """All that is wrong with the configuration, one line per problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class EngineError(LichessBotError):
    """The engine child does not start or does not answer."""


class UnreadableLine(LichessBotError):
    """A line or body that is not the JSON the contract promises."""


class ApiError(LichessBotError):
    """A request to Lichess did not succeed."""


class Refused(ApiError):
    """Lichess said no: a status from 400 to 499 other than 429, with the text it gave."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status
        self.text = text

    @property
    def denies_token(self) -> bool:
        """The token is unknown, expired or lacks a scope: no later request will fare better."""
        return self.status in (401, 403)


class RateLimited(ApiError):
    """Lichess asks for a pause before the next request of this kind."""

    def __init__(self, pause: timedelta, text: str) -> None:
        super().__init__(f"429: {text} (pause {pause.total_seconds():.0f} s)")
        self.pause = pause
        self.text = text


class Unreachable(ApiError):
    """Nothing usable came back; whether the request took effect is unknown."""
