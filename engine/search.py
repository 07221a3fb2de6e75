# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The recursion: alpha-beta from the side to move's view, fail-soft, with null windows around the principal variation.

Stopping is a value that travels up: once `stopped` is set every node returns at once, whatever it returns is not
looked at, and nothing is stored. (chessprogramming wiki: Principal Variation Search)
"""

import cython

if cython.compiled:
    from cython.cimports.engine.bitboard import u64
    from cython.cimports.engine.clock import Clock, now_us
    from cython.cimports.engine.evaluate import evaluate
    from cython.cimports.engine.history import History
    from cython.cimports.engine.move import NO_MOVE, is_tactical
    from cython.cimports.engine.movegen import generate
    from cython.cimports.engine.ordering import next_move, rank_moves, rank_tactical
    from cython.cimports.engine.params import LATE_MOVE_COUNT, LATE_MOVE_DEPTH, NULL_MOVE_DEPTH, REVERSE_FUTILITY_DEPTH
    from cython.cimports.engine.position import Position
    from cython.cimports.engine.pruning import late_move_reduction, null_move_reduction, reverse_futility_margin
    from cython.cimports.engine.score import (
        DRAW,
        INFINITE,
        MAX_PLY,
        NO_SCORE,
        from_table,
        is_mate_score,
        mated_in,
        to_table,
    )
    from cython.cimports.engine.transposition import (
        EXACT,
        LOWER_BOUND,
        UPPER_BOUND,
        Table,
        entry_bound,
        entry_depth,
        entry_move,
        entry_score,
    )
else:
    from engine.bitboard import u64
    from engine.clock import Clock, now_us
    from engine.evaluate import evaluate
    from engine.history import History
    from engine.move import NO_MOVE, is_tactical
    from engine.movegen import generate
    from engine.ordering import next_move, rank_moves, rank_tactical
    from engine.params import LATE_MOVE_COUNT, LATE_MOVE_DEPTH, NULL_MOVE_DEPTH, REVERSE_FUTILITY_DEPTH
    from engine.position import Position
    from engine.pruning import late_move_reduction, null_move_reduction, reverse_futility_margin
    from engine.score import (
        DRAW,
        INFINITE,
        MAX_PLY,
        NO_SCORE,
        from_table,
        is_mate_score,
        mated_in,
        to_table,
    )
    from engine.transposition import (
        EXACT,
        LOWER_BOUND,
        UPPER_BOUND,
        Table,
        entry_bound,
        entry_depth,
        entry_move,
        entry_score,
    )

MOVES_PER_PLY = cython.declare(cython.int, 288)
CLOCK_PERIOD = cython.declare(cython.int, 1024)     # nodes between two looks at the clock: well under a millisecond
UNLIMITED_NODES = 1 << 62
PV_ROW = cython.declare(cython.int, 129)            # MAX_PLY + 1 moves


@cython.final
@cython.cclass
class Search:
    """One thread's search of one position; the table may be shared."""

    def __init__(self, position: Position, table: Table, history: History, clock: Clock, node_limit: int = 0) -> None:
        if not cython.compiled:
            self.moves = [0] * (MOVES_PER_PLY * (MAX_PLY + 1))
            self.root_moves = [0] * MOVES_PER_PLY
            self.pv = [0] * (PV_ROW * (MAX_PLY + 2))
            self.pv_length = [0] * (MAX_PLY + 2)
        self.position = position
        self.table = table
        self.history = history
        self.clock = clock
        self.node_limit = node_limit if node_limit > 0 else UNLIMITED_NODES
        self.nodes = 0
        self.look_at = CLOCK_PERIOD        # the first depth fits in, however short the time
        if self.look_at > self.node_limit:
            self.look_at = self.node_limit + 1
        self.stopped = False
        self.selective_depth = 0
        self.root_height = position.height
        self.root_count = 0
        self.root_score = 0
        self.root_restricted = False
        self.run_nodes = 0
        self.move_nodes = 0
        self.best_nodes = 0
        self.on_root_move = None
        self.talkative_at_us = 0

    # --- For Python callers --------------------------------------------------------------------------------------

    def run(self, depth: int, alpha: int = -INFINITE, beta: int = INFINITE) -> int:
        """Search the root `depth` plies deep within a window, without the interpreter lock; returns the score.

        Meaningless when `was_stopped()` afterwards, but the principal variation then still holds whatever root move
        was searched to its end and found best.
        """
        plies: cython.int = depth
        low: cython.int = alpha
        high: cython.int = beta
        score: cython.int
        self.selective_depth = 0
        self.run_nodes = self.nodes
        self.best_nodes = 0
        with cython.nogil:
            score = self.pv_node(low, high, plies, 0)
        return score

    def restrict_root(self, moves: list, all_of_them: bool) -> None:
        """Search only these moves at the root; they must be legal. `all_of_them` says that no legal move is missing."""
        index: cython.int
        self.root_count = len(moves)
        for index in range(self.root_count):
            self.root_moves[index] = moves[index]
        self.root_restricted = not all_of_them

    def announce_root_moves(self, on_root_move: object, after_ms: int) -> None:
        """Call `on_root_move(move, number)`, number 1 being the first, before each root move once that time is gone.

        None calls nobody.
        """
        self.on_root_move = on_root_move
        self.talkative_at_us = 0
        if on_root_move is not None:
            self.talkative_at_us = self.clock.started_us + cython.cast(cython.longlong, after_ms) * 1000

    def stop(self) -> None:
        """End the search now; from any thread."""
        self.stopped = True

    def was_stopped(self) -> bool:
        """Did `stop`, the clock or the node limit end it?"""
        return self.stopped

    def node_count(self) -> int:
        """Nodes visited since the search was made."""
        return self.nodes

    def deepest(self) -> int:
        """The deepest ply the last `run` reached, quiescence included."""
        return self.selective_depth

    def best_root_score(self) -> int:
        """The score of the root move that raised alpha last."""
        return self.root_score

    def best_move_share(self) -> int:
        """Percent of the last `run`'s nodes that went into the root move found best; 0 if none raised alpha."""
        spent: u64 = self.nodes - self.run_nodes
        return self.best_nodes * 100 // spent if spent else 0

    def principal_variation(self) -> list[int]:
        """The moves both sides are expected to play, from the last `run`; empty if no root move raised alpha."""
        return [self.pv[index] for index in range(self.pv_length[0])]

    # --- Nodes -----------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pv_node(self, alpha: cython.int, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Score of a node on the principal variation, alpha < beta; centipawns, side to move. Never raises."""
        assert -INFINITE <= alpha < beta <= INFINITE
        self.pv_length[ply] = 0
        in_check: cython.bint = self.position.in_check()
        if in_check:
            depth += 1             # a check is half a threat: see what comes of it
        if depth <= 0:
            return self.quiescence(alpha, beta, ply)
        score: cython.int = self.settled(ply, in_check)
        if score != NO_SCORE:
            return score
        entry: u64 = self.table.probe(self.position.key)
        return self.search_moves(alpha, beta, depth, ply, in_check, entry)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def null_window_node(self, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Is the score >= beta? Fail-soft, centipawns, side to move. Never raises."""
        in_check: cython.bint = self.position.in_check()
        if in_check:
            depth += 1
        if depth <= 0:
            return self.quiescence(beta - 1, beta, ply)
        score: cython.int = self.settled(ply, in_check)
        if score != NO_SCORE:
            return score
        entry: u64 = self.table.probe(self.position.key)
        score = self.table_cutoff(entry, beta, depth, ply)
        if score == NO_SCORE and not in_check:
            score = self.prune(evaluate(self.position), beta, depth, ply)
        if score == NO_SCORE:
            score = self.search_moves(beta - 1, beta, depth, ply, in_check, entry)
        return score

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def quiescence(self, alpha: cython.int, beta: cython.int, ply: cython.int) -> cython.int:
        """Score once the captures are over: who is to move may also stand pat on the evaluation. Never raises.

        Some quiet move is nearly always at least as good as that. A check that a capture gives is overlooked: the
        nodes above have extended the checks that matter. (chessprogramming wiki: Quiescence Search)
        """
        self.count_node(ply)
        if self.stopped:
            return DRAW
        best: cython.int = evaluate(self.position)
        if best >= beta or ply >= MAX_PLY:
            return best
        if best > alpha:
            alpha = best
        score: cython.int
        start: cython.int = ply * MOVES_PER_PLY
        end: cython.int = generate(self.position, self.moves, start, True)
        rank_tactical(self.position, self.moves, start, end)
        index: cython.int
        for index in range(start, end):
            move: cython.int = next_move(self.moves, index, end)
            self.position.make(move)
            score = -self.quiescence(-beta, -alpha, ply + 1)
            self.position.unmake(move)
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    if score >= beta:
                        break
        return best

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def count_node(self, ply: cython.int) -> cython.void:
        """One more node; now and then a look at the clock. Never raises."""
        self.nodes += 1
        if self.nodes >= self.look_at:
            self.look_at_limits()
        if ply > self.selective_depth:
            self.selective_depth = ply

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def look_at_limits(self) -> cython.void:
        """Stop if the nodes or the time are used up, and say at which node to look again. Never raises."""
        if self.nodes > self.node_limit or self.clock.expired():
            self.stopped = True
        self.look_at = self.nodes + CLOCK_PERIOD
        if self.look_at > self.node_limit + 1:
            self.look_at = self.node_limit + 1

    # --- Answers before any move is tried --------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def settled(self, ply: cython.int, in_check: cython.bint) -> cython.int:
        """Count the node and look whether it needs no search: stopped, drawn, too deep; else NO_SCORE. Never raises."""
        self.count_node(ply)
        if self.stopped:
            return DRAW
        if ply == 0:
            return NO_SCORE
        if self.position.is_insufficient_material() or self.position.is_repetition(self.root_height):
            return DRAW
        if self.position.halfmove_clock >= 100:
            # Mate on the hundredth half-move wins all the same.
            return mated_in(ply) if in_check and not self.has_legal_move(ply) else DRAW
        if ply >= MAX_PLY:
            return evaluate(self.position)
        return NO_SCORE

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_legal_move(self, ply: cython.int) -> cython.bint:
        """Never raises."""
        start: cython.int = ply * MOVES_PER_PLY
        return generate(self.position, self.moves, start, False) > start

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def table_cutoff(self, entry: u64, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """The score of an earlier search at least as deep, if it answers the question; else NO_SCORE. Never raises.

        Close to the fifty-move draw the table, which does not know the clock, is not believed.
        """
        if entry == 0 or entry_depth(entry) < depth or self.position.halfmove_clock >= 90:
            return NO_SCORE
        score: cython.int = from_table(entry_score(entry), ply)
        if entry_bound(entry) & (LOWER_BOUND if score >= beta else UPPER_BOUND):
            return score
        return NO_SCORE

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def prune(self, static_eval: cython.int, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """A score at least beta that needs no full search, or NO_SCORE. Never raises."""
        if static_eval < beta or is_mate_score(beta):
            return NO_SCORE
        # Reverse futility: so far above beta that nothing the other side has in a few plies will change it.
        # (chessprogramming wiki: Reverse Futility Pruning)
        if depth <= REVERSE_FUTILITY_DEPTH and static_eval - reverse_futility_margin(depth) >= beta:
            return static_eval
        # Null move: if even passing keeps us above beta, a real move will too. Unsound in zugzwang, hence the test
        # for pieces. (chessprogramming wiki: Null Move Pruning)
        if depth < NULL_MOVE_DEPTH or not self.position.has_pieces(self.position.side_to_move):
            return NO_SCORE
        self.position.make_null()
        score: cython.int = -self.null_window_node(1 - beta, depth - 1 - null_move_reduction(depth), ply + 1)
        self.position.unmake_null()
        if score < beta or self.stopped:
            return NO_SCORE
        return beta if is_mate_score(score) else score

    # --- The moves -------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def search_moves(
        self,
        alpha: cython.int,
        beta: cython.int,
        depth: cython.int,
        ply: cython.int,
        in_check: cython.bint,
        entry: u64,
    ) -> cython.int:
        """The best score of all moves, or the first that fails high; the result goes to the table. Never raises."""
        if self.stopped:
            return DRAW
        start: cython.int = ply * MOVES_PER_PLY
        end: cython.int = self.generate_moves(start, ply)
        if end == start:
            return mated_in(ply) if in_check else DRAW
        rank_moves(self.position, self.history, self.moves, start, end, entry_move(entry), ply)
        floor: cython.int = alpha
        best: cython.int = -INFINITE
        best_move: cython.int = NO_MOVE
        reducible: cython.bint = depth >= LATE_MOVE_DEPTH and not in_check
        index: cython.int
        for index in range(start, end):
            move: cython.int = next_move(self.moves, index, end)
            number: cython.int = index - start
            reduction: cython.int = 0
            # Late moves: ordering has put the good ones first, so the rest are looked at less deeply until one
            # surprises. (chessprogramming wiki: Late Move Reductions)
            if reducible and number >= LATE_MOVE_COUNT and not is_tactical(move):
                reduction = late_move_reduction(depth, number)
            if ply == 0:
                self.begin_root_move(move, number)
            self.position.make(move)
            if depth - reduction > 1:
                self.table.prefetch(self.position.key)
            score: cython.int = self.search_child(alpha, beta, depth, ply, number, reduction)
            self.position.unmake(move)
            if self.stopped:
                return DRAW
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    best_move = move
                    if beta - floor > 1:
                        self.extend_pv(move, ply)
                    if ply == 0:
                        self.root_score = score
                        self.best_nodes = self.nodes - self.move_nodes
                    if score >= beta:
                        self.learn_cutoff(start, index, depth, ply)
                        break
        bound: cython.int = LOWER_BOUND if best >= beta else EXACT if best > floor else UPPER_BOUND
        if ply > 0 or not self.root_restricted:
            self.table.store(self.position.key, best_move, to_table(best, ply), depth, bound)
        return best

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def generate_moves(self, start: cython.int, ply: cython.int) -> cython.int:
        """Write the moves to search to moves[start:], at the root the chosen ones; returns the end. Never raises."""
        if ply > 0 or self.root_count == 0:
            return generate(self.position, self.moves, start, False)
        index: cython.int
        for index in range(self.root_count):
            self.moves[start + index] = self.root_moves[index]
        return start + self.root_count

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin_root_move(self, move: cython.int, number: cython.int) -> cython.void:
        """Note how many nodes there were before, and tell whoever listens to a long search. Never raises."""
        self.move_nodes = self.nodes
        if self.talkative_at_us and now_us() >= self.talkative_at_us:
            with cython.gil:
                self.on_root_move(move & 0xFFFF, number + 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def search_child(
        self,
        alpha: cython.int,
        beta: cython.int,
        depth: cython.int,
        ply: cython.int,
        number: cython.int,
        reduction: cython.int,
    ) -> cython.int:
        """Score of the position after a move, from the mover's view. Never raises.

        All but the first move are only asked whether they beat alpha, reduced ones cheaply first; the one that does
        gets the full search that tells by how much.
        """
        on_pv: cython.bint = beta - alpha > 1
        score: cython.int = alpha + 1
        self.pv_length[ply + 1] = 0
        if number > 0 or not on_pv:
            score = -self.null_window_node(-alpha, depth - 1 - reduction, ply + 1)
            if reduction and score > alpha:
                score = -self.null_window_node(-alpha, depth - 1, ply + 1)
        if on_pv and (number == 0 or alpha < score < beta):
            score = -self.pv_node(-beta, -alpha, depth - 1, ply + 1)
        return score

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def learn_cutoff(self, start: cython.int, index: cython.int, depth: cython.int, ply: cython.int) -> cython.void:
        """A quiet move refuted the position: remember it, and that the quiet ones before it did not. Never raises."""
        move: cython.int = self.moves[index] & 0xFFFF
        if is_tactical(move):
            return
        side: cython.int = self.position.side_to_move
        self.history.remember_killer(move, ply)
        self.history.reward(side, move, depth)
        tried: cython.int
        for tried in range(start, index):
            move = self.moves[tried] & 0xFFFF
            if not is_tactical(move):
                self.history.punish(side, move, depth)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def extend_pv(self, move: cython.int, ply: cython.int) -> cython.void:
        """The variation from here is the move and the variation found below it. Never raises."""
        row: cython.int = ply * PV_ROW
        length: cython.int = self.pv_length[ply + 1]
        index: cython.int
        self.pv[row] = move
        for index in range(length):
            self.pv[row + 1 + index] = self.pv[row + PV_ROW + index]
        self.pv_length[ply] = length + 1
