"""The records of games on disk: written bit by bit, kept over restarts and migrations, and pruned."""

import random
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lichessbot.storage import game_records
from lichessbot.storage.challenge_records import ChallengeOutcome, ChallengeRecord, recorded
from lichessbot.storage.database import FILE_NAME, Database, read_only
from lichessbot.storage.game_records import (
    SELECT,
    SELECT_MOVES,
    ChatRecord,
    GameRecord,
    MoveRecord,
    Result,
    Retention,
    Score,
)
from lichessbot.storage.migrations import MIGRATIONS
from lichessbot.storage.reviews import ReviewedPosition, ReviewRecord, reviewed
from lichessbot.storage.store import LimitedAction, Store
from tests.patience import until

GAME = GameRecord(
    "abcd1234", 1000.0, "BOT Ferdinand", opponent_id="ferdinand", opponent_title="BOT", opponent_rating=1900,
    our_name="TestBot", our_title="BOT", our_rating=2000, variant="standard", speed="blitz", rated=True, colour="white",
    base_s=180, increment_s=2, started_at=990.0,
)  # fmt: skip
OURS = MoveRecord(1, "e2e4", 178_500, "engine", 31, 9, 5000, 1500, 3, 120)
THEIRS = MoveRecord(2, "e7e5", 170_000)
OVER = replace(GAME, ended_at=1100.0, status="mate", result=Result.WON, plies=2, eco="C20", opening="King's Pawn Game")


def game(folder: Path, game_id: str = GAME.id) -> GameRecord:
    (row,) = read_only(folder, f"{SELECT} WHERE id = ?", game_id)
    return GameRecord.of_row(row)


def moves(folder: Path, game_id: str = GAME.id) -> list[MoveRecord]:
    return [MoveRecord(*row) for row in read_only(folder, SELECT_MOVES, game_id)]


def count(folder: Path, table: str) -> int:
    (number,) = read_only(folder, f"SELECT count(*) FROM {table}")[0]
    return int(number)


def until_tidy(folder: Path, games: int) -> None:
    until(lambda: count(folder, "games") == games, lambda: count(folder, "games"))


@pytest.mark.parametrize(
    ("clock", "shown"),
    [
        ({"base_s": 90, "increment_s": 0}, "1.5+0"),
        ({"days_per_turn": 1}, "1 day"),
        ({"days_per_turn": 3}, "3 days"),
        ({}, "unlimited"),
    ],
)
def test_the_time_control_of_a_game_is_shown_as_on_lichess(clock: dict[str, int], shown: str) -> None:
    assert GameRecord("abcd1234", 1000.0, "Ferdinand", **clock).time_control == shown


def test_a_game_is_complete_after_its_parts_were_written(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        store.note_game(GAME.id, "BOT Ferdinand")
        store.record(game_records.begun(GAME))
        store.record(game_records.played(GAME.id, [OURS, THEIRS]))
        store.record(game_records.said(GAME.id, ChatRecord(1001.0, "player", "Ferdinand", "half a \ud83d character")))
        store.record(game_records.ended(OVER))
        store.record(game_records.named(OVER))
        store.record(game_records.changed(GAME.id, rating_diff=-7))
    found = game(tmp_path)
    assert found == replace(OVER, rating_diff=-7, joined_at=found.joined_at)
    assert moves(tmp_path) == [OURS, THEIRS]
    assert read_only(tmp_path, "SELECT room, author, text FROM chat") == [
        ("player", "Ferdinand", "half a \\ud83d character")
    ]


def test_a_daemon_that_is_killed_leaves_what_was_known_and_the_next_one_goes_on(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        store.note_game(GAME.id, "BOT Ferdinand")
        store.record(game_records.begun(GAME), game_records.played(GAME.id, [OURS]))
    assert (game(tmp_path).result, moves(tmp_path)) == (None, [OURS])
    with closing(Store(Database(tmp_path))) as store:
        assert store.left_over == [(GAME.id, "BOT Ferdinand")]
        store.note_game(GAME.id, "BOT Ferdinand")
        store.record(game_records.begun(replace(GAME, joined_at=5000.0)))
        store.record(game_records.played(GAME.id, [MoveRecord(1, "e2e4", 171_000, source="")]))
        seen = [MoveRecord(1, "e2e4", source=""), MoveRecord(2, "e7e5"), MoveRecord(3, "g1f3", 170_000, "own_book")]
        store.record(game_records.played(GAME.id, seen))
    assert moves(tmp_path) == [replace(OURS, clock_ms=171_000), *seen[1:]]
    assert game(tmp_path).joined_at < 5000.0 or game(tmp_path).joined_at > 1e9, "as it was joined first"


def test_moves_that_were_taken_back_and_replaced_are_gone(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        store.record(game_records.begun(GAME), game_records.played(GAME.id, [OURS, THEIRS, MoveRecord(3, "g1f3")]))
        store.record(game_records.taken_back(GAME.id, 2))
        store.record(game_records.played(GAME.id, [MoveRecord(2, "c7c5")]))
    assert moves(tmp_path) == [OURS, MoveRecord(2, "c7c5")]


def test_scores_are_counted_at_the_start_and_with_each_result(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        for number, result in enumerate((Result.WON, Result.WON, Result.DRAWN, None)):
            record = replace(OVER, id=f"game000{number}", result=result)
            store.record(game_records.begun(record), game_records.ended(record))
        assert store.scores.total == Score()
    with closing(Store(Database(tmp_path))) as store:
        assert store.scores.against("ferdinand") == Score(2, 1, 0)
        store.note_result(GameRecord("karls001", 1.0, "Karl", opponent_id="karl"), Result.LOST)
        assert store.scores.total == Score(2, 1, 1)
        assert (store.scores.against("karl"), store.scores.against("nobody")) == (Score(lost=1), Score())
    with closing(Store(Database(tmp_path))) as store:
        assert store.scores.total == Score(2, 1, 0), "`record` writes the results"


# A file of a schema before these records


def of_schema(schema: int, folder: Path) -> None:
    with closing(sqlite3.connect(folder / FILE_NAME)) as old, old:
        for script in MIGRATIONS[:schema]:
            old.executescript(script)
        old.execute(f"PRAGMA user_version = {schema}")
        old.execute(
            "INSERT INTO games (id, opponent, joined_at, left_at, has_clock) VALUES ('old00001', 'BOT Karl', ?, ?, 1)",
            (time.time() - 100, time.time() - 50),
        )
        old.execute("INSERT INTO deeds (game_id, deed, done_at) VALUES ('old00001', 'greeting', ?)", (time.time(),))
        old.execute("INSERT INTO played (position, move, times, played_at) VALUES ('1f', 'e2e4', 3, 1.0)")
        old.execute("INSERT INTO rests (opponent, subject, until, times) VALUES ('karl', 'anything', 9e9, 2)")


def contents(path: Path, tables: dict[str, str]) -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as file:
        return {table: file.execute(f"SELECT {columns} FROM {table}").fetchall() for table, columns in tables.items()}


@pytest.mark.parametrize("schema", [5, 6, 8])
def test_a_file_of_a_schema_before_is_migrated_without_loss(tmp_path: Path, schema: int) -> None:
    of_schema(schema, tmp_path)
    tables = {
        "games": "id, opponent, joined_at, left_at, has_clock", "deeds": "*", "played": "*", "rests": "*",
        "challenges": "*", "bot_games": "*", "tournaments": "*", "account": "*",
    }  # fmt: skip
    before = contents(tmp_path / FILE_NAME, tables)
    with closing(Store(Database(tmp_path))) as store:
        assert store.times_played(0x1F) == {"e2e4": 3}
        store.record(game_records.begun(GAME))
    after = contents(tmp_path / FILE_NAME, tables)
    assert len(before["games"]) == 1
    assert after["games"].pop()[0] == GAME.id
    assert after == before
    assert contents(tmp_path / f"{FILE_NAME}.schema{schema}", tables) == before
    old = game(tmp_path, "old00001")
    assert (old.opponent, old.result, old.speed) == ("BOT Karl", None, "")


# Retention


def fill(folder: Path, games: int, text: str = "x" * 300) -> None:
    """Write games that ended one day after the other, the last one today."""
    chance = random.Random(1)
    with closing(Database(folder)) as file:
        for number in range(games):
            record = replace(GAME, id=f"game{number:04d}")
            played = [MoveRecord(ply, f"{chance.random()}") for ply in range(1, 40)]
            at = time.time() - (games - number) * 86400
            left = ("UPDATE games SET joined_at = ?, left_at = ? WHERE id = ?", [(at, at, record.id)])
            line = game_records.said(record.id, ChatRecord(0.0, "player", "Karl", text))
            review = reviewed(ReviewRecord(record.id, 0.0, "Aleph", 1, [ReviewedPosition(0, 15, "e2e4")]))
            file.write([game_records.begun(record), game_records.played(record.id, played), line, *review, left])


def test_games_are_deleted_with_all_their_parts_after_the_days_that_are_configured(tmp_path: Path) -> None:
    """Their age is that beside the newest one."""
    fill(tmp_path, 10)
    with closing(Store(Database(tmp_path), retention=Retention(keep=timedelta(days=4.5)))):
        until_tidy(tmp_path, 5)
    assert read_only(tmp_path, "SELECT min(id) FROM games") == [("game0005",)]
    for table in ("moves", "chat", "reviews", "reviewed_positions"):
        assert read_only(tmp_path, f"SELECT DISTINCT game_id FROM {table} WHERE game_id < 'game0005'") == []
        assert count(tmp_path, table) > 0


def test_a_game_in_progress_is_kept_however_old_it_is(tmp_path: Path) -> None:
    fill(tmp_path, 4)
    with closing(Database(tmp_path)) as file:
        file.write([("UPDATE games SET left_at = NULL, joined_at = 0 WHERE id = 'game0000'", [()])])
    with closing(Store(Database(tmp_path), retention=Retention(keep=timedelta(hours=1)))):
        until_tidy(tmp_path, 2)
    assert read_only(tmp_path, "SELECT id FROM games") == [("game0000",), ("game0003",)], "and the newest"


def test_a_clock_that_is_years_ahead_deletes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, 3)
    years_ahead = time.time() + 10 * 365 * 86400
    monkeypatch.setattr(time, "time", lambda: years_ahead)
    with closing(Store(Database(tmp_path))) as store:
        assert store.note_done("game0000", LimitedAction.GREETING).wait(60), "after the tidying at the start"
    assert count(tmp_path, "games") == 3
    assert count(tmp_path, "moves") > 0


def test_the_oldest_games_make_room_and_the_file_shrinks(tmp_path: Path) -> None:
    fill(tmp_path, 120, "x" * 30_000)
    path = tmp_path / FILE_NAME
    limit = path.stat().st_size // 4
    with closing(Store(Database(tmp_path), retention=Retention(max_bytes=limit))) as store:
        until(lambda: path.stat().st_size <= limit)
        store.record(game_records.begun(GAME))
    assert 15 <= count(tmp_path, "games") <= 40
    assert read_only(tmp_path, "SELECT max(id) FROM games") == [("game0119",)]
    assert read_only(tmp_path, "SELECT count(*) FROM moves WHERE game_id NOT IN (SELECT id FROM games)") == [(0,)]


def be_challenged(folder: Path, times: int) -> float:
    """Write a challenge for each of the last seconds; return the time of the latest."""
    latest = time.time()
    newest = ChallengeRecord(
        "game0000", latest, "rival", True, 1900, None, "standard", "blitz", "3+0", True, ChallengeOutcome.ACCEPTED,
        "", "", "",
    )  # fmt: skip
    entries = [replace(newest, id=f"game{age_s:04}", received_at=latest - age_s) for age_s in range(times)]
    with closing(Database(folder)) as file:
        file.write([recorded(entry) for entry in entries])
    return latest


def make_room(folder: Path, max_bytes: int) -> None:
    with closing(Store(Database(folder), retention=Retention(max_bytes=max_bytes))) as store:
        for _ in range(2):  # the first is written before the file is made smaller
            assert store.note_done("game1", LimitedAction.GREETING).wait(60.0)


def test_challenges_make_room_as_well_as_games(tmp_path: Path) -> None:
    fill(tmp_path, 200, "x" * 100)
    latest = be_challenged(tmp_path, 4000)
    make_room(tmp_path, 700_000)
    assert 20 < count(tmp_path, "games") < 200
    assert 1000 < count(tmp_path, "challenges") <= 2000, "ten for each game, before a game is deleted"
    assert read_only(tmp_path, "SELECT max(received_at) FROM challenges") == [(latest,)]


def test_challenges_alone_make_room_while_they_are_many(tmp_path: Path) -> None:
    fill(tmp_path, 100, "x" * 100)
    be_challenged(tmp_path, 4000)
    make_room(tmp_path, (tmp_path / FILE_NAME).stat().st_size * 3 // 4)
    assert count(tmp_path, "games") == 100
    assert 1000 < count(tmp_path, "challenges") < 4000


def test_a_file_without_games_to_delete_stays(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path), retention=Retention(max_bytes=1))) as store:
        store.note_played(1, "e2e4")
    with closing(Store(Database(tmp_path))) as store:
        assert store.times_played(1) == {"e2e4": 1}
