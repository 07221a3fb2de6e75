"""Games of variants against a random mover, and their record."""

import argparse
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import chess
import pytest

from engine.facade import build_mode
from tests.benchmarks.arguments import OURS
from tests.benchmarks.children import Child, Program
from tests.benchmarks.variants import (
    Clock,
    Game,
    Match,
    RandomMover,
    UciPlayer,
    conditions_of,
    ending,
    main,
    new_board,
    play,
    random_opening,
    read_record,
    row,
)
from tests.patience import until
from tests.scripts import silly

pytestmark = pytest.mark.skipif(build_mode() == "plain", reason="too slow as plain Python to wait for")


GAME = Game("atomic", 0, True, 1.0, "checkmate", 9, "", "")
DEFAULT_CONDITIONS = "--opponent random --nodes 2000 --our-nodes 0 --clock 8+0.08 --overhead 10 --margin 0"


def options(record: Path, games: int) -> argparse.Namespace:
    return argparse.Namespace(
        variant=["atomic"], opponent="random", nodes=0, our_nodes=300, clock=(8.0, 0.08), overhead="10", margin=0.0,
        games=games, concurrency=1, engine=OURS, hand_written=False, record=record,
    )  # fmt: skip


def test_a_match_is_won_recorded_and_continued(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    first = Match(options(record, 2))
    first.run()
    assert [(game.number, game.white, game.score) for game in first.games] == [(0, True, 1.0), (1, False, 1.0)]
    assert row("atomic", first.games).split()[:3] == ["atomic", "2", "+2"]
    again = Match(options(record, 2))
    again.run()
    assert again.games == first.games
    assert len(record.read_text().splitlines()) == 2


def test_both_games_of_a_pair_have_the_same_opening() -> None:
    openings = [random_opening("crazyhouse", number) for number in range(4)]
    assert openings[0] == openings[1] != openings[2] == openings[3]


def test_endings_are_judged() -> None:
    assert ending(new_board("kingofthehill", "7k/8/8/8/4K3/8/8/8 b - - 0 1")) == (1.0, "variant_loss")
    assert ending(new_board("atomic", "7k/7p/8/8/4K3/8/8/R7 b - - 100 80")) == (0.5, "fifty moves")
    assert ending(new_board("crazyhouse", "7k/8/8/8/4K3/8/8/R7[] b - - 100 80")) is None


@pytest.mark.parametrize("answer", ["zz99", "", "(none)", "0000", "e2e5"])
def test_an_answer_that_is_no_legal_move_loses(answer: str) -> None:
    class Opponent(RandomMover):
        def move(self, start: str, board: chess.Board, clocks: tuple[Clock, Clock]) -> str:
            return answer

    game = play("atomic", 0, (RandomMover("1"), Opponent("2")), (1.0, 0.0), 0)
    assert (game.score, game.end) == (1.0, f"illegal move: theirs {answer}")


@pytest.mark.parametrize(("said", "move"), [("bestmove e2e4 ponder e7e5", "e2e4"), ("bestmove", "")])
def test_a_program_may_answer_without_a_move(said: str, move: str, tmp_path: Path) -> None:
    with Child(Program("silly", (silly(tmp_path, said),))) as child:
        assert UciPlayer(child, 1).move(chess.STARTING_FEN, chess.Board(), (Clock(1, 0), Clock(1, 0))) == move


def test_few_games_have_wide_bounds() -> None:
    games = [Game("atomic", number, number == 0, 1.0, "checkmate", 9, "", "") for number in (0, 1)]
    assert row("atomic", games).split()[5:13] == ["100.0", "%", "±", "60.0", "Elo", "+191", "[-302,", "+1200]"]


def test_a_line_that_was_cut_off_is_removed_from_a_record(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    games = [Game("atomic", number, True, 1.0, "checkmate", 9, "", "") for number in (0, 1)]
    lines = [json.dumps({**asdict(game), "conditions": "--nodes 9"}) + "\n" for game in games]
    record.write_text("".join(lines)[:-5])
    assert read_record(record, "--nodes 9") == games[:1]
    assert record.read_text() == lines[0]


@pytest.mark.parametrize(
    "other",
    [
        {"opponent": "self"}, {"nodes": 1}, {"our_nodes": 1}, {"clock": (1.0, 0.0)}, {"hand_written": True},
        {"engine": "old"}, {"margin": 500.0}, {"overhead": "20"},
    ],
)  # fmt: skip
def test_a_record_of_another_match_is_refused(other: dict[str, object], tmp_path: Path) -> None:
    wanted = options(tmp_path / "games.jsonl", 2)
    played = conditions_of(argparse.Namespace(**{**vars(wanted), **other}))
    wanted.record.write_text(json.dumps({**asdict(GAME), "conditions": played}) + "\n")
    with pytest.raises(ValueError, match=r"games\.jsonl:1: played with --opponent .*, expected --opponent random "):
        Match(wanted)


@pytest.mark.parametrize("damaged", ['{"variant": "atomic"}', "[1, 2]", "3", "{", "\0\0"])
def test_a_damaged_line_of_a_record_is_named_and_kept(damaged: str, tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    text = json.dumps({**asdict(GAME), "conditions": "--nodes 9"}) + f"\n{damaged}\n{{"
    record.write_text(text)
    with pytest.raises(ValueError, match=r"games\.jsonl:2: expected a game in JSON, found"):
        read_record(record, "--nodes 9")
    assert record.read_text() == text


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--opponent false", "error: false has gone away\n"),
        ("--opponent /nope", "No such file or directory: '/nope'\n"),
        ("--engine false", "error: false has gone away\n"),
        ("--games 0", "--games: expected a whole number from 1 on, found '0'\n"),
        ("--games -1", "--games: expected a whole number from 1 on, found '-1'\n"),
        ("--nodes -5", "--nodes: expected a whole number from 0 on, found '-5'\n"),
    ],
)
def test_what_cannot_be_played_is_refused(
    options: str, complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["variants", "--variant", "atomic", *options.split()])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err.endswith(complaint)


def test_games_from_a_record_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "games.jsonl"
    words = ["variants", "--variant", "atomic", "--games", "1", "--record", str(record)]
    record.write_text(json.dumps({**asdict(GAME), "conditions": DEFAULT_CONDITIONS}) + "\n")
    monkeypatch.setattr("sys.argv", words)
    assert main() == 0
    assert capsys.readouterr().out.splitlines()[0] == f"1 game from {record}"
    monkeypatch.setattr("sys.argv", [*words, "--opponent", "self"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err.endswith("--overhead 10 --margin 0: choose another file\n")


def test_an_interruption_lets_the_game_under_way_end(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    command = [sys.executable, "-m", "tests.benchmarks.variants", "--variant", "atomic", "--games", "100000"]
    limits = ["--our-nodes", "20", "--record", str(record)]
    child = subprocess.Popen([*command, *limits], stdout=subprocess.PIPE, text=True, start_new_session=True)
    until(record.exists)
    os.killpg(child.pid, signal.SIGINT)
    output, _ = child.communicate(timeout=200)
    assert child.returncode == 130
    conditions = DEFAULT_CONDITIONS.replace("--our-nodes 0", "--our-nodes 20")
    assert int(output.split()[1]) == len(read_record(record, conditions)) == len(record.read_text().splitlines())
