from engine.core.bitboard cimport u64
from engine.core.position cimport Position
from engine.syzygy.table cimport TableTree

cdef int LOSS, WDL_DRAW, WIN, UNKNOWN

cdef u64 material_key_of(Position position) noexcept nogil

cdef class Prober:
    cdef Position position
    cdef TableTree tree
    cdef int max_pieces
    cdef readonly u64 hits          # probes that found a value
    cdef bint decided_by_capture
    cdef bint can_probe(self) noexcept nogil
    cdef int probe(self) noexcept nogil
    cdef int probe_without_en_passant(self, int alpha, int beta) noexcept nogil
    cdef int probe_after(self, int move, int alpha, int beta) noexcept nogil
    cdef int stored_wdl(self) noexcept nogil
    cdef int add_en_passant(self, int wdl) noexcept nogil
