from engine.core.bitboard cimport u64

cdef int[64] TRIANGLE
cdef int[64] BELOW
cdef int[640] KINGS
cdef u64[448] CHOOSE

cdef void mirror(int *squares, int men, int leading) noexcept nogil
cdef int three_pieces(int *squares) noexcept nogil
cdef int two_kings(int *squares) noexcept nogil
cdef int lead_pawn(int *squares, int pawns) noexcept nogil
cdef u64 leading_pawns(int *squares, int men, int pawns) noexcept nogil
cdef u64 combination(int *squares, int start, int size, int shift) noexcept nogil
