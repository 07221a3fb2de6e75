"""Records of positions in search trees: legal, quiet, no more than asked for, and worth learning from."""

from collections.abc import Iterator

import chess
import pytest

from engine.board import Board
from engine.facade import build_mode
from engine.selfplay.games import FixedNodesPlayer
from engine.selfplay.records import QUIET_CP, Result, Sample
from engine.training.features import first_invalid, pack
from tests.engine.shards import board_of, decode

MIDDLEGAMES = (
    "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
    "r2q1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 9",
    "2r2rk1/1bqnbppp/p2ppn2/1p6/3NPP2/1BN1B3/PPPQ2PP/2KR3R w - - 4 13",
    "8/5pk1/3p2p1/1p1Pp2p/1P2P2P/2r2PP1/3R2K1/8 b - - 1 40",
)


def searched(fen: str, nodes: int) -> tuple[FixedNodesPlayer, Board]:
    player, board = FixedNodesPlayer("none", nodes), Board(fen)
    player.search(board)
    return player, board


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return [decode(record) for fen in MIDDLEGAMES for record in records_of(fen)]


def records_of(fen: str) -> list[bytes]:
    player, board = searched(fen, 20_000)
    return player.tree_records(board, 7, 10_000)


def test_the_positions_are_legal_and_quiet(samples: list[Sample]) -> None:
    assert len(samples) > 200
    for sample in samples:
        board = board_of(sample)
        assert board.is_valid()
        assert not board.is_check()
        assert abs(sample.score_cp) <= QUIET_CP
        assert (sample.result, sample.game) == (Result.UNKNOWN, 7)
    assert len({sample.black_to_move for sample in samples}) == 2


def test_positions_one_and_two_plies_below_the_root_are_among_them(samples: list[Sample]) -> None:
    found = {(board_of(sample).board_fen(), sample.black_to_move) for sample in samples}
    for plies in (1, 2):
        assert found & {key for fen in MIDDLEGAMES for key in below(chess.Board(fen), plies)}


def below(board: chess.Board, plies: int) -> Iterator[tuple[str, bool]]:
    for move in board.legal_moves:
        board.push(move)
        if plies == 1:
            yield board.board_fen(), board.turn == chess.BLACK
        else:
            yield from below(board, plies - 1)
        board.pop()


def test_castling_rights_are_those_of_the_position(samples: list[Sample]) -> None:
    kings = {5: 4, 11: 60}
    homeless = [it for it in samples if all(it.board[square] != king for king, square in kings.items())]
    assert homeless
    assert all(sample.cannot_castle for sample in homeless)
    assert not all(sample.cannot_castle for sample in samples)


@pytest.mark.skipif(build_mode() == "plain", reason="too slow as plain Python")
def test_the_scores_say_more_than_the_evaluation(samples: list[Sample]) -> None:
    """A search of many more nodes is the judge; every search here is the same each time."""
    label_errors, evaluation_errors = 0, 0
    for sample in samples[::32]:
        board = board_of(sample)
        judge, ours = FixedNodesPlayer("none", 60_000), Board(board.fen())
        truth = judge.search(ours).white_score
        shallow = FixedNodesPlayer("none", 1).search(ours).white_score
        label_errors += abs(sample.score_cp - truth)
        evaluation_errors += abs(shallow - truth)
    assert label_errors < 0.8 * evaluation_errors


def test_no_more_are_returned_than_asked_for_and_none_twice() -> None:
    player, board = searched(MIDDLEGAMES[1], 20_000)
    first, second = player.tree_records(board, 0, 10), player.tree_records(board, 0, 10)
    assert len(first) == len(second) == 10
    everything = player.tree_records(board, 0, 10_000)
    assert len({*first, *second, *everything}) == 20 + len(everything)
    assert player.tree_records(board, 0, 10_000) == []
    assert first_invalid(pack(b"".join(everything))) == -1
    player.new_game()
    player.search(board)
    assert player.tree_records(board, 0, 10) == first


def test_a_search_that_has_not_gone_deep_has_none() -> None:
    player, board = searched(MIDDLEGAMES[0], 20)
    assert player.tree_records(board, 0, 10) == []
