"""Records of random games, for rooms that learn from them: won by who has more, the score being the material."""

from pathlib import Path

from engine.core.fen import parse_fen
from engine.selfplay.records import Result, Sample, encode, snapshot
from tests.engine.positions import Start, random_games

PIECE_CP = (100, 300, 300, 500, 900, 0)
PLIES = 60


def material_cp(board: tuple[int, ...]) -> int:
    """White's pieces less Black's."""
    return sum(PIECE_CP[piece % 6] * (1 if piece < 6 else -1) for piece in board if piece < 12)


def random_samples(games: int, start: Start = Start.STANDARD, seed: int = 5) -> list[Sample]:
    """Positions of random games, one game after the other."""
    found = []
    for number, board in enumerate(random_games(count=games, plies=PLIES, start=start, seed=seed)):
        position, _ = parse_fen(board.fen())
        pieces, black, settled = snapshot(position)
        score = material_cp(pieces)
        result = Result.DRAWN if abs(score) < 200 else Result.WHITE_WON if score > 0 else Result.BLACK_WON
        found.append(Sample(pieces, black, settled, score, result, number // PLIES))
    return found


def write_shards(folder: Path, count: int, games: int) -> list[Path]:
    """So many shards of so many games each."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"0001-{number:06}.shard" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(b"".join(map(encode, random_samples(games, seed=number))))
    return paths
