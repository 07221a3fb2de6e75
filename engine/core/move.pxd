# `cpdef` shows numbers and functions also to plain Python files.
cpdef enum:
    NO_MOVE = 0
    QUIET = 0
    DOUBLE_PUSH = 1
    CASTLING = 2
    DROP = 3
    KING_PROMOTION = 3
    CAPTURE = 4
    EN_PASSANT = 5
    PROMOTION = 8

cdef extern from *:
    """
    static inline int engine_from_square(int move) { return move & 63; }
    static inline int engine_to_square(int move) { return move >> 6 & 63; }
    static inline int engine_flag(int move) { return move >> 12; }
    static inline int engine_is_capture(int move) { return (move & 0x4000) != 0; }
    static inline int engine_is_promotion(int move) { return (move & 0x8000) != 0; }
    static inline int engine_is_tactical(int move) { return (move & 0xC000) != 0; }
    static inline int engine_promoted_kind(int move) { return (move >> 12 & 3) + 1; }
    static inline int engine_is_drop(int move) { return (move & 0xF038) == 0x3000; }
    static inline int engine_is_king_promotion(int move) { return (move >> 12 & 11) == 3; }
    static inline int engine_castled_king(int king, int rook) { return (king & 56) + (rook > king ? 6 : 2); }
    static inline int engine_castled_rook(int king, int rook) { return (king & 56) + (rook > king ? 5 : 3); }
    """
    cpdef int from_square "engine_from_square"(int move) noexcept nogil
    cpdef int to_square "engine_to_square"(int move) noexcept nogil
    cpdef int flag_of "engine_flag"(int move) noexcept nogil
    cpdef bint is_capture "engine_is_capture"(int move) noexcept nogil
    bint is_promotion "engine_is_promotion"(int move) noexcept nogil
    cpdef bint is_tactical "engine_is_tactical"(int move) noexcept nogil
    int promoted_kind "engine_promoted_kind"(int move) noexcept nogil
    cpdef bint is_drop "engine_is_drop"(int move) noexcept nogil
    bint is_king_promotion "engine_is_king_promotion"(int move) noexcept nogil
    int castled_king "engine_castled_king"(int king, int rook) noexcept nogil
    int castled_rook "engine_castled_rook"(int king, int rook) noexcept nogil
