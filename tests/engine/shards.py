"""Records of random games for the training: the side with more material wins, and the score is the material."""

import random
from array import array
from functools import cache
from pathlib import Path

import chess

from engine.core.fen import parse_fen
from engine.core.move import is_tactical
from engine.core.movegen import legal_moves
from engine.core.position import Position
from engine.selfplay.records import RECORD, Result, Sample, encode, snapshot
from engine.training.features import pack
from tests.engine.positions import Start, random_start

PIECE_CP = (100, 300, 300, 500, 900, 0)
PLIES = 60


def read_samples(path: Path) -> list[Sample]:
    """Return the samples of a shard."""
    content = path.read_bytes()
    return [decode(content[offset : offset + RECORD.size]) for offset in range(0, len(content), RECORD.size)]


def decode(record: bytes) -> Sample:
    """Return the sample of a record."""
    occupied, packed, score, result, side, game = RECORD.unpack(record)
    pieces = (packed[index // 2] >> 4 * (index % 2) & 15 for index in range(32))
    board = tuple(next(pieces) if occupied >> square & 1 else 12 for square in range(64))
    return Sample(board, bool(side & 1), bool(side & 2), score, Result(result), game)


def words_of(fen: str, score_cp: int = 0, result: Result = Result.DRAWN) -> "array[int]":
    """Return the packed record of a position."""
    position, _ = parse_fen(fen)
    return pack(encode(Sample(*snapshot(position), score_cp, result, 0)))


def board_of(sample: Sample) -> chess.Board:
    """The pieces and the side to move; without castling rights."""
    board = chess.Board(None)
    for square, piece in enumerate(sample.board):
        if piece < 12:
            board.set_piece_at(square, chess.Piece(piece % 6 + 1, piece < 6))
    board.turn = chess.BLACK if sample.black_to_move else chess.WHITE
    return board


def material_cp(board: tuple[int, ...]) -> int:
    """White's pieces less Black's."""
    return sum(PIECE_CP[piece % 6] * (1 if piece < 6 else -1) for piece in board if piece < 12)


@cache
def _random_samples(games: int, start: Start, seed: int) -> tuple[Sample, ...]:
    """Some games take what they can and so reach endings."""
    rng = random.Random(f"{start} {seed}")
    found = []
    for game in range(games):
        position, _ = parse_fen(random_start(start, rng).fen())
        captures = rng.choice((0.0, 0.3, 0.6))
        for _ in range(PLIES):
            found.append(_sample(position, game))
            moves = legal_moves(position)
            if not moves:
                break
            favoured = [move for move in moves if is_tactical(move)] if rng.random() < captures else []
            position.push(rng.choice(favoured or moves))
    return tuple(found)


def _sample(position: Position, game: int) -> Sample:
    state = position.state()
    board = tuple(state["board"])
    score = material_cp(board)
    result = Result.DRAWN if abs(score) < 200 else Result.WHITE_WON if score > 0 else Result.BLACK_WON
    return Sample(board, position.black_to_move(), not state["castling_rights"], score, result, game)


def random_samples(games: int, start: Start = Start.STANDARD, seed: int = 5) -> list[Sample]:
    """Positions of random games, one game after the other."""
    return list(_random_samples(games, start, seed))


def write_shards(folder: Path, count: int, games: int) -> list[Path]:
    """This many shards of this many games each."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"0001-{number:06}.shard" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(b"".join(map(encode, random_samples(games, seed=number))))
    return paths
