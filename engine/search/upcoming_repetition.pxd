from engine.core.bitboard cimport u64
from engine.core.position cimport Position

cdef u64 DIFFERENCE[8192]
cdef int SQUARES[8192]

cdef int slot_of(u64 difference) noexcept nogil
cdef u64 reach(int kind, int square) noexcept nogil
cdef bint leads_back(Position position, int root_height) noexcept nogil
