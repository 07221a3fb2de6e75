"""The tuner: coefficients, gradients, fitting and the written module."""

import json
from array import array
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from engine.core.fen import parse_fen
from engine.evaluation import tuned
from engine.evaluation.evaluate import evaluate, is_known
from engine.evaluation.weights import COUNT, TERMS, default_values
from engine.selfplay.records import InvalidRecord, Result, Sample, encode, is_held_out, snapshot
from engine.training.features import pack
from engine.training.samples import Samples
from engine.training.tuner import Fit, FitProgress, TunerSettings, load, module_text, named
from tests.engine.positions import Start, random_games
from tests.engine.shards import words_of

UNIT = 300.0


def tuned_values() -> "array[float]":
    """The weights in the tuner's order, with those of terms that `tuned.py` does not have yet."""
    return array("d", [float(part) for pairs in default_values().values() for pair in pairs for part in pair])


@cache
def records(count: int) -> tuple[list[bytes], list[int]]:
    """Records of positions won by the side with more material, and their evaluation; known endings are left out."""
    found, scores = [], []
    for number, board in enumerate(random_games(count=count, plies=80, start=Start.STANDARD, seed=8)):
        position, _ = parse_fen(board.fen())
        if is_known(position):
            continue
        pieces, black, cannot_castle = snapshot(position)
        score = evaluate(position)
        scores.append(-score if black else score)
        white, black_count = (sum(piece // 6 == side for piece in pieces if piece < 12) for side in range(2))
        result = Result.DRAWN if white == black_count else Result(2 * (white > black_count))
        found.append(encode(Sample(pieces, black, cannot_castle, scores[-1], result, number // 80)))
    return found, scores


@pytest.fixture(scope="module")
def samples() -> Samples:
    found, _ = records(12)     # evaluated before Samples changes the weights
    filled = Samples(2000)
    for record in found:
        assert filled.add(pack(record), 0)
    filled.restore()
    return filled


def test_the_weights_times_their_coefficients_are_the_evaluation(samples: Samples) -> None:
    values = tuned_values()
    for number, score in enumerate(records(12)[1]):
        assert abs(samples.value(number, values) - score) <= 2


def test_the_starting_position_has_only_the_tempo_coefficient() -> None:
    start = Samples(1)
    assert start.add(words_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), 0)
    start.restore()
    assert start.coefficients(0) == {TERMS["tempo"].first: 1}


def test_a_known_ending_is_skipped() -> None:
    ending = Samples(1)
    assert not ending.add(words_of("4k3/8/8/8/8/8/8/R3K3 w - - 0 1"), 0)
    ending.restore()
    assert len(ending) == 0


def test_the_weights_are_restored(samples: Samples) -> None:
    assert len(samples) > 500
    position, _ = parse_fen("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    assert evaluate(position) > 700


@pytest.mark.parametrize("name", ["material", "rook_mobility", "tempo"])
def test_the_gradient_is_that_of_the_loss(samples: Samples, name: str) -> None:
    values, slope = tuned_values(), array("d", bytes(16 * COUNT))
    everything = array("i", range(len(samples)))
    total = samples.gradient(everything, values, slope, 0.4, UNIT)
    assert total / len(samples) == pytest.approx(samples.loss(values, 0.4, UNIT))
    index = 2 * TERMS[name].first + 2 * (TERMS[name].size // 2)
    loss = []
    for change in (-0.5, 0.5):
        moved = array("d", values)
        moved[index] += change
        loss.append(samples.loss(moved, 0.4, UNIT) * len(samples))
    assert slope[index] == pytest.approx(loss[1] - loss[0], rel=1e-3, abs=1e-9)


def test_fitting_lowers_the_loss_and_resumes(samples: Samples, tmp_path: Path) -> None:
    settings = TunerSettings(epochs=6, step_cp=3.0, trust=0.0)
    path = tmp_path / "progress.json"
    whole = Fit(samples, samples, FitProgress.begin(settings, UNIT, len(samples)))
    before = whole.held_out_loss()
    assert len(list(whole.run(path))) == settings.epochs
    assert whole.held_out_loss() < 0.97 * before
    halves = Fit(samples, samples, FitProgress.begin(settings, UNIT, len(samples)))
    lines = halves.run(path)
    for _ in range(3):
        next(lines)
    resumed = Fit(samples, samples, FitProgress.load(path))
    assert len(list(resumed.run(path))) == 3
    assert resumed.progress.values == whole.progress.values


@pytest.mark.parametrize("content", ["", "{", "[]", '{"settings": {}}', '{"settings": {"speed": 1}, "losses": []}'])
def test_a_damaged_state_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_text(content)
    with pytest.raises(InvalidRecord, match=r"progress\.json is damaged: remove it to start over"):
        FitProgress.load(path)


@pytest.mark.parametrize(
    "damage",
    [{"values": []}, {"mean": [1.0]}, {"start": ["x"] * 2 * COUNT}, {"best": [1.0]}, {"unit": "x"}, {"epoch": []}],
)
def test_a_state_with_damaged_numbers_is_named(damage: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    FitProgress.begin(TunerSettings(), UNIT, 100).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    with pytest.raises(InvalidRecord, match=r"progress\.json is damaged: remove it to start over"):
        FitProgress.load(path)


def test_only_a_fit_of_the_same_weights_goes_on() -> None:
    settings = TunerSettings()
    assert FitProgress.begin(settings, UNIT, 100).continues(settings, 100)
    fewer = [0.0] * 2 * (COUNT - 1)
    earlier = FitProgress.begin_at(fewer, settings, UNIT, 100, fewer)
    assert not earlier.continues(settings, 100)


def test_a_fit_of_weights_that_were_replaced_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be written as better than the present weights, with which it was never compared."""
    settings = TunerSettings()
    earlier = FitProgress.begin(settings, UNIT, 100)
    first, *others = tuned.VALUES["material"]
    monkeypatch.setitem(tuned.VALUES, "material", ((first[0] + 1, first[1]), *others))
    assert not earlier.continues(settings, 100)
    assert FitProgress.begin(settings, UNIT, 100).continues(settings, 100)


def test_the_best_epoch_is_kept_and_not_the_last(samples: Samples, tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    fit = Fit(samples, samples, FitProgress.begin(TunerSettings(epochs=4, step_cp=3.0, trust=0.0), UNIT, len(samples)))
    losses = iter([0.5, 0.3, 0.2, 0.4, 0.6])
    fit.held_out_loss = lambda: next(losses)  # type: ignore[method-assign]
    kept = []
    for _ in fit.run(path):
        kept.append(list(fit.progress.values))
    assert (fit.progress.best_epoch, fit.progress.best_loss) == (2, 0.2)
    assert fit.progress.best == kept[1] != kept[3]
    assert FitProgress.load(path) == fit.progress


def test_if_no_epoch_is_better_the_present_weights_are_the_best(samples: Samples, tmp_path: Path) -> None:
    fit = Fit(samples, samples, FitProgress.begin(TunerSettings(epochs=2, trust=0.0), UNIT, len(samples)))
    losses = iter([0.2, 0.3, 0.4])
    fit.held_out_loss = lambda: next(losses)  # type: ignore[method-assign]
    list(fit.run(tmp_path / "progress.json"))
    assert fit.progress.best_epoch == 0
    assert fit.progress.best == fit.progress.start


def test_whole_games_are_held_out(tmp_path: Path) -> None:
    shard = tmp_path / "0001-000000.shard"
    written = records(40)[0][::8]
    shard.write_bytes(b"".join(written))
    learnt, held_out = load([shard], len(written))
    assert len(learnt) + len(held_out) == len(written)
    assert 0 < len(held_out) < len(learnt)


def test_positions_of_search_trees_are_neither_used_nor_counted(tmp_path: Path) -> None:
    position, _ = parse_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    one = Sample(*snapshot(position), 0, Result.DRAWN, 0)
    in_games = [encode(replace(one, game=game)) for game in range(40)]
    in_trees = [encode(replace(one, game=game, result=Result.UNKNOWN)) for game in range(40)]
    paths = [tmp_path / f"0001-00000{number}.shard" for number in range(2)]
    for path in paths:
        path.write_bytes(b"".join([*in_games, *in_trees, *in_trees]))
    learnt, held_out = load(paths, 80)
    assert len(learnt) + len(held_out) == 80
    learnt_alone = [record for game, record in enumerate(in_games) if not is_held_out(paths[0].stem, game)]
    paths[0].write_bytes(b"".join([*learnt_alone, *in_trees]))
    with pytest.raises(InvalidRecord, match="too few games"):
        load(paths[:1], 80)


def test_a_damaged_shard_is_named(tmp_path: Path) -> None:
    good = records(12)[0]
    path = tmp_path / "0001-000001.shard"
    path.write_bytes(b"".join(good)[:-1])
    with pytest.raises(InvalidRecord, match="ends within a record"):
        load([path], 1000)
    path.write_bytes(b"".join(good) + b"\xff" * len(good[0]))
    with pytest.raises(InvalidRecord, match="is not a chess position"):
        load([path], 1000)


def test_games_of_a_variant_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "0001-000001.shard"
    one = Sample((5, 11) + (12,) * 62, False, True, 0, Result.DRAWN, 0, "threeCheck", (0, 6))
    path.write_bytes(b"".join(encode(replace(one, game=game)) for game in range(40)))
    with pytest.raises(InvalidRecord, match="games are of a variant, expected standard chess"):
        load([path], 1000)


def test_the_written_module_holds_the_values() -> None:
    values = tuned_values()
    values[2 * TERMS["tempo"].first] += 7
    scope: dict[str, dict[str, tuple[tuple[int, int], ...]]] = {}
    exec(module_text(named(values), "For a test."), scope)
    assert scope["VALUES"]["tempo"][0][0] == tuned.VALUES["tempo"][0][0] + 7
    assert {name: len(pairs) for name, pairs in scope["VALUES"].items()} == {
        name: term.size for name, term in TERMS.items()
    }


def test_the_mean_of_a_square_table_moves_into_material() -> None:
    values = tuned_values()
    squares = TERMS["knight_squares"].first
    before = named(values)["material"][1]
    for square in range(32):
        values[2 * (squares + square)] += 10
    assert named(values)["material"][1] == (before[0] + 10, before[1])
