"""Opening books in Polyglot's format: reading one, writing one, and what may be wrong with one.

A book is a file of entries of 16 bytes, sorted by key; all numbers are big-endian:

    offset  bytes  what
         0      8  key of the position, see `polyglot.py`
         8      2  move: target file, target rank, origin file, origin rank, piece promoted to, 3 bits each from the
                   lowest up; castling is king takes rook
        10      2  weight: how good the move is beside the others of its position
        12      4  what a learning program may keep here

Knows the format and the rules; which of several moves is played is the reader's own choice. A book is never trusted:
moves that are not legal are not seen. The file is read where it is needed, not mapped into memory: a mapped file that
is cut short would take the whole process with it. (chessprogramming wiki: PolyGlot)
"""

import os
import stat
import struct
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engine.board import Board, InvalidMove
from engine.book.polyglot import polyglot_key

ENTRY = struct.Struct(">QHHI")
KEY = struct.Struct(">Q")
FILES, RANKS = "abcdefgh", "12345678"
PROMOTIONS = ("", "n", "b", "r", "q")
MAX_MOVES = 256                   # of one position: chess has no position with more
MAX_WEIGHT = 0xFFFF
SAMPLES = 64                       # entries looked at when a book is opened
BLOCK_ENTRIES = 4096               # read at a time when a whole book is


class InvalidBook(ValueError):
    """The file is no book; the message says what is wrong with it."""


@dataclass(frozen=True)
class BookMove:
    """A move of a book, in the spelling of the board it was asked for, with its weight beside the others."""

    move: str
    weight: int


@dataclass(frozen=True)
class Entry:
    """One entry as it stands in the file; `move` is not known to be legal anywhere, nor even to be a move."""

    key: int
    move: int
    weight: int
    learn: int = 0


class Book:
    """An open book, closed with its last user. May be asked by several threads at a time."""

    def __init__(self, path: Path) -> None:
        """Raises InvalidBook if a look here and there shows that the file is none, and OSError if it cannot be read."""
        self.path = path
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        # A number of an open file may mean another one once that is closed: only who asks nobody may close it.
        self._closed_at_the_end = weakref.finalize(self, os.close, self._file)
        status = os.fstat(self._file)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidBook(f"{path}: is not a regular file")
        self._size = self._entries(status.st_size)
        self._sample()

    def __len__(self) -> int:
        """How many entries there are."""
        return self._size

    def moves(self, board: Board) -> list[BookMove]:
        """The legal moves filed under this position, each once, heaviest first. Raises InvalidBook or OSError."""
        weights: dict[str, int] = {}
        for entry in self.entries_of(polyglot_key(board)):
            try:
                move = board.normalise(move_text(entry.move))
            except InvalidMove:
                continue
            weights[move] = max(weights.get(move, 0), entry.weight)
        return sorted((BookMove(*item) for item in weights.items()), key=lambda found: -found.weight)

    def entries(self) -> Iterator[Entry]:
        """Every entry in the order of the file. Raises InvalidBook or OSError."""
        for first in range(0, self._size, BLOCK_ENTRIES):
            count = min(BLOCK_ENTRIES, self._size - first)
            for fields in ENTRY.iter_unpack(self._read(first, count)):
                yield Entry(*fields)

    def _entries(self, size: int) -> int:
        if size == 0:
            raise InvalidBook(f"{self.path}: is empty")
        if size % ENTRY.size:
            raise InvalidBook(f"{self.path}: {size} bytes are not whole entries of {ENTRY.size}")
        return size // ENTRY.size

    def _sample(self) -> None:
        """Raises InvalidBook if some entries are out of order: what is no book will hardly be sorted."""
        last = 0
        for number in range(SAMPLES):
            key = self._key(number * (self._size - 1) // (SAMPLES - 1))
            if key < last:
                raise InvalidBook(f"{self.path}: is not sorted by position")
            last = key

    def knows(self, board: Board) -> bool:
        """Is anything filed under this position? Raises InvalidBook or OSError."""
        return next(self.entries_of(polyglot_key(board)), None) is not None

    def entries_of(self, key: int) -> Iterator[Entry]:
        """The entries of a position as they stand in the file. Raises InvalidBook or OSError."""
        low, high = 0, self._size
        while low < high:
            middle = (low + high) // 2
            if self._key(middle) < key:
                low = middle + 1
            else:
                high = middle
        block = self._read(low, min(MAX_MOVES, self._size - low))
        for fields in ENTRY.iter_unpack(block):
            if fields[0] != key:
                return
            yield Entry(*fields)

    def _key(self, number: int) -> int:
        key: int = KEY.unpack_from(self._read(number, 1))[0]
        return key

    def _read(self, first: int, count: int) -> bytes:
        data = os.pread(self._file, count * ENTRY.size, first * ENTRY.size)
        if len(data) != count * ENTRY.size:
            raise InvalidBook(f"{self.path}: was cut short while in use")
        return data


# --- Moves as the format packs them ------------------------------------------------------------------------------


def move_text(packed: int) -> str:
    """The move in UCI's spelling; text that is no move for bits that are none."""
    promotion = packed >> 12 & 7
    if promotion >= len(PROMOTIONS) or packed >> 15:
        return ""
    return _square(packed >> 6) + _square(packed) + PROMOTIONS[promotion]


def packed_move(board: Board, move: str) -> int:
    """A legal move as the format has it. Raises InvalidMove."""
    text = board.king_takes_rook(move)
    return PROMOTIONS.index(text[4:]) << 12 | _number(text[:2]) << 6 | _number(text[2:4])


def _square(bits: int) -> str:
    return FILES[bits & 7] + RANKS[bits >> 3 & 7]


def _number(square: str) -> int:
    return FILES.index(square[0]) | RANKS.index(square[1]) << 3


# --- Writing -----------------------------------------------------------------------------------------------------


def write(path: Path, entries: Iterable[Entry]) -> int:
    """Write a book, whole or not at all, sorted as the format asks, heaviest move first; returns its entries."""
    ordered = sorted(entries, key=lambda entry: (entry.key, -entry.weight, entry.move))
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(b"".join(ENTRY.pack(it.key, it.move, it.weight, it.learn) for it in ordered))
    unfinished.replace(path)
    return len(ordered)


# --- What may be wrong ------------------------------------------------------------------------------------------


@dataclass
class BookReview:
    """What a look at a whole book found. `reached`: entries that a walk from the start came by."""

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
        return not (self.unsorted or self.repeated or self.no_move or self.illegal)

    def lines(self) -> list[str]:
        """For people."""
        faults = {
            "entries out of order: the positions behind them may not be found": self.unsorted,
            "moves filed twice under one position": self.repeated,
            "entries whose move is none": self.no_move,
            "moves that are not legal in their position": self.illegal,
        }
        return [
            f"entries {self.entries:,}, positions {self.positions:,}",
            f"entries without weight {self.weightless:,}",
            f"reached from the starting position {self.reached:,}",
            *(f"FAULT {what}: {count:,}" for what, count in faults.items() if count),
        ]


def review_book(
    book: Book,
    starts: Iterable[Board],
    max_positions: int = 100_000,
    on_progress: Callable[[int], None] = lambda entries: None,
) -> BookReview:
    """Look at every entry, and walk through the book from some positions. Raises InvalidBook or OSError.

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
        for board in _judged(book, waiting.popleft(), found):
            key = polyglot_key(board)
            if key not in seen:
                seen.add(key)
                waiting.append(board)
    return found


def _judged(book: Book, board: Board, found: BookReview) -> list[Board]:
    """Judge the entries of this position; the positions from which the walk goes on."""
    filed = list(book.entries_of(polyglot_key(board)))
    legal = book.moves(board)
    found.reached += len(filed)
    found.illegal += len({entry.move for entry in filed}) - len(legal)
    known = [after for after in map(partial(_after, board), board.legal_moves()) if book.knows(after)]
    return [_after(board, move.move) for move in legal] + known


def _after(board: Board, move: str) -> Board:
    after = board.copy()
    after.push(move)
    return after


def _review_entries(book: Book, found: BookReview, on_progress: Callable[[int], None]) -> None:
    last_key, moves = -1, set[int]()
    for entry in book.entries():
        found.entries += 1
        if found.entries % BLOCK_ENTRIES == 0:
            on_progress(found.entries)
        if entry.key != last_key:
            found.positions += 1
            found.unsorted += entry.key < last_key
            last_key, moves = entry.key, set()
        found.repeated += entry.move in moves
        moves.add(entry.move)
        found.no_move += not move_text(entry.move)
        found.weightless += entry.weight == 0
