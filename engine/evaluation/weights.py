# cython: language_level=3, boundscheck=False, wraparound=False
"""The weights of the evaluation: their names, groups and values, in one array; the piece-square table.

Every weight is a packed score (see `score.py`): the midgame and endgame value of one unit of the feature that it
counts. The evaluation before blending is linear in the weights, which lets the tuner fit them. The values come
from `tuned.py`. `style.py` scales the weights of a group.

CONTRIBUTING.md says how to add a term.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import cython
from cython.cimports.engine.core.pieces import KINDS, KING
from cython.cimports.engine.core.position import PIECE_SQUARE
from cython.cimports.engine.core.score import pack

from engine.evaluation import tuned

if not cython.compiled:
    MAX_WEIGHTS = 512
    WEIGHTS = [0] * MAX_WEIGHTS


class Group(StrEnum):
    """Terms whose weights an operator scales together, in percent (`style.py`)."""

    MATERIAL = "material"
    PLACEMENT = "placement"
    MOBILITY = "mobility"
    PAWN_STRUCTURE = "pawn_structure"
    PAWN_ADVANCE = "pawn_advance"
    PIECES = "pieces"
    KING_SAFETY = "king_safety"
    KING_ATTACK = "king_attack"
    THREATS = "threats"
    TEMPO = "tempo"


class Term(NamedTuple):
    """A run of weights that belong together: `size` of them from `first` on."""

    first: int
    size: int
    group: Group


# Squares are counted from a1 to h8 as their owner sees them, files mirrored: rank * 4 + file, a to d.
SIZES = {
    "material": (5, Group.MATERIAL),               # [kind]
    "pawn_squares": (32, Group.PAWN_ADVANCE),
    "knight_squares": (32, Group.PLACEMENT),
    "bishop_squares": (32, Group.PLACEMENT),
    "rook_squares": (32, Group.PLACEMENT),
    "queen_squares": (32, Group.PLACEMENT),
    "king_squares": (32, Group.PLACEMENT),
    "knight_mobility": (9, Group.MOBILITY),        # [safe squares attacked]
    "bishop_mobility": (14, Group.MOBILITY),
    "rook_mobility": (15, Group.MOBILITY),
    "queen_mobility": (28, Group.MOBILITY),
    "doubled": (1, Group.PAWN_STRUCTURE),
    "isolated": (1, Group.PAWN_STRUCTURE),
    "backward": (1, Group.PAWN_STRUCTURE),
    "connected": (8, Group.PAWN_STRUCTURE),             # [rank]
    "passed": (8, Group.PAWN_ADVANCE),             # [rank]
    "passed_blocked": (8, Group.PAWN_ADVANCE),     # [rank]
    "passed_safe": (8, Group.PAWN_ADVANCE),        # [rank]
    "passed_own_king": (8, Group.PAWN_ADVANCE),    # [distance]
    "passed_their_king": (8, Group.PAWN_ADVANCE),  # [distance]
    "bishop_pair": (1, Group.PIECES),
    "bishop_pawns": (1, Group.PIECES),
    "outpost": (2, Group.PIECES),                  # [knight, bishop]
    "rook_half_open": (1, Group.PIECES),
    "rook_open": (1, Group.PIECES),
    "shelter_front": (8, Group.KING_SAFETY),       # [rank of the pawn before the king, 0 for none]
    "shelter_side": (8, Group.KING_SAFETY),
    "storm_front": (8, Group.KING_SAFETY),         # [rank of the enemy pawn before the king, 0 for none]
    "storm_side": (8, Group.KING_SAFETY),
    "king_attack": (32, Group.KING_ATTACK),        # [attack units]
    "threat_by_pawn": (5, Group.THREATS),          # [kind of the piece attacked]
    "threat_by_minor": (5, Group.THREATS),
    "threat_by_rook": (5, Group.THREATS),
    "hanging": (1, Group.THREATS),
    "tempo": (1, Group.TEMPO),
}


def _terms() -> dict[str, Term]:
    """Return every term with its place, in a row."""
    placed: dict[str, Term] = {}
    first = 0
    for name, (size, group) in SIZES.items():
        placed[name] = Term(first, size, group)
        first += size
    return placed


TERMS = _terms()
COUNT = sum(term.size for term in TERMS.values())
if COUNT > MAX_WEIGHTS:
    raise ImportError(f"weights.pxd: MAX_WEIGHTS is {MAX_WEIGHTS}, expected at least {COUNT}")


def first_weight(name: str) -> int:
    """Return where the weights of a term begin in WEIGHTS."""
    return TERMS[name].first


MATERIAL = first_weight("material")
SQUARES = first_weight("pawn_squares")

Values = Mapping[str, Sequence[tuple[int, int]]]


def set_values(values: Values) -> None:
    """Fill the array. Raises ValueError if a term is missing, unknown, or has the wrong number of weights.

    For a running engine this is only a part of the change: see `evaluate.use_values`.
    """
    index: cython.int
    if set(values) != set(TERMS):
        raise ValueError(f"terms missing or unknown: {sorted(set(values) ^ set(TERMS))}")
    for name, term in TERMS.items():
        if len(values[name]) != term.size:
            raise ValueError(f"{name}: expected {term.size} weights, found {len(values[name])}")
        for index in range(term.size):
            midgame, endgame = values[name][index]
            WEIGHTS[term.first + index] = pack(midgame, endgame)
    _fill_piece_squares()


def weight_of_square(kind: cython.int, square: cython.int) -> cython.int:
    """Return the index of the weight of this kind of piece on this square, seen by its owner."""
    file: cython.int = square & 7
    return SQUARES + kind * 32 + (square >> 3) * 4 + (file if file < 4 else 7 - file)


def _fill_piece_squares() -> None:
    """Compute the table by which a position keeps the sum of its material and squares."""
    piece: cython.int
    square: cython.int
    for piece in range(2 * KINDS):
        kind: cython.int = piece % KINDS
        for square in range(64):
            worth: cython.int = WEIGHTS[weight_of_square(kind, square if piece < KINDS else square ^ 56)]
            if kind != KING:
                worth += WEIGHTS[MATERIAL + kind]
            PIECE_SQUARE[piece * 64 + square] = worth if piece < KINDS else -worth


def default_values() -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the tuned weights. A term that has not been tuned yet starts at zero."""
    return {name: tuned.VALUES.get(name, ((0, 0),) * term.size) for name, term in TERMS.items()}


def weighed(factors: Mapping[Group, float]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the tuned weights with each named group multiplied by its factor."""
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for name, pairs in default_values().items():
        times = factors.get(TERMS[name].group, 1.0)
        found[name] = tuple((round(midgame * times), round(endgame * times)) for midgame, endgame in pairs)
    return found


set_values(default_values())
