"""What commands read of players and challenges."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lichessbot.errors import StateFailed, StateNewer
from lichessbot.storage.challenge_records import ChallengeOutcome, ChallengeRecord
from lichessbot.storage.database import FILE_NAME, Database
from lichessbot.storage.migrations import MIGRATIONS
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.state_reader import PastDecline, PastGame, Rest, StateReader
from lichessbot.storage.store import Store

ROWS = (
    "INSERT INTO account (single, url, id) VALUES (1, 'https://lichess.org', 'testbot')",
    "INSERT INTO blocked_players (id, blocked_at) VALUES ('troll', 1), ('testbot', 2)",
    "INSERT INTO bot_games (id, opponent, speed, ours, began_at) VALUES ('a', 'rival', 'blitz', 1, 3)",
    "INSERT INTO bot_games (id, opponent, speed, ours, began_at) VALUES ('b', 'rival', 'blitz', 0, 4)",
    "INSERT INTO declines (opponent, terms, reason, declined_at) VALUES ('rival', '3+2 rated standard', 'later', 5)",
    "INSERT INTO rests (opponent, subject, until, times) VALUES ('rival', 'anything', 6, 1)",
)
OF_A_LIST = PlayerList.of_words("/list", ["villain", "knave@2030-01-01"], "tag")


def challenge(challenge_id: str, received_at: float, outcome: ChallengeOutcome, our_rating: int) -> ChallengeRecord:
    return ChallengeRecord(
        challenge_id, received_at, "ada", False, 1900, our_rating, "standard", "blitz", "3+0 rated", True, outcome,
        "", "", "",
    )  # fmt: skip


OLDER = challenge("older000", 10.0, ChallengeOutcome.ACCEPTED, 2000)
NEWER = challenge("newer000", 20.0, ChallengeOutcome.DECLINED, 2010)


@pytest.fixture
def records(tmp_path: Path) -> Iterator[StateReader]:
    with closing(Store(Database(tmp_path))) as store:
        store.record(*((sql, [()]) for sql in ROWS))
        store.note_player_list(OF_A_LIST)
        for entry in (NEWER, OLDER):
            store.note_challenge(entry)
        store.note_game("older000", "Ada")
        store.note_game("over0000", "BOT Rival")
        store.note_left("over0000")
    return StateReader(tmp_path)


def test_players_are_read_as_the_daemon_recorded_them(records: StateReader) -> None:
    assert (records.is_blocked("troll"), records.is_blocked("ada")) == (True, False)
    assert records.player_lists() == {"/list": OF_A_LIST}
    assert set(records.players()) == {"ada", "rival", "troll", "villain", "knave"}, "not our own account"


def test_challenges_to_us_are_read(records: StateReader) -> None:
    assert (records.challenge("older000"), records.challenge("unknown0")) == (OLDER, None)
    assert records.latest_challenges(1) == [NEWER]
    accepted = [records.accepted_lately("ada", 10.0, now) for now in (9.5, 10.0, 20.0, 20.5)]
    assert accepted == [0, 1, 1, 0], "not the one declined"
    assert (records.our_rating("standard", "blitz"), records.our_rating("standard", "bullet")) == (2010, None)


def test_challenges_of_ours_are_read(records: StateReader) -> None:
    assert records.games_by_our_challenges("rival") == [PastGame("blitz", 3.0)]
    assert records.declines("rival") == [PastDecline("3+2 rated standard", "later", 5.0)]
    assert records.rests("rival") == [Rest("anything", 6.0)]
    assert (records.games_by_our_challenges("ada"), records.declines("ada"), records.rests("ada")) == ([], [], [])


def test_games_that_were_not_left_run(records: StateReader) -> None:
    assert [(game.id, challenge) for game, challenge in records.running_games()] == [("older000", OLDER)]


def test_the_file_itself_is_described(records: StateReader) -> None:
    assert records.schema() == len(MIGRATIONS)
    assert {it.name: it.rows for it in records.tables()}["challenges"] == 2


def everything(records: StateReader) -> list[object]:
    players = [records.is_blocked("ada"), *records.player_lists(), *records.players()]
    challenges = [records.challenge("older000"), *records.latest_challenges(9), records.accepted_lately("ada", 20, 20)]
    ours = [*records.games_by_our_challenges("ada"), *records.declines("ada"), *records.rests("ada")]
    file = [records.our_rating("standard", "blitz"), *records.running_games(), records.schema(), *records.tables()]
    return [*players, *challenges, *ours, *file]


def test_there_is_nothing_to_read_without_a_file_or_in_one_of_an_older_version(tmp_path: Path) -> None:
    assert not any(everything(StateReader(tmp_path)))
    assert list(tmp_path.iterdir()) == [], "and none is made"
    with closing(Database(tmp_path, MIGRATIONS[:1])) as older:
        older.write([])
    assert not any(everything(StateReader(tmp_path)))


def test_a_file_that_cannot_be_read_raises_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("no database")
    with pytest.raises(StateFailed):
        StateReader(tmp_path).is_blocked("ada")
    (tmp_path / FILE_NAME).unlink()
    with closing(Database(tmp_path, (*MIGRATIONS, "CREATE TABLE future (x)"))) as file:
        file.read("SELECT 1")
    with pytest.raises(StateNewer):
        StateReader(tmp_path).is_blocked("ada")
