"""The games that the bot looks for itself: the sections `matchmaking` and `rematch`, and the list `tournaments`."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import product, starmap
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, Field, SecretStr, model_validator

from lichessbot.config.base import ONE_OR_MANY, Flag, Number, OrNoLimit, Rating, Section, Text
from lichessbot.config.challenge import BlockLists
from lichessbot.lichess.challenge_terms import Days, may_be_rated
from lichessbot.lichess.enums import (
    HIGHEST_RATING,
    LONGEST_INCREMENT_S,
    OFFERED_BASES,
    OFFERED_DAYS,
    SHORTEST_ESTIMATE_S,
    ExactClock,
    Variant,
    is_offered_base,
    parse_arena_id,
    parse_team_id,
)

DEFAULT_TYPE: Final = "default"
_ASSUMED_BOT_GAMES: Final = 100  # that Lichess allows in 24 hours, as people report
_CHALLENGERS_GET_ONE_IN: Final = 5  # by default, one bot game in five is left to bots that challenge us
_TARGET: Final = "opponent_target_rating_difference"
CLOCK_KEYS: Final = ("challenge_initial_time", "challenge_increment", "challenge_days")


class VariantChoice(StrEnum):
    """The variant to propose; `random`: any variant that `challenge` accepts."""

    RANDOM = "random"
    STANDARD = "standard"
    CHESS960 = "chess960"
    CRAZYHOUSE = "crazyhouse"
    KING_OF_THE_HILL = "kingOfTheHill"
    THREE_CHECK = "threeCheck"
    ANTICHESS = "antichess"
    ATOMIC = "atomic"
    HORDE = "horde"
    RACING_KINGS = "racingKings"

    @property
    def variant(self) -> Variant | None:
        """The variant of this name; None for `random`."""
        return None if self is VariantChoice.RANDOM else Variant(self.value)


class ModeChoice(StrEnum):
    """Rated or casual; `random`: any mode that `challenge` accepts."""

    RANDOM = "random"
    CASUAL = "casual"
    RATED = "rated"


class ColourChoice(StrEnum):
    """Our colour; `pairs` is White, then Black against the same opponent."""

    RANDOM = "random"
    WHITE = "white"
    BLACK = "black"
    PAIRS = "pairs"


class RatingPreference(StrEnum):
    """Which of the suitable opponents are preferred."""

    NONE = "none"
    HIGH = "high"
    LOW = "low"


class ChallengeFilter(StrEnum):
    """What to avoid after a decline: nothing, the opponent, or what the opponent declined."""

    NONE = "none"
    COARSE = "coarse"
    FINE = "fine"


class TypeSelection(StrEnum):
    """How the next kind of game is chosen."""

    WEIGHTED_RANDOM = "weighted_random"
    SEQUENTIAL = "sequential"
    CYCLIC = "cyclic"


class RematchWith(StrEnum):
    """With whom rematches are offered or accepted."""

    NONE = "none"
    HUMAN = "human"
    BOT = "bot"
    ALL = "all"

    def covers(self, *, is_bot: bool) -> bool:
        """Return whether this kind of opponent is meant."""
        return self in (RematchWith.ALL, RematchWith.BOT if is_bot else RematchWith.HUMAN)


def _base(seconds: int) -> int:
    if not is_offered_base(seconds):
        raise ValueError(f"Input should be {OFFERED_BASES}")
    return seconds


def _days(days: int) -> int:
    if days not in OFFERED_DAYS:
        raise ValueError(f"Input should be one of {', '.join(map(str, OFFERED_DAYS))}")
    return days


Bases = Annotated[tuple[Annotated[Number, AfterValidator(_base)], ...], ONE_OR_MANY]
Increments = Annotated[tuple[Annotated[Number, Field(ge=0, le=LONGEST_INCREMENT_S)], ...], ONE_OR_MANY]
DaysList = Annotated[tuple[Annotated[Number, AfterValidator(_days)], ...], ONE_OR_MANY]
Multiplier = Annotated[Number, Field(ge=0, le=1000)]
Weight = Annotated[Number, Field(ge=0, le=1000)]


class MatchType(Section):
    """A kind of game to propose, and its opponents. Bases and increments in seconds."""

    challenge_variant: VariantChoice = VariantChoice.RANDOM
    challenge_mode: ModeChoice = ModeChoice.RANDOM
    challenge_initial_time: Bases = (60, 180)
    challenge_increment: Increments = (1, 2)
    challenge_days: DaysList = ()
    challenge_color: ColourChoice = ColourChoice.PAIRS
    opponent_min_rating: Rating = 600
    opponent_max_rating: Rating = HIGHEST_RATING
    opponent_rating_difference: OrNoLimit[Rating] = 300
    opponent_min_rating_difference: Rating = 0
    opponent_target_rating_difference: Rating = 0
    opponent_rest_multiplier: Multiplier = 0
    rating_preference: RatingPreference = RatingPreference.NONE
    weight: Weight = 1

    bounds: ClassVar = (("opponent_min_rating", "opponent_max_rating"),)

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        most, least = self.opponent_rating_difference, self.opponent_min_rating_difference
        if most is not None and least > most:
            key = "opponent_min_rating_difference"
            yield key, f"expected at most opponent_rating_difference = {most}, found {least}"
        has_clock = self.challenge_initial_time and self.challenge_increment
        if not self.challenge_days and not has_clock:
            yield "challenge_initial_time", "expected a clock (challenge_increment as well) or challenge_days"
        clocks = list(starmap(ExactClock, product(self.challenge_initial_time, self.challenge_increment)))
        for clock in clocks:
            if clock.speed is None:
                expected = f"expected {SHORTEST_ESTIMATE_S} s or more for base + 40 increments"
                yield "challenge_initial_time", f"{expected}, found {clock.base_s} + 40 * {clock.increment_s}"
        yield from self._unrated_problem([*(it for it in clocks if it.speed), *map(Days, self.challenge_days)])

    def _unrated_problem(self, controls: Sequence[ExactClock | Days]) -> Iterator[tuple[str, str]]:
        variant = self.challenge_variant.variant
        if variant is None or self.challenge_mode is not ModeChoice.RATED or not controls:
            return
        if not any(may_be_rated(variant, it) for it in controls):
            shown = "with such a clock" if any(isinstance(it, ExactClock) for it in controls) else "without a clock"
            yield "challenge_mode", f"expected casual, as Lichess rates no {variant} {shown}, found rated"


class MatchOverride(MatchType):
    """Another kind of game: the keys in `set_keys` differ from the section around it. The others' values mean nothing.

    A null means no such games for clocks and days, and no limit for `opponent_rating_difference`; else it is no key.
    """

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, keys: Any) -> Any:
        if not isinstance(keys, dict):
            return keys
        nulls = {"opponent_rating_difference": None, **dict.fromkeys(CLOCK_KEYS, ())}
        return {key: nulls.get(key) if it is None else it for key, it in keys.items() if it is not None or key in nulls}


class MatchmakingConfig(BlockLists, MatchType):
    """The section `matchmaking`. `challenge_timeout` in minutes."""

    allow_matchmaking: Flag = False
    allow_during_games: Flag = False
    challenge_timeout: Annotated[Number, Field(ge=1, le=10080)] = 30
    challenge_filter: ChallengeFilter = ChallengeFilter.FINE
    selection: TypeSelection = TypeSelection.WEIGHTED_RANDOM
    include_challenge_block_list: Flag = False
    bot_games_per_day: Annotated[Number, Field(ge=0, le=1000)] | None = None
    bot_games_for_challengers: Annotated[Number, Field(ge=0, le=1000)] | None = None
    overrides: Mapping[str, MatchOverride] = {}

    def most_bot_games(self, told: int | None = None) -> int:
        """Return how many bot games are allowed in any 24 hours; `told`: what Lichess allows, if it said so."""
        allowed = _ASSUMED_BOT_GAMES if told is None else told
        return allowed if self.bot_games_per_day is None else min(allowed, self.bot_games_per_day)

    def own_share(self, most: int) -> int:
        """Return how many of the day's bot games are for our own challenges."""
        others = self.bot_games_for_challengers
        return most - (most // _CHALLENGERS_GET_ONE_IN if others is None else others)

    def types(self) -> Sequence[tuple[str, MatchType]]:
        """Return every kind of game by name, that of the section itself first."""
        own = {key: getattr(self, key) for key in MatchType.model_fields}
        others = ((name, MatchType(**(own | override.set_keys))) for name, override in self.overrides.items())
        return [(DEFAULT_TYPE, MatchType(**own)), *others]

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if DEFAULT_TYPE in self.overrides:
            yield f"overrides.{DEFAULT_TYPE}", "expected another name, as the games of the section itself have this one"
        for name, kind in self.types()[1:]:
            yield from ((f"overrides.{name}.{key}", problem) for key, problem in kind.problems())
        if all(kind.weight == 0 for _, kind in self.types()):
            yield "weight", "expected a weight above 0 here or in one of the overrides"

    def notes(self) -> Iterator[tuple[str, str]]:
        yield from super().notes()
        if not self.allow_matchmaking:
            return
        layers = (("", self), *((f"overrides.{name}.", override) for name, override in self.overrides.items()))
        for (prefix, layer), (_, kind) in zip(layers, self.types(), strict=True):
            most, written = kind.opponent_rating_difference, layer.model_fields_set
            target, differences = kind.opponent_target_rating_difference, {"opponent_rating_difference", _TARGET}
            if most is not None and target > most and differences & written:
                yield f"{prefix}{_TARGET}", f"no bot is so far off, as opponent_rating_difference is {most}"
            if most is None or "opponent_rating_difference" in written:
                continue
            for key in ("opponent_min_rating", "opponent_max_rating"):
                if key in written and getattr(kind, key) != MatchType.model_fields[key].default:
                    yield f"{prefix}{key}", f"has no effect unless opponent_rating_difference is null; it is {most}"


class RematchConfig(Section):
    """The section `rematch`. None: no limit."""

    offer: RematchWith = RematchWith.NONE
    offers_in_a_row: Annotated[Number, Field(ge=1, le=20)] = 1
    accept: RematchWith = RematchWith.ALL
    accepts_in_a_row: Annotated[Number, Field(ge=1, le=20)] | None = None


def _arena_id(text: str) -> str:
    if (arena_id := parse_arena_id(text)) is None:
        raise ValueError("Input should be the id of an arena, 8 letters and digits, or its address")
    return arena_id


def _team_id(text: str) -> str:
    if (team_id := parse_team_id(text)) is None:
        raise ValueError("Input should be the id of a team, the end of its address, or its address")
    return team_id


class TournamentConfig(Section):
    """An entry of `tournaments`: an arena; `team` in a team battle, `password` if it is private."""

    id: Annotated[Text, AfterValidator(_arena_id)]
    team: Annotated[Text, AfterValidator(_team_id)] | None = None
    password: SecretStr | None = None

    @property
    def plain_password(self) -> str | None:
        """The password as Lichess gets it."""
        return None if self.password is None else self.password.get_secret_value()
