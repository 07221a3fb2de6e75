"""The names of openings: ECO code and English name, by position.

A game is named after its last position that has a name, so that transpositions count. The data are facts in the
public domain, from https://github.com/lichess-org/chess-openings (CC0 1.0), at commit 51b8862 of 2026-07-22. To make
the file again from that repository:

    python -m engine.book.opening_names a.tsv b.tsv c.tsv d.tsv e.tsv
"""

import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from engine.board import Board
from engine.book.polyglot import polyglot_key

NAMES = Path(__file__).parent.parent / "data" / "opening_names.tsv.gz"
LONGEST_LINE = 36              # plies of the longest line with a name
KEY_DIGITS = 12                # of the 16 of a Polyglot key: enough for no two of some thousand positions to collide
MOVE_NUMBER = re.compile(r"\d+\.+")
UNREADABLE = (OSError, EOFError, zlib.error, UnicodeDecodeError)   # what a missing or damaged file raises


class Opening(NamedTuple):
    """An opening's ECO code, such as B90, and its name."""

    eco: str
    name: str

    def __str__(self) -> str:
        return f"{self.eco} {self.name}"


def opening_of(moves: Sequence[str]) -> Opening | None:
    """Return the opening of a game from the ordinary starting position; None if its first moves have no name.

    Raises InvalidMove. The file is read each time, which takes some milliseconds and keeps no memory. If it cannot be
    read, nothing has a name: no game may be lost for that.
    """
    board = Board()
    plies: dict[str, int] = {}
    for ply, move in enumerate(moves[:LONGEST_LINE], 1):
        board.push(move)
        plies[_key_of(board)] = ply
    try:
        named = [line for line in _lines() if line[:KEY_DIGITS] in plies]
    except UNREADABLE:
        return None
    if not named:
        return None
    last = max(named, key=lambda line: plies[line[:KEY_DIGITS]])
    return Opening(*last[KEY_DIGITS + 1 :].split("\t"))


def named_positions(first: int, last: int) -> list[Board]:
    """Return every position after `first` to `last` plies, all of which led to a position with a name."""
    boards = [Board()]
    named: list[Board] = []
    for ply in range(1, last + 1):
        found: dict[str, Board] = {}
        for board in boards:
            for after in _named_after(board):
                found.setdefault(_key_of(after), after)
        boards = list(found.values())
        if ply >= first:
            named += boards
    return named


def named_moves(board: Board) -> list[str]:
    """Return the moves that lead to a position with a name; none if the file cannot be read."""
    try:
        return [after.moves[-1] for after in _named_after(board)]
    except UNREADABLE:
        return []


def _named_after(board: Board) -> Iterator[Board]:
    keys = _keys()
    return (after for after in map(board.after, board.legal_moves()) if _key_of(after) in keys)


@cache
def _keys() -> frozenset[str]:
    return frozenset(line[:KEY_DIGITS] for line in _lines())


def _lines() -> list[str]:
    return gzip.decompress(NAMES.read_bytes()).decode().splitlines()


def compiled(rows: Iterable[str]) -> Iterator[str]:
    """Yield the lines of our file for the rows `eco, name, pgn` of the original files, with tabs between."""
    for row in rows:
        eco, name, pgn = row.rstrip("\n").split("\t")
        if eco == "eco":
            continue
        board = Board()
        for move in MOVE_NUMBER.sub(" ", pgn).split():
            board.push_san(move)
        yield f"{_key_of(board)}\t{eco}\t{name}\n"


def _key_of(board: Board) -> str:
    return f"{polyglot_key(board):016x}"[:KEY_DIGITS]


if __name__ == "__main__":
    rows = (row for name in sys.argv[1:] for row in Path(name).read_text(encoding="utf-8").splitlines())
    text = "".join(compiled(rows))
    NAMES.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
