"""Events and where they are logged: each has a name such as `game.over`, perhaps a game, and fields."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

_LONGEST_VALUE: Final = 300
# How often each bug was met, by the kind of exception and the place where it was raised.
_crashes: Counter[tuple[object, ...]] = Counter()


@dataclass(frozen=True, slots=True)
class Event:
    """The message of a log record. Only fields with a value are kept."""

    name: str
    game_id: str | None
    fields: Mapping[str, object]

    def __str__(self) -> str:
        """Return the event as `name game=ID field=value ...`."""
        game = "" if self.game_id is None else f" game={self.game_id}"
        return self.name + game + "".join(f" {name}={_value(value)}" for name, value in self.fields.items())


class EventLog:
    """Logs the events of the daemon, or of one game."""

    def __init__(self, game_id: str | None = None) -> None:
        self._logger = logging.getLogger("lichessbot")
        self._game_id = game_id

    def debug(self, event: str, **fields: object) -> None:
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: object) -> None:
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._write(logging.ERROR, event, fields)

    def crash(self, event: str, error: BaseException, **fields: object) -> None:
        """Log a bug with its traceback; one met again and again is logged the 1st, 2nd, 4th, 8th ... time."""
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        key = type(error), last and (last.tb_frame.f_code.co_filename, last.tb_lineno)
        _crashes[key] += 1
        if _crashes[key].bit_count() == 1:
            self._write(logging.ERROR, event, {**fields, "times": _crashes[key]}, error)

    def _write(self, level: int, event: str, fields: dict[str, object], error: BaseException | None = None) -> None:
        if self._logger.isEnabledFor(level):
            known = {name: value for name, value in fields.items() if value is not None}
            # An object that logs about many games names the game as a field.
            game_id = known.pop("game", None) if self._game_id is None else self._game_id
            self._logger.log(level, Event(event, None if game_id is None else str(game_id), known), exc_info=error)


@contextmanager
def silenced() -> Iterator[None]:
    """Log nothing meanwhile, for a command that reports in lines of its own."""
    logger = logging.getLogger("lichessbot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def crashes() -> int:
    """Return how many bugs were met since the start of the process, repetitions included."""
    return _crashes.total()


def inert(text: str) -> str:
    """Return text with an escape such as \\x1b for each character that could steer a terminal or reorder a line."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def counted(number: float, noun: str, nouns: str = "") -> str:
    """Return a number of things in words, such as `1 day` or `2 days`; `nouns` is an irregular plural."""
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or f'{noun}s'}"


def cut(text: str) -> str:
    """Return text that is no longer than a value in a line of the log may be."""
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _value(value: object) -> str:
    """Return a value so that text from the network can forge neither a second line nor a second field."""
    if isinstance(value, float):
        return f"{value:.3f}"
    text = cut(str(value))
    plain = text.isprintable() and text and not any(mark in text for mark in ' "=')
    return text if plain else '"' + text.replace('"', "'").encode("unicode_escape").decode("ascii") + '"'
