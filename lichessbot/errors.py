"""The exceptions of the daemon and the exit codes of its process.

LichessBotError
├── ConfigError             the config file, the environment or the token file is wrong
├── EngineError             the engine does not start or does not answer
│   └── EngineMissing       the program does not exist or may not be run
├── StateError              the state folder cannot be used
│   ├── StateLocked         another daemon uses it
│   ├── StateNewer          a newer version wrote the file in it
│   └── StateFailed         the disk is full, read-only or broken; nothing is recorded for now
├── UnreadableLine          a line or body is not the documented JSON
└── ApiError                a request to Lichess did not succeed
    ├── Refused             an answer: 4xx with its text; repeating the request is useless
    ├── RateLimited         an answer: 429 with a pause
    └── Unreachable         no answer: network error, timeout, 5xx, or HTML instead of JSON
"""

from collections.abc import Sequence
from datetime import timedelta
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the process. Service managers should not restart it after USAGE and REFUSED."""

    OK = 0
    """Done; for `run`: stopped as asked with no game with a clock left."""
    FAILED = 1
    """The command failed; for `run`: an engine fails at the start, the records are in use, or a bug ended a thread."""
    USAGE = 2
    """The arguments or the configuration are wrong, or the engine that it names."""
    REFUSED = 3
    """Lichess denied the token, or the account is not a BOT account."""
    ABANDONED = 4
    """A second signal or the end of the grace period ended `run` with games in progress."""


class LichessBotError(Exception):
    """Base of all exceptions of the daemon."""


class ConfigError(LichessBotError):
    """Every problem of the configuration, one a line."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class EngineError(LichessBotError):
    """The engine does not start or does not answer."""


class EngineMissing(EngineError):
    """The program does not exist or may not be run; only the operator can fix that."""


class StateError(LichessBotError):
    """The state folder cannot be used."""


class StateLocked(StateError):
    """Another daemon uses it; two daemons with one token would take each other's streams."""


class StateNewer(StateError):
    """A newer version wrote the file in it; only the operator can decide which version to use."""


class StateFailed(StateError):
    """The disk is full, read-only or broken; nothing is recorded for now, and games go on."""


class UnreadableLine(LichessBotError):
    """A line or body is not the documented JSON."""


class ApiError(LichessBotError):
    """A request to Lichess did not succeed."""

    @property
    def denies_token(self) -> bool:
        """Whether the token is unknown, expired or lacks a scope, so that later requests fail as well."""
        return False

    @property
    def missing_scope(self) -> str | None:
        """The scope that the token lacks for this request, if Lichess names it."""
        return None


class Refused(ApiError):
    """Lichess refused the request: a status from 400 to 499 other than 429, with its text.

    `certain` is false if the body is not in Lichess's form, so that a proxy may have sent it: repeating may help.
    `pause` is how long the refusal lasts, if Lichess says so: the other player's quota is used up.
    """

    def __init__(self, status: int, text: str, *, certain: bool = True, pause: timedelta | None = None) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status
        self.text = text
        self.certain = certain
        self.pause = pause

    @property
    def denies_token(self) -> bool:
        return self.certain and self.status in (401, 403)

    @property
    def missing_scope(self) -> str | None:
        """The scope that the token lacks; the first of several that would do, as only Lichess's own app gets some."""
        _, found, scopes = self.text.partition("Missing scope: ")
        return scopes.partition(" || ")[0] if found and self.status == 403 else None


class RateLimited(ApiError):
    """Lichess asks for a pause before the next request of this kind; `quota` is the used-up one, if named."""

    def __init__(self, pause: timedelta, text: str, quota: str = "") -> None:
        super().__init__(f"429: {text} (pause {pause.total_seconds():.0f} s)")
        self.pause = pause
        self.text = text
        self.quota = quota


class Unreachable(ApiError):
    """No usable answer came; whether the request took effect is unknown."""
