# cython: language_level=3, boundscheck=False, wraparound=False
"""Which quiet moves have refuted positions before: the search's memory for ordering moves.

Killers are the last two refutations at the same ply; the butterfly table counts by side, origin and target.
(chessprogramming wiki: Killer Heuristic, History Heuristic)
"""

import cython

if cython.compiled:
    from cython.cimports.engine.params import HISTORY_LIMIT
    from cython.cimports.engine.score import MAX_PLY
else:
    from engine.params import HISTORY_LIMIT
    from engine.score import MAX_PLY


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def bonus(depth: cython.int) -> cython.int:
    """How much one cutoff weighs: deep ones were dearly bought. Never raises."""
    return 16 * depth * depth if depth < 10 else 1600


@cython.final
@cython.cclass
class History:
    def __init__(self) -> None:
        if not cython.compiled:
            self.killers = [0] * (2 * MAX_PLY)
            self.quiets = [0] * 8192
        self.clear()

    def clear(self) -> None:
        """Forget everything, for a new game."""
        index: cython.int
        for index in range(2 * MAX_PLY):
            self.killers[index] = 0
        for index in range(8192):
            self.quiets[index] = 0

    def new_search(self) -> None:
        """Killers belong to a ply of one search; what the butterfly table learnt still half holds."""
        index: cython.int
        for index in range(2 * MAX_PLY):
            self.killers[index] = 0
        for index in range(8192):
            self.quiets[index] = self.quiets[index] // 2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def reward(self, side: cython.int, move: cython.int, depth: cython.int) -> cython.void:
        """The move refuted a position. The nearer the limit, the less is added: it is never passed. Never raises."""
        index: cython.int = side * 4096 + (move & 4095)
        self.quiets[index] += bonus(depth) - self.quiets[index] * bonus(depth) // HISTORY_LIMIT

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def punish(self, side: cython.int, move: cython.int, depth: cython.int) -> cython.void:
        """The move was tried before the one that refuted. Never raises."""
        index: cython.int = side * 4096 + (move & 4095)
        self.quiets[index] -= bonus(depth) + self.quiets[index] * bonus(depth) // HISTORY_LIMIT

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def remember_killer(self, move: cython.int, ply: cython.int) -> cython.void:
        """Never raises."""
        if self.killers[2 * ply] != move:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = move
