"""Exported games, read back by python-chess."""

import io

import chess.pgn
import pytest

from lichessbot.rehearsal.rules.enums import Color
from lichessbot.rehearsal.server.export import pgn
from tests.lichessbot.rehearsal.client import Client, play, start_game
from tests.lichessbot.rehearsal.rules import games

FEN = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"
GAME_JSON_KEYS = {
    "id", "rated", "variant", "speed", "perf", "createdAt", "lastMoveAt", "status", "source", "players",
    "moves", "clock", "clocks",
}
MATE = "f2f3 e7e5 g2g4 d8h4"


def read(pgn: str) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(pgn))
    assert not game.errors
    return game


def test_pgn_of_a_finished_game_validates(ada: Client, hal: Client, bob: Client) -> None:
    game_id = start_game(ada, bob, **{"clock.limit": 180, "clock.increment": 2})
    play(game_id, MATE, ada, bob)
    response = Client(ada.url, None).get(f"/game/export/{game_id}")
    assert response.headers["Content-Type"].startswith("application/x-chess-pgn")
    game = read(response.text)
    assert [move.uci() for move in game.mainline_moves()] == MATE.split()
    assert game.end().board().is_checkmate()
    headers = game.headers
    assert headers["Event"] == "Casual blitz game"
    assert headers["Site"] == f"{ada.url}/{game_id}"
    assert (headers["White"], headers["Black"], headers["Result"]) == (ada.name, bob.name, "0-1")
    assert (headers["TimeControl"], headers["Termination"]) == ("180+2", "Normal")
    assert headers["WhiteTitle"] == "BOT"
    assert len(headers["Date"]) == 10
    assert headers["Variant"] == "Standard"
    assert [node.clock() for node in game.mainline()][:2] == [180, 180]


@pytest.mark.parametrize(
    ("variant", "tag", "event"),
    [
        ("chess960", "Chess960", "Casual chess960 game"),
        ("fromPosition", "From Position", "Casual bullet game"),
    ],
)
def test_pgn_of_other_starts_carries_variant_and_fen(
    ada: Client, bob: Client, variant: str, tag: str, event: str
) -> None:
    form = {"fen": FEN} if variant == "fromPosition" else {}
    game_id = start_game(ada, bob, variant=variant, **form)
    initial_fen = ada.game(game_id).next("gameFull")["initialFen"]
    if variant == "fromPosition":
        play(game_id, "e8g8 e1c1", bob, ada)
    ada.do(game_id, "resign")
    game = read(ada.get(f"/game/export/{game_id}").text)
    assert (game.headers["Variant"], game.headers["Event"]) == (tag, event)
    assert game.headers["FEN"] == initial_fen
    assert game.board().is_valid()
    if variant == "fromPosition":
        assert game.end().board().fen().startswith("r4rk1/8/8/8/8/8/8/2KR3R b")


def test_a_game_that_repeats_one_of_the_last_two_is_not_rated(ada: Client, bob: Client) -> None:
    other, third = "f2f4 e7e5 g2g4 d8h4", "g2g4 e7e5 f2f3 d8h4"
    rated = []
    for moves in (MATE, MATE, other, MATE, third, other, MATE):
        game_id = start_game(ada, bob, rated="true", **{"clock.limit": 180, "clock.increment": 2})
        play(game_id, moves, ada, bob)
        game = ada.get(f"/game/export/{game_id}", headers={"Accept": "application/json"}).json()
        rated.append(game["rated"])
    assert rated == [True, False, True, False, True, True, True]


def test_aborted_game_has_no_result(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    ada.do(game_id, "abort")
    headers = read(ada.get(f"/game/export/{game_id}").text).headers
    assert (headers["Result"], headers["Termination"]) == ("*", "Abandoned")


@pytest.mark.parametrize(
    ("command", "termination"), [("resign", "Normal"), ("claim", "Time forfeit"), ("material", "Insufficient material")]
)
def test_the_pgn_says_how_a_game_ended(command: str, termination: str) -> None:
    game = games.game(moves=["e2e4", "e7e5", "g1f3"])
    if command == "resign":
        game.resign(Color.WHITE, 0)
    elif command == "claim":
        game.claim_victory(Color.WHITE, 0, opponent_gone=True)
    else:
        game = games.game(fen="4k3/8/8/8/8/8/4P3/4KR2 w - - 0 1", moves=["f1f2", "e8e7"])
        game.offer_draw(Color.WHITE, 0)
    assert read(pgn(game, "http://127.0.0.1")).headers["Termination"] == termination


def test_a_game_without_a_first_move_was_abandoned() -> None:
    game = games.game()
    game.check_start(0, 0)
    headers = read(pgn(game, "http://127.0.0.1")).headers
    assert (headers["Result"], headers["Termination"]) == ("0-1", "Abandoned")


@pytest.mark.parametrize(("played", "shown"), [(0, 0), (4, 4), (5, 5), (8, 5), (9, 6), (10, 7)])
def test_an_ongoing_game_is_shown_three_plies_late_but_for_its_first_five(played: int, shown: int) -> None:
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "c2c3", "g8f6", "d2d4", "e5d4"]
    it = read(pgn(games.game(moves=moves[:played]), "http://127.0.0.1"))
    assert [move.uci() for move in it.mainline_moves()] == moves[:shown]
    assert (it.headers["Result"], it.headers["Termination"]) == ("*", "Unterminated")


def test_json_has_the_shape_of_the_contract(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    play(game_id, MATE, ada, bob)
    game = ada.get(f"/game/export/{game_id}", headers={"Accept": "application/json"}).json()
    assert set(game) == GAME_JSON_KEYS | {"winner"}
    assert (game["status"], game["winner"], game["variant"]) == ("mate", "black", "standard")
    assert game["moves"] == "f3 e5 g4 Qh4#"
    assert game["players"]["white"]["user"] == {"name": ada.name, "title": "BOT", "id": ada.id}
    assert game["clock"] == {"initial": 60, "increment": 0, "totalTime": 60}
    assert len(game["clocks"]) == 4
    assert game["clocks"][0] == 6000
    assert game["lastMoveAt"] >= game["createdAt"]


def test_a_request_chooses_the_parts_of_the_pgn(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    play(game_id, MATE, ada, bob)
    path = f"/game/export/{game_id}"
    bare = ada.get(path, params={"tags": "false", "clocks": "false"}).text
    assert bare == "1. f3 e5 2. g4 Qh4# 0-1\n\n"
    tags = read(ada.get(path, params={"moves": "false"}).text)
    assert (tags.headers["Result"], tags.headers["GameId"], list(tags.mainline_moves())) == ("0-1", game_id, [])


def test_a_request_chooses_the_parts_of_the_json(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    play(game_id, MATE, ada, bob)
    path, headers = f"/game/export/{game_id}", {"Accept": "application/json"}
    parts = {"moves": "false", "clocks": "false", "pgnInJson": "true"}
    game = ada.get(path, headers=headers, params=parts).json()
    assert set(game) == GAME_JSON_KEYS - {"moves", "clocks"} | {"winner", "pgn"}
    assert game["pgn"] == ada.get(path, params=parts).text


def test_a_correspondence_game_has_its_days_in_json(ada: Client, bob: Client) -> None:
    challenge = ada.post(f"/api/challenge/{bob.id}", data={"days": 2}).json()
    bob.post(f"/api/challenge/{challenge['id']}/accept")
    game = ada.get(f"/game/export/{challenge['id']}", headers={"Accept": "application/json"}).json()
    assert game["daysPerTurn"] == 2


def test_unknown_game_cannot_be_exported(ada: Client) -> None:
    assert ada.get("/game/export/xxxxxxxx").status_code == 404
