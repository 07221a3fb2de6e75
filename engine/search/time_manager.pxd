from engine.core.bitboard cimport u64

cdef extern from *:
    """
    #include <time.h>
    static inline long long engine_now_us(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (long long) now.tv_sec * 1000000 + now.tv_nsec / 1000;
    }
    """
    long long now_us "engine_now_us"() noexcept nogil

cdef class TimeManager:
    cdef long long started_us
    cdef long long end_us
    cdef readonly long long soft_us
    cdef readonly long long hard_us
    cdef readonly bint pondering
    cdef public bint is_done
    cdef bint expired(self) noexcept nogil

cdef class NodeCounter:
    cdef TimeManager time_manager
    cdef u64 nodes
    cdef u64 node_limit
    cdef u64 next_check
    cdef int deepest                # the deepest ply reached, for the caller to set back
    cdef volatile bint stopped
    cdef void count(self, int ply) noexcept nogil
    cdef void check_limits(self) noexcept nogil
    cdef void plan_check(self) noexcept nogil

cdef class CountedSearch:
    cdef NodeCounter counter
