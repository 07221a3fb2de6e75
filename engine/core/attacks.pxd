from engine.core.bitboard cimport advance, beside, u64
from engine.core.pieces cimport BISHOP, KING, KNIGHT, ROOK

cdef struct Magic:
    u64 mask
    u64 number
    int shift
    int offset

cdef Magic BISHOP_MAGIC[64]
cdef Magic ROOK_MAGIC[64]
cdef u64 SLIDER_ATTACKS[107648]
cdef u64 KNIGHT_ATTACKS[64]
cdef u64 KING_ATTACKS[64]
cdef u64 PAWN_ATTACKS[128]
cdef u64 BETWEEN[4096]
cdef u64 LINE[4096]

cdef u64 minor_attacks(unsigned long long* pieces, int first, u64 occupied) noexcept nogil
cdef u64 major_attacks(unsigned long long* pieces, int first, u64 occupied) noexcept nogil
cdef int distance(int a, int b) noexcept nogil

cdef inline u64 pawn_attacks(u64 pawns, int colour) noexcept nogil:
    return advance(beside(pawns), colour)

cdef inline u64 bishop_attacks(int square, u64 occupied) noexcept nogil:
    return SLIDER_ATTACKS[BISHOP_MAGIC[square].offset + (
        ((occupied & BISHOP_MAGIC[square].mask) * BISHOP_MAGIC[square].number) >> BISHOP_MAGIC[square].shift)]

cdef inline u64 rook_attacks(int square, u64 occupied) noexcept nogil:
    return SLIDER_ATTACKS[ROOK_MAGIC[square].offset + (
        ((occupied & ROOK_MAGIC[square].mask) * ROOK_MAGIC[square].number) >> ROOK_MAGIC[square].shift)]

cdef inline u64 piece_attacks(int kind, int square, u64 occupied) noexcept nogil:
    if kind == KNIGHT:
        return KNIGHT_ATTACKS[square]
    if kind == KING:
        return KING_ATTACKS[square]
    if kind == BISHOP:
        return bishop_attacks(square, occupied)
    if kind == ROOK:
        return rook_attacks(square, occupied)
    return bishop_attacks(square, occupied) | rook_attacks(square, occupied)
