from engine.core.position cimport Position
from engine.core.score cimport MAX_PLY
from engine.core.threats cimport THREAT_BITS

cdef extern from *:
    """
    #if defined(__AVX512BW__)
    #define ENGINE_INSTRUCTIONS "AVX-512"
    #elif defined(__AVX2__)
    #define ENGINE_INSTRUCTIONS "AVX2"
    #elif defined(__SSE2__)
    #define ENGINE_INSTRUCTIONS "SSE2"
    #elif defined(__ARM_NEON)
    #define ENGINE_INSTRUCTIONS "NEON"
    #else
    #define ENGINE_INSTRUCTIONS "no vectors"
    #endif
    enum { ENGINE_CLAMP = 255 };
    """
    const short CLAMP "ENGINE_CLAMP"        # an int would widen the loops to 32 bits: twice as slow
    const char *INSTRUCTIONS "ENGINE_INSTRUCTIONS"

cdef enum:
    OUTPUT_UNIT = 64
    SUMMABLE = 256
    BLOCK = 16
    FLIP_RANKS = 56
    SLOTS = MAX_PLY + 4

cdef int bucket_of(int pieces, int buckets) noexcept nogil

cdef class Network:
    cdef readonly str name
    cdef readonly int hidden
    cdef int threats                # of each piece, see `net_file.py`
    cdef readonly int buckets
    cdef long long scale
    cdef signed char *feature_weights
    cdef short *feature_bias
    cdef short *output_weights
    cdef int output_bias[8]
    cdef object memory
    cdef int row_of(self, int place, int threat) noexcept nogil
    cdef int score(self, short *sums, Py_ssize_t first, Position position) noexcept nogil

cdef class Accumulators:
    cdef Network network
    cdef short *values
    cdef object memory
    cdef int slots[SLOTS]
    cdef bint valid[SLOTS]
    cdef int removed[2 * SLOTS]     # [slot][two places]: pieces that the move to this slot took from their places,
    cdef int added[2 * SLOTS]       # and put there
    # [slot][bit], see `threats.py`; zeros if the network does not know them
    cdef unsigned long long threats[THREAT_BITS * SLOTS]
    cdef void note_move(self, Position position, int move, int ply) noexcept nogil
    cdef void note_null(self, int ply) noexcept nogil
    cdef void compute(self, Position position, int slot) noexcept nogil
    cdef void refresh(self, Position position, int slot) noexcept nogil
    cdef void follow(self, Position position, int slot) noexcept nogil
    cdef void replace(self, int slot, int base, int added, int added_threat, int removed, int removed_threat) noexcept nogil
    cdef int score(self, Position position, int ply) noexcept nogil

cdef class AccumulatorCache:
    cdef Network network
    cdef int flip
    cdef short *values              # White's view, then Black's
    cdef object memory
    cdef unsigned long long pieces[12]      # of the position evaluated last, none at first
    cdef int off_board[12]
    cdef int score(self, Position position, int *off_board) noexcept nogil
    cdef void change(self, int added, int removed) noexcept nogil
