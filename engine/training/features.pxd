from engine.core.bitboard cimport u64
from engine.core.position cimport Position

cdef extern from "math.h" nogil:
    double exp(double exponent) noexcept
    double log(double number) noexcept

cdef enum:
    MAX_PIECES = 52
    BOTH_VIEWS = 2 * MAX_PIECES

cdef int WORDS

cdef int read_pieces(u64[::1] words, int record, bint mirrored, bint with_threats, int* pieces) noexcept nogil
cpdef bint black_to_move(u64 last_word) noexcept nogil
cpdef bint cannot_castle(u64 last_word) noexcept nogil
cdef int white_score(u64 last_word) noexcept nogil
cpdef int result_of(u64 last_word) noexcept nogil
cdef Position position_of(u64[::1] words, int record)
cdef double expected(double logits) noexcept nogil
cdef double target(u64 last_word, double trust, double unit) noexcept nogil
