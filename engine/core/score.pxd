cdef extern from *:
    """
    #define ENGINE_MAX_PLY 128
    enum { ENGINE_DRAW, ENGINE_MATE = 32000, ENGINE_INFINITE, ENGINE_NO_SCORE, ENGINE_TABLEBASE_WIN = 30000 };
    enum { ENGINE_LONGEST_MATE = ENGINE_MATE - ENGINE_MAX_PLY, ENGINE_LONGEST_WIN = ENGINE_TABLEBASE_WIN - ENGINE_MAX_PLY };
    static inline int engine_pack(int midgame, int endgame) { return endgame * 65536 + midgame; }
    static inline int engine_midgame(int packed) { return ((packed + 0x8000) & 0xFFFF) - 0x8000; }
    static inline int engine_endgame(int packed) { return (packed + 0x8000) >> 16; }
    static inline int engine_mated_in(int ply) { return -ENGINE_MATE + ply; }
    static inline int engine_tablebase_win_in(int ply) { return ENGINE_TABLEBASE_WIN - ply; }
    static inline int engine_is_decided(int s) { return s >= ENGINE_LONGEST_WIN || s <= -ENGINE_LONGEST_WIN; }
    static inline int engine_to_tt(int s, int ply)
    { return s >= ENGINE_LONGEST_WIN ? s + ply : s <= -ENGINE_LONGEST_WIN ? s - ply : s; }
    static inline int engine_from_tt(int s, int ply)
    { return s >= ENGINE_LONGEST_WIN ? s - ply : s <= -ENGINE_LONGEST_WIN ? s + ply : s; }
    """
    cpdef enum:                     # shown also to plain Python files
        MAX_PLY "ENGINE_MAX_PLY"
        DRAW "ENGINE_DRAW"
        MATE "ENGINE_MATE"
        INFINITE "ENGINE_INFINITE"
        NO_SCORE "ENGINE_NO_SCORE"
        LONGEST_MATE "ENGINE_LONGEST_MATE"
        TABLEBASE_WIN "ENGINE_TABLEBASE_WIN"
        LONGEST_WIN "ENGINE_LONGEST_WIN"
    int pack "engine_pack"(int midgame, int endgame) noexcept nogil
    int midgame_of "engine_midgame"(int packed) noexcept nogil
    int endgame_of "engine_endgame"(int packed) noexcept nogil
    int mated_in "engine_mated_in"(int ply) noexcept nogil
    int tablebase_win_in "engine_tablebase_win_in"(int ply) noexcept nogil
    bint is_decided "engine_is_decided"(int score) noexcept nogil
    int to_tt "engine_to_tt"(int score, int ply) noexcept nogil
    int from_tt "engine_from_tt"(int score, int ply) noexcept nogil
