"""Games between two UCI programs, played by fastchess in batches. Finished batches are kept, so a run can continue.

fastchess is not part of the repository: https://github.com/Disservin/fastchess. This module knows its options and the
files that it writes, not what the games prove.
"""

import argparse
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

OPENINGS = Path(__file__).parent.parent / "data" / "openings.epd"
BATCH_GAMES = 50
# Adjudication: both scores in centipawns, and for how many moves in a row.
AGREED_WIN = ("-resign", "movecount=4", "score=700", "twosided=true")
AGREED_DRAW = ("-draw", "movenumber=40", "movecount=8", "score=10")
MARGIN_MS = 20                     # by which a move may be late, as fastchess itself takes some time


class BatchFailed(RuntimeError):
    """fastchess did not play all the games it was asked for."""


@dataclass(frozen=True)
class Player:
    """A UCI program as fastchess starts it; `limits` are its own words, such as tc or nodes."""

    name: str
    command: tuple[str, ...]
    limits: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)

    def arguments(self) -> list[str]:
        program, *rest = self.command
        given = [f"args={shlex.join(rest)}"] if rest else []
        limits = [f"{name}={value}" for name, value in self.limits.items()]
        options = [f"option.{name}={value}" for name, value in self.options.items()]
        return ["-engine", f"cmd={program}", *given, f"name={self.name}", *limits, *options]


@dataclass(frozen=True)
class Table:
    """The conditions of a match: the openings, taken in turn or at random, and how many games run at a time.

    With `agreed_ends` a game ends once both engines call it won or drawn.
    """

    fastchess: str
    openings: Path = OPENINGS
    at_random: bool = False
    concurrency: int = 2
    agreed_ends: bool = False


@dataclass(frozen=True)
class Match:
    """Two players, their conditions, and the folder that keeps their batches."""

    table: Table
    players: tuple[Player, Player]
    folder: Path

    def played(self) -> int:
        """Return the number of games in all batches."""
        return sum(count_games(batch / "games.pgn") for batch in self.batches())

    def batches(self) -> list[Path]:
        return sorted(self.folder.glob("batch-*"))

    def play_until(self, wanted: int) -> None:
        """Play batches until the folder holds this many games. Raises what `play` raises."""
        while (missing := wanted - self.played()) > 0:
            self.play(min(BATCH_GAMES, missing))
            print(f"batch {len(self.batches())} finished, {self.played()} games in the folder", flush=True)

    def play(self, games: int, timeout_s: float | None = None) -> None:
        """Play a batch and keep it.

        Raises BatchFailed if fastchess fails or stops before the last game, TimeoutError if time is up; then nothing
        is kept, and no game goes on.
        """
        playing = self.folder / "playing"
        shutil.rmtree(playing, ignore_errors=True)
        playing.mkdir(parents=True)
        with (playing / "fastchess.log").open("w") as log:
            child = subprocess.Popen(self._command(games), cwd=playing, stdout=log, stderr=log, start_new_session=True)
            try:
                child.wait(timeout_s)
            except subprocess.TimeoutExpired:
                raise TimeoutError(f"time was up within a batch of {games} games, see {log.name}") from None
            finally:
                _end_group(child)
        if child.returncode != 0 or count_games(playing / "games.pgn") < games:
            raise BatchFailed(f"fastchess ended with {child.returncode} before its last game, see {log.name}")
        playing.rename(self.folder / f"batch-{len(self.batches()) + 1:04}")

    def _command(self, games: int) -> list[str]:
        table, pairs = self.table, (games + 1) // 2
        start = self.played() // 2 % max(1, len(table.openings.read_text().splitlines())) + 1
        order = ["order=random"] if table.at_random else ["order=sequential", f"start={start}"]
        return [
            table.fastchess,
            *self.players[0].arguments(),
            *self.players[1].arguments(),
            "-each", f"timemargin={MARGIN_MS}",
            "-openings", f"file={table.openings}", "format=epd", *order,
            "-srand", str(len(self.batches()) + 1),
            "-rounds", str(pairs), "-games", "2",
            "-concurrency", str(table.concurrency), "-force-concurrency",
            "-recover",
            *((*AGREED_WIN, *AGREED_DRAW) if table.agreed_ends else ()),
            "-pgnout", "file=games.pgn",
            "-log", "file=warnings.log", "level=warn",
        ]  # fmt: skip


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """Kill fastchess and its engines if they still run."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return                     # all have ended by themselves
    child.wait()


def fastchess(text: str) -> str:
    """Return the whole path of fastchess, for argparse."""
    path = shutil.which(text)
    if path is None:
        raise argparse.ArgumentTypeError(f"no {text} here; it is built from https://github.com/Disservin/fastchess")
    return str(Path(path).resolve())


def count_games(pgn: Path) -> int:
    """Return the number of games in a file, 0 if there is none."""
    return pgn.read_text().count('[Result "') if pgn.exists() else 0
