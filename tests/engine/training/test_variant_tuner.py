"""Fitting the weights of variants to games."""

import json
import random
from pathlib import Path

import pytest

from engine.evaluation.variant_evaluation import first
from engine.evaluation.variant_terms import evaluation_of
from engine.evaluation.variant_weights import VALUES
from engine.facade import evaluation
from engine.training.variant_tuner import Fit, Sample, games_of, module_text, samples_of
from tests.engine.variants.games import VARIANTS, random_games

QUEENS = first("material") + 4


@pytest.mark.parametrize("variant", VARIANTS)
def test_features_and_weights_add_up_to_the_terms(variant: str) -> None:
    fit = Fit(VALUES[variant])
    for ply in list(random_games(variant, games=1, seed=8))[::12]:
        position = ply.board.position
        features = evaluation_of(variant).features(position, position.state()["extra"])
        terms = evaluation(ply.board).terms.values()
        midgame = fit.score(Sample(tuple(features), 1.0, 0.5))
        endgame = fit.score(Sample(tuple(features), 0.0, 0.5))
        assert midgame == sum(term[0] - term[2] for term in terms)
        assert endgame == sum(term[1] - term[3] for term in terms)


def test_a_fit_learns_what_wins_and_leaves_the_rest() -> None:
    fit = Fit(VALUES["atomic"])
    won, lost = Sample(((QUEENS, 1),), 0.5, 1.0), Sample(((QUEENS, -1),), 0.5, 0.0)
    samples = [won, lost] * 500
    before = fit.loss(samples, 400)
    fit.run(samples, 400, random.Random(1))
    assert fit.loss(samples, 400) < before
    changed = [index for index, weight in enumerate(fit.weights) if weight != fit.before[index]]
    assert changed == [QUEENS, QUEENS + len(fit.weights) // 2]
    assert all(fit.weights[index] > fit.before[index] for index in changed)


def test_the_module_written_holds_the_same_weights() -> None:
    values = {variant: Fit(VALUES[variant]).values() for variant in VARIANTS}
    read: dict[str, object] = {}
    exec(module_text(values), read)
    assert read["VALUES"] == values


def test_quiet_positions_of_recorded_games_are_used(tmp_path: Path) -> None:
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    moves = "g1f3 g8f6 f3g1 f6g8 g1f3 d7d5 f3e5 c8d7 e5d7"       # six plies are skipped, and the capture is not quiet
    game = {"variant": "atomic", "number": 0, "white": False, "score": 0.0, "end": "x", "start": start, "moves": moves}
    other = {**game, "variant": "3check"}
    path = tmp_path / "games.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (game, other)))
    [(board, played, result)] = games_of(path, "atomic")
    assert result == 1.0
    assert played == moves.split()
    samples = list(samples_of(board, played, result, evaluation_of("atomic")))
    assert [sample.result for sample in samples] == [1.0, 1.0]
