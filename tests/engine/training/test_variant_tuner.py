"""Fitting the weights of variants to games."""

import json
from array import array
from pathlib import Path

import pytest

from engine.board import Board
from engine.evaluation.variant_evaluation import first_weight
from engine.evaluation.variant_terms import evaluation_of
from engine.evaluation.variant_weights import VALUES
from engine.facade import evaluation
from engine.training.linear_samples import LinearSamples
from engine.training.tuner import Fit, FitProgress
from engine.training.variant_tuner import (
    SETTINGS,
    add_game,
    games_of,
    main,
    module_text,
    pulls,
    terms_of,
    tune,
    values_of,
)
from tests.engine.variants.games import VARIANTS, random_games

QUEENS = first_weight("material") + 4


@pytest.mark.parametrize("variant", VARIANTS)
def test_features_and_weights_add_up_to_the_terms(variant: str) -> None:
    values = array("d", values_of(VALUES[variant]))
    samples = LinearSamples(40)
    for number, ply in enumerate(list(random_games(variant, games=1, seed=8))[::12]):
        position = ply.board.position
        features = evaluation_of(variant).features(position, position.state()["extra"])
        terms = evaluation(ply.board).terms.values()
        for phase in range(2):
            assert samples.add_features(features, phase, 0, 1)
        assert samples.value(2 * number, values) == sum(term[1] - term[3] for term in terms)
        assert samples.value(2 * number + 1, values) == sum(term[0] - term[2] for term in terms)


def test_a_fit_learns_what_wins_and_leaves_the_rest() -> None:
    samples = LinearSamples(1000)
    for sign in (1, -1) * 500:
        assert samples.add_features([(QUEENS, sign)], 0.5, 0, 1 + sign)
    assert not samples.add_features([], 0.5, 0, 1), "there is no room for more"
    start = values_of(VALUES["atomic"])
    fit = Fit(samples, samples, FitProgress.begin_at(start, SETTINGS, 400, 1000, pulls(1000)))
    before = fit.held_out_loss()
    assert len(list(fit.run())) == SETTINGS.epochs
    assert fit.progress.best_loss < before
    changed = [index for index, value in enumerate(fit.progress.best) if value != start[index]]
    assert changed == [2 * QUEENS, 2 * QUEENS + 1]
    assert all(fit.progress.best[index] > start[index] for index in changed)


def test_a_weight_that_counts_extremely_often_is_cut() -> None:
    samples = LinearSamples(2)
    assert samples.add_features([(QUEENS, 300), (QUEENS + 1, -300)], 1.0, 0, 1)
    assert samples.coefficients(0) == {QUEENS: 127, QUEENS + 1: -127}


def test_a_weight_that_the_games_do_not_need_is_pulled_back() -> None:
    samples = LinearSamples(100)
    for _ in range(100):
        samples.add_features([(QUEENS, 0)], 0.5, 0, 1)
    start = values_of(VALUES["atomic"])
    progress = FitProgress.begin_at(start, SETTINGS, 400, 100, pulls(100))
    progress.values[2 * QUEENS] += 50
    list(Fit(samples, samples, progress).run())
    assert abs(progress.values[2 * QUEENS] - start[2 * QUEENS]) < 25


def test_the_module_written_holds_the_same_weights() -> None:
    values = {variant: terms_of(values_of(VALUES[variant])) for variant in VARIANTS}
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
    samples = LinearSamples(10)
    add_game(samples, board, played, result, evaluation_of("atomic"))
    assert len(samples) == 2
    white, black = (samples.value(number, array("d", values_of(VALUES["atomic"]))) for number in range(2))
    after = Board(start, variant="atomic").after(*played[:6])
    score = evaluation_of("atomic").python_evaluate(after.position, after.position.state()["extra"])
    assert abs(white - score) <= 1
    assert white != black


def test_weights_are_fitted_to_the_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = []
    for number, ply in enumerate(random_games("antichess", games=40, seed=5, plies=30)):
        if ply.move is None:
            games.append({"variant": "antichess", "number": number, "white": True, "score": 1.0, "end": "x"})
            games[-1] |= {"start": ply.board.fen(), "moves": ""}
        else:
            games[-1]["moves"] = f"{games[-1]['moves']} {ply.move}".strip()
    path = tmp_path / "games.jsonl"
    path.write_text("".join(json.dumps(game) + "\n" for game in games))
    fitted = tune("antichess", path)
    losses = capsys.readouterr().out.split("held out ")[-1].split(" (")[0].split(" -> ")
    before, after = map(float, losses)
    assert after < before, "White always wins, and the tempo says whose turn it is"
    assert fitted != terms_of(values_of(VALUES["antichess"]))
    with pytest.raises(ValueError, match="0 games of atomic are too few"):
        tune("atomic", path)


@pytest.mark.parametrize("there", [True, False])
def test_games_that_teach_nothing_are_one_line(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.jsonl"
    if there:
        path.touch()
    output = tmp_path / "weights.py"
    monkeypatch.setattr("sys.argv", ["variant_tuner", str(path), "--variant", "atomic", "--output", str(output)])
    with pytest.raises(SystemExit):
        main()
    complaint = "0 games of atomic are too few; --variant leaves it out" if there else "No such file or directory"
    assert f"{path}: {complaint}" in capsys.readouterr().err
    assert not output.exists()
