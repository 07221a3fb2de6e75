"""Many very fast games of the engine against itself, which prove its clock: nobody may lose on time.

    python -m tests.benchmarks.lightning --fastchess PATH --folder FOLDER [--tc 1+0.01] [--games 1000]
        [--concurrency 2] [--busy N] [--openings FILE] [--engine COMMAND]

The games are played in batches. FOLDER keeps every finished batch, so the same command goes on where it was
interrupted; a batch that was not finished is played again. Each has its own order of openings. At the end every game
of the folder is replayed with python-chess and judged. The exit code is 1 if a game was forfeited or broken, or if
games are missing. fastchess is at https://github.com/Disservin/fastchess.
"""

import argparse
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import chess
import chess.pgn

from tests.benchmarks.children import ENGINE, busy_processes
from tests.benchmarks.figures import Figures

OPENINGS = Path(__file__).parent.parent / "data" / "openings.epd"
BATCH_GAMES = 50
MARGIN_MS = 20                     # how far beyond the flag is still forgiven: the referee's own share


class BatchFailed(RuntimeError):
    """fastchess did not play all the games it was asked for."""


class Verdict(StrEnum):
    """How a game ended."""

    PLAYED = "played to a natural end"
    TIME = "lost on time"
    ILLEGAL = "lost by an illegal move"
    ABANDONED = "engine gone or hung"
    UNFINISHED = "cut off"
    UNREPLAYABLE = "moves that python-chess refuses"
    WRONG_RESULT = "result and position disagree"


TERMINATIONS = {
    "normal": Verdict.PLAYED,
    "time forfeit": Verdict.TIME,
    "illegal move": Verdict.ILLEGAL,
    "abandoned": Verdict.ABANDONED,
}


@dataclass(frozen=True)
class Match:
    """What is played, and where its batches are kept."""

    fastchess: str
    engine: tuple[str, ...]
    openings: Path
    tc: str
    concurrency: int
    folder: Path

    def play_until(self, wanted: int) -> None:
        """Play batches until the folder holds so many games; raises what `play` raises."""
        batches = sorted(self.folder.glob("batch-*"))
        played = sum(count_games(batch / "games.pgn") for batch in batches)
        number = len(batches)
        while played < wanted:
            number += 1
            self.play(number, min(BATCH_GAMES, wanted - played))
            played += count_games(self.folder / f"batch-{number:04}" / "games.pgn")
            print(f"batch {number} finished, {played} games in the folder", flush=True)

    def play(self, batch: int, games: int) -> None:
        """Play a batch and keep it. Raises BatchFailed if fastchess fails or stops before the last game."""
        playing = self.folder / "playing"
        shutil.rmtree(playing, ignore_errors=True)
        playing.mkdir(parents=True)
        with (playing / "fastchess.log").open("w") as log:
            ended = subprocess.run(self._command(batch, games), cwd=playing, stdout=log, stderr=log)
        if ended.returncode != 0 or count_games(playing / "games.pgn") < games:
            raise BatchFailed(f"fastchess ended with {ended.returncode} before its last game, see {log.name}")
        playing.rename(self.folder / f"batch-{batch:04}")

    def _command(self, batch: int, games: int) -> list[str]:
        program, *arguments = self.engine
        engine = ["-engine", f"cmd={program}", *([f"args={shlex.join(arguments)}"] if arguments else [])]
        return [
            self.fastchess,
            *engine, "name=first",
            *engine, "name=second",
            "-each", f"tc={self.tc}", f"timemargin={MARGIN_MS}", "option.Hash=16",
            "-openings", f"file={self.openings}", "format=epd", "order=random",
            "-srand", str(batch),
            "-rounds", str((games + 1) // 2), "-games", "2",
            "-concurrency", str(self.concurrency), "-force-concurrency",
            "-recover",
            "-pgnout", "file=games.pgn",
            "-log", "file=warnings.log", "level=warn",
        ]  # fmt: skip


# --- Judging -------------------------------------------------------------------------------------------------------


def count_games(pgn: Path) -> int:
    """How many games a file holds; none if there is no file."""
    return pgn.read_text().count('[Result "') if pgn.exists() else 0


def games_of(pgn: Path) -> Iterator[chess.pgn.Game]:
    with pgn.open() as stream:
        while (game := chess.pgn.read_game(stream)) is not None:
            yield game


def judge(game: chess.pgn.Game) -> Verdict:
    """What python-chess thinks of a game, and of the referee's word on how it ended."""
    if game.errors:
        return Verdict.UNREPLAYABLE
    verdict = TERMINATIONS.get(game.headers.get("Termination", ""), Verdict.UNFINISHED)
    if verdict is Verdict.PLAYED and natural_result(game.end().board()) != game.headers["Result"]:
        return Verdict.WRONG_RESULT
    return verdict


def natural_result(board: chess.Board) -> str:
    """The result the rules give to this position, "*" if they let the game go on."""
    outcome = board.outcome()
    if outcome is not None:
        return outcome.result()
    return "1/2-1/2" if board.is_repetition(3) or board.is_fifty_moves() else "*"


def warnings_of(folder: Path) -> Counter[str]:
    """What fastchess complained about, and how often; its complaints begin with their kind, then say which move."""
    found: Counter[str] = Counter()
    for log in folder.glob("batch-*/fastchess.log"):
        for line in log.read_text().splitlines():
            if line.startswith("Warning; "):
                found[line.removeprefix("Warning; ").split(" - ")[0]] += 1
    return found


def report(folder: Path, wanted: int) -> bool:
    """Print the totals of a folder; is nothing amiss?"""
    verdicts: Counter[Verdict] = Counter()
    different: set[tuple[str, str]] = set()
    for pgn in sorted(folder.glob("batch-*/games.pgn")):
        for game in games_of(pgn):
            verdicts[judge(game)] += 1
            different.add((game.headers.get("FEN", ""), str(game.mainline_moves())))
    figures = Figures()
    figures.section(f"Games in {folder}")
    figures.bar("games", str(verdicts.total()), f"at least {wanted}", verdicts.total() >= wanted)
    figures.line("that differ from each other", str(len(different)))
    figures.line(Verdict.PLAYED, str(verdicts[Verdict.PLAYED]))
    for verdict in list(Verdict)[1:]:
        figures.bar(verdict, str(verdicts[verdict]), "none", verdicts[verdict] == 0)
    figures.section("Warnings of fastchess")
    warnings = warnings_of(folder)
    figures.line("all together", str(warnings.total()))
    for kind, count in warnings.most_common():
        figures.line(kind, str(count))
    return figures.all_met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fastchess", metavar="PATH", default="fastchess")
    parser.add_argument("--folder", type=Path, required=True, help="where the batches are kept")
    parser.add_argument("--tc", default="1+0.01", help="seconds and increment (1+0.01)")
    parser.add_argument("--games", type=int, default=1000, help="how many games the folder is to hold (1000)")
    parser.add_argument("--concurrency", type=int, default=2, help="games at a time (2)")
    parser.add_argument("--busy", type=int, default=0, help="busy processes beside the games (0)")
    parser.add_argument("--openings", type=Path, default=OPENINGS, help="an EPD file")
    parser.add_argument("--engine", default=shlex.join(ENGINE.command), help="the engine's command")
    arguments = parser.parse_args()
    path = shutil.which(arguments.fastchess)
    if path is None:
        print(f"no {arguments.fastchess} here; it is built from https://github.com/Disservin/fastchess")
        return 1
    folder = arguments.folder.resolve()
    engine = tuple(shlex.split(arguments.engine))
    openings = arguments.openings.resolve()
    match = Match(str(Path(path).resolve()), engine, openings, arguments.tc, arguments.concurrency, folder)
    with busy_processes(arguments.busy):
        match.play_until(arguments.games)
    return 0 if report(folder, arguments.games) else 1


if __name__ == "__main__":
    sys.exit(main())
