"""Which games a filter means, asked of a database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lichessbot.storage import game_records
from lichessbot.storage.game_filter import GameFilter, game_id
from lichessbot.storage.game_records import GameRecord, Result
from lichessbot.storage.migrations import MIGRATIONS

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC).timestamp()
DAY = 86400.0


def record(number: int, opponent: str, result: Result | None, speed: str, colour: str, days_ago: float) -> GameRecord:
    return GameRecord(
        f"game000{number}", NOW, f"BOT {opponent}", opponent_id=opponent.lower(), opponent_title="BOT", speed=speed,
        colour=colour, started_at=NOW - days_ago * DAY, result=result,
    )  # fmt: skip


@pytest.fixture(scope="module")
def games() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for script in MIGRATIONS:
            connection.executescript(script)
        for it in (
            record(1, "Maia1", Result.WON, "blitz", "white", 0.5),
            record(2, "Maia1", Result.LOST, "bullet", "black", 6),
            record(3, "Karl", Result.DRAWN, "blitz", "black", 20),
            record(4, "Karl", None, "correspondence", "white", 400),
        ):
            for sql, rows in (game_records.begun(it), game_records.ended(replace(it, ended_at=NOW))):
                connection.executemany(sql, rows)
        named = GameRecord("game0003", NOW, "Karl", eco="B90", opening="Sicilian Defense: Najdorf Variation")
        connection.executemany(*game_records.named(named))
        old = "INSERT INTO games (id, opponent, joined_at) VALUES ('game0005', 'BOT Maia1', ?)"
        connection.execute(old, (NOW - 500 * DAY,))
        yield connection


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("", "12345"),
        ("opponent=maia1", "125"),
        ("opponent=MAIA1,karl", "12345"),
        ("result=lost", "2"),
        ("result=won,drawn", "13"),
        ("speed=blitz", "13"),
        ("colour=black speed=blitz", "3"),
        ("since=12h", "1"),
        ("since=7d", "12"),
        ("since=3w result=drawn", "3"),
        ("since=2026-11-01", "123"),
        ("since=2026-11-24T01:00+00:00", ""),
        ("opening=NAJDORF", "3"),
        ("opening=b90", "3"),
        ("opening=%", ""),
        ("game0004", "4"),
        ("https://lichess.org/game0002/black#12", "2"),
        ("game0002 result=won", ""),
        ("opponent=x'--", ""),
    ],
)
def test_words_narrow_the_games_down_together(games: sqlite3.Connection, words: str, numbers: str) -> None:
    it = GameFilter.parse(words.split(), NOW)
    rows = games.execute(f"SELECT id FROM games WHERE {it.condition} ORDER BY id", it.values).fetchall()
    assert "".join(found[-1] for (found,) in rows) == numbers


def test_an_opponent_may_be_named_with_title_as_the_statistics_do() -> None:
    assert GameFilter.parse(["opponent=BOT Maia1, wim Karl"]) == GameFilter.parse(["opponent=maia1,karl"])


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("colr=white", "no such filter 'colr'; did you mean colour?"),
        ("zzz=1", "no such filter 'zzz'; expected opponent, result, speed, colour, opening, since"),
        ("result=win", "result: expected one or several of won,drawn,lost, found 'win'; nearest: won"),
        ("speed=", "speed: expected one or several of bullet,blitz,rapid,classical,correspondence, found ''"),
        ("since=yesterday", "since: expected a date such as 2026-11-24, or 12h, 7d or 4w .*; found 'yesterday'"),
        ("opening=", "opening: expected an ECO code or a part of a name, found nothing"),
        ("opponent=a,,b", "opponent: expected a player's name, or several with commas between, found 'a,,b'"),
        ("abc", "expected the id or address of a game, or KEY=VALUE with opponent, result, .*; found 'abc'"),
    ],
)
def test_a_mistake_is_told_with_what_was_expected(word: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}$".replace("?", r"\?")):
        GameFilter.parse([word], NOW)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("abcd1234", "abcd1234"),
        ("abcd1234EFGH", "abcd1234"),
        ("https://lichess.org/abcd1234", "abcd1234"),
        ("https://lichess.org/abcd1234/white#5", "abcd1234"),
        ("abcd123", None),
        ("", None),
    ],
)
def test_an_id_is_found_in_an_address(text: str, found: str | None) -> None:
    assert game_id(text) == found
