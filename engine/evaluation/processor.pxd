cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GNUC__)
    static inline int engine_has_avx2(void) { __builtin_cpu_init(); return __builtin_cpu_supports("avx2") != 0; }
    #else
    static inline int engine_has_avx2(void) { return 0; }
    #endif
    """
    bint cpu_has_avx2 "engine_has_avx2"() noexcept nogil
