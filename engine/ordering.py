# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""In which order moves are searched: good guesses first is what makes alpha-beta fast.

The table's move, then captures by most valuable victim and least valuable attacker, killers, and quiet moves by
history. (chessprogramming wiki: Move Ordering, MVV-LVA)

A ranked move is one number, `rank * 65536 + move` with a rank of 16 bits, so that the best move is just the largest.
"""

import cython

if cython.compiled:
    from cython.cimports.engine.history import History
    from cython.cimports.engine.move import from_square, is_promotion, is_tactical, promoted_kind, to_square
    from cython.cimports.engine.pieces import KIND_OF
    from cython.cimports.engine.position import Position
else:
    from engine.history import History
    from engine.move import from_square, is_promotion, is_tactical, promoted_kind, to_square
    from engine.pieces import KIND_OF
    from engine.position import Position

TABLE_MOVE = cython.declare(cython.int, 32767)
TACTICAL = cython.declare(cython.int, 30000)        # + victim and attacker
KILLER = cython.declare(cython.int, 29000)          # above all that history can say (params.HISTORY_LIMIT)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def tactical_rank(position: Position, move: cython.int) -> cython.int:
    """Most valuable victim first, then least valuable attacker; a promotion counts as its piece. Never raises.

    The empty square of an en passant or plain promotion reads as kind 0, a pawn, which ranks it about right.
    """
    victim: cython.int = KIND_OF[position.board[to_square(move)]]
    attacker: cython.int = KIND_OF[position.board[from_square(move)]]
    rank: cython.int = TACTICAL + victim * 16 - attacker
    if is_promotion(move):
        rank += promoted_kind(move) * 16
    return rank


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rank_moves(
    position: Position,
    history: History,
    moves: cython.p_int,
    start: cython.int,
    end: cython.int,
    table_move: cython.int,
    ply: cython.int,
) -> cython.void:
    """Give each move of moves[start:end] its rank. Never raises."""
    index: cython.int
    move: cython.int
    rank: cython.int
    side: cython.int = position.side_to_move * 4096
    for index in range(start, end):
        move = moves[index]
        if move == table_move:
            rank = TABLE_MOVE
        elif is_tactical(move):
            rank = tactical_rank(position, move)
        elif move == history.killers[2 * ply]:
            rank = KILLER + 1
        elif move == history.killers[2 * ply + 1]:
            rank = KILLER
        else:
            rank = history.quiets[side + (move & 4095)]
        moves[index] = rank * 65536 + move


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rank_tactical(position: Position, moves: cython.p_int, start: cython.int, end: cython.int) -> cython.void:
    """The same for a list of captures and promotions. Never raises."""
    index: cython.int
    for index in range(start, end):
        moves[index] += tactical_rank(position, moves[index]) * 65536


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def next_move(moves: cython.p_int, index: cython.int, end: cython.int) -> cython.int:
    """Bring the best of moves[index:end] to `index` and return it unranked; most nodes need few. Never raises."""
    best: cython.int = moves[index]
    other: cython.int
    for other in range(index + 1, end):        # two plain loops: the compiler vectorises the first
        best = moves[other] if moves[other] > best else best
    other = index
    while moves[other] != best:
        other += 1
    moves[other] = moves[index]
    moves[index] = best
    return best & 0xFFFF
