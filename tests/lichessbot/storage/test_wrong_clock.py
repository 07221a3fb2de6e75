"""Old rows are deleted by the clock, but not because it is years ahead, as it may be after a power cut."""

import time
from contextlib import closing
from pathlib import Path

import pytest

from lichessbot.storage.database import Database, read_only
from lichessbot.storage.store import LimitedAction, Store

HOUR_S, DAY_S = 3600.0, 86400.0

# By table: the column of its time, other values of a row, and for how many days it is kept.
TABLES = {
    "deeds": ("done_at", {"game_id": "game1", "deed": "takeback"}, 365),
    "answers": ("answered_at", {"challenge_id": "challenge1"}, 2),
    "bot_games": ("began_at", {"id": "game1", "opponent": "ada", "speed": "blitz", "ours": 1}, 365),
    "sent_challenges": ("sent_at", {"id": "challenge2", "cost": 5}, 2),
    "rests": ("until", {"opponent": "ada", "subject": "anything", "times": 5}, 60),
    "declines": ("declined_at", {"opponent": "ada", "terms": "3+2 rated", "reason": "later"}, 1095),
}


def write(folder: Path, table: str, at: float) -> None:
    column, values, _ = TABLES[table]
    names, marks = ", ".join([*values, column]), ", ".join("?" * (len(values) + 1))
    with closing(Database(folder)) as file:
        file.write([(f"INSERT INTO {table} ({names}) VALUES ({marks})", [[*values.values(), at]])])


def start(folder: Path) -> None:
    with closing(Store(Database(folder))) as store:
        assert store.note_done("another", LimitedAction.GREETING).wait(60), "after the tidying at the start"


def is_kept(folder: Path, table: str, at: float) -> bool:
    return bool(read_only(folder, f"SELECT 1 FROM {table} WHERE {TABLES[table][0]} = ?", at))


@pytest.mark.parametrize("with_game", [True, False])
@pytest.mark.parametrize("table", TABLES)
def test_a_clock_that_is_years_ahead_at_the_start_deletes_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, with_game: bool
) -> None:
    """The bot forgot its quotas, and which challenges it had answered."""
    at = time.time() - HOUR_S
    write(tmp_path, table, at)
    if with_game:
        with closing(Store(Database(tmp_path))) as store:
            store.note_game("game1", "ada")
    else:
        write(tmp_path, "declines", at + 60)
    with monkeypatch.context() as ahead:
        ahead.setattr(time, "time", lambda: time.time_ns() / 1e9 + 4 * 365 * DAY_S)
        start(tmp_path)
    assert is_kept(tmp_path, table, at)


PAIRS = [(table, newest) for table in TABLES for newest in TABLES if newest not in (table, "rests")]


@pytest.mark.parametrize(("table", "newest"), PAIRS)
def test_old_rows_are_deleted_also_without_new_games(tmp_path: Path, table: str, newest: str) -> None:
    at = time.time() - TABLES[table][2] * DAY_S - HOUR_S
    write(tmp_path, table, at)
    write(tmp_path, newest, time.time() - 60)
    start(tmp_path)
    assert not is_kept(tmp_path, table, at)
