"""The game commands over real sockets: what each answers and what it writes."""


import pytest

from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client, account_of, play, start_game
from tests.lichessbot.rehearsal.conftest import Join

OPENING = "e2e4 e7e5"
SHUFFLE = "g1f3 g8f6 f3g1 f6g8"


def refusal(client: Client, game_id: str, command: str, **parameters: object) -> tuple[int, object]:
    response = client.command(game_id, command, **parameters)
    return response.status_code, response.json()["error"]


def allow_takebacks(lichess: RehearsalServer, *clients: Client) -> None:
    """Allow takebacks, as in the preferences of an account."""
    for client in clients:
        account_of(lichess, client).allows_takebacks = True


# Guards.


def test_unknown_game_foreign_game_and_unknown_command_are_404(ada: Client, bob: Client, hal: Client) -> None:
    assert refusal(ada, "xxxxxxxx", "abort") == (404, "No such game")
    game_id = start_game(hal, bob)
    assert refusal(ada, game_id, "abort") == (404, "Not your game")
    assert ada.game(game_id).response.json() == {"error": "Not your game"}
    assert refusal(bob, game_id, "dance") == (404, "No such command")


def test_a_path_with_a_slash_at_its_end_is_not_served(ada: Client, bob: Client) -> None:
    answer = ada.get("/api/account/")
    assert answer.status_code == 404
    assert answer.json() == {"error": "The embedded Lichess does not serve GET /api/account/"}
    assert ada.post(f"/api/challenge/{bob.name}/").status_code == 404


def test_humans_cannot_use_the_bot_endpoints(ada: Client, hal: Client) -> None:
    game_id = start_game(hal, ada)
    status, text = refusal(hal, game_id, "move/e2e4")
    assert status == 400
    assert str(text).startswith("This endpoint can only be used with a Bot account.")


def test_a_game_faster_than_bullet_is_not_for_bots(hal: Client, join: Join) -> None:
    game_id = start_game(hal, join("Ian"), **{"clock.limit": 15})
    assert hal.post("/api/bot/account/upgrade").status_code == 200
    assert refusal(hal, game_id, "move/e2e4") == (400, "This game cannot be played with the Bot API.")


# Moves.


def test_illegal_move_and_move_out_of_turn_are_400(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    assert refusal(ada, game_id, "move/e2e5")[0] == 400
    assert refusal(bob, game_id, "move/e7e5") == (400, "Not your turn, or game already over")


# Draws.


def test_offer_is_shown_and_accepted(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    play(game_id, OPENING, ada, bob)
    stream = bob.game(game_id)
    ada.do(game_id, "draw/yes")
    for room in ("spectator", "player"):
        assert stream.next("chatLine") == {
            "type": "chatLine", "room": room, "username": "lichess", "text": "White offers draw",
        }
    state = stream.next("gameState")
    assert state["wdraw"] is True
    assert "bdraw" not in state
    bob.do(game_id, "draw/true")
    last = stream.rest()[-1]
    assert last["status"] == "draw"
    assert "winner" not in last


def test_move_that_accepts_a_draw_is_swallowed_with_200(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    play(game_id, OPENING, ada, bob)
    bob.do(game_id, "draw/yes")
    ada.do(game_id, "move/a1a8", params={"offeringDraw": "true"})
    state = ada.game(game_id).next("gameFull")["state"]
    assert (state["status"], state["moves"]) == ("draw", OPENING)


def test_offering_draw_false_declines(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    play(game_id, OPENING, ada, bob)
    bob.do(game_id, "draw/yes")
    stream = ada.game(game_id)
    stream.next("gameFull")
    ada.do(game_id, "move/g1f3", params={"offeringDraw": "false"})
    assert stream.next("chatLine")["text"] == "White declines draw"
    assert "bdraw" not in stream.next("gameState")


def test_threefold_comes_as_started_first_and_as_draw_a_moment_later(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    stream = ada.game(game_id)
    play(game_id, f"{SHUFFLE} {SHUFFLE}", ada, bob)
    states = [line for line in stream.rest() if line["type"] == "gameState"]
    assert [state["status"] for state in states[-2:]] == ["started", "draw"]
    assert states[-2]["moves"] == states[-1]["moves"] == f"{SHUFFLE} {SHUFFLE}"


# Takebacks.


def test_a_takeback_removes_moves(lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    allow_takebacks(lichess, ada, bob)
    game_id = start_game(ada, bob)
    play(game_id, f"{OPENING} g1f3 b8c6", ada, bob)
    stream = bob.game(game_id)
    ada.do(game_id, "takeback/yes")
    assert stream.next("chatLine")["text"] == "White proposes takeback (2.Nf3 Nc6)"
    assert stream.next("gameState")["wtakeback"] is True
    bob.do(game_id, "takeback/yes")
    state = stream.next("gameState")
    assert state["moves"] == OPENING
    assert "wtakeback" not in state


def test_a_move_declines_a_takeback_in_a_second_state(lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    allow_takebacks(lichess, ada, bob)
    game_id = start_game(ada, bob)
    play(game_id, f"{OPENING} g1f3", ada, bob)
    stream = ada.game(game_id)
    ada.do(game_id, "takeback/yes")
    bob.do(game_id, "move/b8c6")
    states = [stream.next("gameState") for _ in range(3)]
    assert [state.get("wtakeback") for state in states] == [True, True, None]
    assert [len(state["moves"].split()) for state in states] == [3, 4, 4]


# Leaving.


def test_a_game_that_is_over_ends_once_though_a_takeback_is_declined_later(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    allow_takebacks(lichess, ada, bob)
    game_id = start_game(ada, bob)
    play(game_id, OPENING, ada, bob)
    winner = account_of(lichess, ada)
    before = winner.games_played
    ada.do(game_id, "takeback/yes")
    bob.do(game_id, "resign")
    bob.do(game_id, "takeback/no")
    assert winner.games_played == before + 1


def test_abort_writes_the_last_state_and_counts_for_nobody(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    stream = bob.game(game_id)
    ada.do(game_id, "abort")
    assert stream.rest()[-1]["status"] == "aborted"
    assert [it.get("/api/account").json()["count"]["all"] for it in (ada, bob)] == [0, 0]


def test_draw_claim_needs_an_absent_opponent(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    streams = [ada.game(game_id), bob.game(game_id)]
    ada.do(game_id, "claim-draw")           # no effect before both have moved
    play(game_id, f"{OPENING} g1f3", ada, bob)
    assert refusal(ada, game_id, "claim-draw") == (400, "You cannot claim draw on this game")
    assert refusal(bob, game_id, "claim-draw") == (400, "You cannot claim draw on this game")
    bob.do(game_id, "claim-victory")        # no effect on one's own turn
    assert [line["type"] for line in streams[0].only(4, silence_s=0.1)][-1] == "gameState"


# Chat.


def test_chat_comes_back_on_both_streams(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    streams = [ada.game(game_id), bob.game(game_id)]
    ada.do(game_id, "chat", data={"room": "spectator", "text": "hello"})
    for stream in streams:
        assert stream.next("chatLine") == {
            "type": "chatLine", "room": "spectator", "username": ada.name, "text": "hello",
        }


def test_chat_history_is_one_array_of_the_players_room(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    for room in ("player", "spectator"):
        ada.do(game_id, "chat", json={"room": room, "text": f"to the {room}s"})
    bob.do(game_id, "chat", data={"room": "player", "text": "look at https://example.org"})
    assert ada.get(f"/api/bot/game/{game_id}/chat").json() == [{"text": "to the players", "user": ada.name}]


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"room": "player", "text": "x" * 141}, "text"),
        ({"room": "player"}, "text"),
        ({"room": "kitchen", "text": "hello"}, "room"),
        ({"text": "hello"}, "room"),
    ],
)
def test_chat_form_errors_repeat_the_field(
    ada: Client, bob: Client, form: dict[str, str], field: str
) -> None:
    response = ada.command(start_game(ada, bob), "chat", data=form)
    assert response.status_code == 400
    assert set(response.json()) == {"error", field}
    assert response.json()["error"][field] == response.json()[field]


def test_half_a_character_in_the_chat_spoils_no_answer(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    ada.do(game_id, "chat", json={"room": "player", "text": "half a \ud83d"})
    (line,) = ada.get(f"/api/bot/game/{game_id}/chat").json()
    assert line["text"] == "half a ?"
