# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Records of positions in a search tree, from what the transposition table knows of them.

The positions that a search asks the evaluation about are not those of games: one side has just blundered in most of
them. For many, the table has a score or a bound, from a smaller search than that of the root. A bound teaches something
where it contradicts the static evaluation: the true score is at least as far away. Upper bounds of shallow searches say
little: the move that refutes them may have been pruned. (Veness, Silver, Uther, Blair: Bootstrapping from game tree
search, 2009)
"""

import struct

import cython
from cython.cimports.engine.core.bitboard import lsb, u64
from cython.cimports.engine.core.move import is_tactical
from cython.cimports.engine.core.movegen import MAX_MOVES, generate
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import NO_SCORE
from cython.cimports.engine.search.transposition import (
    LOWER_BOUND,
    UPPER_BOUND,
    TranspositionTable,
    entry_bound,
    entry_depth,
    entry_eval,
    entry_move,
    entry_score,
)

from engine.selfplay.records import CANNOT_CASTLE, QUIET_CP, Result

WORDS = struct.Struct("<4Q")
LEAST_DEPTH = cython.declare(cython.int, 3)        # of the search that a position had, see engine/training/LOG.md
UPPER_LEAST_DEPTH = cython.declare(cython.int, 4)  # of one whose score is an upper bound
LAST_PLY = cython.declare(cython.int, 12)          # from the root
PIECES_PER_WORD = cython.declare(cython.int, 16)
MOST_CP = cython.declare(cython.int, QUIET_CP)
NO_CASTLING = cython.declare(cython.int, CANNOT_CASTLE)
UNKNOWN = cython.declare(cython.int, int(Result.UNKNOWN))


def tree_records(position: Position, table: TranspositionTable, game: int, most: int, known: set[int]) -> list[bytes]:
    """Return records of at most `most` quiet positions in the tree of a search of `position`, in standard chess.

    `known` has the hash keys of positions that are not to be repeated, and gets those of the chosen ones. Hash keys are
    as good as random numbers, so the lowest keys are a random choice.
    """
    found: dict[int, bytes] = {}
    visit(position, table, game, 1, found)
    chosen = sorted(key for key in found if found[key] and key not in known)[:most]
    known.update(chosen)
    return [found[key] for key in chosen]


def visit(
    position: Position, table: TranspositionTable, game: cython.uint, ply: cython.int, found: dict[int, bytes]
) -> None:
    """Add the positions after each move, and those below them; no bytes for one that teaches nothing."""
    moves = cython.declare(cython.int[MAX_MOVES])
    end: cython.int = generate(position, moves, 0, False)
    index: cython.int
    for index in range(end):
        position.make(moves[index])
        entry: u64 = table.probe(position.key)
        if entry and entry_depth(entry) >= LEAST_DEPTH and position.key not in found:
            found[position.key] = record(position, entry_score(entry), game) if teaches(entry) else b""
            if entry_depth(entry) > LEAST_DEPTH and ply < LAST_PLY:
                visit(position, table, game, ply + 1, found)
        position.unmake(moves[index])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def teaches(entry: u64) -> cython.bint:
    """Return whether the score of a quiet position says more than its static evaluation."""
    score: cython.int = entry_score(entry)
    evaluation: cython.int = entry_eval(entry)
    if evaluation == NO_SCORE or score > MOST_CP or score < -MOST_CP:
        return False
    if entry_bound(entry) == UPPER_BOUND:
        return score < evaluation and entry_depth(entry) >= UPPER_LEAST_DEPTH
    if is_tactical(entry_move(entry)):
        return False
    return score > evaluation or entry_bound(entry) != LOWER_BOUND


def record(position: Position, score: cython.int, game: cython.uint) -> bytes:
    """Return the record of a position with this score for the side to move, and no result."""
    low: u64 = 0
    high: u64 = 0
    count: cython.int = 0
    rest: u64 = position.occupied
    while rest:
        piece: u64 = position.board[lsb(rest)]
        if count < PIECES_PER_WORD:
            low |= piece << (4 * count)
        else:
            high |= piece << (4 * (count - PIECES_PER_WORD))
        count += 1
        rest &= rest - 1
    white_score: cython.int = -score if position.side_to_move else score
    side: cython.int = position.side_to_move if position.castling_rights else position.side_to_move | NO_CASTLING
    last: u64 = game
    last = last << 32 | side << 24 | UNKNOWN << 16 | (white_score & 0xFFFF)
    return WORDS.pack(position.occupied, low, high, last)
