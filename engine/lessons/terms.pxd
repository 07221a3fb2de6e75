from engine.core.bitboard cimport u64
from engine.core.position cimport Position

cdef class Terms:
    cdef int percents[8]
    cdef readonly int mate_percent
    cdef int score(self, Position position) noexcept nogil
    cdef int side(self, Position position, int us) noexcept nogil
    cdef int term(self, Position position, int number, int us) noexcept nogil
    cdef int mated(self, int ply) noexcept nogil

cdef u64 reach(int kind, int us, int square, u64 occupied) noexcept nogil
cdef int material(Position position, int us) noexcept nogil
cdef int mobility(Position position, int us) noexcept nogil
cdef int centre(Position position, int us) noexcept nogil
cdef int castling(Position position, int us) noexcept nogil
cdef int attack(Position position, int us) noexcept nogil
cdef int check(Position position, int us) noexcept nogil
cdef int pawn_advance(Position position, int us) noexcept nogil
cdef int tempo(Position position, int us) noexcept nogil
