from engine.history cimport History
from engine.position cimport Position

cdef void rank_moves(
    Position position, History history, int *moves, int start, int end, int table_move, int ply
) noexcept nogil
cdef void rank_tactical(Position position, int *moves, int start, int end) noexcept nogil
cdef int next_move(int *moves, int index, int end) noexcept nogil
