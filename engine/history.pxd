cdef class History:
    cdef int killers[256]
    cdef int quiets[8192]
    cdef void reward(self, int side, int move, int depth) noexcept nogil
    cdef void punish(self, int side, int move, int depth) noexcept nogil
    cdef void remember_killer(self, int move, int ply) noexcept nogil
