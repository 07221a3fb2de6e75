"""The operator's page beside the games: what a browser would get from a real daemon."""

import http.client
import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from lichessbot.control.client import ask
from lichessbot.control.commands import ControlCommand
from lichessbot.rehearsal.rules.enums import ChatRoom, Color, ColorChoice
from lichessbot.rehearsal.rules.timing import Timing
from tests.fakes.arena import IDLE_ENGINE, PATIENCE_S, Arena, judge
from tests.fakes.ports import free_port

PEST = "Pest"  # never moves by itself
HOSTILE = "<img src=x onerror=alert(1)>\u202e\x1b]0;x\x07"
SHOWN = "<img src=x onerror=alert(1)>\\u202e\\x1b]0;x\\x07"  # control characters as escapes, as in the log
FULL_ID = re.compile(r"\b[A-Za-z0-9]{12}\b")


@pytest.fixture
def timing() -> Timing:
    """Nobody who stays away loses a game: on a busy machine the commands take their time."""
    return Timing(tick_s=2.0, claim_wait_s=1000.0, challenge_expiry_s=PATIENCE_S)


class Browser:
    """Asks the daemon on a port, and keeps all that it was ever told."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.seen: list[str] = []

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        self.seen.append(text)
        return response.status, text

    def json(self, path: str) -> Any:
        status, text = self.get(path)
        assert status == 200, text
        return json.loads(text)

    @contextmanager
    def follow(self) -> Iterator[Iterator[Any]]:
        """Yield the statuses of the events; they end with the daemon."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        connection.request("GET", "/api/events")
        response = connection.getresponse()
        try:
            yield self._events(response)
        finally:
            response.close()
            connection.close()

    def _events(self, response: http.client.HTTPResponse) -> Iterator[Any]:
        while line := response.readline().decode():
            self.seen.append(line)
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def metrics(browser: Browser) -> dict[tuple[str, ...], float]:
    _, text = browser.get("/metrics")
    families = text_string_to_metric_families(text)
    return {(it.name, *it.labels.values()): it.value for family in families for it in family.samples}


def play(arena: Arena, game_id: str, *replies: str) -> None:
    """Have the opponent, who has Black and is moved by the test, answer the bot's next moves as it can."""
    session = arena.session(game_id)
    for wish in replies:
        arena.until(lambda: session.game.ply % 2 == 1)
        board = session.game.board()
        move = wish if wish in board.legal_moves() else board.legal_moves()[0]
        arena.server.call(lambda move=move: session.play(Color.BLACK, move))  # type: ignore[misc]
    arena.until(lambda: session.game.ply % 2 == 1)


def test_a_page_follows_a_game_over_a_restart_and_finds_it_in_the_history(arena: Arena) -> None:
    port = free_port()
    browser = Browser(port)
    arena.configure(f"status: {{listen: 127.0.0.1:{port}}}\n", abort_time=600, engine="own_book: false")
    arena.start()
    assert browser.get("/healthz") == (200, "ok\n")
    arena.until(lambda: browser.get("/readyz")[0] == 200)
    opponent = arena.player(PEST, None, rating=1720)
    with browser.follow() as events:
        assert next(events)["games"] == []
        game_id = arena.challenge(opponent, color=ColorChoice.BLACK, base_s=600)
        arena.until(lambda: arena.started)
        play(arena, game_id, "e7e5", "b8c6")
        arena.server.call(lambda: arena.session(game_id).say(Color.BLACK, ChatRoom.PLAYER, HOSTILE))
        game = next(game for it in events for game in it["games"] if len(game["played"]) == 5 and game["chat"])
        assert [it["ply"] for it in game["played"]] == [1, 2, 3, 4, 5]
        assert {it["source"] for it in game["played"][::2]} == {"engine"}
        assert {it["source"] for it in game["played"][1::2]} == {None}
        assert all(it["depth"] and it["search_s"] > 0 for it in game["played"][2::2])
        assert all(500 < it["clock_s"] <= 600 for it in game["played"][2:])
        assert game["evaluation"]["line_san"][0] == game["played"][4]["san"]
        assert game["round_trip_s"] > 0
        assert (game["chat"][-1]["author"], game["chat"][-1]["text"]) == (PEST, SHOWN)
        assert metrics(browser)["lichessbot_games_running", game["speed"]] == 1
        assert metrics(browser)["lichessbot_pages_open",] == 1
        status = browser.json("/api/status")
        assert status["engine"]["processes"] == 1
        assert status["engine"]["memory_bytes"] > 20 << 20
        assert [it["decision"] for it in status["lobby"]["last_challenges"]] == ["accepted"]

        # The stream ends with the daemon, at once, and the page goes on with the next one
        before = [it["san"] for it in game["played"][:2]]
        assert browser.get("/api/games/" + game_id)[0] == 200
        began = time.monotonic()
        assert ask(arena.folder / "state", ControlCommand.QUIT).ok
        assert arena.wait_for_exit() == 4
        assert time.monotonic() - began < 60, "a game of twenty minutes was left"
        assert {it["process_id"] for it in events} <= {arena.process.pid}
    arena.start()
    with browser.follow() as events:
        game = next(game for it in events for game in it["games"] if game["played"])
        assert [it["san"] for it in game["played"]][: len(before)] == before != []
        arena.server.call(lambda: arena.session(game_id).resign(Color.BLACK))
        assert next(it["games"] for it in events if not it["games"]) == []

    # The history
    arena.until(lambda: browser.json("/api/games?result=won")["games"])
    found = browser.json(f"/api/games/{game_id}")
    assert [it["move"] for it in found["moves"]] == arena.session(game_id).game.moves
    assert found["chat"][-1]["text"] == SHOWN
    assert found["game"]["result"] == "won"
    assert game_id in browser.get(f"/api/games/{game_id}.pgn")[1]
    assert browser.json("/api/statistics")["score"]["won"] == 1
    arena.stop()

    # Nothing that it was ever told gives away a secret
    told = "\n".join(browser.seen)
    assert arena.token not in told
    assert not [found for found in FULL_ID.findall(told) if found.startswith(game_id)]
    assert "\x1b" not in told


def test_a_daemon_goes_on_without_its_page_if_the_port_is_taken(arena: Arena) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        arena.configure(f"status: {{listen: 127.0.0.1:{taken.getsockname()[1]}}}\n")
        arena.start()
        arena.challenge(arena.player("Ann"))
        arena.until_ended(1)
        judge(arena.ended[0])
        assert arena.stop() == 0
    assert arena.logged("WARNING web.unavailable address=127.0.0.1:")


def test_run_serves_the_page_for_one_start_and_refuses_to_show_it_to_the_world(arena: Arena) -> None:
    port = free_port()
    arena.configure(engine=IDLE_ENGINE)
    arena.run_options = ("--status", f"127.0.0.1:{port}")
    arena.start()
    assert Browser(port).get("/healthz")[0] == 200
    arena.stop()
    arena.run_options = ("--status", f"0.0.0.0:{port}")
    arena.spawn()
    assert arena.wait_for_exit() == 2
    expected = "--status: expected 127.0.0.1 or [::1], or status.password_file too, found '0.0.0.0:"
    assert arena.logged(expected)
