"""Matches and gauntlets between UCI engines, with Elo differences and the sequential test (SPRT).

    python -m tests.benchmarks.match --fastchess PATH --folder FOLDER --games 200 --each "tc=8+0.08 option.Hash=64"
        --engine "cmd=lichessbot-engine name=ours" --opponent cmd=toga2 --opponent "cmd=stockfish nodes=5000 tc=none"
    python -m tests.benchmarks.match --fastchess PATH --folder FOLDER --games 20000 --each "nodes=20000" --sprt 0 10
        --engine "cmd=new/bin/lichessbot-engine name=new" --opponent "cmd=old/bin/lichessbot-engine name=old"

A player is written as words: cmd=COMMAND, name=NAME (or what the command is called), one or more limits (tc, st, nodes,
depth) and options (option.Hash=64). Words of a player replace those of --each; a limit of none and an option of nothing
(option.Hash=) take that of --each away.

fastchess plays the games in batches. It takes the openings in turn and plays each with both colours. Several opponents
get one batch each in turn. FOLDER keeps finished batches, so the same command continues an interrupted match. With
--minutes playing stops after that time, with --sprt once the test has decided between two leads in Elo. The exit code
is 0 when all games were played or the test has ended, 1 when games are missing, 2 for wrong arguments.

Without a clock an opening that is played again gives the same games again, which prove nothing. So each pair gets a new
random opening, which FOLDER/openings.epd keeps; a file of --openings is played once.
"""

import argparse
import shlex
import shutil
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import chess.pgn

from engine.selfplay.sprt import MatchScore, Sprt
from tests.benchmarks import openings
from tests.benchmarks.batches import BATCH_GAMES, OPENINGS, BatchFailed, Match, Player, Table, fastchess
from tests.benchmarks.children import PLACES

CLOCKS = ("tc", "st")
LIMITS = (*CLOCKS, "nodes", "depth")
WORDS = ("cmd", "name", *LIMITS)
NO_LIMIT = "none"
NEW_OPENINGS = "openings.epd"
HALF_POINTS = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}
BEST_GAME = 2                      # half points
SOUND_ENDS = ("normal", "adjudication")


class BadPlayer(ValueError):
    """The words describe no player; the message says which and what was expected."""


# --- Who plays -----------------------------------------------------------------------------------------------------


def words_of(text: str) -> dict[str, str]:
    """Return the words of a player or of --each. Raises BadPlayer."""
    words: dict[str, str] = {}
    for word in shlex.split(text):
        name, mark, value = word.partition("=")
        if not mark or (name not in WORDS and not name.startswith("option.")):
            near = get_close_matches(name, WORDS, 1)
            hint = f", did you mean {near[0]}=?" if near else ""
            raise BadPlayer(f"{text!r}: {word!r} is no word of {', '.join(WORDS)} or option.NAME{hint}")
        words[name] = value
    return words


def player(text: str, each: str) -> Player:
    """Return a player, from its words and those for all. Raises BadPlayer."""
    words = {**words_of(each), **words_of(text)}
    words = {name: value for name, value in words.items() if value != (NO_LIMIT if name in LIMITS else "")}
    command = shlex.split(words.get("cmd", ""))
    if not command:
        raise BadPlayer(f"{text!r}: expected cmd=COMMAND")
    program = shutil.which(command[0], path=PLACES)
    if program is None:
        raise BadPlayer(f"{text!r}: no program {command[0]!r} here")
    limits = {name: words[name] for name in LIMITS if name in words}
    if not limits:
        raise BadPlayer(f"{text!r}: expected a limit such as tc=8+0.08 or nodes=10000, here or in --each")
    options = {name.removeprefix("option."): value for name, value in words.items() if name.startswith("option.")}
    name = words.get("name", Path(command[0]).name)
    if not name or name.startswith(".") or "/" in name:
        raise BadPlayer(f"{text!r}: expected a name that a folder can have, found {name!r}")
    return Player(name, (str(Path(program).absolute()), *command[1:]), limits, options)


# --- What was played -----------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """The score against one opponent, and how often each side lost otherwise than on the board, by reason."""

    score: MatchScore = field(default_factory=MatchScore)
    faults: Counter[str] = field(default_factory=Counter)

    def add_batch(self, pgn: Path, first: str) -> None:
        """Add the games of a batch. Two of the same round are a pair, which counts only if both have a result."""
        rounds: defaultdict[str, list[int | None]] = defaultdict(list)
        with pgn.open() as stream:
            while (headers := chess.pgn.read_headers(stream)) is not None:
                half_points = HALF_POINTS.get(headers["Result"])
                is_white = headers["White"] == first
                if half_points is not None and not is_white:
                    half_points = BEST_GAME - half_points
                rounds[headers["Round"]].append(half_points)
                reason = headers.get("Termination", "unknown")
                if reason not in SOUND_ENDS:
                    loser = {"1-0": headers["Black"], "0-1": headers["White"]}.get(headers["Result"], "nobody")
                    self.faults[f"{loser}: {reason}"] += 1
        for pair in rounds.values():
            points = [part for part in pair if part is not None]
            if len(points) == 2:
                self.score.add(sum(points))


def tally(match: Match) -> Tally:
    """Return the tally of all batches of a match."""
    found = Tally()
    for batch in match.batches():
        found.add_batch(batch / "games.pgn", match.players[0].name)
    return found


def table_lines(first: str, tallies: Sequence[tuple[str, Tally]]) -> list[str]:
    """Return the table: a line for each opponent, and one for all if there are several."""
    rows = list(tallies)
    if len(rows) > 1:
        total = Tally()
        for _, each in rows:
            total.score.counts = [a + b for a, b in zip(total.score.counts, each.score.counts, strict=True)]
        rows.append(("all", total))
    width = max(len(first) + 8, *(len(name) for name, _ in rows))
    lines = [f"{first + ' against':<{width}} {'games':>6} {'score':>7} {'Elo':>6} {'95 %':>16}  pairs of 0 to 4 halves"]
    for name, row in rows:
        score = row.score
        middle, low, high = (f"{part:+.0f}" for part in score.elo())
        share, pairs = f"{100 * score.score():.1f} %", " ".join(map(str, score.counts))
        lines.append(f"{name:<{width}} {score.games:>6} {share:>7} {middle:>6} {low + ' to ' + high:>16}  {pairs}")
    faults = Counter[str]()
    for _, row in tallies:
        faults.update(row.faults)
    return [*lines, *(f"  {count} x {fault}" for fault, count in sorted(faults.items()))]


# --- Playing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """How far to play: the games against each opponent, the size of a batch, and the end by `time.monotonic`.

    With `new_openings`, the file of openings grows with the games.
    """

    games: int
    batch: int
    sprt: Sprt | None = None
    until: float | None = None
    new_openings: bool = False


def play(matches: Sequence[Match], plan: Plan) -> None:
    """Play batches in turn until all is played or the test decided, printing the table before and after each.

    Raises BatchFailed, and TimeoutError when the time is up.
    """
    show(matches, plan)
    while not is_finished(matches, plan):
        for match in matches:
            missing = plan.games - match.played()
            if missing > 0:
                games = min(plan.batch, missing)
                if plan.new_openings:
                    openings.extend(match.table.openings, (match.played() + games + 1) // 2)
                match.play(games, None if plan.until is None else plan.until - time.monotonic())
        show(matches, plan)


def repeats_itself(first: Player, opponents: Sequence[Player]) -> bool:
    """Return whether a match has no clock: its games then depend on their openings alone."""
    return not has_clock(first) and not all(map(has_clock, opponents))


def has_clock(player: Player) -> bool:
    return any(name in player.limits for name in CLOCKS)


def is_finished(matches: Sequence[Match], plan: Plan) -> bool:
    if plan.sprt is not None and plan.sprt.is_decided(tally(matches[0]).score):
        return True
    return all(match.played() >= plan.games for match in matches)


def show(matches: Sequence[Match], plan: Plan) -> None:
    tallies = [(match.players[1].name, tally(match)) for match in matches]
    for line in table_lines(matches[0].players[0].name, tallies):
        print(line)
    if plan.sprt is not None:
        print(plan.sprt.line(tallies[0][1].score))
    print(flush=True)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--fastchess", type=fastchess, metavar="PATH", default="fastchess")
    made.add_argument("--folder", type=Path, required=True, help="where the batches are kept")
    made.add_argument("--engine", required=True, metavar="WORDS", help="the engine that plays all opponents")
    made.add_argument("--opponent", action="append", required=True, metavar="WORDS", help="may stand several times")
    made.add_argument("--each", default="", metavar="WORDS", help="limits and options of all")
    made.add_argument("--games", type=int, default=200, help="against each opponent (200)")
    made.add_argument("--batch", type=int, default=BATCH_GAMES, help=f"games of a batch ({BATCH_GAMES})")
    made.add_argument("--agreed-ends", action="store_true", help="end a game once both engines call it won or drawn")
    made.add_argument("--concurrency", type=int, default=2, help="games at a time (2)")
    made.add_argument("--minutes", type=float, help="stop after so long; an unfinished batch is lost")
    made.add_argument("--sprt", type=float, nargs="*", metavar="ELO", help="leads between which to decide (0 10)")
    made.add_argument("--openings", type=Path, help="an EPD file (tests/data/openings.epd, or new ones)")
    return made


def sprt_of(numbers: Sequence[float] | None, opponents: int) -> Sprt | None:
    """Return the test that --sprt asks for. Raises BadPlayer."""
    if numbers is None:
        return None
    low, high = numbers or (0.0, 10.0)
    if low >= high or opponents != 1:
        raise BadPlayer("--sprt needs one opponent and two leads, the lower one first")
    return Sprt(low, high)


def count_openings(path: Path) -> int:
    """Return how many openings a file has, each on a line of its own. Raises BadPlayer or OSError."""
    lines = path.read_text().splitlines()
    if not lines or not all(map(str.strip, lines)) or len(set(lines)) < len(lines):
        raise BadPlayer(f"{path}: expected a different opening on each line")
    return len(lines)


def main(words: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(words)
    try:
        first = player(arguments.engine, arguments.each)
        opponents = [player(text, arguments.each) for text in arguments.opponent]
        names = [first.name, *(opponent.name for opponent in opponents)]
        if len(set(names)) < len(names):
            raise BadPlayer(f"expected a different name=NAME for each player, found {', '.join(names)}")
        sprt = sprt_of(arguments.sprt, len(opponents))
        lines = 0 if arguments.openings is None else count_openings(arguments.openings)
    except (ValueError, OSError) as error:
        print(error)
        return 2
    folder, games, path = arguments.folder.resolve(), arguments.games, arguments.openings
    repeats = repeats_itself(first, opponents)
    if repeats and path is not None and games > (most := 2 * lines):
        print(f"playing {most} games instead of {games}: without a clock more games from {path} would be copies")
        games = most
    file = path or (folder / NEW_OPENINGS if repeats else OPENINGS)
    table = Table(
        arguments.fastchess, file.resolve(), concurrency=arguments.concurrency, agreed_ends=arguments.agreed_ends
    )
    matches = [Match(table, (first, opponent), folder / opponent.name) for opponent in opponents]
    until = None if arguments.minutes is None else time.monotonic() + 60 * arguments.minutes
    plan = Plan(games, arguments.batch, sprt, until, new_openings=repeats and path is None)
    try:
        play(matches, plan)
    except (BatchFailed, TimeoutError, KeyboardInterrupt) as error:
        show(matches, plan)
        print(f"{error or 'cut off'}; the same command goes on")
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)          # the games end with this process
    sys.exit(main())
