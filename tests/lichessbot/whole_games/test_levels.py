"""Levels in whole games: the daemon, a stand-in engine that repeats what it is told, and the embedded Lichess."""

import json
from pathlib import Path

from lichessbot.rehearsal.rules.enums import ChatRoom, Color, ColorChoice
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.storage.database import read_only
from tests.fakes.arena import Arena
from tests.fakes.rude_engine import QUICK_PYTHON

ENGINE = Path(__file__).parents[2] / "fakes" / "rude_engine.py"
TOLD = 'engine.stderr game={game} line="setoption name UCI_Elo value {level}"'


def begin(arena: Arena, name: str, rating: int, *, rated: bool = False) -> GameSession:
    """Begin a game in which the bot plays White; nobody plays Black."""
    before = len(arena.started)
    arena.challenge(arena.player(name, None, rating=rating), color=ColorChoice.BLACK, rated=rated)
    arena.until(lambda: len(arena.started) > before)
    session = arena.started[-1]
    arena.until_plies(session, 1)
    return session


def configure(arena: Arena, *, modes: str = "casual", profiles: str = "") -> None:
    command = json.dumps([*QUICK_PYTHON, str(ENGINE), "levelled", "e2e4"])
    engine = f"command: {command}, strength: match_opponent, match_opponent: {{offset: -40, floor: 1400}}"
    arena.configure(profiles, abort_time=600, rules=f"modes: [{modes}], variants: [standard]", engine=engine)


def told(arena: Arena, session: GameSession, level: int) -> int:
    """Return how often an engine of the game was told this level."""
    return arena.log().count(TOLD.format(game=session.game.id, level=level))


def test_the_level_follows_the_opponents_rating_in_casual_games(arena: Arena) -> None:
    configure(arena, modes="casual, rated", profiles="profiles: [{when: {rated: true}, engine: {strength: full}}]\n")
    arena.start()
    near, weak, rated = (
        begin(arena, "Near", 1640), begin(arena, "Weak", 900), begin(arena, "Keen", 1640, rated=True)
    )  # fmt: skip
    arena.until(lambda: told(arena, near, 1600) == told(arena, weak, 1400) == 1)
    of_rated = f"engine.stderr game={rated.game.id} line="
    arena.until(lambda: f"{of_rated}isready" in arena.log())
    starts = {line.split(" game=")[1][:8]: line for line in arena.log().splitlines() if " game.start " in line}
    assert " level=1600 " in starts[near.game.id]
    assert " level=1400 " in starts[weak.game.id]
    assert " level=" not in starts[rated.game.id]
    assert f'{of_rated}"setoption name UCI_Elo' not in arena.log()
    running = json.loads(arena.tell("status", "--json").stdout)["games"]
    assert {game["game_id"]: game["level"] for game in running} == {
        near.game.id: 1600, weak.game.id: 1400, rated.game.id: None,
    }  # fmt: skip


def test_the_opponent_chooses_a_level_and_a_restart_keeps_it(arena: Arena) -> None:
    configure(arena)
    arena.start()
    session = begin(arena, "Near", 1640)
    arena.until(lambda: told(arena, session, 1600) == 1)

    def say(text: str) -> None:
        arena.server.call(lambda: session.say(Color.BLACK, ChatRoom.PLAYER, text))

    say("!level 1750")
    arena.until(lambda: told(arena, session, 1750) == 1)
    arena.until(lambda: any(line.text.endswith("I play at level 1750.") for line in session.game.chat))
    arena.until(lambda: read_only(arena.folder / "state", "SELECT * FROM games WHERE chosen_level = 1750"))
    arena.kill()
    arena.start()
    arena.until(lambda: told(arena, session, 1750) == 2)
    arena.until(lambda: " level=1750 " in arena.log())
    assert told(arena, session, 1600) == 1

    def move_and_resign() -> None:
        session.play(Color.BLACK, "e7e5")
        session.resign(Color.BLACK)

    arena.server.call(move_and_resign)
    arena.until_ended(1)
    arena.until(lambda: f"game.over game={session.game.id}" in arena.log())
    assert arena.stop() == 0
    (game,) = json.loads(arena.tell("games", "--json").stdout)
    assert (game["level"], game["chosen_level"], game["result"]) == (1750, 1750, "won")
    assert '[WhiteLevel "1750"]' in arena.tell("pgn").stdout
