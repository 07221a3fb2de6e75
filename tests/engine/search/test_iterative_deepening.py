"""What iterative deepening asks of the search."""

from typing import Any

from engine.board import Board
from engine.core.move import NO_MOVE
from engine.facade import Engine
from engine.search.history import History
from engine.search.iterative_deepening import IterativeDeepening, Task
from engine.search.search import Search
from engine.search.time_manager import Limits, TimeManager
from engine.search.transposition import TranspositionTable


class WatchedSearch:
    """A search that notes which moves it was restricted to, and which of them it was to begin with."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.restrictions: list[tuple[list[int], int]] = []

    def restrict_root(self, moves: list[int], complete: bool, first: int = NO_MOVE) -> None:
        self.restrictions.append((moves, first))
        self._search.restrict_root(moves, complete, first)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._search, name)


def test_a_line_is_not_expected_to_begin_with_the_move_of_a_better_line() -> None:
    """When the order of the lines changes, their places at the depth before say nothing about their moves."""
    board = Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    clock = TimeManager()
    search = WatchedSearch(Search(board.position, TranspositionTable(1), History(), clock))
    moves = board.packed_moves()
    task = Task(moves, complete=True, lines=4, limits=Limits(depth=7))
    IterativeDeepening(search, clock, task, lambda iteration: None, lambda *root_move: None).run()
    deeper = search.restrictions[4:]
    assert len(deeper) == 4 * 6
    assert all(first in left for left, first in deeper)


def test_only_a_mate_as_short_as_asked_for_ends_the_search() -> None:
    engine = Engine(hash_mb=1)
    in_two, by_opponent = "7k/8/8/8/8/8/R7/1R5K w - - 0 1", "7k/R7/8/8/8/8/8/1R5K b - - 0 1"
    for fen, mate_in, ends in ((in_two, 2, True), (in_two, 1, False), (by_opponent, 2, False)):
        engine.set_position(Board(fen))
        assert (engine.go(Limits(mate_in=mate_in, depth=7)).report.depth < 7) is ends
