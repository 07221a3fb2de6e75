"""What it costs to copy the board for each move instead of taking the move back: perft both ways, by the same calls."""

from engine.core.movegen import legal_moves
from engine.core.position import Position


def perft_taking_back(position: Position, depth: int) -> int:
    """Leaves, one board for all: every move is made and taken back."""
    if depth == 0:
        return 1
    leaves = 0
    for move in legal_moves(position):
        position.push(move)
        leaves += perft_taking_back(position, depth - 1)
        position.pop(move)
    return leaves


def perft_copying(position: Position, depth: int) -> int:
    """Leaves, a new board for each move."""
    if depth == 0:
        return 1
    leaves = 0
    for move in legal_moves(position):
        child = Position()
        child.copy_from(position)
        child.push(move)
        leaves += perft_copying(child, depth - 1)
    return leaves
