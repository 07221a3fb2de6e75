"""The games that a filter on the command line means."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from lichessbot.cli.records.text import games_in_words
from lichessbot.errors import ExitCode
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
        if older_than_ours(self.folder):
            problem = "is of an older version; the next `lichessbot run` converts it"
            sys.stderr.write(f"{self.folder / FILE_NAME} {problem}\n")
            return ExitCode.FAILED
        count = len(self)
        problem = "none of them matches" if count else "the daemon records every game it plays"
        sys.stderr.write(f"{self.folder / FILE_NAME} has {games_in_words(count)}; {problem}\n")
        return ExitCode.FAILED
