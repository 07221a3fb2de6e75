"""How the moves of games become the entries of a book."""

from engine.book.book_statistics import BookStatistics, PlayedGame
from engine.book.opening_book import move_text
from engine.book.polyglot import polyglot_key
from engine.facade import Board
from tests.engine.book.test_opening_book import after

ITALIAN = ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "e1g1")


def test_a_win_weighs_two_and_a_draw_one() -> None:
    statistics = BookStatistics(max_plies=2)
    for result in ("1-0", "1-0", "1/2-1/2", "0-1", "*"):
        statistics.add(PlayedGame(ITALIAN, result))
    weights = {entry.key: entry.weight for entry in statistics.entries(1)}
    assert statistics.games == 4
    assert weights == {polyglot_key(Board()): 5, polyglot_key(after("e2e4")): 3}


def test_moves_that_only_lost_or_are_rare_are_left_out() -> None:
    statistics = BookStatistics(max_plies=2)
    statistics.add(PlayedGame(ITALIAN, "1-0"))
    statistics.add(PlayedGame(("d2d4", "d7d5"), "0-1"))
    assert {move_text(entry.move) for entry in statistics.entries(1)} == {"e2e4", "d7d5"}
    assert list(statistics.entries(2)) == []


def test_a_game_that_repeats_a_position_counts_once() -> None:
    statistics = BookStatistics(max_plies=40)
    statistics.add(PlayedGame(("g1f3", "g8f6", "f3g1", "f6g8") * 2 + ("g1f3",), "1/2-1/2"))
    assert list(statistics.entries(2)) == []
    assert {entry.weight for entry in statistics.entries(1)} == {1}


def test_only_moves_of_the_sides_before_an_illegal_move_count() -> None:
    statistics = BookStatistics(max_plies=9)
    statistics.add(PlayedGame(("e2e4", "e7e5", "e1e3", "b8c6"), "1/2-1/2", sides=frozenset({"black"})))
    assert [move_text(entry.move) for entry in statistics.entries(1)] == ["e7e5"]


def test_large_weights_are_scaled() -> None:
    statistics = BookStatistics(max_plies=1)
    statistics.add(PlayedGame(("e2e4",), "1-0"))
    (tallies,) = statistics._positions.values()
    (tally,) = tallies.values()
    tally.points = 400_000
    statistics.add(PlayedGame(("d2d4",), "1-0"))
    assert sorted(entry.weight for entry in statistics.entries(1)) == [1, 65535]
