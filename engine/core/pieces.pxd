# `cpdef` shows these numbers also to plain Python files.
cpdef enum:
    WHITE
    BLACK

cpdef enum:
    PAWN
    KNIGHT
    BISHOP
    ROOK
    QUEEN
    KING
    KINDS

cpdef enum:
    NO_PIECE = 2 * KINDS
    NO_SQUARE = 64

cdef int KIND_OF[NO_PIECE + 1]
