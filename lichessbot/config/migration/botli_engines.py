"""BotLi's `engines` and `opening_books`: keys such as `blitz_white_human` that become profiles.

BotLi takes exactly one engine and one book for a game: that of the exact clock, else of the speed, else the standard
one, each with as many suffixes as fit; a variant has its own before the standard one. Here every matching profile
applies and the last one wins, so the profiles go from the most general to the most special, and each sets all keys.
"""

import math
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from lichessbot.config.engine import option_key
from lichessbot.config.lichess_bot_keys import NOT_OURS, SET_BY_THE_BOT
from lichessbot.config.migration.translation import Translation, number_of
from lichessbot.config.yaml_file import dotted
from lichessbot.lichess.enums import ExactClock

MEASURED: Final = NOT_OURS["move_overhead"]
_ENGINES: Final = ("engines",)
_BOOKS: Final = ("opening_books", "books")
_STANDARD: Final = "standard"
_CHESS960: Final = "chess960"
_SPEEDS: Final = ("bullet", "blitz", "rapid", "classical")
_EVERY_OTHER: Final = "variants"
# The names that python-chess has for the other variants, in lower case.
_OTHERS: Final = {
    "crazyhouse": ("crazyhouse", "crazy house", "house", "zh"),
    "kingOfTheHill": ("king of the hill", "koth", "kingofthehill"),
    "threeCheck": (
        "three-check", "three check", "threecheck", "three check chess", "3-check", "3 check", "3check",
    ),
    "antichess": ("antichess", "anti-chess", "anti chess", "anti"),
    "atomic": ("atomic", "atom", "atomic chess"),
    "horde": ("horde", "horde chess"),
    "racingKings": ("racing kings", "racing", "race", "racingkings"),
}  # fmt: skip
_VARIANTS_OF: Final = {
    _EVERY_OTHER: list(_OTHERS),
    **{name: [variant] for variant, names in _OTHERS.items() for name in names},
}
# In BotLi's order: of two keys with equally many suffixes, the one whose first suffix comes earlier wins.
_ORDER: Final = {"tournament": 0, "human": 1, "bot": 1, "white": 2, "black": 2, "rated": 3, "casual": 3}
_CONDITIONS: Final[dict[str, tuple[str, Any]]] = {
    "tournament": ("tournament", True),
    "human": ("opponent", "human"),
    "bot": ("opponent", "bot"),
    "white": ("colour", "white"),
    "black": ("colour", "black"),
    "rated": ("rated", True),
    "casual": ("rated", False),
}
_LIMITS: Final = {"depth": "depth", "nodes": "nodes", "time": "move_time_ms"}
_NO_DEPTH: Final = 500
_MOST: Final = sys.float_info.max / 1000
ORDER_OF_SOURCES: Final = "the order of the sources is fixed: books, tablebases, chessdb, cloud, explorer"


@dataclass(frozen=True)
class _Games:
    """The games that a key such as `blitz_white_human` is for."""

    base: str
    suffixes: tuple[str, ...]

    @classmethod
    def of(cls, key: str) -> "_Games | None":
        """Return what the key says; None if it is no key of BotLi."""
        base, *suffixes = key.split("_")
        known = base in (_STANDARD, _CHESS960, *_SPEEDS, *_VARIANTS_OF) or ExactClock.parse(base) is not None
        kinds = [_CONDITIONS[it][0] for it in suffixes if it in _CONDITIONS]
        # No game is against a human and a bot, so no game is for a key with both.
        possible = len(set(kinds)) == len(kinds) == len(suffixes)
        return cls(base, tuple(suffixes)) if known and possible else None

    @property
    def when(self) -> dict[str, Any]:
        """The conditions of a profile; none for every game."""
        conditions: dict[str, Any] = {}
        if self.base == _CHESS960:
            conditions["variant"] = _CHESS960
        elif self.base in _VARIANTS_OF:
            conditions["variant"] = _VARIANTS_OF[self.base]
        elif self.base != _STANDARD:
            # Games of other variants are not for these keys of BotLi.
            conditions["speed" if self.base in _SPEEDS else "clock"] = self.base
            conditions["variant"] = [_STANDARD, "fromPosition"]
        return conditions | dict(_CONDITIONS[it] for it in self.suffixes)

    @property
    def rank(self) -> tuple[int, int, tuple[int, ...]]:
        """The place in the order of the profiles, the most special last."""
        bases = {_STANDARD: 0, _CHESS960: 1, _EVERY_OTHER: 1, **dict.fromkeys(_SPEEDS, 1)}
        return bases.get(self.base, 2), len(self.suffixes), tuple(-_ORDER[it] for it in self.suffixes)


def translate_engines(found: Translation) -> None:
    """Translate the engines and books into `engine` and `profiles`."""
    files = {name: found.peek(("books", name)) for name in found.names("books")}
    found.move("opening_books.enabled", "engine.polyglot.enabled")
    found.leave("opening_books.priority", ORDER_OF_SOURCES, matters=False)
    found.leave("opening_books.read_learn", "the learn field of a book is not read")
    chosen: dict[_Games, dict[str, Any]] = {}
    of_a_book = found.names((*_BOOKS, _STANDARD))
    engines, tables = _keys(found, *_ENGINES), tables_of_engines(found)
    for games, path in engines:
        chosen.setdefault(games, {}).update(_engine(found, path))
        may_read = found.take((*path, "use_syzygy")) is not False  # until November 2024
        if tables and may_read and games.base not in _VARIANTS_OF:
            chosen[games].setdefault("uci_options", {}).setdefault("SyzygyPath", tables)
    for games, path in _keys(found, *_BOOKS):
        chosen.setdefault(games, {})["polyglot"] = _book(found, path, games, files)
    for name in files:
        found.take(("books", name))
    _make_whole(chosen.values())
    profiles = []
    for games in sorted(chosen, key=lambda it: it.rank):
        if games.when:
            profiles.append({"when": games.when, "engine": chosen[games]})
        else:
            polyglot = chosen[games].pop("polyglot", {})
            _set_all(found, "engine", chosen[games], old="engines.standard")
            for key, value in polyglot.items():
                theirs = "names" if key == "book" else key
                old = dotted((*_BOOKS, _STANDARD, theirs)) if theirs in of_a_book else ""
                _set_all(found, "engine.polyglot", {key: value}, old=old)
    if profiles:
        books = dotted(found.as_written(_BOOKS))
        found.set("profiles", profiles, old="engines" if engines else books, remark=f"and {books}" if engines else "")


def tables_of_engines(found: Translation) -> str:
    """Return the folders of tablebases that BotLi leaves to the engines; empty if there are none."""
    tables = {key: found.peek(f"syzygy.standard.{key}") for key in ("enabled", "paths", "instant_play")}
    is_for_engines = tables["enabled"] and tables["instant_play"] is False and isinstance(tables["paths"], list)
    return ":".join(map(str, tables["paths"])) if is_for_engines else ""


def _keys(found: Translation, *section: str) -> list[tuple[_Games, tuple[str, ...]]]:
    """Return the keys of a section that name games we play, with their games; leave out the others."""
    kept = []
    for key in found.names(section):
        games = _Games.of(key)
        path = (*section, key)
        if games is None:
            found.leave(path, "no games are known by this name")
        elif games.base == _EVERY_OTHER and section != _ENGINES:
            found.leave(path, "BotLi reads a book for each variant, none for all")
        elif found.names(path):
            kept.append((games, path))
    return kept


def _engine(found: Translation, path: tuple[str, ...]) -> dict[str, Any]:
    """Return our keys of an engine; those that are not set are missing."""
    name, folder = found.take((*path, "name")), found.take((*path, "dir"))
    engine: dict[str, Any] = {"command": [os.path.join(str(folder or "."), str(name))]} if name else {}
    for key in ("ponder", "silence_stderr"):
        if (value := found.take((*path, key))) is not None:
            engine[key] = value
    found.leave((*path, "move_overhead_multiplier"), MEASURED, matters=False)
    for option in found.names((*path, "uci_options")):
        value = found.take((*path, "uci_options", option))
        if option.lower() in SET_BY_THE_BOT:
            found.note((*path, "uci_options", option), "the bot sets this option", matters=False)
        elif (own_key := option_key(option)) is not None:
            if value is None:
                found.note((*path, "uci_options", option), "is empty", matters=False)
            else:
                engine[own_key] = number_of(value)
        else:
            engine.setdefault("uci_options", {})[option] = value
    for theirs, ours in _LIMITS.items():
        limit = found.take((*path, "limits", theirs))
        if isinstance(limit, int | float) and abs(limit) <= _MOST:
            engine[ours] = round(limit * 1000) if theirs == "time" else limit
        elif limit is not None:
            found.note((*path, "limits", theirs), f"expected a number, found {limit!r}")
    return engine


def _book(found: Translation, path: tuple[str, ...], games: _Games, files: dict[str, Any]) -> dict[str, Any]:
    """Return our keys of a book."""
    given = found.take((*path, "names"))
    names = list(map(str, given)) if isinstance(given, list) else []
    known = [str(files[name]) for name in names if name in files]
    for name in names:
        if name not in files:
            found.note((*path, "names"), f"books does not say where {name} is")
    own = {_CHESS960: [_CHESS960], _STANDARD: [_STANDARD, _CHESS960], **_VARIANTS_OF}
    variants = own.get(games.base, [_STANDARD])
    book: dict[str, Any] = {"book": {variant: list(known) for variant in variants}}
    if (depth := found.take((*path, "max_depth"))) is not None:
        book["max_depth"] = our_moves(depth) if isinstance(depth, int | float) else depth
    for key in ("selection", "max_moves", "allow_repetitions"):
        if (value := found.take((*path, key))) is not None:
            book[key] = value
    return book


def _make_whole(chosen: Iterable[dict[str, Any]]) -> None:
    """Set in each engine and book the keys that another one sets, so that it takes over nothing from them."""
    every = list(chosen)
    limits = [ours for ours in _LIMITS.values() if any(ours in it for it in every)]
    books = [it["polyglot"] for it in every if "polyglot" in it]
    for engine in every:
        if "command" in engine:
            for key in limits:
                engine.setdefault(key, None)
    for book in books:
        book.setdefault("max_depth", _NO_DEPTH)
        for key, absent in (("max_moves", None), ("allow_repetitions", False)):
            if any(key in it for it in books):
                book.setdefault(key, absent)


def _set_all(found: Translation, key: str, values: dict[str, Any], *, old: str) -> None:
    for name, value in values.items():
        if isinstance(value, dict) and name != "uci_options":
            _set_all(found, f"{key}.{name}", value, old=old)
        elif value is not None:
            found.set((*key.split("."), name), value, old=old)


def our_moves(plies: float) -> float:
    """Return how many of our own moves half moves are."""
    return math.ceil(plies / 2) if math.isfinite(plies) else plies
