"""Very fast games of the engine against itself: none may be lost on time.

    python -m tests.benchmarks.lightning --fastchess PATH --folder FOLDER [--tc 1+0.01] [--games 1000]
        [--concurrency 2] [--busy N] [--openings FILE] [--engine COMMAND]

The games are played in batches, each with its own order of openings. FOLDER keeps finished batches, so the same command
continues an interrupted run. At the end python-chess replays and judges every game of the folder. The exit code is 1 if
a game was forfeited or broken, or if games are missing. fastchess is at https://github.com/Disservin/fastchess.
"""

import argparse
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import chess
import chess.pgn

from tests.benchmarks.arguments import OURS
from tests.benchmarks.batches import OPENINGS, Match, Player, Table, fastchess
from tests.benchmarks.children import busy_processes
from tests.benchmarks.figures import Figures


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


# --- Judging -------------------------------------------------------------------------------------------------------


def games_of(pgn: Path) -> Iterator[chess.pgn.Game]:
    with pgn.open() as stream:
        while (game := chess.pgn.read_game(stream)) is not None:
            yield game


def judge(game: chess.pgn.Game) -> Verdict:
    """Return how a game ended, after python-chess has checked its moves and its result."""
    if game.errors:
        return Verdict.UNREPLAYABLE
    verdict = TERMINATIONS.get(game.headers.get("Termination", ""), Verdict.UNFINISHED)
    if verdict is Verdict.PLAYED and natural_result(game.end().board()) != game.headers["Result"]:
        return Verdict.WRONG_RESULT
    return verdict


def natural_result(board: chess.Board) -> str:
    """Return the result of this position by the rules, "*" if the game goes on."""
    outcome = board.outcome()
    if outcome is not None:
        return outcome.result()
    return "1/2-1/2" if board.is_repetition(3) or board.is_fifty_moves() else "*"


def warnings_of(folder: Path) -> Counter[str]:
    """Return how often fastchess gave each kind of warning; a warning begins with its kind."""
    found: Counter[str] = Counter()
    for log in folder.glob("batch-*/fastchess.log"):
        for line in log.read_text().splitlines():
            if line.startswith("Warning; "):
                found[line.removeprefix("Warning; ").split(" - ")[0]] += 1
    return found


def report(folder: Path, wanted: int) -> bool:
    """Print the totals of a folder; return whether all limits are kept."""
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


def twins(command: tuple[str, ...], tc: str) -> tuple[Player, Player]:
    """Return the engine as both players."""
    first, second = (Player(name, command, {"tc": tc}, {"Hash": "16"}) for name in ("first", "second"))
    return first, second


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fastchess", type=fastchess, metavar="PATH", default="fastchess")
    parser.add_argument("--folder", type=Path, required=True, help="where the batches are kept")
    parser.add_argument("--tc", default="1+0.01", help="seconds and increment (1+0.01)")
    parser.add_argument("--games", type=int, default=1000, help="how many games the folder is to hold (1000)")
    parser.add_argument("--concurrency", type=int, default=2, help="games at a time (2)")
    parser.add_argument("--busy", type=int, default=0, help="busy processes beside the games (0)")
    parser.add_argument("--openings", type=Path, default=OPENINGS, help="an EPD file")
    parser.add_argument("--engine", default=OURS, help="the engine's command")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    openings = arguments.openings.resolve()
    table = Table(arguments.fastchess, openings, at_random=True, concurrency=arguments.concurrency)
    match = Match(table, twins(tuple(shlex.split(arguments.engine)), arguments.tc), folder)
    with busy_processes(arguments.busy):
        match.play_until(arguments.games)
    return 0 if report(folder, arguments.games) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)          # the games end with this process
    sys.exit(main())
