"""Records of random games for the training: the side with more material wins, and the score is the material."""

from functools import cache
from pathlib import Path

import chess

from engine.selfplay.records import RECORD, Result, Sample, encode
from tests.engine.positions import Start, random_games

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
    found = []
    for number, board in enumerate(random_games(count=games, plies=PLIES, start=start, seed=seed)):
        pieces = [12] * 64
        for square, piece in board.piece_map().items():
            pieces[square] = piece.piece_type - 1 + (0 if piece.color else 6)
        score = material_cp(tuple(pieces))
        result = Result.DRAWN if abs(score) < 200 else Result.WHITE_WON if score > 0 else Result.BLACK_WON
        cannot_castle = not board.castling_rights
        found.append(Sample(tuple(pieces), not board.turn, cannot_castle, score, result, number // PLIES))
    return tuple(found)


def random_samples(games: int, start: Start = Start.STANDARD, seed: int = 5) -> list[Sample]:
    """Positions of random games, one game after the other."""
    return list(_random_samples(games, start, seed))


def write_shards(folder: Path, count: int, games: int) -> list[Path]:
    """So many shards of so many games each."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"0001-{number:06}.shard" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(b"".join(map(encode, random_samples(games, seed=number))))
    return paths
