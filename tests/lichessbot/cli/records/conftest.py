"""The time zone of what the commands print, and a command about one recorded game."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from lichessbot.cli.main import main
from lichessbot.storage import game_records
from lichessbot.storage.database import Database
from lichessbot.storage.game_records import GameRecord, MoveRecord
from tests.time_zone import UTC, in_time_zone

Asked = Callable[..., tuple[int, list[str], str]]


@pytest.fixture(autouse=True)
def _in_utc() -> Iterator[None]:
    """Have days begin at the same moment wherever the tests run."""
    with in_time_zone(UTC):
        yield


@pytest.fixture
def about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Return a function that records a game with these changes and runs a command on it."""
    (tmp_path / "config.yml").write_text("state_dir: state\nengine: {hash_mb: 1}\n")

    def ask(
        command: str, game: GameRecord, moves: Sequence[MoveRecord], *words: str, **changes: object
    ) -> tuple[int, list[str], str]:
        record = replace(game, plies=len(moves), **changes)  # type: ignore[arg-type]
        statements = game_records.begun(record), game_records.ended(record), game_records.named(record)
        with closing(Database(tmp_path / "state")) as file:
            file.write([*statements, game_records.played(record.id, moves)])
        code = main([command, record.id, *words, "--config", str(tmp_path / "config.yml")])
        out, errors = capsys.readouterr()
        return code, out.splitlines(), errors

    return ask
