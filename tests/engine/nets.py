"""Networks with random weights, and the slow, obvious way to use one, written from the text of `net_file.py`."""

import random
from array import array
from collections.abc import Sequence

import chess

from engine.evaluation.net_file import CLAMP, OUTPUT_UNIT, PLACES, Net

# From -80 to 80. To translate random bytes is a hundred times faster than to choose numbers.
WEIGHT_OF_BYTE = bytes((byte % 161 - 80) % 256 for byte in range(256))


def random_net(seed: int, hidden: int, buckets: int, threats: int = 1) -> Net:
    """A network whose hidden values spread over the whole range and whose scores differ from position to position."""
    rng = random.Random(seed)
    return Net(
        name=f"random {seed}",
        feature_weights=array("b", rng.randbytes(PLACES * threats * hidden).translate(WEIGHT_OF_BYTE)),
        feature_bias=array("h", (rng.randint(-100, 300) for _ in range(hidden))),
        output_weights=array("h", (rng.randint(-60, 60) for _ in range(2 * hidden * buckets))),
        output_bias=array("i", (rng.randint(-8000, 8000) for _ in range(buckets))),
        scale=400,
    )


def material_net(hidden: int = 32, buckets: int = 1) -> Net:
    """A network that counts material, about 100 cp a pawn, 950 the queen; what a bare minimum of sense needs.

    A hidden value is the middle of its range plus what we have and minus what they have, (m + d)^2; the other view
    has (m - d)^2, and the difference of the two is 4md, linear in d. There are 32 such values; any more cost time but
    say nothing, so that networks of every size search the same tree.
    """
    worth, middle, counting = (3, 9, 10, 15, 28, 0), 127, 32
    rng = random.Random(hidden)
    rows = [sign * worth[kind] for sign in (1, -1) for kind in range(6) for _ in range(64)]
    silent = [rng.randint(-80, 80) for _ in range(hidden - counting)]
    weights = [21] * counting + [0] * len(silent)
    return Net(
        name=f"material {hidden}",
        feature_weights=array("b", (value for row in rows for value in [row] * counting + silent)),
        feature_bias=array("h", [middle] * counting + silent),
        output_weights=array("h", [*weights, *(-weight for weight in weights)] * buckets),
        output_bias=array("i", [0] * buckets),
        scale=400,
    )


def slow_threats(board: Sequence[int]) -> dict[int, int]:
    """The threat of each piece by its square, from the text of `threats.py`. `board` is as in `slow_score`."""
    position = chess.BaseBoard.empty()
    for square, piece in enumerate(board):
        if piece < 12:
            position.set_piece_at(square, chess.Piece(piece % 6 + 1, piece < 6))
    ranks = {chess.PAWN: 1, chess.KNIGHT: 2, chess.BISHOP: 2, chess.ROOK: 3, chess.QUEEN: 3, chess.KING: 3}
    threats = {}
    for square, piece in position.piece_map().items():
        attackers = position.attackers(not piece.color, square)
        least = min((ranks[position.piece_type_at(attacker)] for attacker in attackers), default=0)
        threats[square] = 2 * least + bool(position.attackers(piece.color, square))
    return threats


def slow_score(net: Net, board: Sequence[int], black_to_move: bool) -> int:
    """Centipawns for the side to move. `board` holds 64 pieces from a1 on: 0-5 White's, 6-11 Black's, 12 none."""
    pieces = [(piece // 6, piece % 6, square) for square, piece in enumerate(board) if piece < 12]
    bucket = (len(pieces) - 2) // 4 if net.buckets == 8 else 0
    threats = slow_threats(board)
    us = int(black_to_move)
    hidden: list[int] = []
    for view in (us, 1 - us):
        rows = [384 * (colour != view) + 64 * kind + (square ^ 56 * view) for colour, kind, square in pieces]
        if net.threats > 1:
            rows = [8 * place + threats[square] for place, (_, _, square) in zip(rows, pieces, strict=True)]
        for index in range(net.hidden):
            total = net.feature_bias[index] + sum(net.feature_weights[row * net.hidden + index] for row in rows)
            hidden.append(min(max(total, 0), CLAMP))
    weights = net.output_weights[2 * net.hidden * bucket :]
    total = sum(value * value * weight for value, weight in zip(hidden, weights, strict=False))
    return (total // CLAMP + net.output_bias[bucket]) * net.scale // (CLAMP * OUTPUT_UNIT)
