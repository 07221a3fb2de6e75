"""`lichessbot review`, from the command line on, by the real engine."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from lichessbot.cli.main import main
from lichessbot.storage.database import Database
from lichessbot.storage.game_history import GameHistory
from lichessbot.storage.game_records import MoveRecord
from lichessbot.storage.reviews import reviewed as written
from tests.lichessbot.cli.records.conftest import Asked
from tests.lichessbot.games.review.games import GAME, MOVES, reviewed

HOSTILE = "\x1b[2J\u202eEve"


@pytest.fixture
def asked(about: Asked) -> Asked:
    """Return a function that records the game and runs the command on it."""

    def ask(*words: str, moves: Sequence[MoveRecord] = MOVES, **changes: object) -> tuple[int, list[str], str]:
        return about("review", GAME, moves, *words, **changes)

    return ask


def test_a_game_without_a_review_is_reviewed_once_and_the_review_is_kept(tmp_path: Path, asked: Asked) -> None:
    code, lines, errors = asked("--nodes", "2000")
    assert (code, errors) == (0, "no such review yet: our engine looks at 15 positions ...\n")
    kept = GameHistory(tmp_path / "state").review(GAME.id)
    assert (kept.nodes, len(kept.positions)) == (2000, 15)
    assert asked("--nodes", "1000") == (0, lines, ""), "a deeper one serves as well"
    assert asked("--nodes", "3000")[2].startswith("no such review yet")


def test_the_page_shows_both_players_the_chances_and_every_mistake(tmp_path: Path, asked: Asked) -> None:
    with closing(Database(tmp_path / "state")) as file:
        file.write(written(reviewed()))
    code, lines, errors = asked()
    assert (code, errors) == (0, "")
    assert lines[:3] == [
        "game game0001: 3+2 casual, as black against Ada (1500), 2026-01-01: won, mate, 14 plies",
        "opening: C50 Italian Game: Blackburne-Kostić Gambit",
        "reviewed by Aleph 1.0, 40,000 nodes a position",
    ]
    assert lines[4].split() == ["accuracy", "inaccuracies", "mistakes", "blunders"]
    assert [line.split()[-3:] for line in lines[5:7]] == [["0", "0", "2"], ["1", "0", "0"]]
    assert lines[8] == "White's winning chances in percent, by ply"
    assert lines[9:20][5].startswith("    50 │••••••")
    assert [line.split("  ")[0] for line in lines[21:]] == ["move", "3... Nd4?!", "5. Nxf7??", "7. Be2??"]
    assert " ".join(lines[23].split()) == "5. Nxf7?? blunder 59 % to 15 % Bxf7+ Kd8 O-O turning point"
    assert lines[24].endswith("allows mate in 1")


def test_a_game_without_moves_has_one_position(asked: Asked) -> None:
    _, lines, errors = asked("--nodes", "100", moves=[])
    assert lines[0].endswith(", 0 plies")
    assert errors == "no such review yet: our engine looks at 1 position ...\n"


def test_a_game_of_one_ply_has_no_plural(asked: Asked) -> None:
    _, lines, _ = asked(moves=MOVES[:1])
    assert lines[0].endswith(", 1 ply")


def test_json_has_the_game_and_the_review(tmp_path: Path, asked: Asked) -> None:
    with closing(Database(tmp_path / "state")) as file:
        file.write(written(reviewed()))
    code, lines, _ = asked("--json")
    told = json.loads("\n".join(lines))
    assert code == 0
    assert (told["game"]["id"], told["turning_points"], told["engine"]) == (GAME.id, [9], "Aleph 1.0")
    assert told["accuracy"].keys() == {"white", "black"}
    assert len(told["positions"]) == 15


def test_hostile_names_are_inert(asked: Asked) -> None:
    _, lines, _ = asked("--nodes", "100", opponent=HOSTILE, our_name=HOSTILE, opening=HOSTILE)
    assert not any(sign in line for line in lines for sign in "\x1b\u202e")
    assert sum("Eve" in line for line in lines) == 4


def test_a_review_of_fewer_moves_counts_as_none(tmp_path: Path, asked: Asked) -> None:
    with closing(Database(tmp_path / "state")) as file:
        file.write(written(reviewed()))
    assert asked("--nodes", "100", moves=MOVES[:4])[2] == "no such review yet: our engine looks at 5 positions ...\n"


def test_a_game_that_may_still_be_played_is_not_reviewed(asked: Asked) -> None:
    told = (1, [], "game0001 has no known end; only a game that is over is reviewed\n")
    assert asked(status="", result=None) == told


def test_moves_that_cannot_be_replayed_and_unknown_games_are_one_line(
    tmp_path: Path, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines, errors = asked(moves=[MoveRecord(1, "e2e5")])
    assert (code, lines) == (1, [])
    assert errors.startswith("game0001: the recorded moves cannot be replayed: 'e2e5' is not legal here")
    assert main(["review", "none0000", "--config", str(tmp_path / "config.yml")]) == 1
    assert capsys.readouterr().err.endswith("has 1 game; none of them matches\n")
    for word in ("speed=blitz", "abc"):
        assert main(["review", word, "--config", str(tmp_path / "config.yml")]) == 2
        assert f"expected the id or address of one game, found '{word}' (see" in capsys.readouterr().err
