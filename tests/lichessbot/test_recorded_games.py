"""The recorded games as the operator's page gets them."""

import io
import json
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

from lichessbot import recorded_games
from lichessbot.control.web.site import NoGame, WrongQuery
from lichessbot.errors import StateError
from lichessbot.recorded_games import _KEYS, RecordedGames
from lichessbot.storage import game_records
from lichessbot.storage.database import FILE_NAME, Database
from lichessbot.storage.game_history import GameHistory
from lichessbot.storage.game_records import ChatRecord, MoveRecord, Result
from lichessbot.storage.reviews import ReviewedPosition, ReviewRecord, reviewed
from lichessbot.storage.statistics import aggregate
from tests.lichessbot.cli.records.test_games import GAME, MOVES, fill

HOSTILE = '<b>"\x1b[2J\u202e'
SCORES = [15, 20, 20, 25, 400, 400, 410]
POSITIONS = [ReviewedPosition(ply, cp, "b8c6" if ply == 3 else "") for ply, cp in enumerate(SCORES)]
REVIEW = ReviewRecord("game0005", 5.0, "Aleph", 40_000, POSITIONS)


@pytest.fixture
def games(tmp_path: Path) -> RecordedGames:
    """The records of five games at one-hour intervals; the last one is lost, and somebody wrote in its chat."""
    fill(tmp_path, 5)
    file = Database(tmp_path / "state")
    file.write([game_records.said("game0005", ChatRecord(1.0, "player", HOSTILE, HOSTILE))])
    file.close()
    return RecordedGames(tmp_path / "state")


def listed(games: RecordedGames, **query: str) -> list[Any]:
    return list(json.loads(games.games(query))["games"])


def test_games_are_listed_the_newest_first_with_all_that_is_recorded(games: RecordedGames) -> None:
    found = listed(games)
    assert [it["id"] for it in found] == [f"game000{number}" for number in (5, 4, 3, 2, 1)]
    expected = replace(GAME, id="game0005", our_rating=2005, joined_at=found[0]["joined_at"])
    expected = replace(expected, started_at=expected.joined_at, plies=found[0]["plies"])
    assert found[0].items() >= json.loads(json.dumps(asdict(expected))).items()
    assert (found[0]["result"], found[0]["time_control"], found[0]["began_at"]) == ("lost", "3+2", expected.began_at)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({"limit": "2"}, "54"),
        ({"result": "won,drawn", "limit": "2"}, "43"),
        ({"speed": "bullet"}, "42"),
        ({"opponent": "KARL", "speed": "blitz"}, "5"),
        ({"colour": "white"}, ""),
        ({"opening": "najdorf", "limit": "1"}, "5"),
        ({"opening": "b90 sicilian", "limit": "1"}, "5"),
        ({"opening": "English, "}, ""),
        ({"speed": "", "before": "", "result": "lost"}, "5"),
    ],
)
def test_a_query_narrows_the_list(games: RecordedGames, query: dict[str, str], ids: str) -> None:
    assert [it["id"][-1] for it in listed(games, **query)] == list(ids)


def test_pages_follow_each_other_without_a_gap(games: RecordedGames, tmp_path: Path) -> None:
    with closing(Database(tmp_path / "state")) as file:  # in the same moment, and on two pages
        at = "SELECT started_at FROM games WHERE id = 'game0004'"
        file.write([(f"UPDATE games SET started_at = ({at}) WHERE id = 'game0003'", [()])])
    seen: list[str] = []
    before = before_id = ""
    while page := listed(games, limit="2", before=before, before_id=before_id):
        seen += [it["id"] for it in page]
        before, before_id = repr(page[-1]["began_at"]), page[-1]["id"]
    assert seen == [f"game000{number}" for number in (5, 3, 4, 2, 1)]
    assert [it["id"] for it in listed(games, before=repr(listed(games)[1]["began_at"]))] == ["game0002", "game0001"]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"limit": "0"}, "limit: expected a number from 1 to 500, found '0'"),
        ({"limit": "5000"}, "limit: expected a number from 1 to 500, found '5000'"),
        ({"limit": "9" * 5000}, f"limit: expected a number from 1 to 500, found '{'9' * 5000}'"),
        ({"limit": "\u0665"}, "limit: expected a number from 1 to 500, found '\u0665'"),
        ({"before": "yesterday"}, "before: expected seconds since 1970, found 'yesterday'"),
        ({"before": "nan"}, "before: expected seconds since 1970, found 'nan'"),
        ({"since": "7d"}, f"since: no such key; expected {', '.join(_KEYS)}"),
        ({"result": "win"}, "result: expected one or several of won,drawn,lost, found 'win'; nearest: won"),
    ],
)
def test_a_wrong_query_is_answered_with_what_was_expected(
    games: RecordedGames, query: dict[str, str], told: str
) -> None:
    with pytest.raises(WrongQuery) as caught:
        games.games(query)
    assert str(caught.value) == told


def test_a_game_has_its_moves_in_notation_and_its_chat_as_it_was_written(games: RecordedGames) -> None:
    found = json.loads(games.game("game0005"))
    assert found["game"]["opponent"] == "BOT Karl"
    assert [it["san"] for it in found["moves"]] == ["e4", "c5", "Nf3", "d6", "d4", "cxd4"]
    assert found["moves"][3].items() >= asdict(MOVES[3]).items()
    assert found["chat"] == [{"said_at": 1.0, "room": "player", "author": HOSTILE, "text": HOSTILE}]


def test_a_game_without_a_review_has_our_mistakes_and_scores_by_our_evaluations(games: RecordedGames) -> None:
    found = json.loads(games.game("game0005"))
    assert found["review"] is None
    (mistake,) = found["mistakes"]
    assert (mistake["ply"], mistake["judgement"], mistake["better"]) == (4, "blunder", "")
    assert (round(mistake["before"]), round(mistake["after"])) == (52, 24)
    assert found["scores"] == [
        {"ply": 3, "score_cp": -25, "mate_in": None},
        {"ply": 5, "score_cp": 310, "mate_in": None},
    ]


def test_a_review_has_the_mistakes_and_scores_of_both_sides(games: RecordedGames, tmp_path: Path) -> None:
    with closing(Database(tmp_path / "state")) as file:
        file.write(reviewed(REVIEW))
    found = json.loads(games.game("game0005"))
    assert found["review"].items() >= {"engine": "Aleph", "nodes": 40_000, "turning_points": [4]}.items()
    assert [(it["ply"], it["better"], it["better_move"]) for it in found["mistakes"]] == [(4, "Nc6", "b8c6")]
    assert [it["score_cp"] for it in found["scores"]] == SCORES
    with closing(Database(tmp_path / "state")) as file:
        file.write([game_records.taken_back("game0005", 5)])
    assert json.loads(games.game("game0005"))["review"] is None, "of more moves than the game has"


def test_the_pgn_has_evaluations_and_clocks(games: RecordedGames) -> None:
    text = games.pgn("game0005").decode()
    game = chess.pgn.read_game(io.StringIO(text))
    assert game.errors == []
    assert game.end().ply() == 6
    assert "[%eval" in text
    assert "[%clk" in text


def test_statistics_are_those_of_the_command_and_results_over_time(games: RecordedGames, tmp_path: Path) -> None:
    found = json.loads(games.statistics())
    history = GameHistory(tmp_path / "state")
    printed = json.loads(json.dumps(asdict(history.statistics(history.games()))))
    assert {**printed, **found} == {**printed, "results": found["results"]}
    assert found.keys() == {"score", "groups", "ratings", "results"}
    assert [result for _, result in found["results"]] == ["won"] * 4 + ["lost"]
    assert found["ratings"]["blitz"] == [[found["results"][-1][0], 2005]]
    assert found["groups"]["opponent"]["Ada"] == {"won": 4, "drawn": 0, "lost": 0}
    with closing(Database(tmp_path / "state")) as file:
        file.write([game_records.begun(replace(GAME, id="game0006"))])
    assert json.loads(games.statistics())["results"] == found["results"], "a running game has none"


def test_statistics_are_counted_again_only_after_a_game_has_changed(
    games: RecordedGames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    monkeypatch.setattr(recorded_games, "aggregate", lambda games: counted.append(len(games)) or aggregate(games))
    game = GameHistory(tmp_path / "state").game("game0005")
    first = games.statistics()
    assert games.statistics() is first
    changes = [
        game_records.begun(replace(game, id="game0006")),
        game_records.ended(replace(game, id="game0006", ended_at=1e10, result=Result.DRAWN)),
        game_records.changed("game0006", rating_diff=-3),
        game_records.named(replace(game, eco="")),
        ("DELETE FROM games WHERE id = 'game0006'", [()]),
    ]
    with closing(Database(tmp_path / "state")) as file:
        file.write([game_records.played("game0005", [MoveRecord(7, "f3d4")])])
        assert games.statistics() is first
        for number, change in enumerate(changes, 2):
            file.write([change])
            games.statistics()
            games.statistics()
            assert len(counted) == number
    assert counted == [5, 6, 6, 6, 6, 5]


@pytest.mark.parametrize("game_id", ["game0009", "game0005abcd", "", "' OR 1", "%"])
def test_a_game_that_is_not_there_is_none(games: RecordedGames, game_id: str) -> None:
    for answer in (games.game, games.pgn):
        with pytest.raises(NoGame):
            answer(game_id)


def test_moves_that_cannot_be_replayed_are_shown_without_notation(games: RecordedGames, tmp_path: Path) -> None:
    file = Database(tmp_path / "state")
    file.write([*reviewed(REVIEW), game_records.played("game0005", [MoveRecord(3, "a1a8", 1000)])])
    file.close()
    shown = json.loads(games.game("game0005"))
    assert [it["san"] for it in shown["moves"]] == ["e4", "c5", None, None, None, None]
    assert shown["review"] is None
    with pytest.raises(NoGame, match="cannot be replayed"):
        games.pgn("game0005")


@pytest.mark.parametrize("unknown", ["variant = 'gothic'", "initial_fen = 'a board of ten files'"])
def test_a_game_that_this_version_cannot_set_up_is_shown_without_notation(
    games: RecordedGames, tmp_path: Path, unknown: str
) -> None:
    file = Database(tmp_path / "state")
    file.write([*reviewed(REVIEW), (f"UPDATE games SET {unknown}", [()])])
    file.close()
    shown = json.loads(games.game("game0005"))
    assert ({it["san"] for it in shown["moves"]}, shown["mistakes"], shown["review"]) == ({None}, [], None)
    with pytest.raises(NoGame, match="cannot be replayed"):
        games.pgn("game0005")


def test_the_time_control_of_a_game_from_an_old_version_is_not_known(games: RecordedGames, tmp_path: Path) -> None:
    with closing(Database(tmp_path / "state")) as file:
        file.write([("UPDATE games SET speed = '', base_s = NULL, increment_s = NULL", [()])])
    assert {it["time_control"] for it in listed(games)} == {""}


def test_without_records_there_are_no_games_and_damaged_ones_are_an_error(tmp_path: Path) -> None:
    games = RecordedGames(tmp_path / "none")
    assert listed(games) == []
    assert json.loads(games.statistics())["results"] == []
    (tmp_path / FILE_NAME).write_bytes(b"x" * 5000)
    with pytest.raises(StateError):
        RecordedGames(tmp_path).games({})
