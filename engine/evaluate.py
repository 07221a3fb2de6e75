# cython: language_level=3, boundscheck=False, wraparound=False
"""What a quiet position is worth: material and squares, blended from midgame to endgame as pieces leave the board.

(chessprogramming wiki: Tapered Eval). The sums are kept up to date by `position.py`.
"""

import cython

if cython.compiled:
    from cython.cimports.engine.params import PHASE_SHIFT, TEMPO
    from cython.cimports.engine.pieces import WHITE
    from cython.cimports.engine.position import Position
    from cython.cimports.engine.score import endgame_of, midgame_of
else:
    from engine.params import PHASE_SHIFT, TEMPO
    from engine.pieces import WHITE
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


def static_score(position: Position) -> int:
    """`evaluate` for Python callers."""
    return evaluate(position)
