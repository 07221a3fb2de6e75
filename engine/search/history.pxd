from engine.core.bitboard cimport u64
from engine.core.move cimport from_square, is_drop, to_square
from engine.core.pieces cimport KINDS, NO_PIECE
from engine.core.position cimport Position
from engine.core.score cimport MAX_PLY

cdef enum:
    BUTTERFLY_SIZE = 32768
    STEPS = NO_PIECE * 64
    NO_STEP = STEPS
    PAWN_KEYS = 512
    CAPTURES = STEPS * KINDS
    KILLER = 29000
    CORRECTION_BITS = 14
    WHITE_PIECES = 0
    BLACK_PIECES = 1
    PAWNS = 2
    PARTS = 3

cdef inline int step_of(Position position, int move) noexcept nogil:
    cdef int origin = from_square(move)
    cdef int piece = position.side_to_move * KINDS + origin if is_drop(move) else position.board[origin]
    return piece * 64 + to_square(move)

cdef int bonus(int depth) noexcept nogil
cdef int malus(int depth) noexcept nogil
cdef int correction_index(Position position, int part) noexcept nogil

cdef class History:
    cdef int killers[2 * MAX_PLY]
    cdef u64 attacked[MAX_PLY + 2]
    cdef int one_ply_ago[MAX_PLY + 2]
    cdef int two_plies_ago[MAX_PLY + 2]
    cdef int four_plies_ago[MAX_PLY + 2]
    cdef int pawn_offset[MAX_PLY + 2]
    cdef short butterfly[BUTTERFLY_SIZE]
    cdef int capture_history[CAPTURES]
    cdef short continuations[(STEPS + 1) * STEPS]
    cdef short pawn_history[PAWN_KEYS * STEPS]
    cdef short corrections[2 * PARTS << CORRECTION_BITS]
    cdef void begin_node(self, Position position, int ply, int step_1, int step_2, int step_4) noexcept nogil
    cdef int butterfly_index(self, int side, int move, int ply) noexcept nogil
    cdef int quiet_score(self, Position position, int move, int ply) noexcept nogil
    cdef void rank_quiets(self, Position position, int* moves, int start, int end, int ply) noexcept nogil
    cdef void update_quiet(self, Position position, int move, int ply, int change) noexcept nogil
    cdef void update_butterfly(self, int side, int move, int ply, int change) noexcept nogil
    cdef void update_continuation(self, int earlier, int step, int change) noexcept nogil
    cdef int capture_score(self, Position position, int move) noexcept nogil
    cdef void update_capture(self, Position position, int move, int change) noexcept nogil
    cdef void add_killer(self, int move, int ply) noexcept nogil
    cdef int correction(self, Position position) noexcept nogil
    cdef void update_correction(self, Position position, int error, int depth) noexcept nogil
