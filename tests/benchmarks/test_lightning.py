"""Forfeits and broken games are found, and finished batches are kept."""

import io
import sys
from pathlib import Path

import chess.pgn
import pytest

from tests.benchmarks.batches import BatchFailed, Match, Table
from tests.benchmarks.children import ENGINE
from tests.benchmarks.lightning import Verdict, judge, report, twins, warnings_of
from tests.scripts import script

FOOLS_MATE = "1. f3 e5 2. g4 Qh4# 0-1"
REPETITION = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2"

# Plays `-rounds` pairs of fool's mates, all of them or, if a file `broken` lies in the folder, only one game.
FASTCHESS = f"""#!{sys.executable}
import sys
from pathlib import Path
broken = Path("../broken").exists()
games = 1 if broken else 2 * int(sys.argv[sys.argv.index("-rounds") + 1])
game = '[Result "0-1"]\\n[Termination "normal"]\\n\\n{FOOLS_MATE}\\n\\n'
Path("games.pgn").write_text(game * games)
print("Warning; No output from first")
"""


def game(termination: str, result: str, moves: str) -> chess.pgn.Game:
    text = f'[Result "{result}"]\n[Termination "{termination}"]\n\n{moves}\n'
    read = chess.pgn.read_game(io.StringIO(text))
    assert read is not None
    return read


@pytest.mark.parametrize(
    ("termination", "result", "moves", "verdict"),
    [
        ("normal", "0-1", FOOLS_MATE, Verdict.PLAYED),
        ("normal", "1/2-1/2", REPETITION, Verdict.PLAYED),
        ("normal", "1-0", FOOLS_MATE, Verdict.WRONG_RESULT),
        ("normal", "1/2-1/2", "1. Nf3 Nf6 1/2-1/2", Verdict.WRONG_RESULT),
        ("normal", "1-0", "1. e4 e5 2. Kd3 1-0", Verdict.UNREPLAYABLE),
        ("time forfeit", "0-1", "1. e4 0-1", Verdict.TIME),
        ("illegal move", "0-1", "1. e4 0-1", Verdict.ILLEGAL),
        ("abandoned", "0-1", "1. e4 0-1", Verdict.ABANDONED),
        ("unterminated", "*", "1. e4 *", Verdict.UNFINISHED),
    ],
)
def test_every_end_of_a_game_is_distinguished(termination: str, result: str, moves: str, verdict: Verdict) -> None:
    assert judge(game(termination, result, moves)) is verdict


@pytest.fixture
def match(tmp_path: Path) -> Match:
    fastchess = script(tmp_path / "fastchess", FASTCHESS)
    folder = tmp_path / "games"
    folder.mkdir()
    return Match(Table(fastchess, at_random=True), twins(ENGINE.command, "1+0.01"), folder)


def test_finished_batches_are_kept_and_only_the_missing_games_are_played(match: Match) -> None:
    match.play_until(20)
    first = (match.folder / "batch-0001" / "games.pgn").stat().st_mtime_ns
    match.play_until(80)
    assert (match.folder / "batch-0001" / "games.pgn").stat().st_mtime_ns == first
    assert sorted(path.name for path in match.folder.iterdir()) == ["batch-0001", "batch-0002", "batch-0003"]
    assert warnings_of(match.folder) == {"No output from first": 3}
    assert report(match.folder, 80)
    assert not report(match.folder, 81)


def test_a_batch_that_stops_before_its_last_game_is_played_again(match: Match) -> None:
    broken = match.folder / "broken"
    broken.touch()
    with pytest.raises(BatchFailed):
        match.play_until(10)
    assert not list(match.folder.glob("batch-*"))
    broken.unlink()
    match.play_until(10)
    assert report(match.folder, 10)


def test_one_loss_on_time_fails_the_whole_folder(match: Match) -> None:
    match.play_until(10)
    games = match.folder / "batch-0001" / "games.pgn"
    games.write_text(games.read_text().replace("normal", "time forfeit", 1))
    assert not report(match.folder, 10)
