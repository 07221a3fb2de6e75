"""A ladder of players of different strength, and the games between them.

A player is named by its text: `level 1500`, `skill 1700` (of the levels' model, see `engine/search/levels/`),
`nodes 5000` (the full search), `random`, or the command of a foreign engine with options and limits, as in
`/usr/games/stockfish UCI_Elo=1500 depth=2 rating=1320`.

The games of a pair share an opening, with colours swapped. Results are kept as lines of JSON, so that an interrupted
ladder continues with the pairs that are missing.
"""

import json
import os
import random
import shlex
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Protocol

from engine.facade import RATINGS, Board, Engine, InvalidMove, Limits, own_book
from engine.pgn.time_control import TimeControl
from engine.search.levels.level import level_at
from engine.selfplay.ratings import Pairing
from engine.selfplay.records import InvalidRecord
from engine.selfplay.uci_client import EngineFailed, UciClient
from engine.whole_file import errors_of

# Ratings of Stockfish's Skill Level from 0 on, which its authors measured a month after version 15.1 against versions
# of Stash that the CCRL rates: https://github.com/official-stockfish/Stockfish/pull/4341. UCI_Elo of version 16 and
# later comes from them; UCI_Elo of 15.1 is an older scale. A skill picks its move after one ply more than its number.
STOCKFISH_SKILLS = (1320, 1468, 1608, 1742, 1923, 2204, 2363, 2500, 2596, 2703, 2788)
STOCKFISH_NODES = (5_000,) * 5 + (20_000,) * 3 + (60_000,) * 3   # enough for it, and independent of the machine

HASH_MB = 8
OPENING_PLIES = 8
MOST_FAILURES = 3                  # games in a row, after which a foreign engine is given up
MAX_PLIES = 300                    # of a game, which is then drawn
OWN_NUMBERS = {"level": RATINGS, "skill": range(200, 3701), "nodes": range(1, 10**9)}
POINTS = (0, 0.5, 1, 1.5, 2)       # that a player can make in a pair
LIMIT_WORDS = ("depth", "nodes", "movetime")


class Forfeit(StrEnum):
    """How a player lost a game otherwise than on the board."""

    TIME = "time"
    ILLEGAL = "illegal move"
    FAILURE = "failure"            # the engine ended, or did not answer


class Player(Protocol):
    """Anybody who can play a game."""

    def new_game(self, seed: int) -> None:
        """Start another game."""

    def move(self, board: Board, limits: Limits) -> str:
        """Return a legal move."""


class OwnPlayer:
    """The engine: at a level, at a skill, or with a number of nodes; perhaps with a named style."""

    def __init__(self, kind: str, number: int, style: str | None = None) -> None:
        self._kind, self._number = kind, number
        self._engine = Engine(HASH_MB)
        self._engine.set_named_style(style)

    def new_game(self, seed: int) -> None:
        self._engine.new_game()
        if self._kind == "level":
            self._engine.limit_strength(self._number, seed)
        elif self._kind == "skill":
            self._engine.play_level(level_at(self._number), seed)

    def move(self, board: Board, limits: Limits) -> str:
        self._engine.set_position(board)
        if self._kind == "nodes":
            limits = Limits(nodes=self._number)
        move = self._engine.go(limits).best_move
        assert move is not None, "the game is not over"
        return move


class RandomPlayer:
    """Plays any legal move."""

    def new_game(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def move(self, board: Board, limits: Limits) -> str:
        return self._rng.choice(board.legal_moves())


class ForeignPlayer:
    """A foreign engine; `limits` are its own, or empty: then it gets the clock, or a tenth of a second.

    After a failure it is started again for the next game, but not after several games in a row. An engine that ends
    between two games has lost neither.
    """

    def __init__(self, command: str, options: Mapping[str, str], limits: str) -> None:
        self._client = UciClient(command, options)
        self._command, self._options, self._limits = command, options, limits
        self._has_failed, self._failures = False, 0

    def new_game(self, seed: int) -> None:
        if self._failures == MOST_FAILURES:
            raise EngineFailed(f"{self._command} failed in {MOST_FAILURES} games in a row")
        if not self._has_failed:
            self._failures = 0
            try:
                self._client.new_game()
            except EngineFailed:
                self._has_failed = True
        if self._has_failed:
            self._client.close()
            self._client = UciClient(self._command, self._options)
            self._has_failed = False

    def move(self, board: Board, limits: Limits) -> str:
        try:
            return self._client.go(board.moves, self._limits or _go_words(limits))
        except EngineFailed:
            self._has_failed = True
            self._failures += 1
            raise


def _go_words(limits: Limits) -> str:
    if limits.white_time_ms is None:
        return "movetime 100"
    return (
        f"wtime {limits.white_time_ms} btime {limits.black_time_ms} "
        f"winc {limits.white_increment_ms} binc {limits.black_increment_ms}"
    )


@dataclass(frozen=True)
class ForeignEngine:
    """What the text of a foreign engine says."""

    command: str
    options: Mapping[str, str]
    limits: str
    rating: float | None


def parse_foreign(text: str) -> ForeignEngine:
    """Read the text of a foreign engine. Without `rating=` an anchor's rating is its UCI_Elo. Raises EngineFailed."""
    try:
        command, *words = shlex.split(text)
    except ValueError:
        raise EngineFailed(f"expected a command and NAME=VALUE ..., found {text[:60]!r}") from None
    options: dict[str, str] = {}
    limits: list[str] = []
    rating: float | None = None
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not value:
            raise EngineFailed(f"expected NAME=VALUE after {command}, found {word[:40]!r}")
        if name in (*LIMIT_WORDS, "rating", "UCI_Elo") and not value.isdecimal():
            raise EngineFailed(f"expected a whole number for {name}, found {value[:40]!r}")
        if name in LIMIT_WORDS:
            limits += [name, value]
        elif name == "rating":
            rating = float(value)
        else:
            options[name] = value
    if "UCI_Elo" in options:
        options["UCI_LimitStrength"] = "true"
        rating = float(options["UCI_Elo"]) if rating is None else rating
    return ForeignEngine(command, options, " ".join(limits), rating)


def stockfish_anchors(command: str) -> list[str]:
    """Return the texts of Stockfish's skill levels."""
    return [
        f"{shlex.quote(command)} 'Skill Level={skill}' nodes={nodes} rating={rating}"
        for skill, (nodes, rating) in enumerate(zip(STOCKFISH_NODES, STOCKFISH_SKILLS, strict=True))
    ]


def make_player(text: str) -> Player:
    """Return a new player of that name. Raises EngineFailed."""
    kind, _, number = text.partition(" ")
    if kind in OWN_NUMBERS:
        if not number.isdecimal() or int(number) not in OWN_NUMBERS[kind]:
            known = OWN_NUMBERS[kind]
            raise EngineFailed(f"expected {kind} {known[0]} to {known[-1]}, found {text[:40]!r}")
        return OwnPlayer(kind, int(number))
    if kind == "random":
        return RandomPlayer()
    foreign = parse_foreign(text)
    return ForeignPlayer(foreign.command, foreign.options, foreign.limits)


player = cache(make_player)        # this process's player of that name


def opening(number: int) -> Board:
    """Return a position of the engine's own book."""
    rng = random.Random(f"ladder {number}")
    board, book = Board(), own_book()
    for _ in range(OPENING_PLIES):
        known = book.moves(board) if book is not None else []
        board.push(rng.choice(known).move if known else rng.choice(board.legal_moves()))
    return board


@dataclass(frozen=True)
class Pair:
    """Two games to play."""

    first: str
    second: str
    number: int
    time_control: TimeControl | None = None


@dataclass(frozen=True)
class PlayedPair:
    """The points that the first player made, and who lost a game otherwise than on the board."""

    pair: Pair
    points: float
    forfeits: tuple[tuple[str, Forfeit], ...] = ()


def play_pair(pair: Pair) -> PlayedPair:
    """Play an opening with both colours. Raises EngineFailed if an engine cannot be started, or fails all the time."""
    players = (player(pair.first), player(pair.second))
    points = 0.0
    forfeits = []
    for first_is_white in (True, False):
        for side, it in enumerate(players):
            it.new_game(4 * pair.number + 2 * first_is_white + side + 1)
        white, black = players if first_is_white else players[::-1]
        white_points, forfeit = play_for_points(opening(pair.number), white, black, pair.time_control)
        won = white_points if first_is_white else 1 - white_points
        points += won
        if forfeit is not None:
            forfeits.append((pair.second if won else pair.first, forfeit))
    return PlayedPair(pair, points, tuple(forfeits))


def play_for_points(
    board: Board, white: Player, black: Player, time_control: TimeControl | None
) -> tuple[float, Forfeit | None]:
    """Play to the end and return White's points, and how the loser forfeited the game if it was not on the board."""
    clocks = {"white": time_control.base_s, "black": time_control.base_s} if time_control is not None else {}
    while (outcome := board.outcome()) is None and len(board.moves) < MAX_PLIES:
        side = board.turn
        limits = Limits()
        if time_control is not None:
            increment_ms = round(1000 * time_control.increment_s)
            limits = Limits(
                round(1000 * clocks["white"]), round(1000 * clocks["black"]), increment_ms, increment_ms
            )
        lost = 0.0 if side == "white" else 1.0
        started = time.monotonic()
        try:
            move = (white if side == "white" else black).move(board, limits)
        except EngineFailed:
            return lost, Forfeit.FAILURE
        if time_control is not None:
            clocks[side] -= time.monotonic() - started
            if clocks[side] < 0:
                return lost, Forfeit.TIME
            clocks[side] += time_control.increment_s
        try:
            board.push(move)
        except InvalidMove:
            return lost, Forfeit.ILLEGAL
    if outcome is None or outcome.winner is None:
        return 0.5, None
    return (1.0 if outcome.winner == "white" else 0.0), None


# --- Results ---------------------------------------------------------------------------------------------------------


class Results:
    """The file of results: a line of JSON for each pair. All of its games have the same clock, or none.

    A line is [first, second, pair, points], then the clock, and the forfeits: each a player and how it lost a game.
    """

    def __init__(self, path: Path, time_control: TimeControl | None = None) -> None:
        """Read what there is. Raises InvalidRecord, also for games with another clock, or OSError.

        A last line that a power cut has halved is removed, so that its pair is played again.
        """
        self._path = path
        self._clock = [] if time_control is None else [str(time_control)]
        self._points: dict[tuple[str, str], dict[int, float]] = {}
        self.forfeits: Counter[tuple[str, Forfeit]] = Counter()
        content = path.read_bytes() if path.exists() else b""
        for number, line in enumerate(content.splitlines(keepends=True), 1):
            try:
                first, second, pair, points, *clock = json.loads(line)
                if points not in POINTS:
                    raise ValueError
                self._points.setdefault((str(first), str(second)), {})[int(pair)] = float(points)
                if clock and isinstance(clock[-1], list):
                    self.forfeits.update((str(loser), Forfeit(how)) for loser, how in clock.pop())
            except (ValueError, TypeError):
                is_open = not line.endswith(b"]") or line.count(b"[") > line.count(b"]")
                if line.startswith(b"[") and is_open and not line.endswith((b"\r", b"\n")):
                    os.truncate(path, len(content) - len(line))
                    return
                raise InvalidRecord(f"{path}:{number}: expected [first, second, pair, points 0 to 2]") from None
            if clock != self._clock:
                played, wanted = (it[0] if it else "no clock" for it in (clock, self._clock))
                raise InvalidRecord(f"{path}:{number}: played with {played}, expected {wanted}: choose another file")
        if content.endswith(b"]"):     # only the end of its line was cut off
            with path.open("a") as file:
                file.write("\n")

    def add(self, played: PlayedPair) -> None:
        """Keep a result."""
        pair = played.pair
        self._points.setdefault((pair.first, pair.second), {})[pair.number] = played.points
        self.forfeits.update(played.forfeits)
        line = [pair.first, pair.second, pair.number, played.points, *self._clock]
        with errors_of(self._path), self._path.open("a") as file:
            file.write(json.dumps([*line, played.forfeits] if played.forfeits else line) + "\n")

    def missing(self, first: str, second: str, pairs: int) -> list[int]:
        """Return the numbers of the pairs that have not been played yet."""
        known = self._points.get((first, second), {})
        return [number for number in range(pairs) if number not in known]

    def pairings(self) -> list[Pairing]:
        """Return the sums of all pairings."""
        return [
            Pairing(first, second, sum(points.values()), 2 * len(points))
            for (first, second), points in self._points.items()
        ]
