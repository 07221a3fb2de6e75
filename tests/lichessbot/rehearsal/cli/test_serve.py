"""`rehearse --serve`: any client of the Bot API is challenged and checked."""

import socket
import subprocess
from urllib.parse import urlsplit

from lichessbot.rehearsal.cli import rehearse as command
from tests.fakes.ports import free_port
from tests.lichessbot.rehearsal.client import Client
from tests.patience import PATIENCE_S

from .processes import interrupt, read_until, start


def client_of(process: subprocess.Popen[str]) -> Client:
    """A client with the address and the token that the rehearsal tells."""
    url, token = read_until(process, r"url: (\S+)")[1], read_until(process, r"token: (\w+)")[1]
    return Client(url, token, command.BOT_NAME)


def test_serve_waits_for_any_client_and_challenges_it(rehearsal: list[subprocess.Popen[str]], mark: str) -> None:
    process = start(rehearsal, "--serve", "--opponent", "random")
    client = client_of(process)
    events = client.events()
    challenge = events.next("challenge")["challenge"]
    client.post(f"/api/challenge/{challenge['id']}/accept")
    assert events.next("gameStart")["game"]["id"] == challenge["id"]
    assert client.challenge(Client(client.url, None, "RandomBot2"))["status"] == "created"
    interrupt(process)
    assert process.returncode == command.EXIT_GOOD
    assert events.rest() is not None
    assert events.ended_cleanly


def test_faults_are_served_to_any_client_at_the_port_of_the_option(
    rehearsal: list[subprocess.Popen[str]], mark: str
) -> None:
    port = free_port()
    process = start(rehearsal, "--serve", "--faults", "502-html@account,answer-lost@decline", "--port", str(port))
    client = client_of(process)
    assert client.url == f"http://127.0.0.1:{port}"
    assert [client.get("/api/account").status_code for _ in range(2)] == [502, 200]
    assert "502-html: struck 1, games touched 0" in interrupt(process)
    assert process.returncode == command.EXIT_GOOD


def test_the_broken_rules_of_another_client_are_reported(rehearsal: list[subprocess.Popen[str]], mark: str) -> None:
    process = start(rehearsal, "--serve")
    client = client_of(process)
    events = client.events()
    challenge = events.next("challenge")["challenge"]
    client.post(f"/api/challenge/{challenge['id']}/accept")
    game = events.next("gameStart")["game"]
    assert client.command(game["id"], "move/e2e5").status_code == 400
    said = interrupt(process)
    assert process.returncode == command.EXIT_BAD
    assert "the client misbehaved: " in said
    assert "e2e5 is illegal" in said


def test_a_client_that_goes_away_and_comes_back_is_told(rehearsal: list[subprocess.Popen[str]], mark: str) -> None:
    process = start(rehearsal, "--serve")
    client = client_of(process)
    for _ in range(2):
        events = client.events()
        read_until(process, "the bot's event stream is open")
        events.drop()
        read_until(process, "the bot's event stream is closed")
    interrupt(process)


def test_serve_ends_after_its_games_with_a_table_and_the_verdict(
    rehearsal: list[subprocess.Popen[str]], mark: str
) -> None:
    process = start(rehearsal, "--serve", "--games", "2", "--concurrency", "1")
    client = client_of(process)
    events = client.events()
    for _ in range(2):
        challenge = events.next("challenge")["challenge"]
        assert client.post(f"/api/challenge/{challenge['id']}/accept").status_code == 200
        events.next("gameStart")
        game = client.game(challenge["id"])
        game.next("gameFull")
        assert client.post(f"/api/bot/game/{challenge['id']}/abort").status_code == 200
    output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == command.EXIT_BAD, "the client aborted its games"
    assert output.splitlines()[-1] == "2 games: 0 won, 0 drawn, 0 lost, 2 failed"
    assert errors in ("", None)


def test_ctrl_c_with_a_client_connected_prints_no_traceback_and_counts_unfinished_games(
    rehearsal: list[subprocess.Popen[str]], mark: str
) -> None:
    process = start(rehearsal, "--serve")
    url, token = read_until(process, r"url: (\S+)")[1], read_until(process, r"token: (\w+)")[1]
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port)) as connection:
        request = f"GET /api/stream/event HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
        connection.sendall(request.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        output = interrupt(process)
    assert process.returncode == command.EXIT_GOOD
    assert "Traceback" not in output
    assert "ASGI" not in output
    assert output.splitlines()[-1] == "2 games: 0 won, 0 drawn, 0 lost, 0 failed, 2 unfinished"


def test_a_game_that_the_client_began_and_lost_on_time_counts(
    rehearsal: list[subprocess.Popen[str]], mark: str
) -> None:
    process = start(rehearsal, "--serve")
    client = client_of(process)
    events = client.events()
    hurried = {"clock.limit": 0, "clock.increment": 1, "color": "white"}
    game_id = str(client.challenge(Client(client.url, None, "GreedyHuman1"), **hurried)["id"])
    while events.next("gameStart")["game"]["id"] != game_id:
        pass
    client.do(game_id, "move/e2e4")
    client.game(game_id).rest()
    output = interrupt(process)
    assert process.returncode == command.EXIT_BAD
    assert f"problem: game {game_id} against GreedyHuman1: failed, outoftime, 2 plies" in output


def test_a_reader_that_goes_away_ends_the_rehearsal_and_breaks_no_answer(
    rehearsal: list[subprocess.Popen[str]], mark: str
) -> None:
    process = start(rehearsal, "--serve", "--games", "2", "--concurrency", "1")
    client = client_of(process)
    events = client.events()
    challenge = events.next("challenge")["challenge"]
    read_until(process, "event stream is open")
    process.stdout.close()
    assert client.post(f"/api/challenge/{challenge['id']}/accept").status_code == 200
    assert process.wait(PATIENCE_S) != command.EXIT_GOOD
    rehearsal.remove(process)
