"""The reviews of games on disk."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from lichessbot.storage.database import Database, write_beside
from lichessbot.storage.game_history import GameHistory
from lichessbot.storage.reviews import ReviewedPosition, ReviewRecord, reviewed
from lichessbot.storage.store import Store

POSITIONS = [ReviewedPosition(0, 15, "e2e4 e7e5"), ReviewedPosition(1, -99_998, "d8h4"), ReviewedPosition(2, -99_999)]
REVIEW = ReviewRecord("abcd1234", 1_767_225_600.0, "Aleph 1.0", 40_000, POSITIONS)


def test_a_review_comes_back_as_it_was_written_beside_a_running_daemon(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        store.record(*reviewed(REVIEW))
    with closing(Database(tmp_path)):
        write_beside(tmp_path, *reviewed(replace(REVIEW, game_id="efgh5678")))
        assert GameHistory(tmp_path).review("abcd1234") == REVIEW
        assert GameHistory(tmp_path).review("efgh5678") == replace(REVIEW, game_id="efgh5678")
        assert GameHistory(tmp_path).review("none0000") is None


def test_a_newer_review_replaces_all_of_the_one_before(tmp_path: Path) -> None:
    shorter = replace(REVIEW, nodes=5, positions=POSITIONS[:1])
    with closing(Database(tmp_path)) as file:
        file.write([*reviewed(REVIEW), *reviewed(shorter)])
    assert GameHistory(tmp_path).review(REVIEW.game_id) == shorter
