"""The statements that change a row of a table."""

from contextlib import closing
from pathlib import Path

from lichessbot.storage.database import Database
from lichessbot.storage.tables import Table, added, deleted, replaced

ALL = "SELECT opponent, subject, until, times FROM rests ORDER BY rowid"


def test_a_row_is_added_once_replaced_and_deleted_by_any_of_its_columns(tmp_path: Path) -> None:
    key = {"opponent": "rival", "subject": "anything"}
    with closing(Database(tmp_path)) as file:
        file.write([added(Table.RESTS, **key, until=1.0, times=1), added(Table.RESTS, **key, until=2.0, times=2)])
        assert file.read(ALL) == [("rival", "anything", 1.0, 1)]
        file.write([replaced(Table.RESTS, **key, until=3.0, times=3)])
        assert file.read(ALL) == [("rival", "anything", 3.0, 3)]
        file.write([added(Table.RESTS, opponent="rival", subject="speed blitz", until=4.0, times=1)])
        file.write([deleted(Table.RESTS, **key)])
        assert file.read(ALL) == [("rival", "speed blitz", 4.0, 1)]
        file.write([deleted(Table.RESTS, opponent="rival")])
        assert file.read(ALL) == []
