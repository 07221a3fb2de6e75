"""What a Python program meets when it gives the facade numbers and names that cannot be."""

from collections.abc import Callable
from copy import copy, deepcopy

import pytest

from engine.facade import Board, Engine, Limits, perft

TOO_MANY = 10**30


@pytest.mark.parametrize("depth", [-1, 101, TOO_MANY])
@pytest.mark.parametrize("variant", ["standard", "atomic"])
def test_a_perft_of_an_impossible_depth_is_refused(depth: int, variant: str) -> None:
    board = Board(variant=variant)
    before = board.fen()
    with pytest.raises(ValueError, match=f"expected a depth from 0 to 100, found {depth}"):
        sum(board.perft(depth))
    with pytest.raises(ValueError, match="expected a depth from 0 to 100"):
        perft(board.position, depth)
    assert board.fen() == before


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda engine: engine.set_threads(0), "threads: expected 1 or more, found 0"),
        (lambda engine: engine.resize_hash(0), "expected a hash table of 1 MiB or more, found 0"),
        (lambda engine: engine.resize_hash(-1), "expected a hash table of 1 MiB or more, found -1"),
        (lambda engine: engine.limit_strength(10), "rating: expected 600 to 2850, found 10"),
        (lambda engine: engine.weigh_group("tempo", 500), "tempo: expected a percentage from -200 to 400, found 500"),
        (lambda engine: engine.begin(Limits(depth=0)), "depth: expected 1 or more, found 0"),
    ],
)
def test_an_impossible_setting_is_refused_and_changes_nothing(call: Callable[[Engine], None], message: str) -> None:
    engine = Engine(1)
    with pytest.raises(ValueError, match=message):
        call(engine)
    assert engine.go(Limits(depth=2)).report is not None


def test_a_search_of_no_lines_is_refused() -> None:
    engine = Engine(1)
    engine.lines = 0
    with pytest.raises(ValueError, match="lines: expected 1 or more, found 0"):
        engine.begin(Limits(depth=1))


@pytest.mark.parametrize("seed", [-1, TOO_MANY])
def test_every_number_is_a_seed(seed: int) -> None:
    engine = Engine(1)
    engine.limit_strength(1500, seed)
    assert engine.go(Limits(depth=1)).best_move is not None


@pytest.mark.parametrize(
    "limits",
    [Limits(nodes=TOO_MANY), Limits(white_time_ms=TOO_MANY), Limits(move_time_ms=TOO_MANY), Limits(depth=TOO_MANY)],
)
def test_an_astronomical_limit_is_none(limits: Limits) -> None:
    engine = Engine(1)
    search = engine.begin(limits)
    search.stop()
    assert search.run().best_move is not None


def test_a_limit_too_narrow_for_any_search_still_lets_black_take_what_hangs() -> None:
    engine = Engine(1)
    engine.set_position(Board("6k1/5ppp/8/8/4Q3/8/2b2PPP/6K1 b - - 0 1"))
    assert engine.go(Limits(nodes=1), only=["h7h6", "c2e4"]).best_move == "c2e4"


@pytest.mark.parametrize("copied", [copy, deepcopy])
def test_a_board_copied_by_python_shares_nothing(copied: Callable[[Board], Board]) -> None:
    board = Board()
    other = copied(board)
    other.push("e2e4")
    assert board.fen() == Board().fen()
    assert other.moves == ["e2e4"]


def test_a_board_shows_its_position_and_variant() -> None:
    board = Board("k7/8/8/8/8/8/8/KQ6 w - - 0 1")
    assert repr(board) == "<Board standard: k7/8/8/8/8/8/8/KQ6 w - - 0 1>"


@pytest.mark.parametrize("side", ["White", "w", ""])
def test_a_side_is_white_or_black_and_nothing_else(side: str) -> None:
    with pytest.raises(ValueError, match="expected 'white' or 'black'"):
        Board().has_insufficient_material(side)
