"""Games of variants: our engine against Fairy-Stockfish, a random mover, or itself, judged by python-chess.

    python -m tests.benchmarks.variants [--variant NAME ...] [--opponent COMMAND | random | self] [--nodes 2000]
        [--our-nodes 0] [--clock 8+0.08] [--overhead 10] [--margin 0] [--games 100] [--concurrency 1] [--engine COMMAND]
        [--hand-written] [--record FILE]

Without --variant all seven are played. Each opening is a few random plies and played twice, with either colour; but
once if the engine plays itself by nodes, where the second game would be the first again. With `--hand-written`
engines of ours evaluate by their terms. `--nodes` limits the opponent, if it is a program, which then has no clock;
`self` has ours. An illegal move loses, and so does a move later than the clock by more than the margin, which a busy
machine needs. Threefold repetition is claimed, and the fifty-move rule where the variant has it. The table has our
score with 95 % error bars, and Elo. RECORD keeps every game, so that the same command goes on where it was
interrupted; it is refused if its games had another opponent or other limits. It cannot tell that an engine has changed
since: name a new one then. Ctrl-C lets the games under way end. The exit code is 1 if a move of ours was illegal or
late, 2 if an engine ends or cannot be started, 130 after Ctrl-C.

Fairy-Stockfish is at https://github.com/fairy-stockfish/Fairy-Stockfish: `make build ARCH=x86-64-modern`.
"""

import argparse
import json
import os
import random
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from threading import Event, Lock
from time import monotonic

import chess
import chess.variant

from engine.selfplay.sprt import MAX_HALF_POINTS, Z_95, MatchScore
from tests.benchmarks.arguments import OURS, count, engine_command, positive
from tests.benchmarks.children import Child, ChildFailed, Program

VARIANTS = ("crazyhouse", "kingofthehill", "3check", "antichess", "atomic", "horde", "racingkings")
OPENING_PLIES = 4
MAX_PLIES = 600
INTERRUPTED = 130                  # exit code, as shells use it
FAILED = 2                         # exit code, as for wrong options
LATE, ILLEGAL, TOO_LONG = "late", "illegal move", "too long"


@dataclass(frozen=True)
class Game:
    """A game that was played; `score` is ours. `end` says how it ended, and whose fault that was, if anybody's."""

    variant: str
    number: int
    white: bool
    score: float
    end: str
    plies: int
    start: str
    moves: str


@dataclass
class Clock:
    """The clock of one side."""

    left_s: float
    increment_s: float


class UciPlayer:
    """An engine, with a clock or this many nodes per move. Its methods raise ChildFailed if it fails."""

    def __init__(self, child: Child, nodes: int) -> None:
        self.nodes, self._child = nodes, child

    def new_game(self) -> None:
        self._child.new_game()

    def move(self, start: str, board: chess.Board, clocks: tuple[Clock, Clock]) -> str:
        moves = " ".join(move.uci() for move in board.move_stack)
        self._child.say(f"position fen {start} moves {moves}" if moves else f"position fen {start}")
        white, black = clocks
        clock = f"wtime {white.left_s * 1000:.0f} btime {black.left_s * 1000:.0f} "
        clock += f"winc {white.increment_s * 1000:.0f} binc {black.increment_s * 1000:.0f}"
        answer = self._child.ask(f"go nodes {self.nodes}" if self.nodes else f"go {clock}", "bestmove")
        return " ".join(answer[-1].split()[1:2])


class RandomMover:
    """A player of random legal moves."""

    nodes = 1                      # no clock counts for it

    def __init__(self, seed: str) -> None:
        self._rng = random.Random(seed)

    def new_game(self) -> None:
        pass

    def move(self, start: str, board: chess.Board, clocks: tuple[Clock, Clock]) -> str:
        return self._rng.choice(sorted(move.uci() for move in board.legal_moves))


Player = UciPlayer | RandomMover


def new_board(variant: str, fen: str | None = None) -> chess.Board:
    kind = chess.variant.find_variant(variant)
    return kind() if fen is None else kind(fen)


def random_opening(variant: str, number: int) -> str:
    """Return the FEN after some random plies; games 2n and 2n + 1 have the same."""
    rng = random.Random(f"{variant} {number // 2}")
    while True:
        board = new_board(variant)
        for _ in range(OPENING_PLIES):
            moves = sorted(board.legal_moves, key=chess.Move.uci)
            if not moves:
                break
            board.push(rng.choice(moves))
        if not board.is_game_over():
            return board.fen()


def ending(board: chess.Board) -> tuple[float, str] | None:
    """Return White's score and how the game has ended, None while it goes on."""
    outcome = board.outcome(claim_draw=False)
    if outcome is not None:
        score = 0.5 if outcome.winner is None else float(outcome.winner)
        return score, outcome.termination.name.lower()
    if board.is_repetition(3):
        return 0.5, "threefold repetition"
    if board.halfmove_clock >= 100 and board.uci_variant != "crazyhouse":
        return 0.5, "fifty moves"
    return (0.5, TOO_LONG) if len(board.move_stack) >= MAX_PLIES else None


def move_of(text: str) -> chess.Move:
    """Return the move of an answer; for an invalid one the null move, which is never legal."""
    try:
        return chess.Move.from_uci(text)
    except ValueError:
        return chess.Move.null()


def play(
    variant: str, number: int, players: tuple[Player, Player], clock: tuple[float, float], margin_s: float
) -> Game:
    """Play a game; `players` are ours and the opponent. We have White in even games."""
    start, white = random_opening(variant, number), number % 2 == 0
    board = new_board(variant, start)
    clocks = Clock(*clock), Clock(*clock)
    for player in players:
        player.new_game()
    while (end := ending(board)) is None:
        ours = (board.turn == chess.WHITE) == white
        player, own_clock = players[not ours], clocks[board.turn == chess.BLACK]
        started = monotonic()
        text = player.move(start, board, clocks)
        if not player.nodes:
            own_clock.left_s -= monotonic() - started
        if own_clock.left_s < -margin_s:
            end = float(not board.turn), f"{LATE} by {-1000 * own_clock.left_s:.0f} ms: {'ours' if ours else 'theirs'}"
            break
        own_clock.left_s = max(0.0, own_clock.left_s) + own_clock.increment_s
        move = move_of(text)
        if not board.is_legal(move):
            end = float(not board.turn), f"{ILLEGAL}: {'ours' if ours else 'theirs'} {text}"
            break
        board.push(move)
    score, how = end
    moves = " ".join(move.uci() for move in board.move_stack)
    return Game(variant, number, white, score if white else 1 - score, how, len(board.move_stack), start, moves)


def row(variant: str, games: list[Game]) -> str:
    scores = [game.score for game in games]
    openings: defaultdict[int, list[float]] = defaultdict(list)
    for game in games:
        openings[game.number // 2].append(game.score)
    match = MatchScore()
    for pair in openings.values():             # or the only game of an opening
        match.add(round(MAX_HALF_POINTS * mean(pair)))
    elo, low, high = match.elo()
    counts = f"+{scores.count(1.0)} ={scores.count(0.5)} -{scores.count(0.0)}"
    faults = sum(game.end.startswith((LATE, ILLEGAL)) for game in games)
    plies = sum(game.plies for game in games) / len(games)
    return (
        f"{variant:<14}{len(games):>6}  {counts:<18}{100 * mean(scores):5.1f} % ± {100 * Z_95 * match.error():4.1f}"
        f"  Elo {elo:+6.0f} [{low:+.0f}, {high:+.0f}]  faults {faults}  {plies:.0f} plies"
    )


def conditions_of(options: argparse.Namespace) -> str:
    """Return the options that results depend on; all games of a record have the same."""
    base_s, increment_s = options.clock
    words = ["--opponent", options.opponent, "--nodes", str(options.nodes), "--our-nodes", str(options.our_nodes)]
    words += ["--clock", f"{base_s:g}+{increment_s:g}", "--overhead", options.overhead]
    words += ["--margin", f"{options.margin:g}"]
    words += ["--engine", options.engine] if options.engine != OURS else []
    words += ["--hand-written"] if options.hand_written else []
    return shlex.join(words)


def read_record(path: Path, conditions: str) -> list[Game]:
    """Return the games of a record. A last line that was cut off is removed, so that its game is played again.

    Raises ValueError for a line that is no game, or of a game under other conditions.
    """
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    games = []
    for number, line in enumerate(content[:whole].splitlines(), 1):
        try:
            fields = json.loads(line)
            played = fields.pop("conditions", "unknown options")
            games.append(Game(**fields))
        except (ValueError, TypeError, AttributeError):
            raise ValueError(f"{path}:{number}: expected a game in JSON, found {line[:40]!r}") from None
        if played != conditions:
            raise ValueError(f"{path}:{number}: played with {played}, expected {conditions}: choose another file")
    if whole < len(content):
        os.truncate(path, whole)
    return games


class Match:
    """The games of some variants, several at once."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Take the games of the record, if there is one. Raises ValueError or OSError."""
        self.options = options
        self._conditions = conditions_of(options)
        self.games: list[Game] = []
        self._lock, self._stop = Lock(), Event()
        if options.record is not None and options.record.exists():
            self.games = read_record(options.record, self._conditions)

    def run(self) -> None:
        """Play what is missing. After Ctrl-C or a failure the games under way end, and no other begins."""
        played = {(game.variant, game.number) for game in self.games}
        numbers = range(0, 2 * self.options.games, 2) if self._repeats_itself() else range(self.options.games)
        wanted = [(name, number) for name in self.options.variant for number in numbers]
        left = [it for it in wanted if it not in played]
        shares = [left[worker :: self.options.concurrency] for worker in range(self.options.concurrency)]
        with ThreadPoolExecutor(self.options.concurrency) as pool:
            try:
                list(pool.map(self._play_all, shares))
            finally:
                self._stop.set()

    def _repeats_itself(self) -> bool:
        """Return whether the second game of an opening would be the first again."""
        return self.options.opponent == "self" and self.options.our_nodes > 0

    def _play_all(self, share: list[tuple[str, int]]) -> None:
        """Play games one after another, with the same programs for each variant."""
        try:
            self._play_share(share)
        except BaseException:
            self._stop.set()           # the other workers would go on until their last game
            raise

    def _play_share(self, share: list[tuple[str, int]]) -> None:
        for variant in dict.fromkeys(name for name, _ in share):
            with self._players(variant) as players:
                for number in [number for name, number in share if name == variant]:
                    if self._stop.is_set():
                        return
                    self._note(play(variant, number, players, self.options.clock, self.options.margin / 1000))

    @contextmanager
    def _players(self, variant: str) -> Iterator[tuple[Player, Player]]:
        """Start us and the opponent, and end both afterwards."""
        terms = {"UCI_Variant": variant, **({"EvalFile": "none"} if self.options.hand_written else {})}
        options = {"Hash": "16", "Move Overhead": self.options.overhead, **terms}
        with ExitStack() as stack:

            def start(command: str, settings: dict[str, str], nodes: int) -> UciPlayer:
                child = Child(Program(command, tuple(shlex.split(command)), settings))
                return UciPlayer(stack.enter_context(child), nodes)

            ours = start(self.options.engine, options, self.options.our_nodes)
            match self.options.opponent:
                case "random":
                    yield ours, RandomMover(variant)
                case "self":
                    yield ours, start(self.options.engine, options, self.options.our_nodes)
                case other:
                    yield ours, start(other, {"Use NNUE": "false", **terms}, self.options.nodes)

    def _note(self, game: Game) -> None:
        with self._lock:
            self.games.append(game)
            if self.options.record is not None:
                with self.options.record.open("a") as stream:
                    stream.write(json.dumps({**asdict(game), "conditions": self._conditions}) + "\n")
            if game.end.startswith((LATE, ILLEGAL)):
                print(f"{game.variant} {game.number}: {game.end}; {game.start} moves {game.moves}", flush=True)


def parse_clock(text: str) -> tuple[float, float]:
    seconds, _, increment = text.partition("+")
    return float(seconds), float(increment or 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", nargs="+", default=list(VARIANTS), choices=VARIANTS, metavar="NAME")
    parser.add_argument("--opponent", type=engine_command, default="random")
    parser.add_argument("--nodes", type=count, default=2000, help="of the opponent; 0: it has a clock")
    parser.add_argument("--our-nodes", type=count, default=0, help="limit us by nodes instead of the clock")
    parser.add_argument("--clock", type=parse_clock, default=(8.0, 0.08))
    parser.add_argument("--games", type=positive, default=100)
    parser.add_argument("--concurrency", type=positive, default=1)
    parser.add_argument("--overhead", default="10", help="our Move Overhead, in milliseconds")
    parser.add_argument("--margin", type=float, default=0, help="milliseconds by which a move may be late")
    parser.add_argument("--engine", type=engine_command, default=OURS)
    parser.add_argument("--hand-written", action="store_true", help="let engines of ours evaluate by their terms")
    parser.add_argument("--record", type=Path)
    try:
        match = Match(parser.parse_args())
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if recorded := sum(game.variant in match.options.variant for game in match.games):
        print(f"{recorded} game{'s' * (recorded != 1)} from {match.options.record}", flush=True)
    interrupted, failure = False, ""
    try:
        match.run()
    except KeyboardInterrupt:
        interrupted = True
    except (OSError, ChildFailed) as error:
        failure = str(error)
    for variant in match.options.variant:
        games = [game for game in match.games if game.variant == variant]
        if games:
            print(row(variant, games))
    if failure:
        parser.exit(FAILED, f"{parser.prog}: error: {failure}\n")
    return INTERRUPTED if interrupted else int(any(": ours" in game.end for game in match.games))


if __name__ == "__main__":
    sys.exit(main())
