"""The games that a filter on the command line means."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from lichessbot.cli.records.text import games_in_words
from lichessbot.errors import ExitCode
from lichessbot.log import inert
from lichessbot.storage.database import FILE_NAME, older_than_ours
from lichessbot.storage.game_filter import GameFilter
from lichessbot.storage.game_history import GameHistory
from lichessbot.storage.game_records import GameRecord
from lichessbot.storage.statistics import Statistics


class FilteredGames(GameHistory):
    """The games that a filter means, in one state folder. Raises StateError where it reads."""

    def __init__(self, folder: Path, words: Sequence[str]) -> None:
        super().__init__(folder)
        try:
            self._wanted = GameFilter.parse(words)
        except ValueError as error:
            raise click.UsageError(str(error), click.get_current_context()) from error

    def found(self, limit: int = -1) -> list[GameRecord]:
        """Return the games, oldest first; with a limit the newest ones."""
        return self.games(self._wanted, limit)

    def counted(self) -> Statistics:
        return self.statistics(self.found(), self._wanted)

    def complain(self) -> int:
        """Say that no game is meant, and return the exit code."""
        file = self.folder / FILE_NAME
        if older_than_ours(self.folder):
            sys.stderr.write(f"{file} is of an older version; the next `lichessbot run` converts it\n")
            return ExitCode.FAILED
        if not file.exists() or not file.stat().st_size:
            problem = f"there are no records in {self.folder} yet"
        else:
            count = len(self)
            problem = f"{file} has {games_in_words(count)}{'; none of them matches' if count else ''}"
        sys.stderr.write(f"{problem}{self._unwritten()}\n")
        return ExitCode.FAILED

    def _unwritten(self) -> str:
        """Return why games may be missing, if a daemon runs and cannot write the records."""
        from lichessbot.control.client import BRIEFLY_S, NoAnswer, NoDaemon, ask
        from lichessbot.control.commands import ControlCommand

        try:
            status = ask(self.folder, ControlCommand.STATUS, patience_s=BRIEFLY_S).status
        except (NoDaemon, NoAnswer):
            return ""
        if status is None or status.records.unwritten_for_s is None:
            return ""
        return f"; the running daemon cannot write the records: {inert(status.records.error)}"
