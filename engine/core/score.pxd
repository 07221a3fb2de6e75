cpdef enum:                         # shown also to plain Python files
    MAX_PLY = 128
    DRAW = 0
    MATE = 32000
    LONGEST_MATE = MATE - MAX_PLY
    TABLEBASE_WIN = 30000
    LONGEST_WIN = TABLEBASE_WIN - MAX_PLY
    INFINITE = 32001
    NO_SCORE = 32002

cdef inline int pack(int midgame, int endgame) noexcept nogil: return endgame * 65536 + midgame
cdef inline int midgame_of(int packed) noexcept nogil: return ((packed + 0x8000) & 0xFFFF) - 0x8000
cdef inline int endgame_of(int packed) noexcept nogil: return (packed + 0x8000) >> 16
cdef inline int mated_in(int ply) noexcept nogil: return -MATE + ply
cdef inline int tablebase_win_in(int ply) noexcept nogil: return TABLEBASE_WIN - ply
cdef inline bint is_decided(int score) noexcept nogil: return score >= LONGEST_WIN or score <= -LONGEST_WIN
cdef inline int to_tt(int score, int ply) noexcept nogil:
    return score + ply if score >= LONGEST_WIN else score - ply if score <= -LONGEST_WIN else score
cdef inline int from_tt(int score, int ply) noexcept nogil:
    return score - ply if score >= LONGEST_WIN else score + ply if score <= -LONGEST_WIN else score
