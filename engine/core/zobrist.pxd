from engine.core.bitboard cimport u64

cdef u64 PIECE_KEY[832]
cdef u64 CASTLING_KEY[16]
cdef u64 EN_PASSANT_KEY[65]
cdef u64 BLACK_KEY
