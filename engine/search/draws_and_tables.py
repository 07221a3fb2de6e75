# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Answers that need no search: draws by the rules, mates that are too far away, endings that tables know.

Whoever searches asks at each node, the cheapest question first. Scores are centipawns for the side to move.
"""

import cython
from cython.cimports.engine.core.draws import is_insufficient_material, is_repetition
from cython.cimports.engine.core.move import NO_MOVE
from cython.cimports.engine.core.params import PROBE_DEPTH
from cython.cimports.engine.core.score import DRAW, MAX_PLY, NO_SCORE, mated_in, table_win_in
from cython.cimports.engine.search.history import NO_STEP
from cython.cimports.engine.search.move_picker import Picker
from cython.cimports.engine.search.search_limits import Meter
from cython.cimports.engine.search.search_stack import Line
from cython.cimports.engine.search.upcoming_repetition import leads_back
from cython.cimports.engine.syzygy.prober import LOSS, UNKNOWN, WIN, Prober


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_answer(known: cython.int, alpha: cython.int, beta: cython.int) -> cython.bint:
    """Does what a table knows end the node? A draw always; else a mate may still be the better answer. Never raises."""
    return known == DRAW or (known >= beta if known > DRAW else known <= alpha)


@cython.final
@cython.cclass
class Referee:
    """Of one thread's search."""

    def __init__(self, line: Line, picker: Picker, meter: Meter, prober: Prober) -> None:
        self.position = line.position
        self.line = line
        self.picker = picker
        self.meter = meter
        self.prober = prober
        self.begin_again()

    def begin_again(self) -> None:
        """The search begins at the position as it stands: what arises after it is a draw when it arises again."""
        self.root_height = self.position.height

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def settled(self, ply: cython.int, in_check: cython.bint) -> cython.int:
        """Count the node and look whether it needs no search: stopped, drawn, too deep; else NO_SCORE. Never raises."""
        self.meter.count(ply)
        if self.meter.stopped:
            return DRAW
        if ply == 0:
            return NO_SCORE
        if is_insufficient_material(self.position) or is_repetition(self.position, self.root_height):
            return DRAW
        if ply >= MAX_PLY:
            return self.line.evaluate(ply)
        if self.position.halfmove_clock >= 100:
            # Mate on the hundredth half-move wins all the same.
            return mated_in(ply) if in_check and not self.has_legal_move(ply) else DRAW
        return NO_SCORE

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def nearer_mate(self, beta: cython.int, ply: cython.int) -> cython.int:
        """The answer where neither mating with the next move nor being mated here would change it, or NO_SCORE.

        A mate was found that is nearer to the root than any this node could be part of. Never raises.
        (chessprogramming wiki: Mate Distance Pruning)
        """
        if mated_in(ply) >= beta:
            return mated_in(ply)
        if -mated_in(ply + 1) < beta:
            return -mated_in(ply + 1)
        return NO_SCORE

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_for_the_taking(self, ply: cython.int) -> cython.bint:
        """Can the side to move repeat an earlier position? Then it need not be worse off than that. Never raises."""
        return self.line.excluded[ply] == NO_MOVE and leads_back(self.position, self.root_height)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def known_ending(self, depth: cython.int, ply: cython.int) -> cython.int:
        """What a table of endings says, or NO_SCORE. Never raises.

        Tables know nothing of the moves since the last capture or pawn move, so they are asked right after one.
        (chessprogramming wiki: Syzygy Bases)
        """
        if ply == 0 or self.position.halfmove_clock > 0 or depth < PROBE_DEPTH or not self.prober.may_know():
            return NO_SCORE
        if self.line.excluded[ply] != NO_MOVE or self.line.before(ply, 1) == NO_STEP:
            return NO_SCORE
        wdl: cython.int = self.prober.wdl()
        if wdl == UNKNOWN:
            return NO_SCORE
        return table_win_in(ply) if wdl == WIN else -table_win_in(ply) if wdl == LOSS else DRAW

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_legal_move(self, ply: cython.int) -> cython.bint:
        """Never raises."""
        self.picker.begin(ply, NO_MOVE)
        return self.picker.next(ply) != NO_MOVE
