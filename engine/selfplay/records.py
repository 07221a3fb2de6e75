"""Positions with a score and a result, 32 bytes each, as self-play writes them and the tuner reads them.

A shard is a file of records and nothing else. All numbers are little-endian:

    offset  bytes  what
         0      8  occupied squares, bit 0 is a1
         8     16  the pieces on them, 4 bits each, from the lowest square up: 0-5 White's pawn to king, 6-11 Black's
        24      2  score of the search in centipawns, White's view, signed
        26      1  result: 0 Black won, 1 drawn, 2 White won
        27      1  side to move: 0 White, 1 Black; plus 2 if nobody may castle any more
        28      4  number of the game in its shard

Castling rights and en passant are left out: the evaluation knows neither. But a position in which nobody may castle
is as good with its files from h to a.
"""

import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from engine.core.position import Position

RECORD = struct.Struct("<Q16shBBI")
PATTERN = "*.shard"
NO_PIECE = 12
KING = 5
KINDS = 6
SETTLED = 2
SCORE_LIMIT = 32000


class Result(IntEnum):
    """How a game ended."""

    BLACK_WON = 0
    DRAWN = 1
    WHITE_WON = 2


class InvalidRecord(ValueError):
    """The bytes are no record; the message says where they stand and what is wrong."""


@dataclass(frozen=True)
class Sample:
    """One position of one game; `board` holds 64 pieces from a1 on, `score_cp` is White's view.

    `settled`: it is known that nobody may castle any more.
    """

    board: tuple[int, ...]
    black_to_move: bool
    settled: bool
    score_cp: int
    result: Result
    game: int


def snapshot(position: Position) -> tuple[tuple[int, ...], bool, bool]:
    """The first fields of a sample: the pieces from a1 on, whether Black is to move, whether castling is over."""
    state = position.state()
    return tuple(state["board"]), bool(state["side_to_move"]), not state["castling_rights"]


def encode(sample: Sample) -> bytes:
    """The record of a sample."""
    occupied, packed, men = 0, 0, 0
    for square, piece in enumerate(sample.board):
        if piece != NO_PIECE:
            occupied |= 1 << square
            packed |= piece << 4 * men
            men += 1
    score = max(-SCORE_LIMIT, min(sample.score_cp, SCORE_LIMIT))
    side = sample.black_to_move | SETTLED * sample.settled
    return RECORD.pack(occupied, packed.to_bytes(16, "little"), score, sample.result, side, sample.game)


def decode(record: bytes) -> Sample:
    """The inverse of `encode`. Raises InvalidRecord."""
    occupied, packed, score, result, side, game = RECORD.unpack(record)
    pieces = [packed[index // 2] >> 4 * (index % 2) & 15 for index in range(32)]
    if occupied.bit_count() > 32 or result > Result.WHITE_WON or side > SETTLED + 1:
        raise InvalidRecord(f"not a record: {record.hex()}")
    board = [NO_PIECE] * 64
    squares = (square for square in range(64) if occupied >> square & 1)
    for square, piece in zip(squares, pieces, strict=False):
        board[square] = piece
    if board.count(KING) != 1 or board.count(KINDS + KING) != 1 or max(board) > NO_PIECE:
        raise InvalidRecord(f"not a chess position: {record.hex()}")
    return Sample(tuple(board), bool(side & 1), bool(side & SETTLED), score, Result(result), game)


def shards(folder: Path) -> list[Path]:
    """The finished shards of a folder, in the order of their names."""
    return sorted(folder.glob(PATTERN))


def read(path: Path) -> Iterator[Sample]:
    """The samples of a shard. Raises InvalidRecord, also for a file that ends within a record."""
    content = path.read_bytes()
    if len(content) % RECORD.size:
        raise InvalidRecord(f"{path}: ends within a record")
    for offset in range(0, len(content), RECORD.size):
        yield decode(content[offset : offset + RECORD.size])


def is_held_out(shard: str, game: int, percent: int) -> bool:
    """Does a game of a shard, named without folder and suffix, belong to the validation set, `percent` of all?

    Whole games do: positions of one share its result. It is the same games whatever other shards there are.
    """
    return random.Random(f"held out {shard} {game}").randrange(100) < percent


def shuffle(paths: Sequence[Path], target: Path, seed: int) -> int:
    """Write all records of some shards to one file in random order; returns how many there are."""
    content = b"".join(path.read_bytes() for path in paths)
    order = list(range(0, len(content), RECORD.size))
    random.Random(seed).shuffle(order)
    target.write_bytes(b"".join(content[offset : offset + RECORD.size] for offset in order))
    return len(order)
