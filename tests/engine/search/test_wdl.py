"""The WDL model: sound for every score and number of pieces, and fitted to results."""

import random
import re
import subprocess
import sys
from array import array
from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.score import MATE
from engine.search.wdl import OURS, Wdl, WdlModel, wdl_of
from engine.selfplay.records import Result, Sample, encode
from engine.training.data import Data
from engine.training.features import pack
from engine.training.wdl_fit import WdlFit, calibration, count, cross_entropy, fit, picture
from tests.engine.shards import random_samples, write_shards

TRUTH = WdlModel(200.0, -50.0, 120.0, 20.0, 900.0)


def test_chances_add_up_for_every_score_and_board() -> None:
    for score in range(-31000, 31001, 250):
        for pieces in range(2, 33):
            found = wdl_of(score, pieces)
            assert found.win + found.draw + found.loss == 1000
            assert min(found.win, found.draw, found.loss) >= 0, (score, pieces)


@pytest.mark.parametrize("pieces", [2, 3, 10, 20, 32])
def test_more_is_never_worse(pieces: int) -> None:
    found = [wdl_of(score, pieces) for score in range(-3000, 3001, 10)]
    assert [it.win for it in found] == sorted(it.win for it in found)
    assert [it.loss for it in found] == sorted((it.loss for it in found), reverse=True)


def test_both_sides_get_the_same_chances() -> None:
    for score in (0, 17, 120, 900, 5000, MATE - 3):
        ours, theirs = wdl_of(score, 20), wdl_of(-score, 20)
        assert (ours.win, ours.draw, ours.loss) == (theirs.loss, theirs.draw, theirs.win)


def test_a_mate_is_certain() -> None:
    assert wdl_of(MATE - 5, 12) == Wdl(1000, 0, 0)
    assert wdl_of(-MATE + 4, 12) == Wdl(0, 0, 1000)


def test_an_even_endgame_is_drawn_more_often_than_an_even_opening() -> None:
    assert wdl_of(0, 6).draw > 700
    assert wdl_of(0, 32).win > 250
    assert wdl_of(150, 32).win > wdl_of(150, 6).win


def test_a_rook_ahead_wins() -> None:
    assert wdl_of(600, 24).win > 750


# --- The fit ---------------------------------------------------------------------------------------------------------


def drawn(sample: Sample, rng: random.Random) -> Sample:
    """Return the sample with a random score and a result drawn from `TRUTH`."""
    score = rng.randrange(-1400, 1400)
    pieces = 64 - sample.board.count(12)
    win, draw, _ = TRUTH.shares(score, pieces)
    chance = rng.random()
    result = Result.WHITE_WON if chance < win else Result.DRAWN if chance < win + draw else Result.BLACK_WON
    return replace(sample, score_cp=score, result=result)


@pytest.fixture(scope="module")
def data() -> Data:
    """Return results drawn from a known model, a third of them held out."""
    rng = random.Random(6)
    samples = random_samples(20)[59::120]              # ten boards only, because more take longer to fit
    words: list[array[int]] = []
    for share in (30_000, 15_000):
        words.append(pack(b"".join(encode(drawn(rng.choice(samples), rng)) for _ in range(share))))
    return Data(words[0], words[1], games=1, origin="")


@pytest.fixture(scope="module")
def fitted(data: Data) -> WdlFit:
    return fit(data)


def test_the_fit_finds_the_model_behind_the_results(data: Data, fitted: WdlFit) -> None:
    assert fitted.held_out == pytest.approx(cross_entropy(TRUTH, count(data.held_out)), abs=0.003)
    for score in (-600, -200, 0, 100, 400, 900):
        for pieces in (20, 30):
            assert fitted.model.shares(score, pieces) == pytest.approx(TRUTH.shares(score, pieces), abs=0.03)


def test_only_a_true_model_is_calibrated(data: Data) -> None:
    counts = count(data.held_out)
    too_sure = TRUTH._replace(spread_cp=60.0)
    errors = [
        sum(abs(foretold - came) for foretold, came in points) / len(points)
        for points in (calibration(TRUTH, counts, 0), calibration(too_sure, counts, 0))
    ]
    assert errors[0] < 0.03 < 0.06 < errors[1]


def test_scores_count_from_the_view_of_the_side_ahead() -> None:
    """White is two pawns down and lost: a win for the leader, whichever side is to move."""
    board = random_samples(1)[0].board
    for black_to_move in (False, True):
        words = pack(encode(Sample(board, black_to_move, False, -200, Result.BLACK_WON, 0)))
        assert count(words) == {(205.0, 64 - board.count(12)): [1, 0, 0]}


def test_scores_beyond_adjudication_are_not_counted() -> None:
    board = random_samples(1)[0].board
    words = pack(encode(Sample(board, False, False, 1501, Result.WHITE_WON, 0)))
    assert count(words) == {}


def test_the_picture_shows_three_outcomes_and_the_diagonal(data: Data, fitted: WdlFit) -> None:
    drawing = picture(fitted, data)
    lines = [line.split('"')[1] for line in drawing.splitlines() if line.startswith("<polyline")]
    assert len(lines) == 4
    places = [tuple(map(float, point.split(","))) for point in lines[0].split()]
    assert places[0][0] < places[1][0]
    assert places[0][1] > places[1][1]                                 # SVG counts from the top


def test_the_command_prints_the_lines_for_params(tmp_path: Path) -> None:
    write_shards(tmp_path / "shards", count=1, games=30)
    target = tmp_path / "outcomes.svg"
    answer = subprocess.run(
        [sys.executable, "-P", "-m", "engine", "records", str(tmp_path / "shards"), "--wdl", str(target)],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "<polyline" in target.read_text()
    printed = re.findall(r"^(WDL_\w+) = -?[\d.]+$", answer.stdout, re.MULTILINE)
    assert printed == ["WDL_EVEN", "WDL_EVEN_PIECES", "WDL_SPREAD", "WDL_SPREAD_PIECES", "WDL_LIMIT"]


def test_our_numbers_make_a_sound_model() -> None:
    assert OURS.is_sound()
