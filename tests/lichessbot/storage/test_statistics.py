"""Figures of the games in the records, against sums made by hand."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from lichessbot.storage import game_records
from lichessbot.storage.challenge_records import ChallengeOutcome, ChallengeRecord, recorded
from lichessbot.storage.database import Database
from lichessbot.storage.game_filter import GameFilter
from lichessbot.storage.game_history import GameHistory
from lichessbot.storage.game_records import GameRecord, MoveRecord, Result, Score
from lichessbot.storage.migrations import MIGRATIONS
from lichessbot.storage.statistics import SELECT_DROPS, SELECT_PHASES, SELECT_SOURCES, Statistics, aggregate, falls

GAME = GameRecord("", 0.0, "", variant="standard", speed="blitz", rated=True, colour="white", started_at=1.0)


def game(number: int, result: Result | None, **changes: object) -> GameRecord:
    return replace(GAME, id=f"game000{number}", started_at=float(number), result=result, **changes)  # type: ignore[arg-type]


GAMES = [
    game(1, Result.WON, opponent="Ada", our_rating=2000, status="mate", eco="B90", opening="Sicilian"),
    game(2, Result.LOST, opponent="Ada", our_rating=2008, status="outoftime", colour="black"),
    game(3, Result.DRAWN, opponent="Bob", our_rating=1990, status="draw", speed="rapid", eco="B90", opening="Sicilian"),
    game(4, None, opponent="Cid", status="aborted"),
    game(5, Result.WON, opponent="Ada", our_rating=1700, status="resign", variant="chess960", rated=True),
    game(6, Result.WON, opponent="Bob", our_rating=2015, status="resign", rated=False),
]


def test_scores_are_counted_by_subject_with_the_most_games_first() -> None:
    found = aggregate(GAMES)
    assert (found.score, found.without_result) == (Score(3, 1, 1), 1)
    assert (found.first_at, found.last_at) == (1.0, 6.0)
    assert list(found.groups["opponent"].items()) == [("Ada", Score(2, 0, 1)), ("Bob", Score(1, 1, 0))]
    assert found.groups["speed"] == {"blitz": Score(3, 0, 1), "rapid": Score(0, 1, 0)}
    assert found.groups["colour"] == {"white": Score(3, 1, 0), "black": Score(0, 0, 1)}
    assert found.groups["opening"] == {"B90 Sicilian": Score(1, 1, 0)}
    assert found.endings["outoftime"] == Score(0, 0, 1)


def test_of_subjects_with_as_many_games_the_first_by_name_comes_first() -> None:
    names = ("Cid", "Bob", "Ada", "Bob")
    found = aggregate([game(number, Result.WON, opponent=name) for number, name in enumerate(names)])
    assert list(found.groups["opponent"]) == ["Bob", "Ada", "Cid"]


def test_an_opponent_with_a_new_title_is_counted_as_one_by_its_latest_name() -> None:
    names = (("FM Ada", "ada"), ("Bob", ""), ("IM Ada", "ada"), ("Bob", ""))
    games = [game(it, Result.WON, opponent=name, opponent_id=id_) for it, (name, id_) in enumerate(names)]
    assert aggregate(games).groups["opponent"] == {"Bob": Score(2), "IM Ada": Score(2)}


def test_only_games_at_a_level_are_counted_by_level() -> None:
    games = [game(1, Result.WON, level=1500), game(2, Result.LOST, level=1500), game(3, Result.WON)]
    assert aggregate(games).groups["level"] == {"1500": Score(1, 0, 1)}


def test_a_score_has_points_and_percent() -> None:
    score = Score(2, 1, 1)
    assert (score.games, score.points, score.percent) == (4, 2.5, 62.5)
    assert Score().percent == 0.0


def test_ratings_are_those_of_rated_games_by_what_lichess_rates() -> None:
    ratings = aggregate(GAMES).ratings
    assert ratings == {"blitz": [(1.0, 2000), (2.0, 2008)], "rapid": [(3.0, 1990)], "chess960": [(5.0, 1700)]}


def test_the_latest_rating_is_that_after_the_games_that_ended_since_the_last_one_began() -> None:
    games = [
        game(1, Result.WON, our_rating=2000, ended_at=4.0, rating_diff=8),
        game(2, Result.LOST, our_rating=2000, ended_at=12.0, rating_diff=-3),
        game(5, Result.WON, our_rating=2008, ended_at=9.0, rating_diff=6),
        game(6, Result.WON, our_rating=2000, speed="bullet", ended_at=7.0),
        game(7, Result.WON, our_rating=2000, speed="rapid", ended_at=8.0, rating_diff=5),
        game(9, None, our_rating=2005, speed="rapid"),
    ]
    ratings = aggregate(games).ratings
    assert ratings["blitz"] == [(1.0, 2000), (2.0, 2000), (5.0, 2008), (12.0, 2011)]
    assert ratings["bullet"] == [(6.0, 2000)], "not told yet"
    assert ratings["rapid"] == [(7.0, 2000), (9.0, 2005)], "before a running game"


def test_no_games_have_no_figures() -> None:
    found = aggregate([])
    assert (found.score, found.first_at, found.ratings, found.sources) == (Score(), None, {}, [])


# Moves, from the database


def engine(ply: int, score_cp: int, **changes: object) -> MoveRecord:
    facts = MoveRecord(ply, "e2e4", 60_000 - ply * 1000, "engine", score_cp, 10, 1000, 500, 2, 100)
    return replace(facts, **changes)  # type: ignore[arg-type]


MOVES = {
    "game0001": [
        MoveRecord(1, "e2e4", 60_000, "own_book", None, 0, 0, 10, 1, 90),
        MoveRecord(2, "e7e5", 60_000),
        engine(3, 40),
        engine(5, -260, depth=20, nodes=9000, search_ms=1500, reaction_ms=8, delivery_ms=700),
        MoveRecord(7, "e1e2", 40_000, "only move", None, None, None, None, 0, 100),
        engine(21, 30),
    ],
    "game0002": [engine(2, -1500), engine(4, 99_997), engine(6, 5000), MoveRecord(8, "a7a6", source="")],
}


@pytest.fixture(scope="module")
def statistics() -> Iterator[Statistics]:
    with closing(sqlite3.connect(":memory:")) as file:
        for script in MIGRATIONS:
            file.executescript(script)
        for game_id, moves in MOVES.items():
            sql, rows = game_records.played(game_id, moves)
            file.executemany(sql, rows)
            file.execute("INSERT INTO games (id, opponent, joined_at) VALUES (?, '', 0)", (game_id,))
        queries = (SELECT_SOURCES, ()), (SELECT_PHASES, ()), (SELECT_DROPS, (10,))
        rows = [file.execute(sql.format(games="SELECT id FROM games"), values).fetchall() for sql, values in queries]
        yield aggregate(GAMES, *rows, [("later", 3)], [("noBot", 2)])


def test_sources_have_averages_over_the_moves_that_were_measured(statistics: Statistics) -> None:
    engine, only, book = statistics.sources
    assert (engine.source, engine.moves, engine.depth, engine.nodes) == ("engine", 6, pytest.approx(70 / 6), 14_000)
    assert engine.search_ms == pytest.approx((5 * 500 + 1500) / 6)
    assert engine.nodes_per_s == 3500
    assert (engine.reaction_ms, engine.longest_reaction_ms) == (3.0, 8)
    assert (engine.delivery_ms, engine.longest_delivery_ms) == (200.0, 700)
    assert (only.source, only.search_ms, only.depth, only.nodes_per_s) == ("only move", None, None, None)
    assert (book.source, book.depth, book.nodes) == ("own_book", None, None)


def test_time_use_is_told_for_each_ten_moves(statistics: Statistics) -> None:
    first, second = statistics.phases
    assert (first.first_move, first.moves, second.first_move, second.moves) == (1, 7, 11, 1)
    assert second.clock_ms == 39_000
    assert second.search_ms == 500


def test_drops_are_between_two_evaluations_and_count_within_what_decides(statistics: Statistics) -> None:
    (drop,) = statistics.drops
    assert (drop.game_id, drop.ply, drop.score_cp, drop.next_cp) == ("game0001", 3, 40, -260)
    assert (statistics.declined_by_others, statistics.declined_by_us) == ({"later": 3}, {"noBot": 2})


def test_falls_are_sorted_by_size() -> None:
    assert falls([(1, 20), (3, -30), (5, 100), (7, -2000), (9, -5000)]) == [(5, 1100), (1, 50)]
    assert falls([(1, 20)]) == falls([]) == []


# Declines


def test_declines_are_counted_for_all_games_only_and_each_has_a_reason(tmp_path: Path) -> None:
    known = ("karl", False, None, None, "standard", "blitz", "3+2 casual", True, ChallengeOutcome.DECLINED)
    declined = [
        ChallengeRecord("wxyz0001", 1.0, *known, "later", "challenge.concurrency = 1", "no slot"),
        ChallengeRecord("wxyz0002", 2.0, *known, "", "", "by another program"),
    ]
    with closing(Database(tmp_path)) as file:
        file.write([recorded(entry) for entry in declined])
        file.write([("INSERT INTO declines VALUES (?, ?, ?, ?)", [("other", "3+2 rated standard", "noBot", 1.0)])])
    history = GameHistory(tmp_path)
    found = history.statistics([], GameFilter.parse(()))
    assert found.declined_by_others == {"noBot": 1}
    assert found.declined_by_us == {"by another program": 1, "later": 1}
    some = history.statistics([], GameFilter.parse(["opponent=maia1", "since=1h"]))
    assert (some.declined_by_others, some.declined_by_us) == ({}, {})
