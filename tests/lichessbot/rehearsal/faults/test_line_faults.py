"""Lines that are not what they should be, on both streams."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from lichessbot.rehearsal.faults.catalogue import Fault
from lichessbot.rehearsal.faults.line_faults import NOT_JSON, UNKNOWN_LINE
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client, start_game
from tests.lichessbot.rehearsal.faults.injection import inject_for, placed


def raw_lines(client: Client, path: str, count: int) -> list[bytes]:
    """The first lines of a stream as they come, ticks left out."""
    response = client.get(path, stream=True)
    lines = (line for line in response.iter_lines() if line)
    found = [next(lines) + b"\n" for _ in range(count)]
    response.close()
    return found


def first_lines(
    lichess: RehearsalServer, ada: Client, bob: Client, fault: Fault, count: int
) -> Sequence[Sequence[bytes]]:
    """How the event stream and a game stream begin while `fault` strikes every line."""
    inject_for(lichess, ada, *placed(fault))
    game_id = start_game(ada, bob)
    return [
        raw_lines(ada, path, count) for path in ("/api/stream/event", f"/api/bot/game/stream/{game_id}")
    ]


def payload(line: bytes) -> dict[str, Any]:
    shape: dict[str, Any] = json.loads(line)
    return shape


def test_doubled_line_comes_twice(lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    for first, second in first_lines(lichess, ada, bob, Fault.LINE_DOUBLED, 2):
        assert first == second


@pytest.mark.parametrize(
    ("fault", "odd"), [(Fault.LINE_UNKNOWN, UNKNOWN_LINE), (Fault.LINE_NOT_JSON, NOT_JSON)]
)
def test_odd_line_comes_before_the_true_one(
    fault: Fault, odd: bytes, lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    events, game = first_lines(lichess, ada, bob, fault, 2)
    assert events[0] == game[0] == odd
    assert payload(events[1])["type"] == "gameStart"
    assert payload(game[1])["type"] == "gameFull"


def test_line_of_nulls_has_the_type_of_the_true_one_and_nothing_else(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    (nulls, true), (game_nulls, game_true) = first_lines(lichess, ada, bob, Fault.LINE_NULLS, 2)
    assert payload(nulls) == {"type": "gameStart", "game": None}
    assert payload(true)["game"]["winner"] is None
    assert payload(true)["game"]["color"] == "white"
    assert set(payload(game_nulls).values()) == {"gameFull", None}
    assert payload(game_true)["tournamentId"] is None


def test_clocks_that_show_zero_are_right_again_in_the_next_line(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    inject_for(lichess, ada, *placed(Fault.CLOCKS_ZERO))
    game_id = start_game(ada, bob)
    stream = ada.game(game_id)
    state = stream.next("gameFull")["state"]
    assert (state["wtime"], state["btime"]) == (0, 0)
    ada.do(game_id, "move/e2e4")
    assert stream.next("gameState")["btime"] > 0


def test_a_lost_start_is_not_replayed_but_the_game_is_listed(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    inject_for(lichess, ada, *placed(Fault.START_LOST))
    events = ada.events()
    game_id = start_game(ada, bob)
    assert [line["type"] for line in events.only(1)] == ["challenge"]
    assert [game["gameId"] for game in ada.get("/api/account/playing").json()["nowPlaying"]] == [game_id]


def test_lost_move_shows_on_a_new_stream(lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    inject_for(lichess, ada, *placed(Fault.STATE_LOST))
    game_id = start_game(bob, ada)
    stream = ada.game(game_id)
    stream.next("gameFull")
    bob.do(game_id, "move/e2e4")
    assert stream.waiting(0.2) == []
    assert ada.game(game_id).next("gameFull")["state"]["moves"] == "e2e4"


def test_stream_whose_last_state_is_lost_just_ends(lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    inject_for(lichess, ada, *placed(Fault.FINAL_LOST))
    game_id = start_game(ada, bob)
    events, stream = ada.events(), ada.game(game_id)
    bob.do(game_id, "abort")
    assert [line["type"] for line in stream.rest()] == ["gameFull"]
    assert stream.ended_cleanly
    assert events.next("gameFinish")["game"]["id"] == game_id


def test_lost_finish_leaves_the_last_state_of_the_game(lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    inject_for(lichess, ada, *placed(Fault.FINISH_LOST))
    game_id = start_game(ada, bob)
    events, stream = ada.events(), ada.game(game_id)
    bob.do(game_id, "abort")
    assert stream.rest()[-1]["status"] == "aborted"
    assert [line["type"] for line in events.only(1)] == ["gameStart"]
