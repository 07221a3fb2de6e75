cdef int reverse_futility_margin(int depth, bint improving) noexcept nogil
cdef int null_move_reduction(int depth, int surplus) noexcept nogil
cdef int singular_bar(int table_score, int depth) noexcept nogil
cdef int quiet_move_limit(int depth, bint improving) noexcept nogil
cdef int futility_margin(int depth) noexcept nogil
cdef int late_move_reduction(int depth, int move_number, int worth) noexcept nogil
