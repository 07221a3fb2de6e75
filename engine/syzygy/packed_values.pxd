from engine.core.bitboard cimport u64

cdef extern from *:
    """
    #include <unistd.h>
    static inline long engine_read_at(int descriptor, unsigned char *buffer, long count, long long offset) {
        return (long) pread(descriptor, buffer, (size_t) count, (off_t) offset);
    }
    """
    long read_at "engine_read_at"(int descriptor, unsigned char *buffer, long count, long long offset) noexcept nogil

cdef int NO_VALUE

cdef u64 code_window(unsigned char *packed, int bit) noexcept nogil

cdef class PackedValues:
    cdef list buffers               # keeps alive what `start`, `patterns` and `lengths` point to
    cdef const unsigned char *start
    cdef long long start_size
    cdef int descriptor
    cdef object file                # closes `descriptor` when deleted
    cdef int constants[8]
    cdef int block_bits[8]
    cdef int index_bits[8]
    cdef int shortest[8]
    cdef int longest[8]
    cdef int lowest[256]
    cdef u64 bases[256]
    cdef int symbols[8]
    cdef const unsigned char *patterns[8]
    cdef const unsigned char *lengths[8]
    cdef long long blocks[8]
    cdef long long block_sizes[8]
    cdef long long index_at[8]
    cdef long long sizes_at[8]
    cdef long long data_at[8]
    cdef int unpack(self, int section, long long index) noexcept nogil
    cdef bint fetch(self, unsigned char *buffer, int count, long long offset) noexcept nogil
    cdef long long block_length(self, int section, long long block) noexcept nogil
    cdef int decode(self, int section, long long block, long long offset) noexcept nogil
    cdef int code_length(self, int section, u64 code) noexcept nogil
    cdef int code_symbol(self, int section, u64 code, int length) noexcept nogil
    cdef long long symbol_length(self, int section, int symbol) noexcept nogil
    cdef int symbol_value(self, int section, int symbol, long long offset) noexcept nogil
    cdef int left_half(self, int section, int symbol) noexcept nogil
    cdef int right_half(self, int section, int symbol) noexcept nogil
