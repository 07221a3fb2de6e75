cdef unsigned char[196608] VERDICT

cdef bint is_won(int side, int strong_king, int weak_king, int pawn) noexcept nogil
