"""`lichessbot rehearse` with a daemon that has played for months: its records take no more space than before.

`python -m tests.chaos.old_records rehearse ...`, from the root of the project.
"""

import sys
import time
from pathlib import Path

from lichessbot.cli.main import main
from lichessbot.rehearsal.cli import rehearse as command
from lichessbot.rehearsal.cli.bot_process import Daemon
from lichessbot.storage.challenge_records import ChallengeOutcome, ChallengeRecord
from lichessbot.storage.database import Database
from lichessbot.storage.store import LimitedAction, Store

REMEMBERED = 10_000             # of each kind: as many as a daemon keeps, or more


class DaemonWithOldRecords(Daemon):
    def start(self) -> None:
        fill_records(self.log_path.parent / "state")
        super().start()


def fill_records(folder: Path) -> None:
    """As they are after months, in the state folder of a daemon to be started."""
    folder.mkdir()
    store = Store(Database(folder))
    for number in range(REMEMBERED):
        game_id = f"old{number:05}"
        store.note_played(number, "e2e4")
        store.note_challenge(challenge_record(game_id))
        store.note_answered(game_id)
        store.note_done(game_id, LimitedAction.GREETING)
    store.close()


def challenge_record(challenge_id: str) -> ChallengeRecord:
    return ChallengeRecord(
        id=challenge_id,
        received_at=time.time(),
        challenger="somebody",
        is_bot=False,
        rating=1500,
        our_rating=1500,
        variant="standard",
        speed="blitz",
        terms="3+0 casual, random colour",
        has_clock=True,
        answer=ChallengeOutcome.ACCEPTED,
        reason="",
        rule="",
        because="",
    )


if __name__ == "__main__":
    command.Daemon = DaemonWithOldRecords
    sys.exit(main())
