"""Books: which move is chosen, and what is done about a file that is no good."""

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from engine.book.opening_book import Entry, packed_move, write
from engine.facade import Board, BookMove, polyglot_key
from lichessbot.config.sources import Normalization, PolyglotConfig, Selection
from lichessbot.log import EventLog
from lichessbot.move_sources.local import PolyglotBooks, choose, normalized
from tests.lichessbot.move_sources.questions import question

MOVES = [BookMove("e2e4", 60), BookMove("d2d4", 30), BookMove("c2c4", 10), BookMove("a2a4", 0)]


def chosen(moves: list[BookMove] = MOVES, **keys: object) -> Counter[str | None]:
    policy = PolyglotConfig.model_validate(keys)
    rng = random.Random(1)
    return Counter(choose(moves, policy, rng) for _ in range(1000))


def test_moves_are_played_as_often_as_they_weigh() -> None:
    played = chosen()
    assert set(played) == {"e2e4", "d2d4", "c2c4"}
    assert played["e2e4"] == pytest.approx(600, abs=60)
    assert played["c2c4"] == pytest.approx(100, abs=40)


def test_uniform_selection_forgets_the_weights_but_not_the_smallest() -> None:
    played = chosen(selection="uniform_random", min_weight=10)
    assert set(played) == {"e2e4", "d2d4", "c2c4"}
    assert min(played.values()) > 250


def test_the_best_move_is_the_heaviest() -> None:
    assert set(chosen(selection=Selection.BEST_MOVE)) == {"e2e4"}


@pytest.mark.parametrize(
    ("normalization", "weights"),
    [
        (Normalization.NONE, [30, 15, 5, 0]),
        (Normalization.SUM, [60, 30, 10, 0]),
        (Normalization.MAX, [100, 50, 100 / 6, 0]),
    ],
)
def test_weights_are_measured_as_asked(normalization: Normalization, weights: list[float]) -> None:
    assert normalized([30, 15, 5, 0], normalization) == pytest.approx(weights)
    assert normalized([0, 0], normalization) == [0, 0]
    assert normalized([], normalization) == []


def test_too_light_a_move_is_not_played() -> None:
    assert set(chosen(min_weight=20, normalization="sum")) == {"e2e4", "d2d4"}
    assert set(chosen(min_weight=61)) == {None}
    assert set(chosen([])) == {None}


def test_where_nothing_weighs_anything_all_is_equal_if_that_is_allowed() -> None:
    weightless = [BookMove("e2e4", 0), BookMove("d2d4", 0)]
    assert set(chosen(weightless)) == {None}
    assert set(chosen(weightless, min_weight=0)) == {"e2e4", "d2d4"}


# Files


def book(path: Path, *moves: str, **weights: int) -> Path:
    """A book that knows one position, the one after `moves`."""
    board = Board()
    for move in moves:
        board.push(move)
    write(path, [Entry(polyglot_key(board), packed_move(board, move), weight) for move, weight in weights.items()])
    return path


def shelf(*files: Path) -> PolyglotBooks:
    return PolyglotBooks("books", files, PolyglotConfig(), EventLog())


def test_the_first_book_that_knows_a_move_is_followed(tmp_path: Path) -> None:
    first = book(tmp_path / "first.bin", "e2e4", c7c5=1)
    second = book(tmp_path / "second.bin", "e2e4", e7e5=1)
    third = book(tmp_path / "third.bin", d2d4=1)
    books = shelf(first, second, third)
    for asked, move in ((question("e2e4"), "c7c5"), (question(), "d2d4")):
        found = books.find(asked, 0.0)
        assert found is not None
        assert found.moves == (move,)
    assert books.find(question("a2a3"), 0.0) is None


def test_a_missing_and_a_damaged_book_are_passed_over_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "damaged.bin").write_bytes(bytes(17))
    good = book(tmp_path / "good.bin", e2e4=1)
    books = shelf(tmp_path / "missing.bin", tmp_path / "damaged.bin", good)
    for _ in range(3):
        assert books.find(question(), 0.0) is not None
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert "missing.bin" in said[0]
    assert "whole entries" in said[1]


def test_a_book_cut_short_during_the_game_is_not_asked_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = book(tmp_path / "book.bin", e2e4=1, d2d4=1)
    books = shelf(path)
    assert books.find(question(), 0.0) is not None
    os.truncate(path, 16)
    assert books.find(question(), 0.0) is None
    book(path, e2e4=1, d2d4=1)
    assert books.find(question(), 0.0) is None
    assert len(caplog.records) == 1


def test_a_book_that_leads_in_circles_is_left(tmp_path: Path) -> None:
    there_and_back = ("g1f3", "g8f6", "f3g1")
    path = book(tmp_path / "book.bin", *there_and_back, f6g8=9)
    assert shelf(path).find(question(*there_and_back), 0.0) is None
    path = book(tmp_path / "other.bin", *there_and_back, f6g8=9, d7d5=1)
    found = shelf(path).find(question(*there_and_back), 0.0)
    assert found is not None
    assert found.moves == ("d7d5",)
