"""The rules as callers see them: spellings, refusals, repetition. `test_walks.py` compares whole games."""

import pytest

from engine.facade import STARTING_FEN, Board, InvalidMove


def test_the_board_is_unchanged_by_asking_for_san() -> None:
    board = Board()
    before = board.position.state()
    board.san("e2e4")
    assert board.position.state() == before


@pytest.mark.parametrize("text", ["e1g1", "e1h1"])
@pytest.mark.parametrize(("chess960", "spelt"), [(False, "e1g1"), (True, "e1h1")])
def test_both_spellings_of_castling_are_understood(text: str, chess960: bool, spelt: str) -> None:
    board = Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1", chess960=chess960)
    assert board.normalise(text) == spelt
    assert board.king_takes_rook(text) == "e1h1"
    assert board.san(text) == "O-O"
    assert board.push(text) == spelt
    assert board.fen() == "4k3/8/8/8/8/8/8/5RK1 b - - 1 1"


@pytest.mark.parametrize("short", ["O-O", "0-0", "o-o", "OO", "00", "oo"])
def test_castling_is_read_with_and_without_dashes(short: str) -> None:
    board = Board("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    assert board.parse_san(short) == "e1g1"
    assert board.parse_san(short + short[len(short) // 2 :]) == "e1c1"


def test_a_king_step_beside_its_rook_is_no_castling() -> None:
    board = Board("4k3/8/8/8/8/8/8/5KR1 w G - 0 1", chess960=True).after("f1g1")
    assert board.piece_at("g1") == "K"
    assert board.piece_at("f1") == "R"
    board = Board("4k3/8/8/8/8/8/8/5K1R w H - 0 1", chess960=True).after("f1g1")
    assert board.piece_at("f1") is None
    assert board.piece_count == 3


@pytest.mark.parametrize("text", ["e2e5", "e9e4", "", "0000", "e7e8x", "e2e4q", "\x00" * 9])
def test_an_illegal_move_is_refused_and_nothing_changes(text: str) -> None:
    board = Board()
    with pytest.raises(InvalidMove) as caught:
        board.push(text)
    assert STARTING_FEN in str(caught.value)
    assert board.fen() == STARTING_FEN
    assert board.moves == []


def test_a_repetition_counts_the_whole_game() -> None:
    board = Board()
    assert board.repetition_count() == 1
    for count in (2, 3, 4, 5):
        for move in ("g1f3", "g8f6", "f3g1", "f6g8"):
            board.push(move)
        assert board.repetition_count() == count


def test_a_copy_is_independent() -> None:
    board = Board().after("e2e4")
    after = board.after("e7e5")
    assert board.moves == ["e2e4"]
    assert after.moves == ["e2e4", "e7e5"]
    assert after.fullmove_number == board.fullmove_number + 1
