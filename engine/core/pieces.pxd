cdef extern from *:
    """
    enum { ENGINE_WHITE, ENGINE_BLACK };
    enum { ENGINE_PAWN, ENGINE_KNIGHT, ENGINE_BISHOP, ENGINE_ROOK, ENGINE_QUEEN, ENGINE_KING, ENGINE_KINDS };
    #define ENGINE_NO_PIECE 12
    #define ENGINE_NO_SQUARE 64
    """
    const int WHITE "ENGINE_WHITE"
    const int BLACK "ENGINE_BLACK"
    const int PAWN "ENGINE_PAWN"
    const int KNIGHT "ENGINE_KNIGHT"
    const int BISHOP "ENGINE_BISHOP"
    const int ROOK "ENGINE_ROOK"
    const int QUEEN "ENGINE_QUEEN"
    const int KING "ENGINE_KING"
    const int KINDS "ENGINE_KINDS"
    const int NO_PIECE "ENGINE_NO_PIECE"
    const int NO_SQUARE "ENGINE_NO_SQUARE"

cdef int KIND_OF[13]
