"""What the store remembers of the levels of games."""

from dataclasses import replace
from pathlib import Path

from lichessbot.storage.database import Database
from lichessbot.storage.game_records import LEVEL_RESULTS_KEPT, GameRecord, Result, begun, ended, levelled
from lichessbot.storage.store import Store


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
    for number, (level, result) in enumerate([(1500, Result.LOST), (None, Result.WON), (1600, Result.DRAWN)]):
        record = GameRecord(f"game000{number}", 1.0, "Ferdinand", opponent_id="ferdinand")
        store.record(begun(record), levelled(record.id, level))
        store.record(ended(replace(record, ended_at=10.0 + number, status="mate", result=result)))
    store.close()
    store = Store(Database(tmp_path))
    store.note_result("ferdinand", Result.WON, 1600)
    store.note_result("ferdinand", Result.WON)
    latest = [(1500, Result.LOST), (1600, Result.DRAWN), (1600, Result.WON)]
    assert list(store.level_results.against("ferdinand")) == latest
    assert store.level_results.against("karl") == ()
    for _ in range(10):
        store.note_result("ferdinand", Result.LOST, 1700)
    assert store.level_results.against("ferdinand") == ((1700, Result.LOST),) * LEVEL_RESULTS_KEPT
    store.close()
