ctypedef unsigned long long u64

cdef extern from *:
    """
    #define ENGINE_ALL_SQUARES 0xFFFFFFFFFFFFFFFFULL
    #define ENGINE_FILE_A 0x0101010101010101ULL
    #define ENGINE_FILE_H 0x8080808080808080ULL
    #define ENGINE_RANK_3 0x0000000000FF0000ULL
    #define ENGINE_RANK_6 0x0000FF0000000000ULL
    #define ENGINE_END_RANKS 0xFF000000000000FFULL
    #define ENGINE_DARK_SQUARES 0xAA55AA55AA55AA55ULL
    static inline int engine_popcount(unsigned long long squares) { return __builtin_popcountll(squares); }
    static inline int engine_lsb(unsigned long long squares) { return __builtin_ctzll(squares); }
    static inline unsigned long long engine_bit(int square) { return 1ULL << square; }
    """
    const u64 ALL_SQUARES "ENGINE_ALL_SQUARES"
    const u64 FILE_A "ENGINE_FILE_A"
    const u64 FILE_H "ENGINE_FILE_H"
    const u64 RANK_3 "ENGINE_RANK_3"
    const u64 RANK_6 "ENGINE_RANK_6"
    const u64 END_RANKS "ENGINE_END_RANKS"
    const u64 DARK_SQUARES "ENGINE_DARK_SQUARES"
    int popcount "engine_popcount"(u64 squares) noexcept nogil
    int lsb "engine_lsb"(u64 squares) noexcept nogil
    u64 bit "engine_bit"(int square) noexcept nogil
