"""Typed models of the answers to requests; those with shapes that streams have too are in `models`.

As lenient as those.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from lichessbot.lichess.enums import ULTRA_BULLET, Colour, ExactClock, GameStatus, Variant
from lichessbot.lichess.models import BOT_TITLE, LATEST_MS, Id, Number, Payload, Shown, UserId, WholeNumber

# A single arena has the key, in lists of arenas an object has it.
_VARIANT: Final = AliasChoices(AliasPath("variant", "key"), "variant")
_LONGEST_WAIT_S: Final = timedelta(days=366).total_seconds()
_MET: Final = "ok"


class Perf(Payload):
    """One rating, which is absent for puzzles and the like."""

    games: Number = 0
    rating: Number | None = None


def _or_unknown(value: Any, read: ValidatorFunctionWrapHandler) -> Perf:
    """Return the rating; one that is null or malformed is unknown, as nobody is kept from playing by one."""
    try:
        perf: Perf = read(value)
    except ValidationError:
        return Perf()
    return perf


class Account(Payload):
    """The account of the token."""

    id: UserId
    username: Shown
    title: Shown = ""
    perfs: dict[str, Annotated[Perf, WrapValidator(_or_unknown)]] = Field(default_factory=dict)
    biography: Shown | None = Field(default=None, validation_alias=AliasPath("profile", "bio"))
    disabled: bool = False
    violates_terms: bool = Field(default=False, alias="tosViolation")

    @property
    def is_bot(self) -> bool:
        return self.title == BOT_TITLE

    def rating(self, category: str) -> int | None:
        perf = self.perfs.get(category)
        return None if perf is None else perf.rating

    def has_played(self, category: str) -> bool:
        """Return whether the account has played a game that counts for this rating."""
        perf = self.perfs.get(category)
        return perf is not None and perf.games > 0


class BotUser(Account):
    """One of the bots that are online."""

    id: Annotated[Id, AfterValidator(str.lower)]


class UserStatus(Payload):
    """Whether a user is online and playing; false values are absent."""

    id: UserId
    online: bool = False
    playing: bool = False


class ExportedGame(Payload):
    """An exported game, in progress or over."""

    id: Id
    status: GameStatus
    winner: Colour | None = None


class _Verdict(Payload):
    """Whether the account of the token meets one condition of an arena; if it does not, the text says why."""

    verdict: Shown = _MET


class ArenaInfo(Payload):
    """An arena tournament; absent fields tell whether it is to come, runs or is over."""

    id: Id
    full_name: Shown = Field(default="", alias="fullName")
    variant: Shown = Field(default="standard", validation_alias=_VARIANT)
    """As Lichess names it, also if all games begin from a position: see `game_variant`."""
    position: Any = None
    initial_s: Number | None = Field(default=None, validation_alias=AliasPath("clock", "limit"))
    increment_s: Number | None = Field(default=None, validation_alias=AliasPath("clock", "increment"))
    verdicts: tuple[_Verdict, ...] = Field(default=(), validation_alias=AliasPath("verdicts", "list"))
    is_finished: bool = Field(default=False, alias="isFinished")
    seconds_to_start: float | None = Field(default=None, alias="secondsToStart", ge=0, le=_LONGEST_WAIT_S)
    seconds_to_finish: float | None = Field(default=None, alias="secondsToFinish", ge=0, le=_LONGEST_WAIT_S)

    @property
    def game_variant(self) -> str:
        return Variant.FROM_POSITION if self.position else self.variant

    def objection(self, playable: Sequence[Variant]) -> str | None:
        """Return why a bot whose engines play these variants cannot play there; None if it can."""
        if self.game_variant not in playable:
            known = ", ".join(it for it in playable if it.can_be_proposed)
            return f"expected a variant that the engine plays ({known}), found {self.game_variant}"
        if unmet := [it.verdict for it in self.verdicts if it.verdict != _MET]:
            return f"expected an arena that admits this account, found: {'; '.join(unmet)}"
        if self.initial_s is None or self.increment_s is None:
            return None
        clock = ExactClock(self.initial_s, self.increment_s)
        return None if clock.speed else f"expected bullet or slower, found {clock}, which is {ULTRA_BULLET}"


class TokenInfo(Payload):
    """One value of the token test; `scopes` is a comma-separated list."""

    user_id: UserId = Field(alias="userId")
    scopes: str = ""
    expires: WholeNumber | None = Field(default=None, ge=0, le=LATEST_MS)

    @property
    def scope_names(self) -> frozenset[str]:
        return frozenset(self.scopes.split(",")) - {""}


class _RateLimitInfo(Payload):
    key: str = ""
    seconds: float | None = Field(default=None, ge=0, le=_LONGEST_WAIT_S)


class ErrorBody(Payload):
    """A refusal. `error` is text, or an object of field names with lists of texts."""

    error: str | dict[str, Any] = ""
    ratelimit: _RateLimitInfo | None = None

    @property
    def text(self) -> str:
        if isinstance(self.error, str):
            return self.error
        return "; ".join(f"{name}: {_joined(texts)}" for name, texts in self.error.items())

    @property
    def pause(self) -> timedelta | None:
        """The pause that Lichess asks for in the body, if it does."""
        if self.ratelimit is None or self.ratelimit.seconds is None:
            return None
        return timedelta(seconds=self.ratelimit.seconds)

    @property
    def quota(self) -> str:
        """The name of the used-up quota, if the body names one."""
        return "" if self.ratelimit is None else self.ratelimit.key


def _joined(texts: Any) -> str:
    return ", ".join(map(str, texts)) if isinstance(texts, list) else str(texts)
