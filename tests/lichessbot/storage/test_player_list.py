"""Lists of players, as the state file keeps them."""

from contextlib import closing
from pathlib import Path

from lichessbot.storage.database import Database
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store


def test_entries_survive_as_words(tmp_path: Path) -> None:
    fetched = PlayerList.of_words("/list", ["villain", "maia@2030-01-01"], "tag")
    with closing(Store(Database(tmp_path))) as store:
        store.note_player_list(fetched)
    with closing(Store(Database(tmp_path))) as again:
        assert again.player_lists == {"/list": fetched}
