from engine.core.bitboard cimport u64
from engine.core.position cimport Position

cdef u64 attacked_by(Position position, int colour) noexcept nogil
