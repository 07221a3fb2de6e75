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

cdef class Clock:
    cdef long long started_us
    cdef long long end_us
    cdef readonly long long soft_us
    cdef readonly long long hard_us
    cdef readonly bint pondering
    cdef public bint content
    cdef bint expired(self) noexcept nogil
