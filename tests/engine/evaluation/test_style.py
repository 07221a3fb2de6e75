"""Styles: each changes its own terms and nothing else, stays symmetric, and shows in what is played."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import chess
import pytest

from engine.board import Board
from engine.core.fen import parse_fen
from engine.core.score import MATE
from engine.evaluation import net_file
from engine.evaluation.evaluate import evaluate, use_values
from engine.evaluation.weights import Group, default_values
from engine.facade import GROUP_PERCENTS, Engine, Limits, evaluation
from tests.engine.nets import material_net
from tests.engine.positions import Start, random_games

TERMS = {
    Group.MATERIAL: {"material"},
    Group.PLACEMENT: {"squares"},
    Group.MOBILITY: {"mobility"},
    Group.PAWN_STRUCTURE: {"pawn structure"},
    Group.PAWN_ADVANCE: {"squares", "passed pawns", "passed advance"},
    Group.PIECES: {"minor pieces", "rooks"},
    Group.KING_SAFETY: {"king shelter"},
    Group.KING_ATTACK: {"king attack"},
    Group.THREATS: {"threats"},
    Group.TEMPO: {"tempo"},
}
PIECE_POINTS = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 0}


@pytest.fixture
def engine() -> Iterator[Engine]:
    yield Engine(hash_mb=1)
    use_values(default_values())       # the weights are those of the whole process


@cache
def boards(count: int) -> list[str]:
    return [board.fen() for board in random_games(count=count, plies=160, start=Start.STANDARD, seed=31)][::7]


def scores(fens: list[str]) -> list[int]:
    return [evaluate(parse_fen(fen)[0]) for fen in fens]


@pytest.mark.parametrize("group", Group)
def test_a_group_changes_its_terms_and_no_other(engine: Engine, group: Group) -> None:
    fens = boards(6)
    before = [evaluation(Board(fen)).terms for fen in fens]
    engine.weigh_group(group, 200)
    changed: set[str] = set()
    for fen, old in zip(fens, before, strict=True):
        new = evaluation(Board(fen)).terms
        changed |= {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    assert changed - {"drawishness", "known ending"} == TERMS[group]


@pytest.mark.parametrize("group", Group)
@pytest.mark.parametrize("percent", [-100, 0, 200])
def test_a_styled_evaluation_is_symmetric(engine: Engine, group: Group, percent: int) -> None:
    engine.weigh_group(group, percent)
    for fen in boards(6):
        position, _ = parse_fen(fen)
        mirrored, _ = parse_fen(chess.Board(fen).mirror().fen())
        assert evaluate(position) == evaluate(mirrored), fen


def test_a_removed_style_has_no_effect(engine: Engine) -> None:
    fens = boards(3)
    before = scores(fens)
    limits = Limits(depth=7)
    nodes = report_nodes(engine, limits)
    engine.weigh_group("mobility", 300)
    assert scores(fens) != before
    assert report_nodes(engine, limits) != nodes
    engine.weigh_group("mobility", 100)
    assert scores(fens) == before
    assert report_nodes(engine, limits) == nodes                       # and the table knows nothing of it


def report_nodes(engine: Engine, limits: Limits) -> int:
    return engine.go(limits).report.nodes


def test_the_game_being_played_is_judged_by_the_new_style(engine: Engine) -> None:
    board = Board().after("e2e4", "d7d5", "e4d5")
    engine.weigh_group("material", 200)
    assert board.replayed().evaluate() == Board(board.fen()).evaluate()
    assert board.replayed().moves == board.moves
    assert board.replayed().key() == board.key()


@pytest.mark.parametrize("end", ["least", "most"])
def test_no_style_raises_a_score_to_a_mate_score(engine: Engine, end: str) -> None:
    for group, percents in GROUP_PERCENTS.items():
        engine.weigh_group(group, percents[0] if end == "least" else percents[-1])
    score = Board("6nk/6pp/8/8/8/RR6/QQQQBBNN/QQQQKQ2 w - - 0 1").evaluate()
    assert 15_000 < (score if end == "most" else -score) < MATE - 200


def test_a_style_silences_the_network(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "a.net"
    net_file.write(material_net(), path)
    board = Board()
    engine.set_evaluation(str(path))
    network = engine.describe_evaluation()
    assert engine.network_score_cp(board) is not None
    for turn in "wb":                  # White's view
        assert (engine.network_score_cp(Board(f"4k3/8/8/8/8/8/8/Q3K3 {turn} - - 0 1")) or 0) > 0
    engine.weigh_group("king_attack", 250)
    assert engine.describe_evaluation() == "hand-written, style king attack 250 %"
    assert engine.network_score_cp(board) is None
    engine.weigh_group("king_attack", 100)
    assert engine.describe_evaluation() == network


def test_a_negative_material_style_gives_material_away(engine: Engine) -> None:
    """Against a sound opponent, both at some hundred nodes a move; each side has the weights to itself in its turn."""
    board = Board()
    for ply in range(44):
        if not board.legal_moves():
            break
        engine.weigh_group("material", -100 if ply % 2 else 100)
        engine.set_position(board.replayed())
        move = engine.go(Limits(nodes=400)).best_move
        board.push(move)
    pieces = board.fen().split()[0]
    points = sum(PIECE_POINTS.get(letter.lower(), 0) * (1 if letter.isupper() else -1) for letter in pieces)
    assert points >= 15, board.fen()


def test_only_styles_that_exist_can_be_set(engine: Engine) -> None:
    with pytest.raises(KeyError):
        engine.weigh_group("courage", 150)
    with pytest.raises(ValueError, match="material: expected a percentage from -200 to 200, found 201"):
        engine.weigh_group("material", 201)
