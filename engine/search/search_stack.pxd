from engine.core.bitboard cimport u64
from engine.core.position cimport Position
from engine.core.score cimport MAX_PLY
from engine.evaluation.network cimport Accumulators
from engine.evaluation.style_bonus cimport StyleBonus
from engine.evaluation.variant_evaluation cimport VariantEvaluation
from engine.search.history cimport History
from engine.search.rules cimport Rules
from engine.search.transposition cimport TranspositionTable

cdef enum:
    BEFORE_ROOT = 4
    PV_ROW = MAX_PLY + 1
    MAX_TRIED = 64

cdef bint is_estimate(int score) noexcept nogil
cdef int faded(int score, int halfmove_clock) noexcept nogil

cdef class Variations:
    cdef int moves[PV_ROW * (MAX_PLY + 2)]
    cdef int length[MAX_PLY + 2]
    cdef void begin(self, int ply) noexcept nogil
    cdef void extend(self, int move, int ply) noexcept nogil

cdef class SearchStack:
    cdef Position position
    cdef Rules rules
    cdef TranspositionTable table
    cdef History history
    cdef Accumulators accumulators  # None for the hand-written evaluation
    cdef VariantEvaluation variant_evaluation       # None in standard chess
    cdef StyleBonus style           # None for no style
    cdef int styled_side            # the side to move at the root
    cdef int static_evals[MAX_PLY + BEFORE_ROOT + 2]
    cdef int raw_evals[MAX_PLY + 2]
    cdef int steps[MAX_PLY + BEFORE_ROOT + 2]
    cdef int moves[MAX_PLY + 2]
    cdef int excluded[MAX_PLY + 2]  # the move that a singular search leaves out
    cdef bint forced[MAX_PLY + 2]
    cdef bint improving[MAX_PLY + 2]
    cdef bint cut_node[MAX_PLY + 2]
    cdef bint tt_pv[MAX_PLY + 2]
    cdef bint tt_tactical[MAX_PLY + 2]
    cdef int reductions[MAX_PLY + 2]
    cdef int history_score[MAX_PLY + 2]     # of the move being searched
    cdef int tried_quiet_count[MAX_PLY + 2]
    cdef int tried_capture_count[MAX_PLY + 2]
    cdef int tried_quiets[MAX_TRIED * (MAX_PLY + 2)]
    cdef int tried_captures[MAX_TRIED * (MAX_PLY + 2)]
    cdef void prefetch(self, int move) noexcept nogil
    cdef void make(self, int move, int ply) noexcept nogil
    cdef void make_null(self, int ply) noexcept nogil
    cdef int step_before(self, int ply, int plies) noexcept nogil
    cdef int evaluate(self, int ply) noexcept nogil
    cdef void set_evaluation(self, u64 entry, bint forced, int ply) noexcept nogil
    cdef int refined_evaluation(self, u64 entry, int ply) noexcept nogil
    cdef int static_eval(self, int ply) noexcept nogil
    cdef int tt_cutoff(self, u64 entry, int beta, int depth, int ply) noexcept nogil
    cdef void store(self, int move, int score, int depth, int bound, int ply) noexcept nogil
    cdef int quiet_score(self, int move, int ply) noexcept nogil
    cdef void begin_moves(self, int ply) noexcept nogil
    cdef void add_tried(self, int move, int ply) noexcept nogil
    cdef void update_on_cutoff(self, int move, int depth, int ply) noexcept nogil
    cdef void update_by_evaluation(self, int ply) noexcept nogil
    cdef void update_correction(self, int best, int best_move, int bound, int depth, int ply) noexcept nogil
