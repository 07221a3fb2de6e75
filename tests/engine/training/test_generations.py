"""The training loop: its steps, resuming, promotion and log."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli.main import run
from engine.evaluation import net_file
from engine.selfplay import match, records
from engine.selfplay.match import Match
from engine.selfplay.records import InvalidRecord
from engine.selfplay.worker_pool import Workers
from engine.training import generations as learning
from engine.training.generations import Generation, LoopPlan, TrainingLoop, Verdict, log_text
from engine.training.statistics import read_statistics
from engine.training.trainer import TrainingSettings
from tests.patience import until

SETTINGS = TrainingSettings(hidden=32, epochs=1, batch=64, checks=2)


def plan(folder: Path) -> LoopPlan:
    return LoopPlan(
        folder,
        generations=1,
        minutes=0.001,
        settings=SETTINGS,
        nodes=20,
        games=4,
        match_nodes=20,
        confidence=0.5,
        workers=1,
        games_per_shard=60,
    )


def learn_words(folder: Path) -> tuple[str, ...]:
    """Return the command with about the options of `plan`."""
    options = "--minutes 0.001 --nodes 20 --games 2 --match-nodes 20 --processes 1 --games-per-shard 60 --hidden 32"
    return ("learn", str(folder), "--generations", "1", *options.split())


class CutOff(Exception):
    """Stands for anything that ends the process."""


def one_pair_then_cut_off(rivals: Match, numbers: Iterable[int], workers: Workers) -> Iterator[tuple[int, int]]:
    for number in numbers:
        yield number, 4
        raise CutOff


def all_won(rivals: Match, numbers: Iterable[int], workers: Workers) -> Iterator[tuple[int, int]]:
    return ((number, 4) for number in numbers)


def all_lost(rivals: Match, numbers: Iterable[int], workers: Workers) -> Iterator[tuple[int, int]]:
    return ((number, 0) for number in numbers)


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one real generation, whose match was interrupted once."""
    folder = tmp_path_factory.mktemp("loop")
    real = match.play
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match, "play", one_pair_then_cut_off)
        with pytest.raises(CutOff):
            TrainingLoop(plan(folder)).run()
        patch.setattr(match, "play", real)
        TrainingLoop(plan(folder)).run()
    return folder


@pytest.fixture
def folder(turned: Path, tmp_path: Path) -> Path:
    """A copy to continue."""
    return Path(shutil.copytree(turned, tmp_path / "elsewhere"))


def test_a_generation_writes_games_a_network_and_a_card(turned: Path) -> None:
    assert [path.name for path in (turned / "shards").iterdir()] == ["gen-0001-000000-60.shard"]
    assert net_file.read(turned / "nets" / "gen-001.net").hidden == 32
    card = json.loads((turned / "nets" / "gen-001.json").read_text())
    assert card["verdict"] in set(Verdict)
    assert card["match"]["games"] == 4
    assert card["match"]["against"] == "none"
    assert card["positions"] > 1000
    assert card["play_hours"] >= 0
    assert TrainingLoop(plan(turned)).generations[0].play_s > 0


def test_a_variant_has_a_loop_of_its_own(tmp_path: Path) -> None:
    loop = TrainingLoop(replace(plan(tmp_path), variant="crazyhouse"))
    loop.run()
    card = json.loads((tmp_path / "nets" / "gen-001.json").read_text())
    assert card["losses"]["hand_written"] is None
    assert card["match"]["games"] == 4
    assert len((tmp_path / "LOG.md").read_text().splitlines()) == len(log_text([]).splitlines()) + 1
    assert read_statistics(records.shards(tmp_path / "shards")).positions > 60


def test_an_interrupted_generation_does_not_go_on_with_another_variant(folder: Path) -> None:
    with pytest.raises(InvalidRecord, match=r"gen-0001-000000-60\.shard: games of other rules, expected crazyhouse"):
        TrainingLoop(replace(plan(folder), variant="crazyhouse"))


def test_an_interrupted_match_goes_on_with_its_nodes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = folder / "loop.json"
    (saved,) = json.loads(state.read_text())
    state.write_text(json.dumps([saved | {"verdict": None, "pairs": {"0": 4}}]))
    nodes = []

    def note(rivals: Match, numbers: Iterable[int], workers: Workers) -> Iterator[tuple[int, int]]:
        nodes.append(rivals.nodes)
        return all_won(rivals, numbers, workers)

    monkeypatch.setattr(match, "play", note)
    TrainingLoop(replace(plan(folder), match_nodes=5000)).run()
    assert nodes == [20]
    assert json.loads((folder / "nets" / "gen-001.json").read_text())["match"]["nodes"] == 20


def test_an_interrupted_match_keeps_its_pairs(turned: Path) -> None:
    (generation,) = TrainingLoop(plan(turned)).generations
    assert generation.pairs["0"] == 4
    assert sorted(generation.pairs) == ["0", "1"]


def test_after_an_interrupted_training_no_games_are_played(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_off(*_: object, **options: object) -> None:
        raise CutOff

    monkeypatch.setattr(match, "play", all_won)
    with monkeypatch.context() as patch:
        patch.setattr(learning, "train_network", cut_off)
        with pytest.raises(CutOff):
            TrainingLoop(replace(plan(folder), generations=2)).run()
    shards = sorted((folder / "shards").iterdir())
    assert len(shards) == 2
    TrainingLoop(replace(plan(folder), generations=2)).run()
    assert sorted((folder / "shards").iterdir()) == shards
    assert [one.number for one in TrainingLoop(plan(folder)).generations] == [1, 2]


@pytest.mark.parametrize("left", ["", '{"name": "gen-0'])
def test_a_loop_that_was_cut_off_while_it_wrote_the_card_goes_on(left: str, folder: Path) -> None:
    saved = json.loads((folder / "loop.json").read_text())
    (folder / "loop.json").write_text(json.dumps([saved[0] | {"verdict": None}]))
    card = folder / "nets" / "gen-001.json"
    whole = card.read_text()
    card.write_text(left)
    TrainingLoop(plan(folder)).run()
    assert card.read_text() == whole


@pytest.mark.parametrize(("play", "verdict"), [(all_won, Verdict.PROMOTED), (all_lost, Verdict.REFUSED)])
def test_only_a_winning_network_is_promoted(
    folder: Path, play: object, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = json.loads((folder / "loop.json").read_text())
    (folder / "loop.json").write_text(json.dumps([saved[0] | {"pairs": {}, "verdict": None}]))
    monkeypatch.setattr(match, "play", play)
    loop = TrainingLoop(replace(plan(folder), confidence=0.8))
    loop.run()
    assert loop.generations[-1].verdict is verdict
    assert loop.best == ("gen-001.net" if verdict is Verdict.PROMOTED else "none")
    assert loop.evaluation(loop.best) == (str(loop.net_path(1)) if verdict is Verdict.PROMOTED else "none")


def test_a_teacher_of_another_loop_is_not_mistaken_for_the_network_of_that_name(
    turned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rivals = []

    def note(pairing: Match, numbers: Iterable[int], workers: Workers) -> Iterator[tuple[int, int]]:
        rivals.append((pairing.first, pairing.second))
        return all_won(pairing, numbers, workers)

    monkeypatch.setattr(match, "play", note)
    monkeypatch.chdir(turned / "nets")
    assert run((*learn_words(tmp_path), "--teacher", "gen-001.net")) == 0
    assert rivals == [(str(tmp_path / "nets" / "gen-001.net"), str((turned / "nets" / "gen-001.net").resolve()))]


def test_a_loop_is_not_continued_with_another_teacher(turned: Path) -> None:
    for teacher in (None, "none"):
        TrainingLoop(replace(plan(turned), teacher=teacher))
    with pytest.raises(InvalidRecord, match="was begun with --teacher none: give no other"):
        TrainingLoop(replace(plan(turned), teacher="<shipped>"))


@pytest.mark.parametrize("content", ["", "{", "[1]", '[{"number": 1}]', '[{"verdict": "perhaps"}]'])
def test_a_damaged_state_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "loop.json").write_text(content)
    with pytest.raises(InvalidRecord, match=r"loop\.json is damaged"):
        TrainingLoop(plan(tmp_path))


def test_a_finished_loop_does_nothing_and_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "loop.json").read_bytes()
    TrainingLoop(plan(folder)).run()
    assert (folder / "loop.json").read_bytes() == before
    assert capsys.readouterr().out == f"{folder} already has 1 generation; raise --generations\n"


def test_the_log_has_cost_and_gain(turned: Path) -> None:
    (generation,) = TrainingLoop(plan(turned)).generations
    line = (turned / "LOG.md").read_text().splitlines()[-1]
    assert line.startswith(f"| 1 | none | {generation.positions:,} |")
    assert f"| 4 | {generation.score().elo()[0]:+.0f} (" in line
    assert str(generation.verdict) in line


def test_an_unfinished_generation_is_not_in_the_log() -> None:
    assert log_text([Generation(1, "none")]) == log_text([])


def living(group: int) -> list[str]:
    """Return the living processes of a group, from /proc."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):                            # it ended while we looked
            state, _, process_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(process_group) == group and state != "Z":
                found.append(path.parent.name)
    return found


def test_a_signal_ends_the_loop_and_its_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "engine", "learn", str(tmp_path), "--generations", "1", "--minutes", "60"]
    options = ["--nodes", "20", "--games-per-shard", "10", "--processes", "2"]
    with subprocess.Popen([*command, *options], start_new_session=True, stderr=subprocess.PIPE) as loop:
        try:
            until((tmp_path / "loop.json").exists, "no shard was written", patience_s=300.0)
            loop.send_signal(signal.SIGTERM)
            _, said = loop.communicate(timeout=100)
            assert loop.returncode == 130
            assert said == b"\ninterrupted\n"
            until(lambda: not living(loop.pid))            # multiprocessing's own helper goes a little later
        finally:
            with suppress(ProcessLookupError):
                os.killpg(loop.pid, signal.SIGKILL)
    (generation,) = TrainingLoop(plan(tmp_path)).generations
    assert generation.play_s > 0
