ctypedef unsigned long long u64

cdef extern from *:
    """
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
    static inline unsigned long long engine_ahead(unsigned long long s, int colour) {
        if (colour) { s >>= 8; s |= s >> 8; s |= s >> 16; return s | s >> 32; }
        s <<= 8; s |= s << 8; s |= s << 16; return s | s << 32;
    }
    static inline unsigned long long engine_files_of(unsigned long long s) {
        s |= s >> 8; s |= s >> 16; s |= s >> 32; return (s & 0xFF) * 0x0101010101010101ULL;
    }
    """
    const u64 ALL_SQUARES "0xFFFFFFFFFFFFFFFFULL"
    const u64 FILE_A "0x0101010101010101ULL"
    const u64 FILE_H "0x8080808080808080ULL"
    const u64 RANK_3 "0x0000000000FF0000ULL"
    const u64 RANK_6 "0x0000FF0000000000ULL"
    const u64 RANKS_4_TO_6 "0x0000FFFFFF000000ULL"
    const u64 RANKS_3_TO_5 "0x000000FFFFFF0000ULL"
    const u64 END_RANKS "0xFF000000000000FFULL"
    const u64 RANK_8 "0xFF00000000000000ULL"
    const u64 DARK_SQUARES "0xAA55AA55AA55AA55ULL"
    const u64 CENTRAL_SQUARES "0x0000001818000000ULL"
    int popcount "engine_popcount"(u64 squares) noexcept nogil
    int lsb "engine_lsb"(u64 squares) noexcept nogil
    int msb "engine_msb"(u64 squares) noexcept nogil
    u64 ahead "engine_ahead"(u64 squares, int colour) noexcept nogil
    u64 files_of "engine_files_of"(u64 squares) noexcept nogil

cdef inline u64 bit(int square) noexcept nogil: return <u64> 1 << square
cdef inline u64 beside(u64 squares) noexcept nogil: return (squares & ~FILE_H) << 1 | (squares & ~FILE_A) >> 1
cdef inline u64 advance(u64 squares, int colour) noexcept nogil: return squares >> 8 if colour else squares << 8
