"""What counts as which error."""

from pathlib import Path

import pytest

from engine.cli.main import run
from engine.facade import Board, build_mode
from engine.selfplay import humanness
from engine.selfplay.humanness import Judge, Tally, observe, observe_game, table
from engine.selfplay.ladder import OPENING_PLIES
from tests.scripts import silly

pytestmark = pytest.mark.skipif(build_mode() == "plain", reason="the judge is too slow as plain Python")


def tally_of(fen: str, moves: str, move: str) -> Tally:
    board, tally = Board(fen), Tally()
    for earlier in moves.split():
        board.push(earlier)
    observe(board, move, Judge(3000), tally)
    return tally


QUEENS = "r3k3/ppp2ppp/3p4/8/8/8/PPPP1PPP/R2QK3 w - - 0 1"
LOST = "1n2k1n1/ppp2ppp/3p4/8/8/5N2/PPPP1PPP/4K3 w - - 0 1"


def test_a_queen_that_can_be_taken_is_an_error_refuted_by_a_capture() -> None:
    quiet, lost = tally_of(QUEENS, "d1e2 e8d7", "e2f3"), tally_of(QUEENS, "d1e2 e8d7", "e2e6")
    assert (quiet.errors, quiet.taken, quiet.losing) == (0, 0, 0)
    assert (lost.errors, lost.taken, lost.losing) == (1, 1, 0)


def test_a_piece_given_for_nothing_in_a_lost_position_is_thrown_away() -> None:
    kept, thrown = tally_of(LOST, "e1f1 e8f8", "f3e1"), tally_of(LOST, "e1f1 e8f8", "f3e5")
    assert (kept.losing, kept.thrown) == (1, 0)
    assert (thrown.losing, thrown.thrown, thrown.taken) == (1, 1, 1)


def test_a_recapture_that_is_clearly_best() -> None:
    fen, moves = "r1bqkb1r/pppp1ppp/2n2n2/1B2p3/4P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4", "f6e4 f1e1 e4d6 b5c6"
    made, missed = tally_of(fen, moves, "d7c6"), tally_of(fen, moves, "f8e7")
    assert (made.recaptures, made.recaptured) == (1, 1)
    assert (missed.recaptures, missed.recaptured) == (1, 0)


def test_a_mate_in_one_made_and_missed() -> None:
    fen, moves = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "a1a2 g8f8 a2a1 f8g8"
    made, missed = tally_of(fen, moves, "a1a8"), tally_of(fen, moves, "a1b1")
    assert (made.mates, made.mated, missed.mates, missed.mated) == (1, 1, 1, 0)


def test_a_rook_that_goes_back_at_once_shuffles() -> None:
    fen = "4k2r/5ppp/8/8/8/8/5PPP/R3K3 w - - 0 1"
    assert tally_of(fen, "a1b1 h8g8", "b1a1").shuffles == 1
    assert tally_of(fen, "a1b1 h8g8", "b1c1").shuffles == 0


def test_every_move_after_the_opening_is_judged_and_chosen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(humanness, "MAX_PLIES", OPENING_PLIES + 4)
    tally = observe_game(100, ("level 600", 0))
    assert (tally.moves, tally.asked, tally.early) == (4, 4, 4)


def test_the_table_has_a_row_for_each_player() -> None:
    lines = list(table({"level 1500": Tally(moves=4, loss_cp=40, errors=1, taken=1)}))
    assert lines[2].startswith("| level 1500 | 4 | 10 | 25.0 % of 4 | 100.0 % of 1 | - |")


@pytest.mark.parametrize("answer", ["bestmove (none)", "bestmove e2e5"])
def test_a_move_that_is_not_legal_is_one_line(
    answer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = silly(tmp_path, answer)
    assert run(("humanness", command, "--games", "1", "--processes", "1")) == 2
    assert capsys.readouterr().err.startswith(f"{command} played {answer.split()[1]}, which is not legal in ")


def test_humanness_of_an_unknown_player_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("humanness", "level 99")) == 2
    assert capsys.readouterr().err == "expected level 600 to 2850, found 'level 99'\n"
