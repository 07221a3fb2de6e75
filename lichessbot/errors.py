"""The exceptions of the daemon and the exit codes of its process.

LichessBotError
├── ConfigError             the config file, the environment or the token file is wrong
├── EngineError             the engine child does not start or does not answer
│   └── EngineMissing       there is no such program
├── StateError              the state folder cannot be used
│   ├── StateLocked         another daemon uses it
│   ├── StateNewer          a newer version wrote it
│   └── StateFailed         the disk is full, read-only or broken: nothing is recorded for now
├── UnreadableLine          a line or body that is not the JSON the contract promises
└── ApiError                a request to Lichess did not succeed
    ├── Refused             an answer: 4xx with its text; repeating it changes nothing
    ├── RateLimited         an answer: 429 with the pause to keep
    └── Unreachable         no answer: network, time-out, 5xx, or a page instead of JSON
"""

from collections.abc import Sequence
from datetime import timedelta
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the process. Service managers should not restart it after USAGE and REFUSED."""

    OK = 0
    """Done; for `run`: stopped by a signal with no game left."""
    FAILED = 1
    """Another command did not succeed; for `run`: a bug, and a restart resumes the games."""
    USAGE = 2
    """The arguments or the configuration are wrong, or the engine that it names."""
    REFUSED = 3
    """Lichess refuses the token, or the account is not a BOT account."""
    ABANDONED = 4
    """A second signal or the end of the grace period ended `run` with games in progress."""


class LichessBotError(Exception):
    """Parent of everything the daemon raises on purpose."""


class ConfigError(LichessBotError):
    """All that is wrong with the configuration, one line per problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class EngineError(LichessBotError):
    """The engine child does not start or does not answer."""


class EngineMissing(EngineError):
    """There is no such program, or none that we may run: only a person can mend that."""


class StateError(LichessBotError):
    """The state folder cannot be used."""


class StateLocked(StateError):
    """Another daemon uses it: two with one token would take each other's streams away."""


class StateNewer(StateError):
    """A newer version wrote it, and only a person can say which version is meant."""


class StateFailed(StateError):
    """The disk is full, read-only or broken: nothing is recorded for now, and games go on."""


class UnreadableLine(LichessBotError):
    """A line or body that is not the JSON the contract promises."""


class ApiError(LichessBotError):
    """A request to Lichess did not succeed."""

    @property
    def denies_token(self) -> bool:
        """The token is unknown, expired or lacks a scope: no later request will fare better."""
        return False


class Refused(ApiError):
    """Lichess said no: a status from 400 to 499 other than 429, with the text it gave.

    `certain` is false if the body is not in Lichess's own form: perhaps something in between said it.
    `pause` is how long it will go on saying so, where it tells: the other player's quota is used up.
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


class RateLimited(ApiError):
    """Lichess asks for a pause before the next request of this kind. `quota` names the used-up one, if Lichess does."""

    def __init__(self, pause: timedelta, text: str, quota: str = "") -> None:
        super().__init__(f"429: {text} (pause {pause.total_seconds():.0f} s)")
        self.pause = pause
        self.text = text
        self.quota = quota


class Unreachable(ApiError):
    """Nothing usable came back; whether the request took effect is unknown."""
