"""An operator looks at a running daemon and commands it, with the installed console command."""

import json
import signal
import socket
from typing import Any

import pytest

from lichessbot.control.client import ask
from lichessbot.control.commands import ControlCommand
from lichessbot.control.sockets import SOCKET_NAME
from lichessbot.control.status import Activity, Status
from lichessbot.rehearsal.rules.enums import Color, ColorChoice, DeclineReason
from lichessbot.rehearsal.rules.timing import Timing
from tests.fakes.arena import PATIENCE_S, Arena
from tests.fakes.scripted_opponent import ScriptedOpponent

SLEEPER = "Sleeper"  # never moves by itself


@pytest.fixture
def timing() -> Timing:
    """Nobody who stays away loses a game: on a busy machine the commands take their time."""
    return Timing(tick_s=2.0, claim_wait_s=1000.0, challenge_expiry_s=PATIENCE_S)


def told(arena: Arena, *words: str, code: int = 0) -> str:
    """What a command prints; it ends with this exit code."""
    done = arena.tell(*words)
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    return (done.stdout if code == 0 else done.stderr).strip()


def status(arena: Arena) -> Status:
    """The status as another client of the socket gets it, which takes no process of its own."""
    return ask(arena.folder / "state", ControlCommand.STATUS).status


def nuisance(arena: Arena, sent: bytes) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(str(arena.folder / "state" / SOCKET_NAME))
    connection.sendall(sent)
    return connection


def begin_a_game(arena: Arena) -> str:
    """The bot plays White against an opponent who is moved by the test; three plies are played."""
    opponent = ScriptedOpponent(arena, Color.BLACK, name=SLEEPER, rating=1720, base_s=600)
    opponent.waits_for_turn()
    opponent.plays("e7e5" if opponent.game.moves[0] != "e2e4" else "c7c5")
    arena.until(lambda: [len(game.moves) for game in status(arena).games] == [3])
    return opponent.game.id


def test_an_operator_sees_a_game_and_pauses_blocks_resumes_and_finishes(arena: Arena) -> None:
    nobody = f"no daemon is running with the state folder {arena.folder / 'state'}"
    assert told(arena, "status", code=1) == nobody
    arena.configure(abort_time=600, engine="own_book: false")
    arena.start()
    game_id = begin_a_game(arena)

    # What is seen, also while other clients are silent or send garbage
    nuisances = [nuisance(arena, sent) for sent in (b"", b"x" * 4000, b"\xff\x00\n", b"[" * 4000, b'{"command":') * 4]
    seen: dict[str, Any] = json.loads(told(arena, "status", "--json"))
    (game,) = seen["games"]
    assert (seen["activity"], seen["connection"]["account"], seen["lobby"]["slots"]) == ("playing", "TestBot", 4)
    assert seen["connection"]["events"]["is_open"]
    assert seen["connection"]["events"]["silent_for_s"] < 20
    assert game["game_id"] == game_id
    assert tuple(game["moves"]) == tuple(arena.session(game_id).game.moves)
    assert (game["black"]["name"], game["black"]["rating"], game["our_colour"]) == (SLEEPER, 1720, "white")
    assert (game["to_move"], game["clock_runs"], game["stream"]["is_open"]) == ("black", True, True)
    assert 500 < game["black"]["clock_s"] < 600
    assert (game["evaluation"]["source"], game["evaluation"]["move"]) == ("engine", game["moves"][-1])
    assert game["evaluation"]["depth"] >= 1
    screen = told(arena, "status")
    assert f"{game_id} blitz 10+0 casual" in screen or f"{game_id} rapid 10+0 casual" in screen
    assert "Sleeper (1720)" in screen
    assert "a  b  c  d  e  f  g  h" in screen

    for connection in nuisances:
        connection.close()

    # A pause outlasts a reload
    assert told(arena, "pause").startswith("paused: no new games until `lichessbot resume`")
    human = arena.player("Human")
    refused = arena.challenge(human)
    arena.until(lambda: arena.decline_reason(refused) is DeclineReason.LATER)
    arena.signal(signal.SIGHUP)
    arena.until(lambda: " reload " in arena.log())
    assert status(arena).activity is Activity.PAUSED
    arena.until(lambda: arena.tell("explain", refused).returncode == 0)  # the answer is in the records
    assert told(arena, "explain", refused).count("lichessbot pause") == 1
    assert "because: the bot is paused" in told(arena, "explain", "--clock", "3+0")
    assert told(arena, "resume") == "resumed: new games are taken again"
    arena.challenge(human)
    arena.until(lambda: len(arena.started) == 2)

    # A block outlasts a restart
    assert told(arena, "block", "Pest") == "Pest is blocked: challenges are declined, and matchmaking sends none"
    blocked = arena.challenge(arena.player("Pest"))
    arena.until(lambda: arena.decline_reason(blocked) is DeclineReason.GENERIC)
    assert told(arena, "finish").startswith("finishing: no new games; the daemon ends after the running ones")
    assert "the daemon is finishing" in told(arena, "pause", code=1)
    arena.signal(signal.SIGTERM)
    assert arena.logged("stop.asked signal=SIGTERM")
    arena.until_ended(1)
    assert status(arena).activity is Activity.FINISHING
    session = arena.session(game_id)
    arena.server.call(lambda: session.resign(Color.BLACK))
    assert arena.wait_for_exit() == 0
    assert told(arena, "status", code=1) == nobody
    arena.start()
    assert status(arena).lobby.blocked == ("pest",)
    assert told(arena, "unblock", "PEST") == "PEST is no longer blocked"
    arena.challenge(arena.player("Dozer", None), color=ColorChoice.BLACK, base_s=600)
    arena.until(lambda: len(arena.started) == 3 and arena.started[2].game.ply == 1)
    assert told(arena, "matchmaking", "on").startswith("matchmaking is on until the next restart; next attempt ")
    assert "nobody was challenged since the start" in told(arena, "rechallenge", code=1)
    assert told(arena, "quit").startswith("the daemon ends now")
    assert arena.wait_for_exit() == 4
    assert not (arena.folder / "state" / SOCKET_NAME).exists()
    assert arena.logged(" control command=", times=9)
