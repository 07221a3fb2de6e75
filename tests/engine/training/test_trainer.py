"""The trainer: gradients, learning, checkpoints and the written network."""

from array import array
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engine.evaluation import net_file
from engine.evaluation.net_file import InvalidNet
from engine.selfplay.records import VARIANT_SHIFT, InvalidRecord, encode
from engine.training.data import Data, load, newest_shards
from engine.training.export import card_path, train_network
from engine.training.features import pack
from engine.training.float_net import FloatNet
from engine.training.plot import Curve, svg
from engine.training.trainer import Training, TrainingSettings, dequantise, quantise, rate_at
from tests.engine.nets import material_net, random_net, slow_score
from tests.engine.shards import random_samples, write_shards
from tests.scripts import run_python

SETTINGS = TrainingSettings(hidden=32, epochs=6, batch=256, rate=0.01, checks=6, unit_cp=400)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shards")
    write_shards(place, count=4, games=45)
    return place


@pytest.fixture(scope="module")
def data(folder: Path) -> Data:
    return load(sorted(folder.glob("*.shard")), 10**6)


@pytest.fixture(scope="module")
def few(folder: Path) -> Data:
    """Half of the data, for tests in which nothing need be learnt."""
    return load(sorted(folder.glob("*.shard"))[:2], 10**6)


@pytest.mark.parametrize(
    ("buckets", "threats", "unit_cp"), [(1, 1, 400.0), (8, 1, 400.0), (8, 1, 250.0), (8, 8, 400.0)]
)
def test_the_gradients_are_those_of_the_loss(buckets: int, threats: int, unit_cp: float) -> None:
    words = pack(b"".join(map(encode, random_samples(4))))
    count = len(words) // 4
    net = FloatNet(32, buckets, threats, 1, 7)
    net.set_target(0.7, unit_cp)
    row = net.rows()[0]
    bias = net_file.PLACES * threats * 32
    output = bias + 32
    row[bias:output] = memoryview(array("f", [0.3] * 32))              # some activations inside, some clamped
    row[output:] = memoryview(array("f", [weight * 8 for weight in row[output:]]))
    order = array("i", (2 * number + number % 2 for number in range(count)))
    net.errors(words, order, 0, count, 0, True)
    gradients = net.gradient_row(0).tolist()
    for begin, end in pairwise((0, bias, output, net.output_bias, net.size)):
        steepest = sorted(range(begin, end), key=lambda index: -abs(gradients[index]))[:5]
        for index in steepest:
            kept, losses = row[index], []
            for change in (-0.001, 0.001):
                row[index] = kept + change
                losses.append(net.errors(words, order, 0, count, 0, False))
            row[index] = kept
            assert (losses[1] - losses[0]) / 0.002 == pytest.approx(gradients[index], rel=0.03)


def test_training_fits_a_small_set(data: Data) -> None:
    training = Training(data, SETTINGS)
    before = training.loss(training.best)
    checks = list(training.run())
    assert checks[-1].learnt < 0.3 * before
    assert training.loss(training.best) == min(check.held_out for check in checks) < 0.5 * before


def test_the_same_seed_and_threads_give_the_same_net(few: Data) -> None:
    nets = []
    for settings in (SETTINGS, SETTINGS, replace(SETTINGS, seed=2)):
        training = Training(few, replace(settings, epochs=1))
        list(training.run())
        nets.append(training.best)
    assert nets[0] == nets[1] != nets[2]


def test_a_resumed_training_ends_like_an_uninterrupted_one(few: Data, tmp_path: Path) -> None:
    settings = replace(SETTINGS, epochs=2)
    whole = Training(few, settings)
    list(whole.run())
    half = Training(few, settings)
    checks = half.run()
    for _ in range(3):
        next(checks)
    half.save(tmp_path / "checkpoint")
    rest = Training(few, settings)
    assert rest.resume(tmp_path / "checkpoint")
    list(rest.run())
    assert rest.checks == whole.checks
    assert rest.best == whole.best
    assert rest.net.rows()[0] == whole.net.rows()[0]


def test_a_checkpoint_of_another_training_is_ignored(few: Data, tmp_path: Path) -> None:
    training = Training(few, SETTINGS)
    next(training.run())
    training.save(tmp_path / "checkpoint")
    assert not Training(few, replace(SETTINGS, seed=9)).resume(tmp_path / "checkpoint")
    assert not Training(replace(few, origin="other"), SETTINGS).resume(tmp_path / "checkpoint")
    assert not Training(few, SETTINGS).resume(tmp_path / "none")


def test_a_training_may_continue_with_other_threads(few: Data, tmp_path: Path) -> None:
    settings = replace(SETTINGS, epochs=2, threads=1)
    whole, half = Training(few, settings), Training(few, settings)
    next(half.run())
    half.save(tmp_path / "checkpoint")
    rest = Training(few, replace(settings, threads=3))
    assert rest.resume(tmp_path / "checkpoint")
    expected, found = list(whole.run()), half.checks + list(rest.run())
    assert [check.step for check in found] == [check.step for check in expected]
    assert [check.held_out for check in found] == pytest.approx([check.held_out for check in expected], rel=0.01)


def test_a_training_that_replaces_another_says_so(
    few: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, output = replace(SETTINGS, epochs=1), tmp_path / "new.net"
    training = Training(few, settings)
    next(training.run())
    for other, says_so in ((replace(settings, seed=9), True), (settings, False)):
        training.save(tmp_path / "new.net.checkpoint")
        train_network(few, other, output, replace=True)
        assert ("begins anew: the checkpoint is of other" in capsys.readouterr().out) is says_so


@pytest.mark.parametrize("kept", [0, 20, -3, -4])
def test_a_damaged_checkpoint_is_named(kept: int, few: Data, tmp_path: Path) -> None:
    """A power cut can leave an empty or a short file."""
    training, checkpoint = Training(few, SETTINGS), tmp_path / "checkpoint"
    training.save(checkpoint)
    checkpoint.write_bytes(checkpoint.read_bytes()[:kept])
    with pytest.raises(InvalidRecord, match="checkpoint is damaged: remove it to start over"):
        training.resume(checkpoint)


def test_training_can_start_from_a_network(
    few: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = random_net(3, 32, 8, threats=8)
    training = Training(few, SETTINGS, first)
    assert training.best == dequantise(first)
    next(training.run())
    training.save(tmp_path / "checkpoint")
    assert Training(few, SETTINGS, first).resume(tmp_path / "checkpoint")
    for other in (None, random_net(4, 32, 8, threats=8)):
        assert not Training(few, SETTINGS, other).resume(tmp_path / "checkpoint")
    card = train_network(few, replace(SETTINGS, epochs=1), tmp_path / "second.net", first)
    assert card["begun_with"] == first.name == "random 3"
    assert "held out, random 3, with whose weights it begins: 0." in capsys.readouterr().out


def test_a_network_that_learns_threats_begins_as_if_there_were_none(data: Data) -> None:
    first = random_net(3, 32, 8)
    training = Training(data, SETTINGS, first)
    reader = FloatNet(32, 8, 1, 1, 0)
    reader.rows()[0][:] = memoryview(dequantise(first))
    words = pack(b"".join(map(encode, random_samples(2))))
    assert len(words) // 4 > 100
    for record in range(len(words) // 4):
        assert training.net.output_of(words, record) == reader.output_of(words, record)


def test_what_one_threat_teaches_moves_all_threats_of_the_place() -> None:
    net = FloatNet(32, 8, 8, 2, 7)
    before = net.rows()[0].tolist()
    place, threat, index = 100, 5, 17
    net.gradient_row(0)[(8 * place + threat) * 32 + index] = 0.5
    net.gradient_row(1)[(8 * place + threat) * 32 + index] = 0.25
    net.step_common(0, 768, 1, 0.1, 0.01)
    moved = {number: after - weight for number, (after, weight) in enumerate(zip(net.rows()[0], before, strict=True))}
    assert {number: move for number, move in moved.items() if move} == {
        (8 * place + row) * 32 + index: pytest.approx(-0.01, rel=1e-3) for row in range(8)
    }


def test_a_variant_begins_with_the_weights_of_safe_pieces(data: Data) -> None:
    atomic = array("Q", data.training)
    for last in range(3, len(atomic), 4):
        atomic[last] |= 1 << 24 + VARIANT_SHIFT
    first = random_net(3, 32, 8, threats=8)
    training = Training(replace(data, training=atomic, is_of_variant=True), SETTINGS, first)
    weights = training.net.rows()[0]
    for place in (0, 100, 767):
        safe = first.feature_weights[(8 * place + 1) * 32 : (8 * place + 2) * 32]
        assert weights[place * 32 : (place + 1) * 32].tolist() == pytest.approx([weight / 255 for weight in safe])


@pytest.mark.parametrize("setting", [{"hidden": 64}, {"buckets": 1}])
def test_training_cannot_start_from_another_shape(data: Data, setting: dict[str, int]) -> None:
    option, wanted = next((f"--{name.replace('_', '-')}", value) for name, value in setting.items())
    with pytest.raises(InvalidNet, match=f"random 3 .* has {option} .*, expected {wanted}"):
        Training(data, replace(SETTINGS, **setting), random_net(3, 32, 8))


def test_a_network_of_another_scale_keeps_its_centipawns() -> None:
    """Except for weights that are clipped."""
    first = random_net(3, 32, 8)
    assert first.scale == 400
    small = replace(first, output_weights=array("h", (weight // 2 for weight in first.output_weights)))
    taken = quantise(dequantise(small), SETTINGS, "taken")
    assert taken.scale == 200
    assert taken.output_weights == array("h", (2 * weight for weight in small.output_weights))
    assert taken.output_bias == array("i", (2 * bias for bias in small.output_bias))
    large = replace(first, output_weights=array("h", [100, -100] * (len(first.output_weights) // 2)))
    assert set(quantise(dequantise(large), SETTINGS, "cut").output_weights) == {127, -127}


@pytest.mark.parametrize("unit_cp", [200, 400, 800])
def test_the_logistic_unit_does_not_change_centipawns(data: Data, unit_cp: int) -> None:
    """Records and network both score the material."""
    training = Training(data, replace(SETTINGS, buckets=1, unit_cp=unit_cp), material_net())
    assert training.loss(training.best) < 0.0005


def test_only_hindsight_changes_the_scores(folder: Path, data: Data) -> None:
    paths = sorted(folder.glob("*.shard"))
    assert load(paths, 10**6, 0.0, 280) == data
    wiser = load(paths, 10**6, 0.3, 280)
    assert wiser.training_count == data.training_count
    changed = sum(ours != theirs for ours, theirs in zip(wiser.training, data.training, strict=True))
    assert changed > data.training_count / 2


def test_early_stopping(data: Data) -> None:
    training = Training(data, replace(SETTINGS, rate=0.03, epochs=400, batch=1024, checks=400, patience=3, decay=0.0))
    checks = list(training.run())
    losses = [check.held_out for check in checks]
    assert training.step < training.steps
    assert len(losses) - 1 - losses.index(min(losses)) == 3


@pytest.mark.parametrize("buckets", [1, 8])
def test_the_written_network_matches_the_trained_one(few: Data, buckets: int) -> None:
    settings = replace(SETTINGS, epochs=2, buckets=buckets)
    training = Training(few, settings)
    list(training.run())
    net = quantise(training.best, settings, "small")
    assert training.loss(dequantise(net)) == pytest.approx(training.loss(training.best), rel=0.02)
    sample = random_samples(1)[40]
    reader = FloatNet(32, buckets, 8, 1, 0)
    reader.rows()[0][:] = memoryview(training.best)
    output_cp = 200 * reader.output_of(pack(encode(sample)), 0)
    assert abs(slow_score(net, sample.board, sample.black_to_move) - output_cp) < 15


def test_every_weight_fits_the_file(few: Data) -> None:
    training = Training(few, replace(SETTINGS, epochs=2, rate=1.0, decay=0.0))
    list(training.run())
    weights = training.net.rows()[0].tolist()
    bias, output_bias = training.net.bias, training.net.output_bias
    assert max(map(abs, weights[:bias])) == pytest.approx(127 / 255)
    assert max(map(abs, weights[bias:output_bias])) == 127 / 64
    quantise(training.best, training.settings, "wild")                 # raises InvalidNet for a weight too large


def test_the_learning_rate_rises_then_falls() -> None:
    rates = [rate_at(step / 1000) for step in range(1, 1001)]
    assert rates.index(max(rates)) == 29
    assert rates[:30] == sorted(rates[:30])
    assert rates[29:] == sorted(rates[29:], reverse=True)
    assert rates[-1] == pytest.approx(0.02)


def test_whole_games_are_held_out_and_stay_so(folder: Path, data: Data) -> None:
    games = {(words[place + 3] >> 32) for words in (data.held_out,) for place in range(0, len(words), 4)}
    assert 0 < data.held_out_count < 0.15 * data.training_count
    assert data.held_out_count >= 30 * len(games)                      # positions of a random game come together
    fewer = load(sorted(folder.glob("*.shard"))[1:], 10**6)
    assert set(fewer.held_out) <= set(data.held_out)


def test_the_newest_positions_are_used(folder: Path) -> None:
    paths = sorted(folder.glob("*.shard"))
    assert newest_shards(paths, 1) == paths[-1:]
    assert newest_shards(paths, paths[-1].stat().st_size // 32 + 1) == paths[-2:]
    assert newest_shards(paths, 10**9) == paths


def test_a_damaged_shard_is_named(tmp_path: Path) -> None:
    path = write_shards(tmp_path, count=1, games=4)[0]
    content = bytearray(path.read_bytes())
    content[32 * 5 + 26] = 9
    path.write_bytes(content)
    with pytest.raises(InvalidRecord, match=r"0001-000000.shard: record 5"):
        load([path], 10**6)
    path.write_bytes(content[:100])
    with pytest.raises(InvalidRecord, match="ends within a record"):
        load([path], 10**6)


def test_games_of_standard_chess_and_of_a_variant_are_not_mixed(tmp_path: Path) -> None:
    path, other = write_shards(tmp_path, count=2, games=4)
    content = bytearray(other.read_bytes())
    content[27::32] = bytes(side | 5 << VARIANT_SHIFT for side in content[27::32])
    other.write_bytes(content)
    with pytest.raises(InvalidRecord, match="games of atomic and standard together, expected one of them"):
        load([path, other], 10**6)


def test_a_network_comes_with_card_and_curve(
    few: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "small.net"
    card = train_network(few, replace(SETTINGS, epochs=2), output)
    assert net_file.read(output).name == "small"
    assert card["losses"]["as_written"] == pytest.approx(card["losses"]["held_out"], rel=0.02)
    assert '"positions"' in card_path(output).read_text()
    assert "<polyline" in output.with_suffix(".svg").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.json", "small.net", "small.svg"]
    assert "positions/s" in capsys.readouterr().out


def test_a_falling_curve_is_drawn_downwards() -> None:
    curves = [Curve("learnt", "red", [(100, 0.1), (200, 0.01)]), Curve("level", "blue", [(200, 0.05)])]
    picture = svg("a & b", curves, "positions", logarithmic=True)
    assert "a &amp; b" in picture
    falling, level = (line.split('"')[1] for line in picture.splitlines() if line.startswith("<polyline"))
    first, last = (float(point.split(",")[1]) for point in falling.split())
    assert first < last                                                # SVG counts from the top
    assert len({point.split(",")[1] for point in level.split()}) == 1


LOSS = """
import sys
from array import array
from pathlib import Path
from engine.training.data import read_words
from engine.training.float_net import FloatNet
words = read_words(Path(sys.argv[1]))
net = FloatNet(32, 8, True, 1, 5)
net.set_target(0.7, 400.0)
order = array("i", range(0, len(words) // 2, 2))
print(net.errors(words, order, 0, 100, 0, True), *net.gradient_row(0)[-600:])
"""


@pytest.mark.parametrize("environment", [{"ENGINE_PORTABLE": "1"}, {"ENGINE_PURE": "1"}], ids=["portable", "plain"])
def test_every_build_computes_the_same_but_for_rounding(folder: Path, environment: dict[str, str]) -> None:
    shard = str(min(folder.glob("*.shard")))
    runs = (run_python(LOSS, shard, **variables) for variables in ({"ENGINE_PURE": ""}, environment))
    fastest, other = ([float(word) for word in output.split()] for output in runs)
    assert other == pytest.approx(fastest, rel=1e-3, abs=1e-5)
    assert len(fastest) == 601
    assert any(fastest[1:])
