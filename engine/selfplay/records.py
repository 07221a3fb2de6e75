"""The records of self-play: positions with a score and a result, 32 bytes each.

A shard is a file of records and nothing else. All numbers are little-endian:

    offset  bytes  what
         0      8  occupied squares, bit 0 is a1
         8     16  the pieces on them, 4 bits each, from the lowest square up: 0-5 White's pawn to king, 6-11 Black's
        24      2  score of the search in centipawns, White's view, signed
        26      1  result: 0 Black won, 1 drawn, 2 White won, 3 unknown, as the position is from a search tree
        27      1  side to move: 0 White, 1 Black; plus 2 if no castling right is left, plus 4 times the place of the
                   variant in VARIANTS, from 1 on: 0 is standard chess
        28      4  number of the game in its shard

In a record of a variant, the pieces off the board follow those on it, and then 15: what is in the pockets, and a
pawn for each check given. It has 32 pieces at most in all. Horde begins with 52: there the first 8 of the 16 bytes are
the squares of White's pawns, and the other pieces follow, 16 at most.

Castling rights and en passant are not stored: the evaluation knows neither. Without castling rights a position can be
mirrored left to right, which training uses.
"""

import random
import struct
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import ClassVar

from engine.core.pieces import NO_PIECE, PAWN
from engine.core.position import Position
from engine.evaluation.eval_file import STANDARD
from engine.variants.variant import VARIANTS
from engine.whole_file import write_whole

RECORD = struct.Struct("<Q16shBBI")
PATTERN = "*.shard"
NOTHING = 15
CANNOT_CASTLE = 2                  # no castling right is left
VARIANT_SHIFT = 2                  # of the side's byte: the bits above are the number of the variant
RULES = (STANDARD, *VARIANTS)      # by number
PIECES = 32                        # that a record holds
HORDE, BESIDE_THE_HORDE = "horde", 16      # pieces that a record of horde holds, without White's pawns
SCORE_LIMIT = 32000
QUIET_CP = 2500                    # largest score of a position that is kept
HELD_OUT_PERCENT = 5               # of the games, for validation


class Result(IntEnum):
    """How a game ended."""

    BLACK_WON = 0
    DRAWN = 1
    WHITE_WON = 2
    UNKNOWN = 3                    # of a position that was searched, not played


class InvalidRecord(ValueError):
    """The bytes or the line are not a record; the message says where and why."""


@dataclass(frozen=True)
class Sample:
    """A position of a game: 64 pieces from a1 on, the score from White's view. `cannot_castle`: no right is left.

    `off_board` are the pieces that count although they are not on the board.
    """

    board: tuple[int, ...]
    black_to_move: bool
    cannot_castle: bool
    score_cp: int
    result: Result
    game: int
    variant: str = STANDARD
    off_board: tuple[int, ...] = ()

    def fits(self) -> bool:
        """Return whether a record can hold all the pieces."""
        count = len(self.board) - self.board.count(NO_PIECE) + len(self.off_board)
        if self.variant == HORDE:
            return count - self.board.count(PAWN) <= BESIDE_THE_HORDE
        return count <= PIECES


def snapshot(position: Position) -> tuple[tuple[int, ...], bool, bool]:
    """Return the first three fields of a `Sample`."""
    state = position.state()
    return tuple(state["board"]), bool(state["side_to_move"]), not state["castling_rights"]


# A record is also four 64-bit words; `last` is the fourth of them. `engine/training/features.py` reads the rest.


def rules_of(last: int) -> str:
    """Return the variant of a record. Raises IndexError for a number that none has."""
    return RULES[(last >> 24 & 0xFF) >> VARIANT_SHIFT]


def game_of(last: int) -> int:
    """Return the number of a record's game in its shard."""
    return last >> 32


def encode(sample: Sample) -> bytes:
    """Return the record of a sample."""
    occupied, pawns, packed, count = 0, 0, 0, 0
    for square, piece in enumerate(sample.board):
        if piece == NO_PIECE:
            continue
        occupied |= 1 << square
        if sample.variant == HORDE and piece == PAWN:
            pawns |= 1 << square
        else:
            packed |= piece << 4 * count
            count += 1
    if sample.variant == HORDE:
        packed = packed << 64 | pawns
    elif sample.variant != STANDARD:
        rest = [*sample.off_board, *[NOTHING] * PIECES][: PIECES - count]
        packed |= sum(piece << 4 * index for index, piece in enumerate(rest, count))
    score = max(-SCORE_LIMIT, min(sample.score_cp, SCORE_LIMIT))
    side = sample.black_to_move | CANNOT_CASTLE * sample.cannot_castle | RULES.index(sample.variant) << VARIANT_SHIFT
    return RECORD.pack(occupied, packed.to_bytes(16, "little"), score, sample.result, side, sample.game)


@dataclass(frozen=True)
class ShardPlan:
    """Which games to play: shards of a fixed number of games in a folder, named by seed and number.

    The last shard may hold fewer games; once more are wanted, a whole one replaces it. The name says how many games
    a shard holds, unless they are as many as `games_per_shard` is by default.
    """

    folder: Path
    seed: int = 1
    games_per_shard: int = 100
    prefix: str = ""               # of the names; another one plays other games
    suffix: ClassVar[str] = ".shard"

    def path(self, number: int, games: int | None = None) -> Path:
        """Return the path of a shard with this many games, all if None."""
        games = self.games_per_shard if games is None else games
        part = "" if games == type(self).games_per_shard else f"-{games}"
        return self.folder / f"{self._name(number)}{part}{self.suffix}"

    def _name(self, number: int) -> str:
        return f"{self.prefix}{self.seed:04}-{number:06}"

    def shards(self, games: int) -> list[tuple[int, int]]:
        """Return the number and the games of each shard of a run of this many games."""
        size = self.games_per_shard
        return [(number, min(size, games - number * size)) for number in range(-(-games // size))]

    def finished(self, number: int, games: int) -> Path | None:
        """Return the path of a shard that has at least this many games, None if there is none."""
        whole = self.path(number)
        if whole.exists():             # the usual case, without a look at the whole folder
            return whole
        return next((path for path, known in self._found(number).items() if known >= games), None)

    def _found(self, number: int) -> dict[Path, int]:
        """Return the shards with this number, and how many games they hold."""
        name = self._name(number)
        parts = {path: path.stem.removeprefix(f"{name}-") for path in self.folder.glob(f"{name}-*{self.suffix}")}
        found = {path: int(games) for path, games in parts.items() if games.isdecimal()}
        usual = self.folder / f"{name}{self.suffix}"
        return found | {usual: type(self).games_per_shard} if usual.exists() else found

    def missing(self, games: int) -> list[tuple[int, int]]:
        """Return the number and the games of the shards that are missing to this many games."""
        return [shard for shard in self.shards(games) if self.finished(*shard) is None]

    def write(self, number: int, games: int, content: bytes) -> None:
        """Write a shard whole or not at all, in place of one with fewer games.

        It gets its name last: if the process is killed in between, no game is in two shards.
        """
        path = self.path(number, games)
        before = next(iter(self._found(number)), path)
        write_whole(before, [content])
        before.replace(path)


def shards(folder: Path) -> list[Path]:
    """Return the finished shards of a folder, sorted by name."""
    return sorted(folder.glob(PATTERN))


def is_held_out(shard: str, game: int) -> bool:
    """Return whether a game belongs to the validation set, HELD_OUT_PERCENT of all games.

    Whole games are held out, because their positions share the result. Other shards do not change the choice. `shard`
    is the file's name without suffix.
    """
    return random.Random(f"held out {shard} {game}").randrange(100) < HELD_OUT_PERCENT
