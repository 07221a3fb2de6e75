"""The words after `go`, and numbers in UCI commands. (UCI protocol, 2006)"""

import re
from itertools import takewhile
from typing import Any

from engine.search.time_manager import Limits

MAX_NODES = 10**12
MAX_LIMIT = 10**9                  # milliseconds or moves; larger limits are cut to this
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
NO_LIMIT_IF_ZERO = ("depth", "nodes", "mate")       # so 0 counts as 1
GO_WORDS = (*GO_NUMBERS, "searchmoves", "ponder", "infinite")


class UciError(ValueError):
    """An invalid command; the message is shown to the user."""


def parse_number(name: str, text: str, least: int, most: int) -> int:
    """Return the whole number from `least` to `most`. Raises UciError."""
    number = int(text) if re.fullmatch("[+-]?[0-9]{1,20}", text) else least - 1
    if not least <= number <= most:
        raise UciError(f"expected a whole number from {least} to {most} for {name}, found {text[:40]!r}")
    return number


def parse_limits(words: list[str]) -> tuple[Limits, list[str], list[str]]:
    """Return the limits of a `go` command, its `searchmoves`, and unknown words, which UCI wants ignored.

    A negative clock counts as 0. Raises UciError for an invalid number, and if all words are unknown.
    """
    limits: dict[str, Any] = {"infinite": not words}
    only: list[str] = []
    unknown: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        if word in ("infinite", "ponder"):
            limits[word] = True
        elif word in GO_NUMBERS:
            least = -(10**9) if word in ("wtime", "btime") else 0
            value = words[index + 1] if index + 1 < len(words) else ""
            most = MAX_NODES if word == "nodes" else MAX_LIMIT
            number = min(parse_number(word, value, least, MAX_NODES), most)
            limits[GO_NUMBERS[word]] = max(1 if word in NO_LIMIT_IF_ZERO else 0, number)
            index += 1
        elif word == "searchmoves":
            only = list(takewhile(lambda text: text not in GO_WORDS, words[index + 1 :]))
            index += len(only)
        else:
            unknown.append(word)
        index += 1
    if unknown and len(unknown) == len(words):
        raise UciError(unknown_word(unknown[0]))
    return Limits(**limits), only, unknown


def unknown_word(word: str) -> str:
    return f"unknown word {word[:40]!r} after go; known: {' '.join(GO_WORDS)} perft"
