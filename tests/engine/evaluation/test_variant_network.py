"""The networks of variants: what they see of a position, and what they make of it, as `net_file.py` says it."""

from pathlib import Path

import chess
import chess.variant
import pytest

from engine.core.params import NETWORK_LIMIT
from engine.evaluation import eval_file, net_file
from engine.evaluation.network import Network
from engine.evaluation.variant_terms import network_evaluation
from engine.facade import Board, Engine, Limits
from engine.selfplay.games import Player
from engine.selfplay.records import encode
from engine.training.features import inputs, pack
from tests.engine.nets import random_net
from tests.engine.variants.games import UCI_NAMES, VARIANTS, random_games

NET = random_net(seed=5, hidden=32, buckets=8)
MOST_PIECES = 32                   # of a record


def features_of(board: chess.Board, view: bool) -> list[int]:
    """The features of a board in the view of a side, from the text of `net_file.py`."""
    flip = 0 if board.uci_variant == "racingkings" or view == chess.WHITE else 56
    found = [
        384 * (piece.color != view) + 64 * (piece.piece_type - 1) + (square ^ flip)
        for square, piece in board.piece_map().items()
    ]
    for colour in chess.COLORS:
        beside = [0] * (3 - board.remaining_checks[colour]) if board.uci_variant == "3check" else []
        if isinstance(board, chess.variant.CrazyhouseBoard):
            pocket = board.pockets[colour]
            beside = [kind - 1 for kind in chess.PIECE_TYPES for _ in range(pocket.count(kind))]
        found += [56 + kind if colour == view else 384 + kind for kind in beside]
    return sorted(found)


def slow_score(board: chess.Board) -> int:
    """The score of NET for the side to move, by the book."""
    bucket = max(0, min((len(board.piece_map()) - 2) // 4, 7))
    hidden = [
        min(max(NET.feature_bias[index] + sum(NET.feature_weights[row * NET.hidden + index] for row in rows), 0), 255)
        for rows in (features_of(board, board.turn), features_of(board, not board.turn))
        for index in range(NET.hidden)
    ]
    weights = NET.output_weights[2 * NET.hidden * bucket :]
    total = sum(value * value * weight for value, weight in zip(hidden, weights, strict=False))
    score = (total // 255 + NET.output_bias[bucket]) * NET.scale // (255 * 64)
    return max(-NETWORK_LIMIT, min(score, NETWORK_LIMIT))


def boards(variant: str) -> list[tuple[Board, chess.Board]]:
    """Positions of random games, and the same of python-chess."""
    kind = chess.variant.find_variant(UCI_NAMES[variant])
    found = [ply.board.copy() for ply in list(random_games(variant, games=3, seed=6))[::5]]
    return [(board, kind(board.fen(), chess960=board.chess960)) for board in found]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_score_is_what_the_file_format_says(variant: str) -> None:
    evaluation = network_evaluation(variant, Network(NET))
    for board, judge in boards(variant):
        assert evaluation.score(board.position, board.position.state()["extra"]) == slow_score(judge), board.fen()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_record_tells_training_what_the_network_sees(variant: str) -> None:
    player = Player("none", 1, variant=variant)
    seen = 0
    for board, judge in boards(variant):
        sample = player.sample(board.position, 0, 0)
        if sample.fits():
            white, black = inputs(pack(encode(sample)), 0, False)
            assert (sorted(white), sorted(black)) == (features_of(judge, True), features_of(judge, False)), board.fen()
            seen += 1
        else:
            assert len(features_of(judge, True)) > MOST_PIECES
    assert seen > 3


def test_a_mirrored_record_leaves_the_pockets_alone() -> None:
    board = Board("4k3/8/8/8/8/2N5/8/4K3[Qn] w - - 0 1", variant="crazyhouse")
    words = pack(encode(Player("none", 1, variant="crazyhouse").sample(board.position, 0, 0)))
    queen, knight = 56 + 4, 384 + 1
    assert {queen, knight} < set(inputs(words, 0, True)[0])
    assert 64 + 18 in inputs(words, 0, False)[0]                    # the knight on c3
    assert 64 + 21 in inputs(words, 0, True)[0]                     # on f3


def test_a_shipped_network_plays_its_variant_unless_none_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "variants").mkdir()
    net_file.write(NET, tmp_path / "variants" / "atomic.net")
    monkeypatch.setattr(eval_file, "FOLDER", tmp_path)
    engine = Engine()
    engine.set_evaluation(str(tmp_path / "variants" / "atomic.net"))       # of standard chess, for all it knows
    atomic, horde = Board(variant="atomic"), Board(variant="horde")
    for board, plays in ((atomic, "network 'random 5', 32 hidden, 8 output buckets"), (horde, "hand-written")):
        engine.set_position(board)
        assert engine.describe_evaluation() == f"{plays} for {board.variant}"
        assert (engine.network_score_cp(board) is None) == (plays == "hand-written")
        assert engine.go(Limits(depth=3)).best_move is not None
    engine.set_evaluation("none")
    engine.set_position(atomic)
    assert engine.describe_evaluation() == "hand-written for atomic"
