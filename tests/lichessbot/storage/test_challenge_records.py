"""What is remembered of challenges, also after a restart."""

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from lichessbot.storage.challenge_records import ChallengeOutcome, ChallengeRecord
from lichessbot.storage.database import Database
from lichessbot.storage.migrations import MIGRATIONS
from lichessbot.storage.store import Store


def entry(
    challenge_id: str, received_at: float, outcome: ChallengeOutcome = ChallengeOutcome.ACCEPTED
) -> ChallengeRecord:
    return ChallengeRecord(
        challenge_id, received_at, "rival", True, 1900, None, "standard", "blitz", "3+0 rated", True, outcome,
        "", "challenge.concurrency = 1", "half a \ud83d character",
    )  # fmt: skip


def test_challenges_survive_a_restart_with_their_latest_outcome(tmp_path: Path) -> None:
    now = time.time()
    with closing(Store(Database(tmp_path))) as store:
        store.note_challenge(entry("one", now, ChallengeOutcome.WAITING))
        store.note_challenge(entry("one", now))
        store.note_challenge(entry("two", now - 100))
        store.note_challenge(entry("three", now, ChallengeOutcome.DECLINED))
        assert store.challenges.get("one") == entry("one", now)
    with closing(Store(Database(tmp_path))) as store:
        book = store.challenges
        again = book.get("one")
        assert again.answer is ChallengeOutcome.ACCEPTED
        assert (again.is_bot, again.has_clock) == (True, True)
        assert book.accepted_lately("rival", 50, now) == 1
        assert book.accepted_lately("rival", 150, now) == 2
        assert book.accepted_lately("rival", 150, now - 50) == 1, "the clock was ahead"
        assert book.accepted_lately("other", now, now) == 0
        assert book.get("four") is None


def test_the_name_of_a_challenger_is_shown_if_it_is_known(tmp_path: Path) -> None:
    with closing(Database(tmp_path, MIGRATIONS[:10])) as older:
        columns = "id, received_at, challenger, is_bot, variant, speed, terms, has_clock, answer, reason, rule, because"
        row = ("old", time.time(), "rival", True, "standard", "blitz", "3+0 rated", True, "accepted", "", "", "")
        older.write([(f"INSERT INTO challenges ({columns}) VALUES ({', '.join('?' for _ in row)})", [row])])
    with closing(Store(Database(tmp_path))) as store:
        store.note_challenge(replace(entry("new", time.time()), challenger_name="RiVal"))
    with closing(Store(Database(tmp_path))) as store:
        assert [it.shown_challenger for it in store.challenges.newest(2)] == ["rival", "RiVal"]
