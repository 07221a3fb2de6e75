cdef int null_move_reduction(int depth) noexcept nogil
cdef int reverse_futility_margin(int depth) noexcept nogil
cdef int late_move_reduction(int depth, int move_number) noexcept nogil
