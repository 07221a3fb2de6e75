"""The options of a UCI engine: which it offers, and the `setoption` lines for a configuration.

Pure text. A value that the engine does not accept becomes a complaint. Names are compared without case, as UCI asks.
(Rudolf Huber, Stefan Meyer-Kahlen: UCI protocol, 2006)
"""

import difflib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from lichessbot.config import ELO, LIMIT_STRENGTH, EngineKeys, Strength
from lichessbot.uci.strength import nearest_level

OVERHEAD: Final = "Move Overhead"
CHESS960: Final = "UCI_Chess960"
VARIANT: Final = "UCI_Variant"
MULTI_PV: Final = "MultiPV"
PONDER: Final = "Ponder"
OPPONENT: Final = "UCI_Opponent"
_HASH: Final = "Hash"
_THREADS: Final = "Threads"
_TABLES: Final = "SyzygyPath"
_TABLES_PIECES: Final = "SyzygyProbeLimit"
_MAX_OPTIONS: Final = 1000  # further ones are ignored


class OptionKind(StrEnum):
    """The type of an option."""

    CHECK = "check"
    SPIN = "spin"
    COMBO = "combo"
    BUTTON = "button"
    STRING = "string"


@dataclass(frozen=True, slots=True)
class Option:
    """One option; bounds are those of a spin, choices and default those of a combo."""

    name: str
    kind: OptionKind
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    default: str = ""

    @classmethod
    def read(cls, words: Sequence[str]) -> Self | None:
        """Parse the words after `option`; None if they are not a UCI option."""
        fields = _fields(words)
        name, kind, least, most, default = (
            next(iter(fields[key]), "") for key in ("name", "type", "min", "max", "default")
        )
        if not name or kind not in tuple(OptionKind):
            return None
        return cls(name, OptionKind(kind), _number(least), _number(most), tuple(fields["var"]), default)

    def objection(self, value: object) -> str | None:
        """Return what is expected instead of `value`; None if it is valid."""
        if self.kind is OptionKind.CHECK:
            return None if isinstance(value, bool) else "expected true or false"
        if self.kind is OptionKind.SPIN:
            fits = type(value) is int and self.nearest(value) == value
            return None if fits else f"expected a whole number{self._range}"
        if self.kind is OptionKind.COMBO:
            known = [choice.lower() for choice in self.choices]
            return None if _text(value).lower() in known else f"expected one of {', '.join(self.choices)}"
        return None

    def nearest(self, number: int) -> int:
        """Return the nearest number within the bounds of a spin."""
        number = number if self.least is None else max(number, self.least)
        return number if self.most is None else min(number, self.most)

    def setoption(self, value: object) -> str:
        """Return the line that sets the option; a button has no value, and a combo is spelt as the engine spells it."""
        text = _text(value)
        text = next((choice for choice in self.choices if choice.lower() == text.lower()), text)
        return f"setoption name {self.name}" + ("" if self.kind is OptionKind.BUTTON else f" value {text}")

    @property
    def _range(self) -> str:
        low = "" if self.least is None else f" from {self.least}"
        return low + ("" if self.most is None else f" to {self.most}")


class Options:
    """All options of one engine."""

    def __init__(self) -> None:
        self._options: dict[str, Option] = {}

    def note(self, words: Sequence[str]) -> None:
        """Add the option described by the words after `option`."""
        option = Option.read(words)
        if option is not None and len(self._options) < _MAX_OPTIONS:
            self._options[option.name.lower()] = option

    def get(self, name: str) -> Option | None:
        return self._options.get(name.lower())

    def setoptions(self, name: str, value: object) -> tuple[str, ...]:
        """Return the line that sets an option, none if the engine lacks it; numbers are kept within the bounds."""
        option = self.get(name)
        if option is None:
            return ()
        return (option.setoption(option.nearest(value) if type(value) is int else value),)

    def settings(self, config: EngineKeys) -> Iterator[str]:
        """Yield the lines that set what `config` asks for and the engine accepts.

        Also those for standard chess and one best move, whatever the engine begins with.
        """
        yield from self.setoptions(CHESS960, False)
        yield from self.setoptions(MULTI_PV, 1)
        yield from self.setoptions(_HASH, config.hash_mb)
        yield from self.setoptions(_THREADS, config.threads)
        yield from self.setoptions(OVERHEAD, config.move_overhead_ms)
        yield from self.setoptions(PONDER, config.ponder)
        yield from self._tables(config)
        for name, value in config.uci_options.items():
            option = self.get(name)
            if option is not None and option.objection(value) is None:
                yield option.setoption(value)
        if not isinstance(config.strength, Strength):
            yield from self.setoptions(LIMIT_STRENGTH, True)
            yield from self.setoptions(ELO, config.strength)

    @property
    def levels(self) -> tuple[int, int] | None:
        """The lowest and highest rating that the engine can play at; None if it plays at full strength only."""
        elo = self.get(ELO)
        if self.get(LIMIT_STRENGTH) is None or elo is None or elo.least is None or elo.most is None:
            return None
        return elo.least, elo.most

    def _tables(self, config: EngineKeys) -> Iterator[str]:
        """Yield the lines that give our own engine the tablebases of the move source."""
        tables = config.lichess_bot_tbs.syzygy
        if config.command is None and tables.enabled:
            yield from self.setoptions(_TABLES, os.pathsep.join(str(path.absolute()) for path in tables.paths))
            yield from self.setoptions(_TABLES_PIECES, tables.max_pieces)

    def complaints(self, config: EngineKeys) -> Iterator[str]:
        """Yield why the engine does not accept keys of `config`."""
        for key, name, value in (("hash_mb", _HASH, config.hash_mb), ("threads", _THREADS, config.threads)):
            option = self.get(name)
            if option is not None and (objection := option.objection(value)):
                yield f"{key}: {objection}, found {value}"
        yield from self._complaints_about_strength(config)
        for name, value in config.uci_options.items():
            option = self.get(name)
            if option is None:
                yield f"uci_options.{name}: the engine offers no such option{self._nearest(name)}"
            elif objection := option.objection(value):
                found = repr(value) if isinstance(value, str) else _text(value)
                yield f"uci_options.{name}: {objection}, found {found}"

    def _complaints_about_strength(self, config: EngineKeys) -> Iterator[str]:
        if config.strength is Strength.FULL:
            return
        if self.levels is None:
            yield (
                f"strength: the engine offers no {LIMIT_STRENGTH} with {ELO} and plays at full strength only; "
                f"set full, found {config.strength}"
            )
            return
        match = config.match_opponent
        wanted = {"strength": config.strength}
        if config.strength is Strength.MATCH_OPPONENT:
            wanted = {"match_opponent.floor": match.floor, "match_opponent.ceiling": match.ceiling}
        lowest, highest = self.levels
        for key, level in wanted.items():
            nearest = nearest_level(int(level), self.levels)
            if nearest != level:
                yield f"{key}: the engine plays at levels from {lowest} to {highest}, found {level}; nearest: {nearest}"

    def _nearest(self, name: str) -> str:
        near = difflib.get_close_matches(name.lower(), self._options, n=1)
        return f"; nearest: {self._options[near[0]].name}" if near else ""


_KEYWORDS: Final = ("name", "type", "default", "min", "max", "var")


def _fields(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the texts after each keyword; names may have several words, keywords may repeat."""
    fields: dict[str, list[list[str]]] = {keyword: [] for keyword in _KEYWORDS}
    current: list[str] = []
    for word in words:
        if word in fields:
            current = []
            fields[word].append(current)
        else:
            current.append(word)
    return {keyword: [" ".join(text) for text in texts] for keyword, texts in fields.items()}


def _number(text: str) -> int | None:
    try:
        return int(text.replace(" ", ""))
    except ValueError:
        return None


def _text(value: object) -> str:
    """Return a value as UCI writes it, on one line."""
    if value is None or value == "":
        return "<empty>"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return " ".join(text.split())
