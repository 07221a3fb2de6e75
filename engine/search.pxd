from engine.bitboard cimport u64
from engine.clock cimport Clock
from engine.history cimport History
from engine.position cimport Position
from engine.transposition cimport Table

cdef class Search:
    cdef Position position
    cdef Table table
    cdef History history
    cdef Clock clock
    cdef volatile bint stopped
    cdef u64 nodes
    cdef u64 node_limit
    cdef u64 look_at
    cdef int root_height
    cdef int selective_depth
    cdef int moves[37152]
    cdef int root_moves[288]
    cdef int root_count
    cdef int root_score
    cdef bint root_restricted
    cdef u64 run_nodes
    cdef u64 move_nodes
    cdef u64 best_nodes
    cdef object on_root_move
    cdef long long talkative_at_us
    cdef int pv[16770]
    cdef int pv_length[130]
    cdef int pv_node(self, int alpha, int beta, int depth, int ply) noexcept nogil
    cdef int null_window_node(self, int beta, int depth, int ply) noexcept nogil
    cdef int quiescence(self, int alpha, int beta, int ply) noexcept nogil
    cdef void count_node(self, int ply) noexcept nogil
    cdef void look_at_limits(self) noexcept nogil
    cdef int settled(self, int ply, bint in_check) noexcept nogil
    cdef int table_cutoff(self, u64 entry, int beta, int depth, int ply) noexcept nogil
    cdef int prune(self, int static_eval, int beta, int depth, int ply) noexcept nogil
    cdef int search_moves(self, int alpha, int beta, int depth, int ply, bint in_check, u64 entry) noexcept nogil
    cdef void begin_root_move(self, int move, int number) noexcept nogil
    cdef int search_child(
        self, int alpha, int beta, int depth, int ply, int number, int reduction) noexcept nogil
    cdef void learn_cutoff(self, int start, int index, int depth, int ply) noexcept nogil
    cdef void extend_pv(self, int move, int ply) noexcept nogil
    cdef int generate_moves(self, int start, int ply) noexcept nogil
    cdef bint has_legal_move(self, int ply) noexcept nogil
