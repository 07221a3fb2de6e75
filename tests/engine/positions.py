"""Positions for many tests."""

import random
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import chess

from engine.facade import STARTING_FEN

# The seven usual perft positions (chessprogramming wiki: Perft Results) with their leaf counts from depth 1 on.
PERFT = {
    STARTING_FEN: (20, 400, 8902, 197281, 4865609),
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (48, 2039, 97862, 4085603),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": (14, 191, 2812, 43238, 674624, 11030083),
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": (6, 264, 9467, 422333, 15833292),
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1": (6, 264, 9467, 422333, 15833292),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": (44, 1486, 62379, 2103487),
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": (46, 2079, 89890, 3894594),
}

OWN_PERFT = Path(__file__).parent.parent / "data" / "perft.epd"

# What of `Position.state()` the FEN tells; the rest says how the position came about.
IN_FEN = ("board", "pieces", "colours", "occupied", "side_to_move", "castling_rights", "en_passant", "halfmove_clock",
          "piece_square", "phase", "key", "pawn_key")

# Few pieces in most, so that a random game soon ends or repeats itself.
ENDINGS = (
    "4k3/6np/4N2R/6PK/6PP/8/8/4R3 w - - 0 1",          # the only move gives double check
    "7k/8/5K2/8/8/8/6Q1/8 w - - 0 1",
    "8/8/8/3k4/8/8/3PK3/8 w - - 0 1",
    "k7/P7/1K6/8/8/8/5p2/8 b - - 0 1",
    "8/1b4k1/8/8/3n4/8/6K1/5B2 w - - 0 1",
    "4k3/4p3/8/3P1P2/2p1p3/8/3P4/4K3 w - - 0 1",
    "2b1k3/8/8/8/8/8/8/3BKN2 w - - 90 60",
    "r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1",
)
FEW_PIECES = 6


class Start(Enum):
    """Where a random game begins. In double Fischer random the two sides begin from different set-ups."""

    STANDARD = "standard"
    CHESS960 = "chess960"
    DOUBLE_FISCHER_RANDOM = "double fischer random"
    ENDING = "ending"


def read_suite(path: Path) -> Iterator[tuple[str, dict[int, int]]]:
    """Each position of a suite with its leaf counts by depth; lines beginning with # are comments."""
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            fen, *counts = line.split(";")
            yield fen.strip(), {int(depth): int(count) for depth, count in re.findall(r"D(\d+) +(\d+)", str(counts))}


def random_start(start: Start, rng: random.Random, number: int = 0) -> chess.Board:
    """A board of python-chess at the beginning of a game; `number` chooses among the endings in turn."""
    match start:
        case Start.STANDARD:
            return chess.Board()
        case Start.CHESS960:
            return chess.Board.from_chess960_pos(rng.randrange(960))
        case Start.DOUBLE_FISCHER_RANDOM:
            white = chess.Board.from_chess960_pos(rng.randrange(960)).shredder_fen()
            black = chess.Board.from_chess960_pos(rng.randrange(960)).shredder_fen()
            ranks = f"{black.split('/')[0]}/pppppppp/8/8/8/8/PPPPPPPP/{white.split()[0].split('/')[-1]}"
            return chess.Board(f"{ranks} w {white.split()[2][:2]}{black.split()[2][2:]} - 0 1", chess960=True)
        case Start.ENDING:
            return chess.Board(ENDINGS[number % len(ENDINGS)])


def random_games(count: int, plies: int, start: Start, seed: int) -> Iterator[chess.Board]:
    """Boards of python-chess, one per ply of random games; each still holds its whole game.

    Some games take what they can and so reach endings; some move to and fro and so repeat themselves.
    """
    rng = random.Random(f"{start} {seed}")
    for number in range(count):
        board = random_start(start, rng, number)
        captures, repeats = rng.choice(((0.0, 0.0), (0.6, 0.0), (0.3, 0.3), (0.0, 0.7)))
        for _ in range(plies):
            yield board
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(_favoured(board, moves, captures, repeats, rng)))


def _favoured(
    board: chess.Board, moves: list[chess.Move], captures: float, repeats: float, rng: random.Random
) -> list[chess.Move]:
    """The moves to choose from: all of them, or captures, or the way back, or with few pieces what ends the game."""
    if chess.popcount(board.occupied) <= FEW_PIECES and rng.random() < 0.3:
        return [move for move in moves if _ends(board, move)] or moves
    if rng.random() < captures:
        return [move for move in moves if board.is_capture(move)] or moves
    if len(board.move_stack) > 1 and rng.random() < repeats:
        back = (board.move_stack[-2].to_square, board.move_stack[-2].from_square)
        return [move for move in moves if (move.from_square, move.to_square) == back] or moves
    return moves


def _ends(board: chess.Board, move: chess.Move) -> bool:
    """Return whether the move leaves the other side without a legal one."""
    board.push(move)
    over = not any(board.legal_moves)
    board.pop()
    return over
