"""What the store remembers of the levels of games."""

from dataclasses import replace
from pathlib import Path

from lichessbot.storage.database import Database
from lichessbot.storage.game_records import (
    LEVEL_RESULTS_KEPT,
    GameRecord,
    LevelResults,
    Result,
    begun,
    changed,
    ended,
)
from lichessbot.storage.store import Store

GAME = GameRecord("game0009", 1.0, "Ferdinand", opponent_id="ferdinand", variant="standard", level=1600)


def test_the_level_that_an_opponent_chose_holds_to_the_end_of_the_game(tmp_path: Path) -> None:
    store = Store(Database(tmp_path))
    assert store.chosen_level("abcd1234") is None
    for game, level in (("abcd1234", 1500), ("efgh5678", 0), ("over0000", 1200)):
        store.note_game(game, "ferdinand")
        store.note_chosen_level(game, level)
    store.note_chosen_level("abcd1234", 1650)
    over = GameRecord("over0000", 1.0, "ferdinand", status="mate", ended_at=2.0)
    store.record(ended(over))
    store.close()
    store = Store(Database(tmp_path))
    assert (store.chosen_level("abcd1234"), store.chosen_level("efgh5678")) == (1650, 0)
    assert store.chosen_level("over0000") is None
    store.close()


def test_the_latest_results_at_a_level_are_known_after_a_restart(tmp_path: Path) -> None:
    store = Store(Database(tmp_path))
    played = [
        (1500, Result.LOST, {"variant": "chess960"}),
        (None, Result.WON, {}),
        (1400, Result.WON, {"rated": True}),
        (1300, Result.WON, {"variant": "atomic"}),
        (1600, Result.DRAWN, {}),
        (1600, Result.LOST, {"variant": "fromPosition"}),
    ]
    for number, (level, result, facts) in enumerate(played):
        record = replace(GAME, id=f"game000{number}", **facts)
        store.record(begun(record), changed(record.id, level=level))
        store.record(ended(replace(record, ended_at=10.0 + number, status="mate", result=result)))
    store.close()
    store = Store(Database(tmp_path))
    for game in (GAME, replace(GAME, level=None), replace(GAME, rated=True), replace(GAME, variant="horde")):
        store.note_result(game, Result.WON)
    latest = [(1500, Result.LOST), (1600, Result.DRAWN), (1600, Result.WON)]
    assert list(store.level_results.against("ferdinand", "standard")) == latest
    assert store.level_results.against("ferdinand", "atomic") == ((1300, Result.WON),)
    assert store.level_results.against("ferdinand", "horde") == ((1600, Result.WON),)
    assert store.level_results.against("karl", "standard") == ()
    assert store.level_results.against("ferdinand", "fromPosition") == ()
    for _ in range(10):
        store.note_result(replace(GAME, level=1700), Result.LOST)
    assert store.level_results.against("ferdinand", "chess960") == ((1700, Result.LOST),) * LEVEL_RESULTS_KEPT
    store.close()


def test_results_in_one_variant_say_nothing_of_another() -> None:
    variants = ("atomic", "antichess", "crazyhouse", "horde", "kingOfTheHill", "racingKings")
    results = LevelResults(("ferdinand", variant, 1900, "won") for variant in variants)
    assert results.against("ferdinand", "standard") == ()
    assert all(results.against("ferdinand", variant) == ((1900, Result.WON),) for variant in variants)
