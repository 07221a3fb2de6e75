"""SPSA: what it learns from games, its bounds, resuming; the tunable build that plays the games."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli.main import run as run_command
from engine.core import params
from engine.selfplay.records import InvalidRecord
from engine.training import spsa
from engine.training.spsa import SpsaPlan, Trial, TunedPlayer, Tuning, verify
from engine.training.tunable import NotTunable, Numbers, Parameter, read_parameters
from tests.patience import until
from tests.scripts import run_python

PARAMETERS = (Parameter("RISING", 20, 0, 100), Parameter("FALLING", 800, 0, 1000), Parameter("BOUND", 5, 4, 8))
BEST = {"RISING": 70, "FALLING": 300}             # and BOUND is the better the higher
PLAN = SpsaPlan(PARAMETERS, pairs=4000, step=0.1, rate=0.02)


def weakness(numbers: dict[str, int]) -> float:
    """Return the share of the points that these numbers lose: more, the farther they are from the best."""
    rising, falling, bound = (numbers[parameter.name] for parameter in PARAMETERS)
    return ((rising - BEST["RISING"]) / 100) ** 2 + ((falling - BEST["FALLING"]) / 1000) ** 2 - 0.1 * bound


def half_points(trial: Trial) -> int:
    """Play two games that chance decides, by the difference in weakness."""
    chance = random.Random(trial.number)
    expected = 0.5 + (weakness(trial.second) - weakness(trial.first)) / 2
    return sum(2 * (chance.random() < expected) for _ in range(2))


def learn(tuning: Tuning, plan: SpsaPlan, until: int) -> None:
    while tuning.pairs < until:
        trial = tuning.trial(plan, tuning.pairs)
        tuning.learn(plan, trial, half_points(trial))


def test_games_decided_half_by_chance_lead_to_the_best_numbers() -> None:
    tuning = Tuning.begin(PLAN)
    learn(tuning, PLAN, PLAN.pairs)
    assert abs(tuning.values["RISING"] - BEST["RISING"]) <= 10
    assert abs(tuning.values["FALLING"] - BEST["FALLING"]) <= 100


def test_a_number_never_leaves_its_bounds() -> None:
    tuning = Tuning.begin(PLAN)
    seen: set[float] = set()
    for number in range(1000):
        trial = tuning.trial(PLAN, number)
        tuning.learn(PLAN, trial, half_points(trial))
        seen |= {trial.first["BOUND"], trial.second["BOUND"], tuning.values["BOUND"]}
    assert max(seen) == 8
    assert min(seen) >= 4


def test_a_step_smaller_than_one_is_tried_as_often_as_it_is_long() -> None:
    plan = SpsaPlan((Parameter("SMALL", 5, 4, 8),), pairs=1, step=0.0625)      # a quarter of 1
    tuning = Tuning.begin(plan)
    trials = [tuning.trial(replace(plan, seed=seed), 0) for seed in range(2000)]
    higher = [trial.first["SMALL"] if trial.directions == (1,) else trial.second["SMALL"] for trial in trials]
    assert set(higher) == {5, 6}
    assert abs(higher.count(6) / len(higher) - 0.25) < 0.05


def test_steps_and_moves_become_smaller_until_they_are_as_asked_for() -> None:
    steps = [PLAN.step_at(number) for number in range(PLAN.pairs)]
    moves = [PLAN.move_at(number) for number in range(PLAN.pairs)]
    assert steps == sorted(steps, reverse=True)
    assert steps[-1] == PLAN.step
    assert moves[100] > moves[1000] > moves[-1] == pytest.approx(PLAN.rate * PLAN.step, rel=0.001)


def test_an_interrupted_run_learns_the_same(tmp_path: Path) -> None:
    whole, cut = Tuning.begin(PLAN), Tuning.begin(PLAN)
    learn(whole, PLAN, 300)
    learn(cut, PLAN, 100)
    cut.save(tmp_path / "spsa.json")
    resumed = Tuning.load(tmp_path / "spsa.json")
    learn(resumed, PLAN, 300)
    assert resumed == whole


@pytest.mark.parametrize("text", ["", "[]", '{"values": 3}', '{"values": {"NUMBER": 1}, "pairs": 2, "curve": [3]}'])
def test_a_damaged_state_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "spsa.json"
    path.write_text(text)
    with pytest.raises(InvalidRecord, match=r"spsa\.json is damaged: remove it to start over"):
        Tuning.load(path)


def test_the_options_of_a_run_are_exact(tmp_path: Path) -> None:
    Tuning.begin(replace(PLAN, seed=20261128, nodes=5000, step=0.1, rate=0.004)).save(tmp_path / "spsa.json")
    options = "--nodes 5000 --seed 20261128 --step 0.1 --rate 0.004"
    assert Tuning.load(tmp_path / "spsa.json").options() == options


def test_the_picture_shows_the_numbers_that_moved_farthest() -> None:
    parameters = tuple(Parameter(f"NUMBER_{number}", 50, 0, 100) for number in range(12))
    tuning = Tuning.begin(SpsaPlan(parameters, pairs=20))
    tuning.values |= {"NUMBER_3": 90.0, "NUMBER_7": 10.0}
    tuning.curve.append((10, dict(tuning.values)))
    picture = tuning.picture(parameters)
    assert "NUMBER_3, 0 to 100" in picture
    assert "NUMBER_7, 0 to 100" in picture
    assert picture.count("<polyline") == 8


def test_every_bound_in_the_section_of_the_search_is_read() -> None:
    text = Path(params.__file__).read_text()
    found = read_parameters(text)
    section = text[text.index("# --- Search ") : text.index("# --- WDL")]
    assert len(found) == sum("sane" in line for line in section.splitlines())
    for parameter in found:
        assert parameter.low <= parameter.value == getattr(params, parameter.name) <= parameter.high, parameter.name


def test_the_installed_engine_has_fixed_numbers() -> None:
    with pytest.raises(NotTunable, match="has fixed numbers"):
        Numbers({}).use()


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["spsa", str(tmp_path), "--only", "LATE_MOV_BASE"]) == 2
    assert "no number of this name with bounds; did you mean LATE_MOVE_BASE?" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_the_final_match_has_openings_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if a run is asked for fewer games than it has played."""
    tuning = Tuning.begin(PLAN)
    tuning.pairs = 30
    monkeypatch.setattr(spsa, "run_parallel", lambda play, trials, workers: ((it, it.number) for it in trials))
    for pairs, first in ((10, 30), (50, 50)):
        assert sorted(verify(replace(PLAN, pairs=pairs), tuning, 3, workers=1)) == [first, first + 1, first + 2]


def test_a_run_plays_the_missing_pairs_and_the_final_match_the_tuned_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[Trial] = []

    def play(how: object, trials: Iterable[Trial], workers: int) -> Iterator[tuple[Trial, int]]:
        for trial in trials:
            played.append(trial)
            yield trial, half_points(trial) if trial.second else 4

    monkeypatch.setattr(spsa, "run_parallel", play)
    plan, begun, whole = replace(PLAN, pairs=9), Tuning.begin(PLAN), Tuning.begin(PLAN)
    learn(begun, plan, 6)
    learn(whole, plan, 9)
    assert len(list(spsa.run(plan, begun, workers=1))) == 3
    assert begun == whole
    assert [trial.number for trial in played] == [6, 7, 8]
    assert list(verify(plan, begun, 1, workers=1)) == [4]
    assert (played[-1].first, played[-1].second) == (begun.rounded(), {})
    assert begun.rounded().keys() == begun.values.keys()


def test_a_folder_that_tunes_other_numbers_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("engine.cli.spsa._run_in_build", lambda build: None)
    Tuning.begin(PLAN).save(tmp_path / "spsa.json")
    assert run_command(["spsa", str(tmp_path), "--only", "LATE_MOVE_BASE"]) == 2
    begun = " ".join(f"--only {parameter.name}" for parameter in PLAN.parameters)
    assert f"was begun with {begun}: give the same, or choose another folder" in capsys.readouterr().err


@pytest.mark.long
def test_a_run_that_is_killed_continues_and_then_plays_its_numbers(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "engine", "spsa", str(tmp_path), "--games", "100", "--nodes", "300"]
    command += ["--verify", "4", "--processes", "2", "--only", "REDUCE_LESS_*", "--only", "LATE_MOVE_BASE"]
    with subprocess.Popen(command, start_new_session=True) as first:
        until(lambda: (tmp_path / "spsa.json").exists() or first.poll() is not None, patience_s=1800.0)
        os.killpg(first.pid, signal.SIGKILL)
    saved = json.loads((tmp_path / "spsa.json").read_text())
    assert 0 < saved["pairs"] < 50
    other = subprocess.run([*command, "--nodes", "400"], capture_output=True, text=True, check=False)
    assert "was begun with --nodes 300 --seed 1 --step 0.1 --rate 0.004: give the same" in other.stderr
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "compiling" not in second.stdout
    assert "LATE_MOVE_BASE = " in second.stdout
    assert "tuned against present numbers: 4 games" in second.stdout
    assert json.loads((tmp_path / "spsa.json").read_text())["pairs"] == 50
    assert searched_in(tmp_path / "build") == "True True"


def searched_in(build: Path) -> str:
    """Return whether equal numbers play the same in the tunable build, and others differently."""
    script = f"from {__name__} import differences; print(*differences())"
    return run_python(script, PYTHONPATH=f"{build}:{Path(__file__).parents[3]}").strip()


def differences() -> tuple[bool, bool]:
    from engine.board import Board

    def scores(numbers: dict[str, int]) -> list[int]:
        board = Board("r1bqk2r/1pp4p/p1n1p3/3p1p2/3Pn1PR/P2BPN2/P1P2P2/R1BQK3 w Qkq - 1 7")
        player = TunedPlayer(numbers, 3000)
        return [player.search(board).white_score for _ in range(3)]

    usual = scores({})
    changed = [scores({name: value}) for name, value in (("LATE_MOVE_BASE", 300), ("HISTORY_BONUS", 100))]
    return usual == scores({}), all(other != usual for other in changed)
