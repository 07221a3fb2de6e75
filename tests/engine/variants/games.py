"""Random games of the variants on our board, from their start and from set-ups of Chess960."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from engine.core.bitboard import parse_square
from engine.facade import Board, chess960_fen

UCI_NAMES = {
    "crazyhouse": "crazyhouse",
    "kingOfTheHill": "kingofthehill",
    "threeCheck": "3check",
    "antichess": "antichess",
    "atomic": "atomic",
    "horde": "horde",
    "racingKings": "racingkings",
}
VARIANTS = tuple(UCI_NAMES)
PLIES = 160


@dataclass(frozen=True)
class Ply:
    """A position of a game with its legal moves, and the move that led to it, if it is not the first."""

    board: Board
    moves: list[str]
    move: str | None


def random_start(variant: str, rng: random.Random) -> Board:
    """The start of a game; half of them are of Chess960 where the variant has such."""
    if variant == "racingKings" or rng.random() < 0.5:
        return Board(variant=variant, chess960=rng.random() < 0.5)
    fields = chess960_fen(rng.randrange(960)).split(" ")
    if variant == "horde":
        ranks = Board(variant="horde").fen().split(" ")[0].split("/")
        fields[0] = "/".join((fields[0].split("/")[0], *ranks[1:]))
        fields[2] = "kq"
    return Board(" ".join(fields), variant=variant, chess960=True)


def random_games(variant: str, games: int, seed: int, plies: int = PLIES) -> Iterator[Ply]:
    """Every position of this many games. Some games capture, run forward or repeat themselves more than others."""
    rng = random.Random(f"{variant} {seed}")
    for _ in range(games):
        board = random_start(variant, rng)
        captures, forward, repeats = rng.choice(((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.2, 0.4, 0.0), (0.0, 0.0, 0.6)))
        moves = board.legal_moves()
        yield Ply(board, moves, None)
        for _ in range(plies):
            if not moves:
                break
            move = rng.choice(_favoured(board, moves, captures, forward, repeats, rng))
            board.push(move)
            moves = board.legal_moves()
            yield Ply(board, moves, move)


def _favoured(
    board: Board, moves: list[str], captures: float, forward: float, repeats: float, rng: random.Random
) -> list[str]:
    """The moves to choose from: all of them, or captures, or steps forward, or the way back."""
    if rng.random() < captures:
        occupied = board.position.state()["occupied"]
        return [move for move in moves if occupied >> parse_square(move[2:4]) & 1] or moves
    if rng.random() < forward:
        up = 1 if board.turn == "white" or board.variant == "racingKings" else -1
        return [move for move in moves if move[1] != "@" and (int(move[3]) - int(move[1])) * up > 0] or moves
    if len(board.moves) > 1 and rng.random() < repeats:
        back = board.moves[-2][2:4] + board.moves[-2][:2]
        return [move for move in moves if move == back] or moves
    return moves
