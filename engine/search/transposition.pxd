from engine.core.bitboard cimport u64

cdef extern from *:
    """
    static inline unsigned long long engine_scale(unsigned long long key, unsigned long long buckets)
    { return (unsigned long long) (((unsigned __int128) key * buckets) >> 64); }
    static inline void engine_prefetch(void *address) { __builtin_prefetch(address); }
    """
    u64 scale "engine_scale"(u64 key, u64 buckets) noexcept nogil
    void prefetch_address "engine_prefetch"(void *address) noexcept nogil

cdef enum:
    NO_BOUND = 0
    UPPER_BOUND = 1
    LOWER_BOUND = 2
    EXACT = 3

cdef inline int entry_move(u64 entry) noexcept nogil: return entry & 0xFFFF
cdef inline int entry_score(u64 entry) noexcept nogil: return <int> (entry >> 16 & 0xFFFF) - 32768
cdef inline int entry_depth(u64 entry) noexcept nogil: return entry >> 32 & 0x7F
cdef inline int entry_pv(u64 entry) noexcept nogil: return entry >> 39 & 1
cdef inline int entry_bound(u64 entry) noexcept nogil: return entry >> 40 & 3
cdef inline int entry_age(u64 entry) noexcept nogil: return entry >> 42 & 63
cdef inline int entry_eval(u64 entry) noexcept nogil: return <int> (entry >> 48) - 32768

cdef class TranspositionTable:
    cdef object memory
    cdef u64[::1] slots
    cdef u64 buckets
    cdef int age
    cdef bint is_untouched
    cdef void prefetch(self, u64 key) noexcept nogil
    cdef u64 probe(self, u64 key) noexcept nogil
    cdef void store(self, u64 key, int move, int score, int depth, int bound, int raw_eval, bint on_pv) noexcept nogil
