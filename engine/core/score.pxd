cdef int DRAW, MATE, INFINITE, NO_SCORE, LONGEST_MATE, TABLE_WIN, LONGEST_WIN

cdef extern from *:
    """
    #define ENGINE_MAX_PLY 128
    static inline int engine_pack(int midgame, int endgame) { return endgame * 65536 + midgame; }
    static inline int engine_midgame(int packed) { return ((packed + 0x8000) & 0xFFFF) - 0x8000; }
    static inline int engine_endgame(int packed) { return (packed + 0x8000) >> 16; }
    """
    enum: MAX_PLY "ENGINE_MAX_PLY"
    int pack "engine_pack"(int midgame, int endgame) noexcept nogil
    int midgame_of "engine_midgame"(int packed) noexcept nogil
    int endgame_of "engine_endgame"(int packed) noexcept nogil

cdef int mated_in(int ply) noexcept nogil
cdef int table_win_in(int ply) noexcept nogil
cdef bint is_decided(int score) noexcept nogil
cdef int to_table(int score, int ply) noexcept nogil
cdef int from_table(int score, int ply) noexcept nogil
