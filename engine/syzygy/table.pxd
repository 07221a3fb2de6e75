from engine.core.bitboard cimport u64
from engine.core.position cimport Position
from engine.syzygy.packed_values cimport PackedValues

cdef extern from *:
    """
    static inline void engine_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
    """
    void fence "engine_fence"() noexcept nogil

cdef enum:
    MAX_PIECES = 7

cdef int[64] TRIANGLE
cdef int[64] BELOW_DIAGONAL
cdef int[640] TWO_KINGS
cdef u64[448] BINOMIAL

cdef int diagonal_side(int square) noexcept nogil
cdef int flip_diagonally(int square) noexcept nogil
cdef void normalize(int *squares, int count, int leading) noexcept nogil
cdef int three_pieces_index(int *squares) noexcept nogil
cdef int two_kings_index(int *squares) noexcept nogil
cdef int leading_pawn_rank(int square) noexcept nogil
cdef int pawn_order(int square) noexcept nogil
cdef int move_leading_pawn_first(int *squares, int pawns) noexcept nogil
cdef u64 leading_pawns_index(int *squares, int count, int pawns) noexcept nogil
cdef u64 combination_index(int *squares, int start, int size, int first_square) noexcept nogil

cdef class Table:
    cdef readonly object path
    cdef readonly object problem    # why the file cannot be used; None if it can, or was not opened yet
    cdef tuple sections
    cdef object lock
    cdef PackedValues values
    cdef volatile int state
    cdef int piece_count
    cdef int leading                # pieces of the leading group
    cdef int sides
    cdef bint has_pawns
    cdef bint both_have_pawns
    cdef bint symmetric
    cdef u64 key
    cdef int pieces[8 * MAX_PIECES]         # of up to eight sections
    cdef int group_sizes[8 * MAX_PIECES]
    cdef u64 factors[8 * MAX_PIECES]
    cdef int group_counts[8]
    cdef u64 section_sizes[8]
    cdef bint is_ready(self) noexcept nogil
    cdef int probe(self, Position position, u64 key) noexcept nogil
    cdef bint has_swapped_colours(self, Position position, u64 key) noexcept nogil
    cdef int collect_squares(self, Position position, bint swapped, int *squares) noexcept nogil
    cdef int collect_piece(self, Position position, bint swapped, int *squares, int piece, int placed) noexcept nogil
    cdef long long index_of(self, int section, int *squares) noexcept nogil

cdef class TableTree:
    cdef u64 key
    cdef Table table
    cdef TableTree smaller
    cdef TableTree larger
    cdef int probe(self, Position position, u64 key) noexcept nogil
