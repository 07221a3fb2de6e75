"""Ways to choose a move for the players of the house. Each blocks; the caller picks the thread.

A choice depends on the position, the clocks where it thinks ahead, and the seed: nothing else.
"""

import random
from dataclasses import replace
from enum import StrEnum
from typing import Protocol

from engine.facade import Board, Engine, Limits

ENGINE_HASH_MB = 4
ENGINE_OVERHEAD_MS = 10         # it moves in this very process: nothing travels
MAX_ENGINE_DEPTH = 64

_WORTH = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9}


class OpponentKind(StrEnum):
    """What can be chosen on the command line."""

    RANDOM = "random"
    GREEDY = "greedy"
    ENGINE = "engine"


class Opponent(Protocol):
    """Chooses the moves of one game."""

    def choose(self, board: Board, clocks: Limits) -> str:
        """A legal move in UCI, in a position that has one."""


class RandomOpponent:
    """Any legal move."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def choose(self, board: Board, clocks: Limits) -> str:
        return self._random.choice(board.legal_moves())


class GreedyOpponent:
    """Mates in one if it can, else takes or promotes for the most material, else plays anything."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def choose(self, board: Board, clocks: Limits) -> str:
        moves = board.legal_moves()
        self._random.shuffle(moves)
        mate = next((move for move in moves if _mates(board, move)), None)
        return mate or max(moves, key=lambda move: _gain(board, move))


class ShufflingOpponent:
    """Takes back its last move whenever it can, and so repeats the position."""

    def __init__(self) -> None:
        self._last = ""

    def choose(self, board: Board, clocks: Limits) -> str:
        moves = board.legal_moves()
        back = self._last[2:4] + self._last[:2]
        self._last = back if back in moves else moves[0]
        return self._last


class EngineOpponent:
    """Our own engine at a fixed depth, minding the clock."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._engine = Engine(ENGINE_HASH_MB, ENGINE_OVERHEAD_MS)

    def choose(self, board: Board, clocks: Limits) -> str:
        self._engine.set_position(board)
        best = self._engine.go(replace(clocks, depth=self._depth)).best_move
        assert best is not None, "asked for a move in a finished game"
        return best


def opponent(kind: OpponentKind, *, seed: str, depth: int) -> Opponent:
    """A new opponent; only the engine uses `depth`, only the others `seed`."""
    match kind:
        case OpponentKind.RANDOM:
            return RandomOpponent(seed)
        case OpponentKind.GREEDY:
            return GreedyOpponent(seed)
        case OpponentKind.ENGINE:
            return EngineOpponent(depth)


def _mates(board: Board, move: str) -> bool:
    after = board.copy()
    after.push(move)
    return after.is_checkmate()


def _gain(board: Board, move: str) -> int:
    """Material won at once, in pawns; en passant and promotions included."""
    origin, target, promotion = move[:2], move[2:4], move[4:]
    mover, captured = board.piece_at(origin), board.piece_at(target)
    assert mover is not None
    gain = _WORTH[promotion] - _WORTH["p"] if promotion else 0
    if captured is not None:
        is_castling = captured.isupper() == mover.isupper()
        gain += 0 if is_castling else _WORTH[captured.lower()]
    elif mover in "Pp" and origin[0] != target[0]:
        gain += _WORTH["p"]
    return gain
