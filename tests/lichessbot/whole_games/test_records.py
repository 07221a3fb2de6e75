"""Two games of a daemon, one of them over a kill, and what the commands then tell of them."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from typing import Any

import chess.pgn

from lichessbot.rehearsal.rules.enums import ColorChoice
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.storage.database import FILE_NAME
from tests.fakes.arena import Arena, SlowOpponent, judge


def run(arena: Arena, *words: str, code: int = 0) -> str:
    done = arena.tell(*words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def recorded(arena: Arena, games: int) -> list[dict[str, Any]]:
    """Wait until this many games have a result and a name on the disk, and return them."""

    def on_disk() -> bool:
        with closing(sqlite3.connect(arena.folder / "state" / FILE_NAME)) as file:
            query = "SELECT count(*) FROM games WHERE result IS NOT NULL AND opening != ''"
            return file.execute(query).fetchone() == (games,)

    arena.until(on_disk)
    found: list[dict[str, Any]] = json.loads(run(arena, "games", "--json"))
    assert sum(bool(game["result"] and game["opening"]) for game in found) == games
    return found


def clocks(arena: Arena, number: int) -> list[int | None]:
    """Return the clocks on the disk after the moves of a game, 1 for the first that was started."""
    if len(arena.started) < number:
        return []
    with closing(sqlite3.connect(arena.folder / "state" / FILE_NAME)) as file:
        query = "SELECT clock_ms FROM moves WHERE game_id = ? ORDER BY ply"
        return [clock_ms for (clock_ms,) in file.execute(query, (arena.started[number - 1].game.id,))]


def read(file: io.StringIO, session: GameSession) -> chess.pgn.Game:
    """Read the next game and compare it with the one that was played."""
    game = chess.pgn.read_game(file)
    assert game.errors == []
    assert game.headers["GameId"] == session.game.id
    assert game.headers["ECO"]
    assert game.board().variation_san(game.mainline_moves()) != ""
    assert len(list(game.mainline_moves())) == session.game.ply
    return game


def test_two_games_are_remembered_move_by_move_and_told(arena: Arena) -> None:
    arena.configure("greeting: {hello: 'Hello, {crosstable}.'}\n", engine="own_book: false")
    arena.start()
    slow = arena.player("Slow", SlowOpponent)
    arena.challenge(slow, color=ColorChoice.WHITE, rated=True)
    arena.until_ended(1)
    recorded(arena, 1)

    arena.challenge(slow, color=ColorChoice.BLACK)
    arena.until(lambda: len(clocks(arena, 2)) >= 5)
    before = clocks(arena, 2)
    arena.kill()
    arena.spawn()
    arena.until_ended(2)
    first, second = (arena.session(game["id"]) for game in recorded(arena, 2))
    for session in (first, second):
        judge(session)

    wins = sum(session.game.winner is session.game.setup.color_of(arena.bot) for session in (first, second))
    figures = json.loads(run(arena, "stats", "--json"))
    assert (sum(figures["score"].values()), figures["score"]["won"], figures["without_result"]) == (2, wins, 0)
    assert figures["sources"][0]["source"] == "engine"
    (ratings,) = figures["ratings"].values()
    assert all(at < figures["last_at"] for at, _ in ratings), "those of the first game, which was rated"
    assert next(csv.DictReader(io.StringIO(run(arena, "stats", "--csv"))))["games"] == "2"
    assert "Slow" in run(arena, "stats", "opponent=slow")

    file = io.StringIO(run(arena, "pgn", "since=1d"))
    for session in (first, second):
        game = read(file, session)
        nodes = list(game.mainline())
        # Not those of moves while nobody listened, and perhaps of an end that the event stream told first.
        assert sum(node.clock() is not None for node in nodes) > len(nodes) / 2
        ours = [node for node in nodes if (node.turn() is chess.BLACK) == (game.headers["White"] == "TestBot")]
        assert sum(node.eval() is not None for node in ours) >= len(ours) // 2
    assert chess.pgn.read_game(file) is None
    assert clocks(arena, 2)[: len(before)] == before

    told = run(arena, "postmortem", f"{arena.site.url}/{second.game.id}", "--seconds", "0.2")
    assert told.startswith(f"game {second.game.id}: 3+0 casual, as white against Slow (1500), ")
    assert "our moves: " in told
    assert "reaction: " in told
    assert run(arena, "games", "opponent=nobody", code=1) == ""

    assert any(line.text.startswith("Hello, we have met once, ") for line in second.game.chat)
    with closing(sqlite3.connect(arena.folder / "state" / FILE_NAME)) as file_of_records:
        said = file_of_records.execute("SELECT game_id, author FROM chat WHERE text LIKE 'Hello, we have %'").fetchall()
    assert sorted(said) == sorted((session.game.id, "TestBot") for session in (first, second))
