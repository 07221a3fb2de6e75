"""Ways to choose a move. Each blocks; the caller chooses the thread.

A choice depends only on the position, the seed and, for the engine, the clocks.
"""

import random
from enum import StrEnum
from typing import Protocol
from zlib import crc32

from engine.facade import RATINGS, Board, Engine, Limits

ENGINE_HASH_MB = 4
ENGINE_OVERHEAD_MS = 10         # it runs in this process
MAX_ENGINE_DEPTH = 64

# In antichess a king can be taken, and a pawn can become one.
_WORTH = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 4}


class OpponentKind(StrEnum):
    """The choices of the command line."""

    RANDOM = "random"
    GREEDY = "greedy"
    ENGINE = "engine"
    LEVEL = "level"


class Opponent(Protocol):
    """Chooses the moves of one game."""

    def choose(self, board: Board, clocks: Limits) -> str:
        """Return a legal move in UCI notation; the position has one."""


class RandomOpponent:
    """Plays random moves."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def choose(self, board: Board, clocks: Limits) -> str:
        return self._random.choice(board.legal_moves())


class GreedyOpponent:
    """Plays a move that wins at once, else the capture or promotion that wins most, else a random move."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def choose(self, board: Board, clocks: Limits) -> str:
        moves = board.legal_moves()
        self._random.shuffle(moves)
        winning = next((move for move in moves if _wins(board, move)), None)
        return winning or max(moves, key=lambda move: _gain(board, move))


class ShufflingOpponent:
    """Reverses its last move if it can, and so repeats positions."""

    def __init__(self) -> None:
        self._last = ""

    def choose(self, board: Board, clocks: Limits) -> str:
        moves = board.legal_moves()
        back = self._last[2:4] + self._last[:2]
        self._last = back if back in moves else moves[0]
        return self._last


class EngineOpponent:
    """Our own engine within its clock, at a fixed depth if one is given."""

    def __init__(self, depth: int | None) -> None:
        self._depth = depth
        self._engine = Engine(ENGINE_HASH_MB, ENGINE_OVERHEAD_MS)

    def choose(self, board: Board, clocks: Limits) -> str:
        self._engine.set_position(board)
        best = self._engine.go(clocks._replace(depth=self._depth)).best_move
        assert best is not None, "asked for a move in a finished game"
        return best


class LevelOpponent(EngineOpponent):
    """Our own engine at a level."""

    def __init__(self, level: int, seed: str) -> None:
        super().__init__(depth=None)
        self._engine.limit_strength(level, crc32(seed.encode()))


def make_opponent(kind: OpponentKind, *, seed: str, depth: int, level: int = RATINGS[0]) -> Opponent:
    """Return a new opponent; only the engine uses `depth`, and only a player of limited strength `level`."""
    match kind:
        case OpponentKind.RANDOM:
            return RandomOpponent(seed)
        case OpponentKind.GREEDY:
            return GreedyOpponent(seed)
        case OpponentKind.ENGINE:
            return EngineOpponent(depth)
        case OpponentKind.LEVEL:
            return LevelOpponent(level, seed)


def _wins(board: Board, move: str) -> bool:
    outcome = board.after(move).outcome()
    return outcome is not None and outcome.winner == board.turn


def _gain(board: Board, move: str) -> int:
    """Return the material that a move wins at once, in pawns."""
    origin, target, promotion = move[:2], move[2:4], move[4:]
    if origin[1] == "@":
        return 0
    mover, captured = board.piece_at(origin), board.piece_at(target)
    assert mover is not None
    gain = _WORTH[promotion] - _WORTH["p"] if promotion else 0
    if captured is not None:
        is_castling = captured.isupper() == mover.isupper()
        gain += 0 if is_castling else _WORTH[captured.lower()]
    elif mover in "Pp" and origin[0] != target[0]:
        gain += _WORTH["p"]
    return gain
