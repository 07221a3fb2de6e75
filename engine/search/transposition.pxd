from engine.core.bitboard cimport u64

cdef extern from *:
    """
    #define ENGINE_UPPER_BOUND 1
    #define ENGINE_LOWER_BOUND 2
    #define ENGINE_EXACT 3
    static inline unsigned long long engine_scale(unsigned long long key, unsigned long long buckets)
    { return (unsigned long long) (((unsigned __int128) key * buckets) >> 64); }
    static inline void engine_prefetch(void *address) { __builtin_prefetch(address); }
    static inline int engine_entry_move(unsigned long long entry) { return (int) (entry & 0xFFFF); }
    static inline int engine_entry_score(unsigned long long entry) { return (int) (entry >> 16 & 0xFFFF) - 32768; }
    static inline int engine_entry_depth(unsigned long long entry) { return (int) (entry >> 32 & 0x7F); }
    static inline int engine_entry_pv(unsigned long long entry) { return (int) (entry >> 39 & 1); }
    static inline int engine_entry_bound(unsigned long long entry) { return (int) (entry >> 40 & 3); }
    static inline int engine_entry_eval(unsigned long long entry) { return (int) (entry >> 48) - 32768; }
    static inline int engine_entry_age(unsigned long long entry) { return (int) (entry >> 42 & 63); }
    """
    const int UPPER_BOUND "ENGINE_UPPER_BOUND"
    const int LOWER_BOUND "ENGINE_LOWER_BOUND"
    const int EXACT "ENGINE_EXACT"
    u64 scale "engine_scale"(u64 key, u64 buckets) noexcept nogil
    void prefetch_address "engine_prefetch"(void *address) noexcept nogil
    int entry_move "engine_entry_move"(u64 entry) noexcept nogil
    int entry_score "engine_entry_score"(u64 entry) noexcept nogil
    int entry_depth "engine_entry_depth"(u64 entry) noexcept nogil
    int entry_pv "engine_entry_pv"(u64 entry) noexcept nogil
    int entry_bound "engine_entry_bound"(u64 entry) noexcept nogil
    int entry_eval "engine_entry_eval"(u64 entry) noexcept nogil
    int entry_age "engine_entry_age"(u64 entry) noexcept nogil

cdef class TranspositionTable:
    cdef object memory
    cdef u64[::1] slots
    cdef u64 buckets
    cdef int age
    cdef bint is_untouched
    cdef void prefetch(self, u64 key) noexcept nogil
    cdef u64 probe(self, u64 key) noexcept nogil
    cdef void store(self, u64 key, int move, int score, int depth, int bound, int raw_eval, bint on_pv) noexcept nogil
