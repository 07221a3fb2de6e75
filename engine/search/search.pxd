from engine.core.bitboard cimport u64
from engine.search.search_stack cimport SearchStack, Variations
from engine.search.time_manager cimport CountedSearch, TimeManager
from engine.search.move_picker cimport MovePicker
from engine.core.position cimport Position
from engine.search.quiescence cimport Quiescence
from engine.search.draws_and_tablebases cimport DrawsAndTablebases
from engine.search.pruning cimport Pruning
from engine.search.rules cimport Rules
from engine.syzygy.prober cimport Prober
from engine.search.transposition cimport TranspositionTable

cdef class Search(CountedSearch):
    cdef Position position
    cdef Rules rules
    cdef TranspositionTable table
    cdef TimeManager time_manager
    cdef SearchStack stack
    cdef Variations variations
    cdef MovePicker picker
    cdef Quiescence quiescence
    cdef readonly Prober prober
    cdef DrawsAndTablebases draws
    cdef Pruning pruning
    cdef int root_depth             # plies that `run` was asked for; extensions end at EXTENSION_LIMIT times this ply
    cdef int null_move_from         # the ply before which no null move is tried while one is verified; else 0
    cdef readonly int root_score    # of the root move that raised alpha last
    cdef bint root_restricted       # some legal root moves are left out, so the root gets no entry in the table
    cdef int root_move              # the best so far, which a restricted root begins with
    cdef u64 run_nodes              # the node count when `run` began,
    cdef u64 move_nodes             # and when the present root move began
    cdef u64 best_nodes             # spent by this `run` on the root move that raised alpha last
    cdef object on_root_move        # None: root moves are not reported
    cdef long long report_root_moves_at_us      # from then on; 0: never
    cdef int pv_node(self, int alpha, int beta, int depth, int ply) noexcept nogil
    cdef int null_window_node(self, int beta, int depth, int ply, bint cut_node) noexcept nogil
    cdef int prune(self, int refined, int beta, int depth, int ply) noexcept nogil
    cdef int null_move(self, int refined, int beta, int depth, int ply) noexcept nogil
    cdef int probcut(self, int beta, int depth, int ply) noexcept nogil
    cdef int search_moves(self, int alpha, int beta, int depth, int ply, u64 entry) noexcept nogil
    cdef int singular_extension(self, u64 entry, int beta, int depth, int ply) noexcept nogil
    cdef int search_move(self, int move, int number, int alpha, int beta, int depth, int ply) noexcept nogil
    cdef void begin_root_move(self, int move, int number) noexcept nogil
