"""The weights of the variants' evaluations, midgame and endgame centipawns; the terms are in `variant_evaluation.py`.

Squares not named are those of standard chess.
"""

from engine.evaluation import tuned

Pairs = tuple[tuple[int, int], ...]

_STANDARD = tuned.VALUES
_NONE: Pairs = ((0, 0),) * 32
_STANDARD_SQUARES: Pairs = tuple(
    pair for kind in ("pawn", "knight", "bishop", "rook", "queen", "king") for pair in _STANDARD[f"{kind}_squares"]
)
_RINGS = tuple(min(rank, 7 - rank, file) for rank in range(8) for file in range(4))     # 3 is the centre


def _same(*values: int) -> Pairs:
    return tuple((value, value) for value in values)


_COMMON: dict[str, Pairs] = {
    "material": _STANDARD["material"],
    "squares": _STANDARD_SQUARES,
    "mobility": ((0, 0), (5, 5), (5, 5), (3, 5), (2, 4)),
    "passed": _same(0, 5, 5, 15, 40, 80, 130, 0),
    "isolated": ((-10, -12),),
    "doubled": ((-8, -15),),
    "supported": ((10, 6),),
    "shelter": ((0, 0), (12, 0), (25, 0), (35, 0)),
    "king_attack": tuple(
        (value, value // 4) for value in (0, 0, 4, 6, 10, 16, 24, 34, 46, 60, 76, 94, 114, 136, 160, 186)
    ),
    "attacked_by_pawn": ((40, 40),),
    "hanging": ((25, 25),),
    "tempo": ((20, 15),),
}
_KING_ATTACK_SHARP = tuple((3 * midgame, 2 * midgame) for midgame, _ in _COMMON["king_attack"])

VALUES: dict[str, dict[str, Pairs]] = {
    "kingOfTheHill": {
        **_COMMON,
        "squares": _STANDARD_SQUARES[:160] + tuple(
            (midgame + 40 * (ring == 2), endgame + (0, 40, 250, 500)[ring])
            for (midgame, endgame), ring in zip(_STANDARD_SQUARES[160:], _RINGS, strict=True)
        ),
        "own": ((0, 0), (150, 300), (40, 140), (10, 60), (0, 20), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (2500, 2500)),
    },
    "threeCheck": {
        **_COMMON,
        "king_attack": _KING_ATTACK_SHARP,
        "own": _same(
            0, 220, 800, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0,
            0, 15, 30, 50, 80, 110, 140, 170,
            0, 80, 160, 240, 320, 400, 480, 560,
        ),
    },
    "crazyhouse": {
        **_COMMON,
        "material": _same(100, 230, 240, 330, 620, 0),
        "king_attack": _KING_ATTACK_SHARP,
        "passed": _same(0, 0, 0, 5, 20, 60, 120, 0),
        "own": _same(
            110, 250, 250, 350, 700, 0, 0, 0,
            20, 20, 20, 20, 20, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0,
            0, 5, 12, 20, 28, 36, 44, 52,
            0, 10, 22, 36, 52, 68, 84, 100,
            0, 16, 34, 54, 76, 98, 120, 142,
            0, 22, 46, 72, 100, 130, 160, 190,
            0, 28, 58, 90, 124, 160, 196, 232,
        ),
    },
    "antichess": {
        "material": ((-108, -165), (-155, 194), (-270, 133), (-472, 56), (-114, 218), (-23, 178)),
        "mobility": _same(0, 5, 5, 5, 5),
        "tempo": _same(20),
    },
    "atomic": {
        **_COMMON,
        "material": ((120, 160), (250, 250), (270, 270), (430, 500), (900, 1000)),
        "squares": tuple((midgame // 2, endgame // 2) for midgame, endgame in _STANDARD_SQUARES),
        "passed": _same(0, 10, 20, 40, 80, 150, 260, 0),
        "king_attack": _KING_ATTACK_SHARP,
        "attacked_by_pawn": _same(20),
        "hanging": _same(20),
        "shelter": ((0, 0), (10, 0), (20, 0), (20, 0)),
        "own": _same(0, -5, -10, -15, -20, -25, -30, -35, 0, 100, 150, 200, 0, 600, 800, 1000),
    },
    "horde": {
        **_COMMON,
        "material": ((60, 100), (300, 300), (320, 320), (500, 550), (950, 1000)),
        "squares": _NONE * 5 + _STANDARD_SQUARES[160:],
        "passed": _same(0, 10, 20, 40, 80, 160, 300, 0),
        "isolated": _same(0),
        "doubled": _same(0),
        "supported": _same(8),
        "own": _same(0, 40, 42, 45, 50, 60, 80, 0),
    },
    "racingKings": {
        "material": ((0, 0), (300, 300), (330, 330), (500, 500), (900, 900)),
        "squares": _NONE * 5 + tuple(
            (value, value) for rank in (0, 20, 45, 75, 110, 150, 200, 500) for value in (rank,) * 4
        ),
        "mobility": _same(0, 4, 4, 3, 2),
        "hanging": _same(25),
        "tempo": _same(40),
        "own": _same(2000, 650, 420, 280, 180, 100, 45, 0, -20, -120, 2500),
    },
}
