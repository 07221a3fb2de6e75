from engine.core.bitboard cimport u64
from engine.core.position cimport Position

cdef enum:
    MAX_MOVES = 416

cdef int add_unpinned_moves(Position position, int *moves, int end, u64 allowed, bint tactical_only) noexcept nogil
cdef int add_castling(Position position, int *moves, int end, u64 attacked, u64 pinned) noexcept nogil
cpdef bint is_legal(Position position, int move) noexcept nogil
cdef int generate(Position position, int *moves, int start, bint tactical_only) noexcept nogil
cpdef u64 attacked_squares(Position position, int by, u64 occupied) noexcept nogil
