"""The words of UCI commands: options, numbers, and the limits after `go`. (UCI protocol, 2006)"""

import re
from collections.abc import Callable
from itertools import takewhile
from typing import Any, NamedTuple

from engine.nearest import did_you_mean
from engine.search.time_manager import Limits

EMPTY = "<empty>"                  # an empty string in UCI
MAX_NODES = 10**12
MAX_LIMIT = 10**9                  # milliseconds or moves; larger limits are cut to this, or to MAX_NODES
GO_NUMBERS = {
    "wtime": "white_time_ms",
    "btime": "black_time_ms",
    "winc": "white_increment_ms",
    "binc": "black_increment_ms",
    "movestogo": "moves_to_go",
    "depth": "depth",
    "nodes": "nodes",
    "movetime": "move_time_ms",
    "mate": "mate_in",
}
ENDS = {"depth", "nodes", "move_time_ms", "mate_in", "infinite"}        # limits with which a search needs no clock
NO_LIMIT_IF_ZERO = ("depth", "nodes", "mate")       # so 0 counts as 1
CLOCKS, INCREMENTS = ("wtime", "btime"), ("winc", "binc")
MAY_BE_NEGATIVE = CLOCKS           # one that has run out; counts as 0
GO_WORDS = (*GO_NUMBERS, "searchmoves", "ponder", "infinite")


class UciError(ValueError):
    """An invalid command; the message is shown to the user."""


def words_of(line: str) -> list[str]:
    """Return the words of a command; the value of an option is one, as a path may have several spaces in a row."""
    words = line.split()
    before, found, value = line.partition(" value ")
    return [*before.split(), "value", value.strip()] if found and words[0] == "setoption" else words


def parse_switch(name: str, text: str) -> bool:
    """Return True for `true`, False for `false`. Raises UciError."""
    if text.lower() not in ("true", "false"):
        raise UciError(f"expected true or false for {name}, found {text[:40]!r}")
    return text.lower() == "true"


def parse_number(name: str, text: str, least: int, most: int) -> int:
    """Return the whole number from `least` to `most`. Raises UciError."""
    number = int(text) if re.fullmatch("[+-]?[0-9]{1,20}", text) else least - 1
    if not least <= number <= most:
        raise UciError(f"expected a whole number from {least} to {most} for {name}, found {text[:40]!r}")
    return number


def parse_choice(name: str, text: str, choices: tuple[str, ...]) -> str:
    """Return the choice, which is in lower case. Raises UciError."""
    if text.lower() not in choices:
        hint = did_you_mean(text.lower(), choices, 0.5)
        raise UciError(f"expected one of {' '.join(choices)} for {name}, found {text[:40]!r}{hint}")
    return text.lower()


class Option(NamedTuple):
    """An option: its type as UCI describes it, and a function of its name and a text that returns a valid value."""

    kind: str
    parse: Callable[[str, str], Any]


def spin(default: int, least: int, most: int) -> Option:
    """Return an option whose value is a whole number."""
    kind = f"spin default {default} min {least} max {most}"
    return Option(kind, lambda name, text: parse_number(name, text, least, most))


def check(*, default: bool) -> Option:
    """Return an option that is on or off."""
    return Option(f"check default {str(default).lower()}", parse_switch)


def combo(default: str, *choices: str) -> Option:
    """Return an option with these choices, in lower case."""
    kind = f"combo default {default} {' '.join(f'var {choice}' for choice in choices)}"
    return Option(kind, lambda name, text: parse_choice(name, text, choices))


def string(default: str) -> Option:
    """Return an option whose value is any text; UCI writes the empty one as EMPTY."""
    return Option(f"string default {default or EMPTY}", lambda name, text: "" if text == EMPTY else text)


BUTTON = Option("button", lambda name, text: None)     # an action without a value


def parse_limits(words: list[str]) -> tuple[Limits, list[str], list[str]]:
    """Return the limits of a `go` command, its `searchmoves`, and notes about words that are not understood.

    A GUI waits for a move whatever it sent: UCI wants unknown words ignored, an unreadable number counts as far as it
    can be read, else as 0. If nothing else limits the search, a clock that is missing beside another or an increment is
    taken as 0. Raises UciError if all words are unknown.
    """
    limits: dict[str, Any] = {"infinite": not words}
    only: list[str] = []
    notes: list[str] = []
    unknown: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        if word in ("infinite", "ponder"):
            limits[word] = True
        elif word in GO_NUMBERS:
            value = next((text for text in words[index + 1 : index + 2] if text not in GO_WORDS), "")
            number = limits[GO_NUMBERS[word]] = _number(word, value)
            if not re.fullmatch("[+-]?[0-9]+" if word in MAY_BE_NEGATIVE else "[+]?[0-9]+", value):
                notes.append(f"expected a whole number for {word}, found {value[:40]!r}; taken as {number}")
            index += value != ""
        elif word == "searchmoves":
            only = list(takewhile(lambda text: text not in GO_WORDS, words[index + 1 :]))
            index += len(only)
        else:
            unknown.append(word)
        index += 1
    if unknown and len(unknown) == len(words):
        raise UciError(_unknown_word(unknown[0]))
    if not any(map(limits.get, ENDS)) and any(GO_NUMBERS[word] in limits for word in (*CLOCKS, *INCREMENTS)):
        for word in CLOCKS:
            if GO_NUMBERS[word] not in limits:
                limits[GO_NUMBERS[word]] = 0
                notes.append(f"no {word}; taken as 0")
    return Limits(**limits), only, [*notes, *(f"{_unknown_word(word)}; ignored" for word in unknown)]


def _number(word: str, text: str) -> int:
    """Return the number at the beginning of the text within the range of this limit, its least if there is none."""
    found = re.match("[+-]?[0-9]{1,20}", text)
    least, most = int(word in NO_LIMIT_IF_ZERO), MAX_NODES if word == "nodes" else MAX_LIMIT
    return max(least, min(int(found[0]) if found else 0, most))


def _unknown_word(word: str) -> str:
    return f"unknown word {word[:40]!r} after go; known: {' '.join(GO_WORDS)} perft"
