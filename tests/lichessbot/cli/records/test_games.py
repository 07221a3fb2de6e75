"""`lichessbot stats`, `games` and `pgn`, from the command line on, with records written by hand."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

from lichessbot.cli.main import main
from lichessbot.control.commands import ControlAnswer
from lichessbot.control.status import RecordsStatus
from lichessbot.storage import game_history, game_records
from lichessbot.storage.database import FILE_NAME, Database
from lichessbot.storage.game_records import GameRecord, MoveRecord, Result
from lichessbot.storage.migrations import MIGRATIONS
from tests.fakes.main_thread import FakeMainThread
from tests.lichessbot.control.status_of import STATUS

Asked = Callable[..., tuple[int, str, str]]

GAME = GameRecord(
    "game0001", 1_767_225_600.0, "BOT Karl", opponent_id="karl", opponent_title="BOT", opponent_rating=1900,
    our_name="TestBot", our_title="BOT", our_rating=2000, variant="standard", speed="blitz", rated=True, colour="black",
    base_s=180, increment_s=2, started_at=1_767_225_600.0, ended_at=1_767_225_900.0, status="resign",
    result=Result.LOST, plies=4, eco="B90", opening="Sicilian Defense: Najdorf Variation",
)  # fmt: skip
MOVES = [
    MoveRecord(1, "e2e4", 178_000),
    MoveRecord(2, "c7c5", 177_000, "own_book", None, 0, 0, 2, 1, 80),
    MoveRecord(3, "g1f3", 176_000),
    MoveRecord(4, "d7d6", 175_000, "engine", 25, 14, 250_000, 1500, 3, 120),
    MoveRecord(5, "d2d4", 174_000),
    MoveRecord(6, "c5d4", 173_000, "engine", -310, 15, 250_000, 1500, 4, 90),
]


def fill(folder: Path, games: int = 3) -> None:
    """Write a game that is lost, and won ones before it at other speeds."""
    with closing(Database(folder / "state")) as file:
        file.write([("INSERT INTO account (single, url, id) VALUES (1, 'https://chess.example', 'testbot')", [()])])
        for number in range(1, games + 1):
            began = GAME.began_at + number * 3600
            record = replace(GAME, id=f"game{number:04d}", joined_at=began, started_at=began, our_rating=2000 + number)
            if number < games:
                record = replace(record, result=Result.WON, speed=("bullet", "rapid")[number % 2])
                record = replace(record, opponent="Ada", opponent_id="ada")
            statements = game_records.begun(record), game_records.ended(record), game_records.named(record)
            file.write([*statements, game_records.played(record.id, MOVES)])
        file.write([("INSERT INTO declines VALUES ('ada', '3+2 rated standard', 'later', 0.0)", [()])])


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Return a function that runs a command and returns its exit code, output and errors."""
    (tmp_path / "config.yml").write_text("state_dir: state\n")

    def ask(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--config", str(tmp_path / "config.yml")])
        return code, *capsys.readouterr()

    return ask


@pytest.mark.parametrize("command", ["games", "stats", "status", "pause"])
def test_a_state_folder_that_is_a_file_is_named(command: str, tmp_path: Path, asked: Asked) -> None:
    (tmp_path / "state").touch()
    assert asked(command) == (1, "", f"{tmp_path / 'state'}: expected a folder, found a file\n")


def test_games_are_listed_with_the_newest_last(tmp_path: Path, asked: Asked) -> None:
    fill(tmp_path)
    code, out, _ = asked("games")
    head, *lines = out.splitlines()
    assert (code, len(lines)) == (0, 3)
    assert head.split() == ["id", "began", "opponent", "rating", "colour", "game", "result", "end", "plies", "opening"]
    assert lines[-1].startswith("game0003  2026-01-01 ")
    assert "BOT Karl  1900    black   3+2 rated  lost    resign  4      B90 Sicilian Defense" in lines[-1]
    assert [line.split()[0] for line in asked("games", "--limit", "2")[1].splitlines()[1:]] == ["game0002", "game0003"]
    assert len(asked("games", "--all", "result=won")[1].splitlines()) == 3


def test_games_are_written_as_json_and_csv(tmp_path: Path, asked: Asked) -> None:
    fill(tmp_path)
    listed = json.loads(asked("games", "--json", "game0003")[1])
    assert [(game["id"], game["result"], game["base_s"]) for game in listed] == [("game0003", "lost", 180)]
    rows = list(csv.DictReader(io.StringIO(asked("games", "--csv")[1])))
    assert [row["id"] for row in rows] == ["game0001", "game0002", "game0003"]
    assert rows[2]["opening"] == GAME.opening


def test_stats_tell_results_ratings_time_and_drops(tmp_path: Path, asked: Asked) -> None:
    fill(tmp_path)
    code, out, _ = asked("stats")
    assert code == 0
    assert out.startswith("2026-01-01 to 2026-01-01: 3 games, 2 won, 0 drawn, 1 lost (66.7 %)\n")
    for line in (
        "blitz       1    0      0     1    0.0 %",
        "Ada           2    2      0     0  100.0 %  ████████████████████",
        "rating in blitz: 2003 at first, 2003 now, 2003 to 2003\n",
        "1-10      9  1.00 s   2:55  ████████████████████",
        "engine        6  1.50 s   14.5  166,667      4 ms     4 ms    105 ms   120 ms",
        "\nchallenges declined by others: 1 later\n",
        "game0001     2...  d7d6   +0.25  -3.10  engine     14   2:55",
    ):
        assert line in out, out


def test_stats_show_ten_opponents_and_how_many_there_are_besides(tmp_path: Path, asked: Asked) -> None:
    with closing(Database(tmp_path / "state")) as file:
        for number in range(12):
            record = replace(GAME, id=f"game{number:04d}", opponent=f"Rival{number}", opponent_id=f"rival{number}")
            file.write([game_records.begun(record), game_records.ended(record)])
    out = asked("stats")[1]
    assert out.count("\nRival") == 10
    assert "\nand 2 more (--csv lists all)\n" in out


def test_the_worst_drops_name_moves_as_the_board_counts_them(tmp_path: Path, asked: Asked) -> None:
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 7"
    with closing(Database(tmp_path / "state")) as file:
        file.write([game_records.begun(replace(GAME, initial_fen=fen)), game_records.played(GAME.id, MOVES)])
    (line,) = (it for it in asked("stats")[1].splitlines() if "d7d6" in it)
    assert line.split()[:3] == ["game0001", "9.", "d7d6"]


def test_nothing_in_the_records_can_steer_the_terminal(tmp_path: Path, asked: Asked) -> None:
    fill(tmp_path)
    hostile = "later\x1b[2J\u202e"
    with closing(Database(tmp_path / "state")) as file:
        file.write([("UPDATE declines SET reason = ?", [(hostile,)]), ("UPDATE games SET speed = ?", [(hostile,)])])
    for command in ("stats", "games"):
        out = asked(command)[1]
        assert out
        assert all(line.isprintable() for line in out.splitlines()), command


def test_ratings_are_plotted(tmp_path: Path, asked: Asked) -> None:
    with closing(Database(tmp_path / "state")) as file:
        for number in range(200):
            record = replace(GAME, id=f"game{number:04d}", started_at=float(number + 1), our_rating=1500 + number)
            file.write([game_records.begun(record)])
    plot = [line.partition("│")[2] for line in asked("stats")[1].splitlines() if "│" in line]
    assert len(plot) == 8
    columns = ["".join(row.ljust(60)[column] for row in plot) for column in range(60)]
    heights = [7 - column.index("•") for column in columns]
    assert heights == sorted(heights)
    assert (heights[0], heights[-1]) == (0, 7)


def test_stats_are_written_as_json_and_csv(tmp_path: Path, asked: Asked) -> None:
    fill(tmp_path)
    figures = json.loads(asked("stats", "--json", "opponent=karl,ada")[1])
    assert figures["score"] == {"won": 2, "drawn": 0, "lost": 1}
    assert figures["drops"][0]["next_cp"] == -310
    rows = list(csv.DictReader(io.StringIO(asked("stats", "--csv")[1])))
    assert rows[0] == {
        "subject": "all", "name": "", "games": "3", "won": "2", "drawn": "0", "lost": "1", "score_percent": "66.7",
    }  # fmt: skip
    assert {row["subject"] for row in rows} == {"all", "speed", "variant", "colour", "opening", "opponent", "end"}


def test_pgn_has_evaluations_and_clocks_that_python_chess_reads(tmp_path: Path, asked: Asked) -> None:
    fill(tmp_path)
    file = io.StringIO(asked("pgn")[1])
    for number, result in enumerate(("0-1", "0-1", "1-0"), 1):
        game = chess.pgn.read_game(file)
        assert game.errors == []
        assert game.headers["Site"] == f"https://chess.example/game000{number}"
        assert (game.headers["Result"], game.headers["ECO"]) == (result, "B90")
        nodes = list(game.mainline())
        assert [node.clock() for node in nodes] == [178, 177, 176, 175, 174, 173]
        evals = [node.eval() for node in nodes]
        assert [it and it.white().score() for it in evals] == [None, None, None, -25, None, 310]
    assert chess.pgn.read_game(file) is None
    assert asked("pgn", "game0002")[1].count("[Event ") == 1


def test_a_game_that_cannot_be_replayed_is_left_out_of_the_pgn(tmp_path: Path, asked: Asked) -> None:
    fill(tmp_path)
    with closing(Database(tmp_path / "state")) as file:
        file.write([("UPDATE moves SET move = 'e2e\x1b5' WHERE ply = 3 AND game_id = 'game0002'", [()])])
    code, out, problem = asked("pgn")
    assert (code, out.count("[Event ")) == (0, 2)
    assert problem.startswith("game0002 is left out: 'e2e\\x")
    assert "\x1b" not in problem


def test_letters_that_the_terminal_lacks_are_written_as_escapes(tmp_path: Path, asked: Asked) -> None:
    fill(tmp_path)
    with closing(Database(tmp_path / "state")) as file:
        file.write([("UPDATE games SET opening = 'Grünfeld Defense'", [()])])
    words = [sys.executable, "-P", "-m", "lichessbot", "games", "--config", str(tmp_path / "config.yml")]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count(r"Gr\xfcnfeld Defense") == 3


def test_a_game_without_moves_is_found_but_not_written(tmp_path: Path, asked: Asked) -> None:
    fill(tmp_path)
    with closing(Database(tmp_path / "state")) as file:
        file.write([("DELETE FROM moves WHERE game_id = 'game0002'", [()])])
    assert asked("pgn", "game0002") == (1, "", "1 game found, without moves that can be written\n")
    code, out, problem = asked("pgn")
    assert (code, out.count("[Event "), problem) == (0, 2, "")


@pytest.mark.parametrize("command", ["stats", "games", "pgn", "postmortem"])
def test_records_of_an_older_version_are_not_called_empty(tmp_path: Path, asked: Asked, command: str) -> None:
    with closing(Database(tmp_path / "state", MIGRATIONS[:-1])) as file:
        file.read("SELECT 1")
    path = tmp_path / "state" / FILE_NAME
    told = f"{path} is of an older version; the next `lichessbot run` converts it\n"
    assert asked(command, "abcd1234") == (1, "", told)


@pytest.mark.parametrize("command", ["stats", "games", "pgn", "postmortem"])
def test_a_wrong_filter_and_a_missing_game_are_told_in_one_line(tmp_path: Path, asked: Asked, command: str) -> None:
    path = tmp_path / "state" / FILE_NAME
    nothing = (1, "", f"there are no records in {path.parent} yet\n")
    assert asked(command, "abcd1234") == nothing
    path.parent.mkdir()
    path.touch()
    assert asked(command, "abcd1234") == nothing, "as a full disk leaves it"
    with closing(Database(path.parent)) as file:
        file.read("SELECT 1")
    assert asked(command, "abcd1234") == (1, "", f"{path} has 0 games\n")
    fill(tmp_path)
    assert asked(command, "abcd1234") == (1, "", f"{path} has 3 games; none of them matches\n")
    code, out, problem = asked(command, "oponent=karl")
    assert (code, out, problem.count("\n")) == (2, "", 1)
    expected = "expected the id or address of one game" if command == "postmortem" else "did you mean opponent?"
    assert expected in problem


@pytest.mark.parametrize("records", [RecordsStatus(), RecordsStatus(60.0, "disk is full")])
def test_games_that_the_running_daemon_cannot_write_are_not_called_none(
    tmp_path: Path, asked: Asked, records: RecordsStatus
) -> None:
    (tmp_path / "state").mkdir()
    with closing(FakeMainThread(tmp_path / "state")) as daemon:
        daemon.answer = lambda request: ControlAnswer(True, status=replace(STATUS, records=records))
        why = "; the running daemon cannot write the records: disk is full" if records.error else ""
        assert asked("games") == (1, "", f"there are no records in {tmp_path / 'state'} yet{why}\n")


@pytest.mark.parametrize(
    ("words", "pair"), [("games --limit 1 --all", "--limit and --all"), ("stats --json --csv", "--json and --csv")]
)
def test_options_that_exclude_each_other_are_named(asked: Asked, words: str, pair: str) -> None:
    command, *options = words.split()
    complaint = f"lichessbot {command}: {pair} exclude each other (see `lichessbot {command} --help`)\n"
    assert asked(command, *options) == (2, "", complaint)


def test_a_limit_that_is_no_number_of_games_is_refused_in_one_line(asked: Asked) -> None:
    code, out, problem = asked("games", "--limit", "99999999999999999999")
    assert (code, out) == (2, "")
    assert problem.count("\n") == 1
    assert "'--limit': expected a whole number from 1 to 1000000000, found 99999999999999999999" in problem


def test_games_of_a_version_before_these_records_are_listed(tmp_path: Path, asked: Asked) -> None:
    with closing(Database(tmp_path / "state")) as file:
        file.write([("INSERT INTO games (id, opponent, joined_at) VALUES ('old00001', 'BOT Karl', 1.0)", [()])])
    line = asked("games", "opponent=karl")[1].splitlines()[1]
    assert line.split() == ["old00001", "1970-01-01", "00:00", "BOT", "Karl"]
    told = "1970-01-01 to 1970-01-01: 0 games, 0 won, 0 drawn, 0 lost (0.0 %); 1 without a result\n"
    assert asked("stats") == (0, told, "")
    assert asked("pgn")[0] == 1


def test_the_folder_is_found_without_the_configurations_models(tmp_path: Path, asked: Asked) -> None:
    fill(tmp_path)
    (tmp_path / "config.yml").write_text("state_dir: state\nno_such_key: 1\n")
    assert asked("games")[0] == 0, "only `state_dir` matters here"
    (tmp_path / "config.yml").write_text("state_dir: [1]\n")
    code, _, problem = asked("games")
    assert (code, problem.count("\n")) == (2, 1)
    assert "config.yml:1: state_dir: " in problem
    (tmp_path / "config.yml").write_text("state_dir: 'state\n")
    code, _, problem = asked("games")
    assert code == 2
    assert "config.yml:2: not YAML: the quote opened in line 1 is never closed" in problem


# Speed: 1,000 games are to take less than 0.3 s. Wall time says little on a busy machine, so this counts the work.


@pytest.mark.parametrize("command", ["stats", "games"])
def test_these_commands_load_neither_the_engine_nor_what_the_daemon_needs(tmp_path: Path, command: str) -> None:
    fill(tmp_path)
    (tmp_path / "config.yml").write_text("state_dir: state\n")
    code = (
        "import sys; from lichessbot.cli.main import main; "
        "assert main(sys.argv[1:]) == 0; print(*sys.modules, file=sys.stderr)"
    )
    words = [command, "--config", str(tmp_path / "config.yml")]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=60, check=True)
    modules = done.stderr.split()
    loaded = {module.partition(".")[0] for module in modules}
    assert {"lichessbot", "sqlite3", "click"} <= loaded
    assert "engine.facade" not in modules
    assert not loaded & {"pydantic", "requests", "berserk", "rich", "urllib3", "asyncio"}


def test_the_number_of_queries_does_not_grow_with_the_games(
    tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []

    def counted(folder: Path, query: str, *values: object) -> list[Any]:
        queries.append(query)
        return read_only(folder, query, *values)

    read_only = game_history.read_only
    monkeypatch.setattr(game_history, "read_only", counted)
    fill(tmp_path, 40)
    assert asked("stats")[0] == asked("games")[0] == 0
    assert len(queries) == 7
