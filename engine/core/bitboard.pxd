ctypedef unsigned long long u64

cdef extern from *:
    """
    #define ENGINE_ALL_SQUARES 0xFFFFFFFFFFFFFFFFULL
    #define ENGINE_FILE_A 0x0101010101010101ULL
    #define ENGINE_FILE_H 0x8080808080808080ULL
    #define ENGINE_RANK_3 0x0000000000FF0000ULL
    #define ENGINE_RANK_6 0x0000FF0000000000ULL
    #define ENGINE_RANKS_4_TO_6 0x0000FFFFFF000000ULL
    #define ENGINE_RANKS_3_TO_5 0x000000FFFFFF0000ULL
    #define ENGINE_END_RANKS 0xFF000000000000FFULL
    #define ENGINE_RANK_8 0xFF00000000000000ULL
    #define ENGINE_DARK_SQUARES 0xAA55AA55AA55AA55ULL
    #define ENGINE_CENTRAL_SQUARES 0x0000001818000000ULL
    #ifdef __POPCNT__
    static inline int engine_popcount(unsigned long long squares) { return __builtin_popcountll(squares); }
    #else       /* without the instruction gcc calls a function; this stays in line (Hacker's Delight, 5-1) */
    static inline int engine_popcount(unsigned long long s) {
        s -= (s >> 1) & 0x5555555555555555ULL;
        s = (s & 0x3333333333333333ULL) + ((s >> 2) & 0x3333333333333333ULL);
        return (int) (((s + (s >> 4)) & 0x0F0F0F0F0F0F0F0FULL) * 0x0101010101010101ULL >> 56);
    }
    #endif
    static inline int engine_lsb(unsigned long long squares) { return __builtin_ctzll(squares); }
    static inline int engine_msb(unsigned long long squares) { return 63 - __builtin_clzll(squares); }
    static inline unsigned long long engine_bit(int square) { return 1ULL << square; }
    static inline unsigned long long engine_beside(unsigned long long s) {
        return (s & ~ENGINE_FILE_H) << 1 | (s & ~ENGINE_FILE_A) >> 1;
    }
    static inline unsigned long long engine_advance(unsigned long long s, int colour) {
        return colour ? s >> 8 : s << 8;
    }
    static inline unsigned long long engine_ahead(unsigned long long s, int colour) {
        if (colour) { s >>= 8; s |= s >> 8; s |= s >> 16; return s | s >> 32; }
        s <<= 8; s |= s << 8; s |= s << 16; return s | s << 32;
    }
    static inline unsigned long long engine_files_of(unsigned long long s) {
        s |= s >> 8; s |= s >> 16; s |= s >> 32; return (s & 0xFF) * ENGINE_FILE_A;
    }
    """
    const u64 ALL_SQUARES "ENGINE_ALL_SQUARES"
    const u64 FILE_A "ENGINE_FILE_A"
    const u64 FILE_H "ENGINE_FILE_H"
    const u64 RANK_3 "ENGINE_RANK_3"
    const u64 RANK_6 "ENGINE_RANK_6"
    const u64 RANKS_4_TO_6 "ENGINE_RANKS_4_TO_6"
    const u64 RANKS_3_TO_5 "ENGINE_RANKS_3_TO_5"
    const u64 END_RANKS "ENGINE_END_RANKS"
    const u64 RANK_8 "ENGINE_RANK_8"
    const u64 DARK_SQUARES "ENGINE_DARK_SQUARES"
    const u64 CENTRAL_SQUARES "ENGINE_CENTRAL_SQUARES"
    int popcount "engine_popcount"(u64 squares) noexcept nogil
    int lsb "engine_lsb"(u64 squares) noexcept nogil
    int msb "engine_msb"(u64 squares) noexcept nogil
    u64 bit "engine_bit"(int square) noexcept nogil
    u64 beside "engine_beside"(u64 squares) noexcept nogil
    u64 advance "engine_advance"(u64 squares, int colour) noexcept nogil
    u64 ahead "engine_ahead"(u64 squares, int colour) noexcept nogil
    u64 files_of "engine_files_of"(u64 squares) noexcept nogil
