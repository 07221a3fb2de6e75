# cython: language_level=3, boundscheck=False, wraparound=False
"""What a quiet position is worth: material and squares, blended from midgame to endgame as pieces leave the board.

(chessprogramming wiki: Tapered Eval). The sums are kept up to date by `position.py`.
"""

import cython

from engine import params

if cython.compiled:
    from cython.cimports.engine.params import PHASE_SHIFT, TEMPO
    from cython.cimports.engine.piece_square import PIECE_SQUARE
    from cython.cimports.engine.pieces import KINDS, NO_PIECE, WHITE
    from cython.cimports.engine.position import Position
    from cython.cimports.engine.score import endgame_of, midgame_of
else:
    from engine.params import PHASE_SHIFT, TEMPO
    from engine.piece_square import PIECE_SQUARE
    from engine.pieces import KINDS, NO_PIECE, WHITE
    from engine.position import Position
    from engine.score import endgame_of, midgame_of


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def evaluate(position: Position) -> cython.int:
    """Static score in centipawns for the side to move, the same for a mirrored position. Never raises."""
    packed: cython.int = position.piece_square if position.side_to_move == WHITE else -position.piece_square
    full: cython.int = 1 << PHASE_SHIFT
    phase: cython.int = position.phase if position.phase < full else full     # promotions may exceed the full board
    return TEMPO + ((midgame_of(packed) * phase + endgame_of(packed) * (full - phase)) >> PHASE_SHIFT)


def phase_of(position: Position) -> tuple[int, int]:
    """The phase of the game and that of the full board: their quotient is the weight of the midgame values."""
    full: cython.int = 1 << PHASE_SHIFT
    return min(position.phase, full), full


def terms(position: Position) -> dict[str, tuple[int, int, int, int]]:
    """Each term of the evaluation: White's midgame and endgame values, then Black's, all counted for their owner."""
    material = [0, 0, 0, 0]
    placed = [0, 0, 0, 0]
    square: cython.int
    for square in range(64):
        piece: cython.int = position.board[square]
        if piece == NO_PIECE:
            continue
        side = 0 if piece < KINDS else 2
        worth: cython.int = PIECE_SQUARE[piece * 64 + square] if piece < KINDS else -PIECE_SQUARE[piece * 64 + square]
        material[side] += params.MIDGAME_VALUE[piece % 6]
        material[side + 1] += params.ENDGAME_VALUE[piece % 6]
        placed[side] += midgame_of(worth)
        placed[side + 1] += endgame_of(worth)
    tempo = [TEMPO, TEMPO, 0, 0] if position.side_to_move == WHITE else [0, 0, TEMPO, TEMPO]
    squares = [whole - value for whole, value in zip(placed, material, strict=True)]
    return {"material": tuple(material), "squares": tuple(squares), "tempo": tuple(tempo)}


def static_score(position: Position) -> int:
    """`evaluate` for Python callers."""
    return evaluate(position)
