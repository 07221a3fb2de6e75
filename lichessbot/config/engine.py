"""The section `engine`: which engine plays, how strongly and how long it thinks; and `profiles`, which override it."""

import difflib
import re
from collections.abc import Iterator
from enum import StrEnum
from math import isfinite
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import AfterValidator, BeforeValidator, Field

from lichessbot.config.base import (
    ONE_OR_MANY,
    Before,
    Command,
    Flag,
    Folder,
    Number,
    OrNoLimit,
    Rating,
    Section,
    distinct,
    merged,
)
from lichessbot.config.challenge import Names
from lichessbot.config.sources import (
    STANDARD_RULES,
    LocalTablesConfig,
    OnlineMovesConfig,
    PolyglotConfig,
)
from lichessbot.lichess.enums import Colour, ExactClock, OpponentKind, Speed, Variant

# What Stockfish takes. The engine's own limits, which may be lower, are compared when it starts.
_MOST_HASH_MB = 33_554_432
_MOST_THREADS = 1024
_MOST_OVERHEAD_MS = 5000
# UCI options, in lower case, that have a key of their own, with the range of the key.
_OPTIONS_WITH_KEYS = {
    "hash": ("hash_mb", 1, _MOST_HASH_MB),
    "threads": ("threads", 1, _MOST_THREADS),
    "move overhead": ("move_overhead_ms", 0, _MOST_OVERHEAD_MS),
}
_SET_BY_GAME = {
    "uci_chess960": "the variant of the game",
    "uci_variant": "the variant of the game",
    "ponder": "engine.ponder",
}
STYLE_OPTION: Final = "Style"
_NEUTRAL = 100
_Weight = Annotated[Number, Field(ge=-200, le=400)]
_Moves = Annotated[Number, Field(ge=1, le=100)]
_LOWEST_LEVEL, _HIGHEST_LEVEL = 400, 4000
LIMIT_STRENGTH, ELO = "UCI_LimitStrength", "UCI_Elo"
_OPTIONS_OF_STRENGTH = (LIMIT_STRENGTH.lower(), ELO.lower())
_WHOLE_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")  # one that is sent as it is written


class StyleName(StrEnum):
    """The styles that our engine knows by name."""

    NONE = "none"
    ATTACKER = "attacker"
    SOLID = "solid"
    GAMBLER = "gambler"
    ENDGAME = "endgame"
    SWINDLER = "swindler"
    CLASSICAL = "classical"


class StyleConfig(Section):
    """The section `engine.style`: a style by name, or weights of groups of evaluation terms in percent, or both.

    A weight below 0 reverses its group. The engine has a UCI option for each key.
    """

    name: StyleName = StyleName.NONE
    material: Annotated[Number, Field(ge=-200, le=200)] = _NEUTRAL
    placement: _Weight = _NEUTRAL
    mobility: _Weight = _NEUTRAL
    pawn_structure: _Weight = _NEUTRAL
    pawn_advance: _Weight = _NEUTRAL
    pieces: _Weight = _NEUTRAL
    king_safety: _Weight = _NEUTRAL
    king_attack: _Weight = _NEUTRAL
    threats: _Weight = _NEUTRAL
    tempo: _Weight = _NEUTRAL

    @property
    def uci_options(self) -> dict[str, int | str]:
        """The keys that are set, by the names of the engine's options, such as `Style` or `Style King Attack`."""
        weights = self.set_keys
        by_name = {STYLE_OPTION: str(weights.pop("name"))} if "name" in weights else {}
        return by_name | {f"{STYLE_OPTION} {name.replace('_', ' ').title()}": value for name, value in weights.items()}

    @property
    def is_neutral(self) -> bool:
        return all(value in _UNSTYLED for _, value in self)

    @property
    def plays_to_lose(self) -> bool:
        """Whether the engine prefers bad positions."""
        return self.material < 0


_UNSTYLED: Final = (StyleName.NONE, _NEUTRAL)
_Style = Annotated[
    StyleConfig,
    Before(
        lambda value: {"name": value} if isinstance(value, str) else value,
        lambda described: {"anyOf": [{"enum": list(StyleName)}, described]},
    ),
]


class Strength(StrEnum):
    """How strongly the engine plays, if not at a given level."""

    FULL = "full"
    MATCH_OPPONENT = "match_opponent"
    """At the level of the opponent's rating, in casual games."""


def _strength(value: Any) -> Strength | int:
    if isinstance(value, int) and not isinstance(value, bool) and _LOWEST_LEVEL <= value <= _HIGHEST_LEVEL:
        return value
    if isinstance(value, str) and value in tuple(Strength):
        return Strength(value)
    expected = f"Input should be full, match_opponent or a level from {_LOWEST_LEVEL} to {_HIGHEST_LEVEL}"
    nearest: list[Any] = difflib.get_close_matches(str(value), tuple(Strength), 1, 0.4)
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
        nearest = [min(max(round(value), _LOWEST_LEVEL), _HIGHEST_LEVEL)]
    raise ValueError(expected + "".join(f" (nearest: {it})" for it in nearest))


_Level = Annotated[Number, Field(ge=_LOWEST_LEVEL, le=_HIGHEST_LEVEL)]


class MatchOpponentConfig(Section):
    """The section `engine.match_opponent`: the level for an opponent's rating, with `strength: match_opponent`."""

    offset: Annotated[Number, Field(ge=-1000, le=1000)] = 0
    floor: _Level = 800
    ceiling: _Level = 2600

    bounds: ClassVar = (("floor", "ceiling"),)


class DrawOrResignConfig(Section):
    """The section `engine.draw_or_resign`: when to offer a draw or resign. Scores in centipawns from our side.

    None disables a condition. A single search never resigns; a single tablebase result does.
    """

    offer_draw_enabled: Flag = False
    offer_draw_score: Annotated[Number, Field(ge=0, le=2000)] = 0
    offer_draw_moves: _Moves = 5
    offer_draw_pieces: Annotated[Number, Field(ge=2, le=32)] = 10
    offer_draw_for_egtb_zero: Flag = True
    offer_draw_min_game_length: Annotated[Number, Field(ge=0, le=300)] = 0
    offer_draw_against_humans: Flag = True
    offer_draw_min_rating: Rating | None = None
    resign_enabled: Flag = False
    resign_score: Annotated[Number, Field(ge=-20000, le=0)] = -1000
    resign_moves: Annotated[Number, Field(ge=2, le=100)] = 3
    resign_for_egtb_minus_two: Flag = True
    resign_against_humans: Flag = True
    resign_min_rating: Rating | None = None
    opponent_flag_time: Annotated[Number, Field(ge=0, le=3600)] = 30


def _option_value(value: Any) -> Any:
    """Return the value of a UCI option; a whole number or boolean written as 1500.0, "10" or "true" as such."""
    if isinstance(value, list | dict):
        raise ValueError("Input should be a single value")
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if value in ("true", "false"):
        return value == "true"
    return int(value) if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value) else value


def option_key(name: object) -> str | None:
    """Return the key that a UCI option such as `Hash` means; None if it has none."""
    key, *_ = _OPTIONS_WITH_KEYS.get(str(name).lower(), (None,))
    return key


class EngineKeys(Section):
    """The keys that both `engine` and a profile can set; None means no limit.

    `own_book` is None for the default, see `has_own_book`. `uci_options` may name an option that has a key, and `style`
    sets options of our engine: `normalized` merges them.
    """

    command: Command | None = None
    working_dir: Annotated[Folder, AfterValidator(lambda path: path and path.absolute())] = None
    silence_stderr: Flag = False
    debug: Flag = False
    uci_options: dict[str, Annotated[Any, AfterValidator(_option_value)]] = Field(default_factory=dict)
    strength: Annotated[Strength | Number, BeforeValidator(_strength)] = Strength.FULL
    match_opponent: MatchOpponentConfig = MatchOpponentConfig()
    level_in_chat: Flag = True
    propose_level: Flag = True
    style: _Style = StyleConfig()
    ponder: Flag = True
    hash_mb: Annotated[Number, Field(ge=1, le=_MOST_HASH_MB)] = 64
    threads: Annotated[Number, Field(ge=1, le=_MOST_THREADS)] = 1
    depth: OrNoLimit[Annotated[Number, Field(ge=1, le=100)]] = None
    nodes: OrNoLimit[Annotated[Number, Field(ge=1)]] = None
    move_time_ms: OrNoLimit[Annotated[Number, Field(ge=1, le=600_000)]] = None
    move_overhead_ms: Annotated[Number, Field(ge=0, le=_MOST_OVERHEAD_MS)] = 200
    draw_or_resign: DrawOrResignConfig = DrawOrResignConfig()
    own_book: Flag | None = None
    variety: Flag = True
    polyglot: PolyglotConfig = PolyglotConfig()
    lichess_bot_tbs: LocalTablesConfig = LocalTablesConfig()
    online_moves: OnlineMovesConfig = OnlineMovesConfig()

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if self.command is not None and not self.style.is_neutral:
            yield "style", "is for the bot's own engine only; remove it or command"
        spelt: dict[str, str] = {}
        for name, value in self.uci_options.items():
            key = f"uci_options.{name}"
            if (other := spelt.setdefault(name.lower(), name)) != name:
                yield key, f"is the same option as {other}; remove one of them"
            setter = _SET_BY_GAME.get(name.lower())
            if setter is not None:
                yield key, f"is set by {setter}; remove it"
            known = _OPTIONS_WITH_KEYS.get(name.lower())
            if known is not None:
                _, least, most = known
                if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                    yield key, f"expected a whole number from {least} to {most}, found {value!r}"
            if self.sets_strength_twice and name in self.strength_options:
                yield key, f"contradicts strength: {self.strength}; remove one of them"

    def notes(self) -> Iterator[tuple[str, str]]:
        yield from super().notes()
        for name, value in self.uci_options.items():
            key = option_key(name)
            if key is not None and key in self.model_fields_set and getattr(self, key) != value:
                yield key, f"has no effect, as uci_options.{name} sets it"

    @property
    def level(self) -> int | None:
        """The level at which the engine is told to play; None at full strength, or if it depends on the opponent."""
        if isinstance(self.strength, Strength):
            options = {name.lower(): value for name, value in self.uci_options.items()}
            limits, elo = (options.get(name) for name in _OPTIONS_OF_STRENGTH)
            return elo if self.strength is Strength.FULL and limits is True and isinstance(elo, int) else None
        return self.strength

    @property
    def strength_options(self) -> dict[str, Any]:
        """Those of `uci_options` that set the strength."""
        return {name: value for name, value in self.uci_options.items() if name.lower() in _OPTIONS_OF_STRENGTH}

    @property
    def sets_strength_twice(self) -> bool:
        return self.strength is not Strength.FULL and bool(self.strength_options)

    @property
    def is_unlimited(self) -> bool:
        """Whether only its time limits an engine without a level. UCI options, once `normalized`, may weaken it."""
        return self.depth is None and self.nodes is None and not self.uci_options

    def normalized(self) -> Self:
        """Return a copy with the style in `uci_options`, and with Hash, Threads and Move Overhead in their own keys.

        The daemon adapts those keys: it fits the table to the machine and measures the overhead.
        """
        options = {**self._style_options, **self.uci_options}
        own_keys = {name: key for name in options if (key := option_key(name)) is not None}
        if options == self.uci_options and not own_keys:
            return self
        rest = {name: value for name, value in options.items() if name not in own_keys}
        moved = {key: options[name] for name, key in own_keys.items()}
        return self.model_copy(update={"uci_options": rest, **moved})

    @property
    def has_own_book(self) -> bool:
        """Whether our opening book is asked: unless the configuration says so, for our engine alone."""
        return self.command is None if self.own_book is None else self.own_book

    @property
    def limits_in_words(self) -> str:
        """What limits a search: a depth, nodes or a time, else the clock."""
        limits = (
            f"depth {self.depth}" if self.depth else "",
            f"{self.nodes} nodes" if self.nodes else "",
            f"{self.move_time_ms} ms a move" if self.move_time_ms else "",
        )
        return ", ".join(filter(None, limits)) or "the clock"

    @property
    def _style_options(self) -> dict[str, int | str]:
        return self.style.uci_options


class EngineConfig(EngineKeys):
    """The section `engine`, including the keys that profiles cannot override.

    The move overhead is `move_overhead_ms` until enough round trips are measured, or their median if that is more, then
    their percentile between the two bounds. The engine then reckons with their mean at every move to come, and with a
    clock that is shorter by what a few slow answers would cost.
    """

    move_overhead_percentile: Annotated[Number, Field(ge=50, le=100)] = 99
    min_move_overhead_ms: Annotated[Number, Field(ge=0, le=_MOST_OVERHEAD_MS)] = 20
    max_move_overhead_ms: Annotated[Number, Field(ge=0, le=_MOST_OVERHEAD_MS)] = 2000

    bounds: ClassVar = (("min_move_overhead_ms", "max_move_overhead_ms"),)

    @property
    def _style_options(self) -> dict[str, int | str]:
        """The style without neutral weights, the engine's defaults; only profiles need them, to undo a style."""
        return {name: value for name, value in super()._style_options.items() if value not in _UNSTYLED}

    @property
    def sources(self) -> tuple[str, ...]:
        """The move sources that are asked before the engine, by their keys, in order."""
        return tuple(name for name, _ in self._sources())

    def sources_for(self, variant: str) -> tuple[str, ...]:
        """Return those of the sources that are asked in this variant."""
        return tuple(name for name, variants in self._sources() if variant in variants)

    def _sources(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the key of each source that is enabled, and the variants that it is for."""
        if self.polyglot.files and self.polyglot.max_depth > 0:
            yield "polyglot", self.polyglot.variants
        if self.lichess_bot_tbs.syzygy.enabled:
            yield "syzygy", STANDARD_RULES
        for name, server in self.online_moves.sources.items():
            yield name, server.variants
        if self.has_own_book:
            yield "own_book", STANDARD_RULES

    def changed_by(self, profile: "Profile") -> Self:
        """Return a copy with the keys that the profile sets. Another `command` takes over no `uci_options`."""
        its_own = "command" in profile.engine.model_fields_set
        below = self.model_copy(update={"uci_options": {}}) if its_own else self
        return merged(below, profile.engine)


def _clock(value: object) -> ExactClock:
    clock = value if isinstance(value, ExactClock) else ExactClock.parse(value) if isinstance(value, str) else None
    if clock is None:
        raise ValueError("Input should be a clock of minutes+seconds such as 3+2")
    return clock


_Clocks = tuple[Annotated[ExactClock, BeforeValidator(_clock)], ...]


class Conditions(Section):
    """The games that a profile is for; an absent condition is true of every game."""

    speed: Annotated[tuple[Speed, ...], ONE_OR_MANY, AfterValidator(distinct)] = ()
    clock: Annotated[_Clocks, ONE_OR_MANY, AfterValidator(distinct)] = ()
    variant: Annotated[tuple[Variant, ...], ONE_OR_MANY, AfterValidator(distinct)] = ()
    opponent: OpponentKind | None = None
    opponent_name: Annotated[Names, Field(min_length=1)] = ()
    rating: tuple[Number, Number] | None = None
    rated: Flag | None = None
    tournament: Flag | None = None
    colour: Colour | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if self.rating is not None and self.rating[0] > self.rating[1]:
            yield "rating", f"expected the lower rating first, found {list(self.rating)}"

    @property
    def chooses_opponents(self) -> bool:
        """Whether it tells opponents of one kind apart, by rating or name."""
        return self.rating is not None or bool(self.opponent_name)

    @property
    def can_be_met(self) -> bool:
        """Whether there can be games with such a clock and speed."""
        return not self.clock or any(self._is_possible(clock) for clock in self.clock)

    def notes(self) -> Iterator[tuple[str, str]]:
        yield from super().notes()
        for clock in self.clock:
            if not self._is_possible(clock):
                speed = clock.speed
                why = "it is too fast for bots" if speed is None else f"its speed is {speed}, which is not in speed"
                yield "clock", f"no game with {clock} meets the conditions, as {why}"

    def _is_possible(self, clock: ExactClock) -> bool:
        return clock.speed in (self.speed or tuple(Speed))


class Profile(Section):
    """Other values of `engine` for some games; of several matching profiles the last one wins, key by key."""

    when: Conditions
    engine: EngineKeys

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if not self.when.model_fields_set:
            yield "when", "expected a condition such as `speed: bullet`; keys for every game belong to `engine`"
        if not self.engine.model_fields_set:
            yield "engine", "expected a key such as `depth: 8`"
