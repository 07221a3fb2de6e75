"""Reads, writes and checks opening books in Polyglot's format.

A book is a file of entries of 16 bytes, sorted by key; all numbers are big-endian:

    offset  bytes  what
         0      8  key of the position, see `polyglot.py`
         8      2  move: target file, target rank, origin file, origin rank, piece promoted to, 3 bits each from the
                   lowest up; castling is king takes rook, and a drop goes from the target to the target, with the
                   piece in place of the promotion
        10      2  weight of the move, relative to the others of its position
        12      4  for learning programs

Illegal moves are ignored. The file is read when needed, not mapped into memory: if a mapped file is truncated, the
process dies. (chessprogramming wiki: PolyGlot)
"""

import os
import stat
import struct
import weakref
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from engine.board import Board, InvalidMove
from engine.book.polyglot import polyglot_key
from engine.core.bitboard import parse_square, square_name
from engine.whole_file import write_whole

ENTRY = struct.Struct(">QHHI")
KEY_BYTES = 8
PROMOTIONS = ("", "n", "b", "r", "q", "k")      # a king in antichess only
MAX_ENTRIES = 256                  # of a position, one for each move; no chess position has more moves
MAX_WEIGHT = 0xFFFF
SAMPLES = 64                       # entries checked when a book is opened
BLOCK_ENTRIES = 4096               # read at a time


class InvalidBook(ValueError):
    """The file is not a Polyglot book; the message says why."""


class BookMove(NamedTuple):
    """A move, spelt as the board that was asked for spells it, and its weight."""

    move: str
    weight: int


class Entry(NamedTuple):
    """An entry as in the file; `move` may be illegal or no move at all."""

    key: int
    move: int
    weight: int
    learn: int = 0


class Book:
    """An open book, which several threads may use. It is closed when garbage-collected."""

    def __init__(self, path: Path) -> None:
        """Open a book and check samples of it. Raises InvalidBook or OSError."""
        self.path = path
        # Without O_NONBLOCK, a named pipe would wait for a writer.
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        # Nothing else closes the file: its number could then mean another file to a thread that still reads.
        self._closed_at_the_end = weakref.finalize(self, os.close, self._file)
        status = os.fstat(self._file)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidBook(f"{path}: is not a regular file")
        if status.st_size == 0:
            raise InvalidBook(f"{path}: is empty")
        if status.st_size % ENTRY.size:
            raise InvalidBook(f"{path}: {status.st_size} bytes are not whole entries of {ENTRY.size}")
        self._size = status.st_size // ENTRY.size
        self._sample()

    def __len__(self) -> int:
        """Return the number of entries."""
        return self._size

    def moves(self, board: Board) -> list[BookMove]:
        """Return the legal moves of this position, each once, heaviest first. Raises InvalidBook or OSError."""
        weights: dict[str, int] = {}
        for entry in self.entries_of(polyglot_key(board)):
            try:
                move = board.normalise(move_text(entry.move))
            except InvalidMove:
                continue
            weights[move] = max(weights.get(move, 0), entry.weight)
        return sorted((BookMove(*item) for item in weights.items()), key=lambda found: -found.weight)

    def entries(self) -> Iterator[Entry]:
        """Yield all entries in the order of the file. Raises InvalidBook or OSError."""
        for first in range(0, self._size, BLOCK_ENTRIES):
            count = min(BLOCK_ENTRIES, self._size - first)
            for fields in ENTRY.iter_unpack(self._read(first, count)):
                yield Entry(*fields)

    def _sample(self) -> None:
        """Raise InvalidBook if samples are not sorted, as they are in no other kind of file."""
        last = 0
        for number in range(SAMPLES):
            key = self._key(number * (self._size - 1) // (SAMPLES - 1))
            if key < last:
                raise InvalidBook(f"{self.path}: is not sorted by position")
            last = key

    def knows(self, board: Board) -> bool:
        """Return whether the book has this position. Raises InvalidBook or OSError."""
        return next(self.entries_of(polyglot_key(board)), None) is not None

    def entries_of(self, key: int) -> Iterator[Entry]:
        """Yield the entries of a position as in the file. Raises InvalidBook or OSError."""
        first = bisect_left(range(self._size), key, key=self._key)
        block = self._read(first, min(MAX_ENTRIES, self._size - first))
        for fields in ENTRY.iter_unpack(block):
            if fields[0] != key:
                return
            yield Entry(*fields)

    def _key(self, number: int) -> int:
        """Return the key of an entry."""
        return int.from_bytes(self._read(number, 1)[:KEY_BYTES], "big")

    def _read(self, first: int, count: int) -> bytes:
        data = os.pread(self._file, count * ENTRY.size, first * ENTRY.size)
        if len(data) != count * ENTRY.size:
            raise InvalidBook(f"{self.path}: was truncated while in use")
        return data


# --- Packed moves -----------------------------------------------------------------------------------------------


def is_move(packed: int) -> bool:
    """Return whether the bits are a move, legal or not."""
    promotion = packed >> 12
    return promotion < len(PROMOTIONS) and (promotion > 0 or packed >> 6 & 63 != packed & 63)


def move_text(packed: int) -> str:
    """Return a move in UCI notation, an empty text if the bits are none."""
    if not is_move(packed):
        return ""
    promotion = packed >> 12
    origin, target = square_name(packed >> 6 & 63), square_name(packed & 63)
    if origin == target:
        return f"{PROMOTIONS[promotion].upper()}@{target}"
    return origin + target + PROMOTIONS[promotion]


def packed_move(board: Board, move: str) -> int:
    """Pack a legal move. Raises InvalidMove, also for the drop of a pawn, for which the format has no bits."""
    text = board.king_takes_rook(move)
    piece, drop, square = text.partition("@")
    if drop:
        if piece.lower() not in PROMOTIONS:
            raise InvalidMove(f"{text!r} is the drop of a pawn, which no book can hold: {board.fen()}")
        text = square + square + piece.lower()
    return PROMOTIONS.index(text[4:]) << 12 | parse_square(text[:2]) << 6 | parse_square(text[2:4])


# --- Writing -----------------------------------------------------------------------------------------------------


def write(path: Path, entries: Iterable[Entry]) -> int:
    """Write a sorted book, whole or not at all; return its number of entries."""
    ordered = sorted(entries, key=lambda entry: (entry.key, -entry.weight, entry.move))
    write_whole(path, (ENTRY.pack(it.key, it.move, it.weight, it.learn) for it in ordered))
    return len(ordered)


# --- Review -----------------------------------------------------------------------------------------------------


@dataclass
class BookReview:
    """What a review found. `reached` counts the entries that the walk from the start reached."""

    entries: int = 0
    positions: int = 0
    unsorted: int = 0
    repeated: int = 0
    no_move: int = 0
    weightless: int = 0
    reached: int = 0
    illegal: int = 0

    @property
    def is_sound(self) -> bool:
        return not self.faults

    @property
    def faults(self) -> list[str]:
        """What is wrong with the book, and how often."""
        counts = {
            "entries out of order: the positions behind them may not be found": self.unsorted,
            "moves filed twice under one position": self.repeated,
            "entries whose move is none": self.no_move,
            "moves that are not legal in their position": self.illegal,
        }
        return [f"{what}: {count:,}" for what, count in counts.items() if count]

    def lines(self) -> list[str]:
        """Return the findings as text."""
        return [
            f"entries {self.entries:,}, positions {self.positions:,}",
            f"entries without weight {self.weightless:,}",
            f"reached from the starting position {self.reached:,}",
            *(f"FAULT {fault}" for fault in self.faults),
        ]


def review_book(
    book: Book,
    starts: Iterable[Board],
    max_positions: int = 100_000,
    on_progress: Callable[[int], None] = lambda entries: None,
) -> BookReview:
    """Check every entry, and walk through the book from these positions. Raises InvalidBook or OSError.

    A key does not tell its position, so a move can be checked only in positions that the walk reaches: by the book's
    own moves, and by any reply that leads back into the book. The walk ends after `max_positions`. `on_progress` is
    called with the number of entries read.
    """
    found = BookReview()
    _review_entries(book, found, on_progress)
    waiting = deque(starts)
    seen = {polyglot_key(board) for board in waiting}
    for _ in range(max_positions):
        if not waiting:
            break
        for board in _check_position(book, waiting.popleft(), found):
            key = polyglot_key(board)
            if key not in seen:
                seen.add(key)
                waiting.append(board)
    return found


def _check_position(book: Book, board: Board, found: BookReview) -> list[Board]:
    """Check the entries of this position; return the positions to continue from."""
    filed = list(book.entries_of(polyglot_key(board)))
    legal = book.moves(board)
    found.reached += len(filed)
    found.illegal += sum(not _is_legal(board, move) for move in {entry.move for entry in filed})
    replies = map(board.after, board.legal_moves())
    return [board.after(it.move) for it in legal] + [after for after in replies if book.knows(after)]


def _is_legal(board: Board, filed: int) -> bool:
    try:
        board.normalise(move_text(filed))
    except InvalidMove:
        return False
    return True


def _review_entries(book: Book, found: BookReview, on_progress: Callable[[int], None]) -> None:
    last_key, moves = -1, set[int]()
    for key, move, weight, _ in book.entries():
        found.entries += 1
        if found.entries % BLOCK_ENTRIES == 0:
            on_progress(found.entries)
        if key != last_key:
            found.positions += 1
            found.unsorted += key < last_key
            last_key = key
            moves.clear()
        elif move in moves:
            found.repeated += 1
        moves.add(move)
        found.no_move += not is_move(move)
        found.weightless += not weight
