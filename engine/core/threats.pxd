from engine.core.bitboard cimport u64

cdef enum:
    THREATS = 8
    THREAT_BITS = 3

cdef void set_threats(unsigned long long* pieces, u64 occupied, unsigned long long* bits, int first) noexcept nogil

cdef inline int threat_at(unsigned long long* bits, int first, int square) noexcept nogil:
    return <int> (bits[first] >> square & 1 | (bits[first + 1] >> square & 1) << 1 | (bits[first + 2] >> square & 1) << 2)
