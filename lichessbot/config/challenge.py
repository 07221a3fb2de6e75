"""The section `challenge`: which challenges are accepted, and how many games run at a time.

The sections `human` and `bot` can override most keys for one kind of challenger.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, Strict

from lichessbot.config.base import (
    LIST_OR_NULL,
    LOOPBACK,
    ONE_OR_MANY,
    Before,
    Flag,
    Number,
    OrNoLimit,
    Paths,
    Rating,
    Section,
    Text,
    address_parts,
    distinct,
    in_yaml,
    infinity_as,
    or_null,
    player_name,
    without_repeats,
)
from lichessbot.lichess.enums import (
    HIGHEST_RATING,
    LONGEST_BASE_S,
    LONGEST_INCREMENT_S,
    REAL_TIME_SPEEDS,
    ExactClock,
    Mode,
    Odds,
    Preference,
    SortBy,
    Speed,
    Variant,
)

T = TypeVar("T")


def _time_control(value: object) -> Speed | ExactClock:
    if isinstance(value, Speed | ExactClock):
        return value
    clock = ExactClock.parse(value) if isinstance(value, str) else None
    if clock is not None:
        return clock
    try:
        return Speed(str(value))
    except ValueError as error:
        speeds = ", ".join(f"'{it}'" for it in Speed)
        raise ValueError(f"Input should be {speeds} or a clock of minutes+seconds such as 5+3") from error


def _days(days: float) -> float:
    if days == math.inf:
        return days
    if days != int(days):
        raise ValueError("Input should be a whole number or .inf")
    return int(days)


def _or(limit: float) -> Before:
    """Return a validator that reads null, and whatever is above `limit`, as no limit, which is `limit`."""

    def limited(value: Any) -> Any:
        return limit if value is None or (isinstance(value, int | float) and value > limit) else value

    return Before(limited, lambda described: or_null({key: it for key, it in described.items() if key != "maximum"}))


def _user_id(name: str) -> str:
    """Return the user id, which is the name in lower case."""
    return player_name(name).lower()


def _list_address(text: str) -> str:
    parts = address_parts(text)
    if parts is None or (parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK)):
        raise ValueError("Input should be an address such as https://example.com/list.txt")
    return text


Increment = Annotated[Number, Field(ge=0, le=LONGEST_INCREMENT_S)]
Base = Annotated[Number, Field(ge=0, le=LONGEST_BASE_S)]
MinDays = Annotated[Number, Field(ge=1, le=14)]
MaxDays = Annotated[float, Strict(), Field(ge=1), AfterValidator(_days)]
NO_INCREMENT_LIMIT: Final = _or(LONGEST_INCREMENT_S)
NO_BASE_LIMIT: Final = _or(LONGEST_BASE_S)
NO_DAYS_LIMIT: Final = _or(math.inf)
Minutes = Annotated[Number, Field(ge=1, le=1440)]
PerUser = Annotated[Number, Field(ge=1, le=64), infinity_as(64)]
SomeOf = Annotated[tuple[T, ...], Field(min_length=1), AfterValidator(distinct), ONE_OR_MANY]
TimeControls = SomeOf[Annotated[Speed | ExactClock, BeforeValidator(_time_control)]]
Name = Annotated[Text, AfterValidator(_user_id)]
Names = Annotated[tuple[Name, ...], AfterValidator(without_repeats), ONE_OR_MANY]
Address = Annotated[Text, AfterValidator(_list_address)]
Addresses = Annotated[tuple[Address, ...], AfterValidator(without_repeats), ONE_OR_MANY]


class BlockLists(Section):
    """The players who are left out: by name, and by lists on the web and in files."""

    block_list: Annotated[Names, LIST_OR_NULL] = ()
    online_block_list: Annotated[Addresses, LIST_OR_NULL] = ()
    block_list_files: Annotated[Paths, LIST_OR_NULL] = ()
    block_list_exceptions: Annotated[Names, LIST_OR_NULL] = ()

    @property
    def block_lists(self) -> Sequence[str]:
        """The block lists outside the configuration: addresses and absolute paths."""
        return (*self.online_block_list, *(str(file.absolute()) for file in self.block_list_files))

    def block_lists_for(self, user_id: str) -> Sequence[str]:
        """Return those that count for a player: none for an exception."""
        return () if user_id in self.block_list_exceptions else self.block_lists


class Rules(Section):
    """The rules for a challenge. Increments and bases in seconds, durations in minutes.

    `variants`: None for all that the engines play, until `with_playable_variants` replaces it by those.
    """

    variants: SomeOf[Variant] | None = None
    odds: SomeOf[Odds] | None = None
    time_controls: TimeControls = REAL_TIME_SPEEDS
    modes: SomeOf[Mode] = tuple(Mode)
    min_increment: Increment = 0
    max_increment: Annotated[Increment, NO_INCREMENT_LIMIT] = 20
    min_base: Base = 0
    max_base: Annotated[Base, NO_BASE_LIMIT] = 1800
    min_days: MinDays = 1
    max_days: Annotated[MaxDays, NO_DAYS_LIMIT] = 14
    max_estimated_game_duration: OrNoLimit[Minutes] = None
    bullet_requires_increment: Flag = False
    min_rating: Rating = 0
    max_rating: Rating = HIGHEST_RATING
    rating_difference: OrNoLimit[Rating] = None
    allow_list: Annotated[Names, LIST_OR_NULL] = ()
    max_simultaneous_games_per_user: PerUser = 5

    bounds: ClassVar[tuple[tuple[str, str], ...]] = (
        ("min_increment", "max_increment"),
        ("min_base", "max_base"),
        ("min_days", "max_days"),
        ("min_rating", "max_rating"),
    )


class Overrides(Rules):
    """The rules that differ for one kind of challenger: those in `set_keys`. The values of all others mean nothing."""

    as_one: ClassVar[bool] = True
    bounds: ClassVar = ()  # `ChallengeConfig` checks these together with the rules that are not overridden

    def with_variants_of(self, other: "Overrides") -> "Overrides":
        """Return these rules with the variants of `other`, or without any if it does not override them."""
        rest = {key: value for key, value in self.set_keys.items() if key != "variants"}
        theirs = {key: value for key, value in other.set_keys.items() if key == "variants"}
        return Overrides.model_construct(**rest, **theirs)


class ChallengeConfig(BlockLists, Rules):
    """The section `challenge`."""

    concurrency: Annotated[Number, Field(ge=1, le=64)] = 1
    games_reserved_for_humans: Annotated[Number, Field(ge=0, le=64)] = 0
    max_correspondence_games: Annotated[Number, Field(ge=1, le=200)] = 100
    sort_by: SortBy = SortBy.BEST
    preference: Preference = Preference.NONE
    accept_bot: Flag = True
    only_bot: Flag = False
    recent_bot_challenge_age: Annotated[Number, Field(ge=1, le=86400)] | None = None
    max_recent_bot_challenges: Annotated[Number, Field(ge=1, le=1000)] | None = None
    human: Overrides = Overrides()
    bot: Overrides = Overrides()

    @property
    def changed(self) -> list[str]:
        """The keys whose values are not their defaults."""
        fields = type(self).model_fields.items()
        return [name for name, field in fields if getattr(self, name) != field.default]

    def overrides(self, *, is_bot: bool) -> Mapping[str, Any]:
        """Return the rules that are set for this kind of challenger."""
        return (self.bot if is_bot else self.human).set_keys

    def rules_for(self, *, is_bot: bool) -> Rules:
        """Return the rules for bots or humans; `bullet_requires_increment` applies to humans only if set in `human`."""
        values = {name: getattr(self, name) for name in Rules.model_fields}
        if not is_bot:
            values["bullet_requires_increment"] = False
        return Rules.model_construct(**{**values, **self.overrides(is_bot=is_bot)})

    def with_variants_of(self, other: "ChallengeConfig") -> "ChallengeConfig":
        """Return this section with the variants that `other` accepts, overrides included."""
        overrides = {"human": self.human.with_variants_of(other.human), "bot": self.bot.with_variants_of(other.bot)}
        return self.model_copy(update={"variants": other.variants, **overrides})

    def key_for(self, key: str, *, is_bot: bool) -> str:
        """Return the dotted key whose value applies to this kind of challenger."""
        kind = "bot." if is_bot else "human."
        return f"challenge.{kind if key in self.overrides(is_bot=is_bot) else ''}{key}"

    def cited(self, key: str, *, is_bot: bool | None = None) -> str:
        """Return `key = value` as it applies to this kind of challenger, or without one, to all without an override."""
        if is_bot is None:
            return f"challenge.{key} = {in_yaml(getattr(self, key))}"
        value = self.overrides(is_bot=is_bot).get(key, getattr(self, key))
        return f"{self.key_for(key, is_bot=is_bot)} = {in_yaml(value)}"

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if self.only_bot and not self.accept_bot:
            yield "only_bot", "expected accept_bot to be true as well, found false"
        if self.games_reserved_for_humans > self.concurrency:
            found = self.games_reserved_for_humans
            yield "games_reserved_for_humans", f"expected at most concurrency = {self.concurrency}, found {found}"
        pair = ("recent_bot_challenge_age", "max_recent_bot_challenges")
        for key, other in (pair, pair[::-1]):
            if getattr(self, key) is not None and getattr(self, other) is None:
                yield key, f"expected {other} to be set as well: one has no effect without the other"
        for kind, is_bot in (("human", False), ("bot", True)):
            given = self.overrides(is_bot=is_bot)
            for key, problem in self.rules_for(is_bot=is_bot).problems():
                culprit = key if key in given else dict(self.bounds)[key]
                if culprit in given:
                    yield f"{kind}.{culprit}", problem if culprit == key else f"{key}: {problem}"

    def notes(self) -> Iterator[tuple[str, str]]:
        yield from super().notes()
        kinds = [is_bot for is_bot in (False, True) if (self.accept_bot if is_bot else not self.only_bot)]
        for clock in (it for it in self.time_controls if isinstance(it, ExactClock)):
            reasons = [self._excluding(clock, is_bot=is_bot) for is_bot in kinds]
            if all(reasons):
                yield "time_controls", f"{clock} is never accepted, as {' and '.join(dict.fromkeys(reasons))}"

    def _excluding(self, clock: ExactClock, *, is_bot: bool) -> str:
        """Return the bound that excludes a clock for this kind of challenger; empty if none does."""
        rules = self.rules_for(is_bot=is_bot)
        longest = rules.max_estimated_game_duration
        bounds = (
            ("min_base", clock.base_s < rules.min_base),
            ("max_base", clock.base_s > rules.max_base),
            ("min_increment", clock.increment_s < rules.min_increment),
            ("max_increment", clock.increment_s > rules.max_increment),
            ("max_estimated_game_duration", longest is not None and clock.expected_s > 60 * longest),
        )
        return next((self.cited(key, is_bot=is_bot) for key, is_outside in bounds if is_outside), "")
