"""The networks of variants: what they see of a position, and what they make of it, as `net_file.py` says it."""

import json
import random
from dataclasses import replace
from pathlib import Path

import chess
import chess.variant
import pytest

from engine.core.params import NETWORK_LIMIT
from engine.evaluation import eval_file, net_file
from engine.evaluation.network import Network
from engine.evaluation.variant_terms import evaluation_of
from engine.facade import Board, Engine, Limits, build_mode
from engine.selfplay.games import FixedNodesPlayer
from engine.selfplay.records import encode
from engine.training.features import inputs, pack
from tests.engine.nets import material_net, random_net
from tests.engine.uci_session import converse
from tests.engine.variants.games import UCI_NAMES, VARIANTS, random_games

NET = replace(random_net(seed=5, hidden=32, buckets=8), scale=60)
MOST_PIECES = 32                   # of a record
DECIDED_CP = 1200


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
def test_the_score_is_what_the_file_format_says_unless_the_game_is_decided(variant: str) -> None:
    terms, evaluation = evaluation_of(variant), evaluation_of(variant, Network(NET))
    undecided = 0
    for board, judge in boards(variant):
        state = board.position, board.position.state()["extra"]
        score = slow_score(judge)
        undecided += abs(score) <= DECIDED_CP
        if score > DECIDED_CP:
            score = DECIDED_CP + max(0, terms.python_evaluate(*state) // 2)
        elif score < -DECIDED_CP:
            score = min(0, terms.python_evaluate(*state) // 2) - DECIDED_CP
        assert evaluation.python_evaluate(*state) == score, board.fen()
    assert undecided > 5


def test_a_won_race_is_run_to_its_end() -> None:
    """The network says that White wins, wherever his king is; the terms want it nearer to the goal."""
    nearer, farther = ("4R1Q1/5R2/8/3K4/8/8/8/k7 w - - 0 1", "4R1Q1/5R2/8/8/8/3K4/8/k7 w - - 0 1")
    network = eval_file.shipped_network("racingKings")
    assert network is not None
    evaluation = evaluation_of("racingKings", network)
    scores = [evaluation.python_evaluate(Board(fen, variant="racingKings").position, 0) for fen in (nearer, farther)]
    assert scores[0] > scores[1] + 50 > DECIDED_CP


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_position_before_does_not_matter(variant: str) -> None:
    network = Network(NET)
    evaluation = evaluation_of(variant, network)
    found = [board for board, _ in boards(variant)]
    random.Random(7).shuffle(found)
    for board in found:
        state = board.position, board.position.state()["extra"]
        afresh = evaluation_of(variant, network).python_evaluate(*state)
        assert evaluation.python_evaluate(*state) == afresh, board.fen()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_record_tells_training_what_the_network_sees(variant: str) -> None:
    player = FixedNodesPlayer("none", 1, variant=variant)
    seen = 0
    for board, judge in boards(variant):
        sample = player.sample(board, 0, 0)
        if sample.fits():
            white, black = inputs(pack(encode(sample)), 0, False)
            assert (sorted(white), sorted(black)) == (features_of(judge, True), features_of(judge, False)), board.fen()
            seen += 1
        else:
            assert len(features_of(judge, True)) > MOST_PIECES
            assert variant != "horde"
    assert seen > 3


def test_a_record_of_horde_holds_all_of_its_pieces_at_the_start() -> None:
    board = Board(variant="horde")
    sample = FixedNodesPlayer("none", 1, variant="horde").sample(board, 0, 0)
    white, black = inputs(pack(encode(sample)), 0, False)
    assert len(white) == len(black) == 52
    assert sum(place < 64 for place in white) == sum(384 <= place < 448 for place in black) == 36


def test_a_mirrored_record_leaves_the_pockets_alone() -> None:
    board = Board("4k3/8/8/8/8/2N5/8/4K3[Qn] w - - 0 1", variant="crazyhouse")
    words = pack(encode(FixedNodesPlayer("none", 1, variant="crazyhouse").sample(board, 0, 0)))
    queen, knight = 56 + 4, 384 + 1
    assert {queen, knight} < set(inputs(words, 0, True)[0])
    assert 64 + 18 in inputs(words, 0, False)[0]                    # the knight on c3
    assert 64 + 21 in inputs(words, 0, True)[0]                     # on f3


def test_threads_do_not_share_the_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would soon be those of no position, and the scores out of all proportion."""
    (tmp_path / "variants").mkdir()
    path = tmp_path / "variants" / "crazyhouse.net"
    net_file.write(material_net(), path)
    monkeypatch.setattr(eval_file, "FOLDER", tmp_path)
    engine = Engine()
    engine.set_evaluation(str(path))
    engine.set_threads(3)
    engine.set_position(Board(variant="crazyhouse"))
    for _ in range(3):
        assert abs(engine.go(Limits(nodes=20_000)).report.score_cp or 0) < 300
        engine.new_game()


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


@pytest.mark.skipif(build_mode() == "plain", reason="networks are off by default there")
def test_the_network_of_a_variant_is_shown() -> None:
    lines = converse("setoption name UCI_Variant value atomic", "position startpos moves e2e4", "eval")
    assert lines[-1].startswith("network 'atomic', 256 hidden, 8 output buckets for atomic plays: ")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_networks_that_ship_are_small_and_have_their_cards(variant: str) -> None:
    path = eval_file.FOLDER / "variants" / f"{variant}.net"
    net, card = net_file.read(path), json.loads(path.with_suffix(".json").read_text())
    assert path.stat().st_size <= 500_000
    assert net.name == card["name"] == variant
    largest = max(map(abs, net.feature_bias)) + 64 * max(map(abs, net.feature_weights))
    assert largest < 2**15, "a FEN may fill the board, which is more than the 52 pieces of any file's limits"
    assert (net.hidden, net.buckets) == (card["settings"]["hidden"], card["settings"]["buckets"])
    assert {"made", "begun_with", "games", "positions", "steps", "losses", "training_hours", "match"} <= card.keys()
    assert card["match"]["against"] == "hand-written"
    assert card["match"]["elo_95_percent"][0] > 0
