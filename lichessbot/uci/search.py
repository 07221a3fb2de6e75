"""Searches that an engine is asked for, and its reports."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, Self

from engine.facade import Board, Limits
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.models import Player
from lichessbot.storage.evaluations import mate_cp

NO_GAME: Final = "no-game"
"""In place of a game's id, in reports of an engine that waits for its next game."""
# Larger numbers, such as 2**64 - 1 of a counter that fell below zero, do not fit the records.
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_MOST_ITERATIONS: Final = 256
NO_MOVE: Final = "(none)"
ENGINE: Final = "engine"
FALLBACK: Final = "fallback"


@dataclass(frozen=True, slots=True)
class Search:
    """One search; `search_id` comes back with its answer.

    `variant` is that of the rules, as Lichess names it: `standard` also for Chess960.
    `root_moves`: the moves to choose from, all if empty. `multipv`: the number of best moves to report with scores.
    `opponent`: who plays against us, as UCI_Opponent tells it; empty if unknown.
    """

    search_id: int
    initial_fen: str
    chess960: bool
    moves: tuple[str, ...]
    limits: Limits
    root_moves: tuple[str, ...] = ()
    multipv: int = 1
    variant: str = Variant.STANDARD
    opponent: str = ""

    @classmethod
    def of(cls, search_id: int, board: Board, limits: Limits, root_moves: tuple[str, ...] = ()) -> Self:
        """Return the search of the position on a board."""
        moves = tuple(board.moves)
        return cls(search_id, board.initial_fen, board.chess960, moves, limits, root_moves, variant=board.variant)

    def without_ponder(self) -> Self:
        """Return a ponder search as an ordinary one."""
        return replace(self, limits=self.limits._replace(ponder=False))

    def with_less_time(self, less_ms: int) -> Self:
        """Return the search with so much less on our clock, of which at least 1 ms stays."""
        ours = "white_time_ms" if self.white_to_move else "black_time_ms"
        time_ms = getattr(self.limits, ours)
        if time_ms is None:
            return self
        return replace(self, limits=self.limits._replace(**{ours: max(1, time_ms - less_ms)}))

    @property
    def white_to_move(self) -> bool:
        begins = self.initial_fen.split()[1] == "w"
        return begins is (len(self.moves) % 2 == 0)


def opponent_text(player: Player) -> str:
    """Return the value of UCI_Opponent for a player: title, rating, human or computer, and name."""
    title = "none" if player.is_bot else player.title or "none"
    kind = "computer" if player.is_bot else "human"
    return f"{title} {player.rating or 'none'} {kind} {player}"


@dataclass(frozen=True, slots=True)
class SearchInfo:
    """One `info` line of a search."""

    depth: int = 0
    nodes: int = 0
    score: str = ""
    pv: str = ""
    nps: int = 0

    @property
    def move(self) -> str:
        """The first move of the variation; empty if there is none."""
        return self.pv.partition(" ")[0]

    @property
    def ponder(self) -> str | None:
        """The expected reply to it."""
        return next(iter(self.pv.split()[1:2]), None)

    @property
    def cp(self) -> int | None:
        """The score for the side to move in centipawns; None for a mate or without a score."""
        return centipawns(self.score) if self.score.startswith("cp") else None


@dataclass(frozen=True, slots=True)
class BestMove:
    """The answer to search `search_id`; `move` is None if the engine found no legal one.

    `source`: who chose the move, the `ENGINE` or, as a `FALLBACK`, the daemon. `asked_at`, `took_s`: when the `go` or
    `ponderhit` was written, in monotonic seconds, and the time from then to the `bestmove` read. `lines`: the best
    moves, best first, if more than one was wanted. `ponder`: the expected reply.
    `iterations`: the best line of each depth.
    """

    game_id: str
    search_id: int
    move: str | None
    summary: SearchInfo = SearchInfo()
    lines: tuple[SearchInfo, ...] = ()
    took_s: float = field(default=0.0, compare=False)
    ponder: str | None = None
    asked_at: float = field(default=0.0, compare=False)
    iterations: tuple[SearchInfo, ...] = field(default=(), compare=False)
    source: str = ENGINE


class Findings:
    """What an engine has told of one search so far."""

    def __init__(self, lines_wanted: int = 1) -> None:
        self.summary = SearchInfo()
        """Its best line."""
        self._lines_wanted = lines_wanted
        self._lines: dict[int, SearchInfo] = {}
        self._iterations: dict[int, SearchInfo] = {}

    def note(self, details: list[str]) -> None:
        """Note an `info` line with a variation: the best one, and others only if they are wanted.

        A score alone counts until a variation comes, as some engines tell none: the variation is then their move.
        """
        number, line = search_info(details)
        if not line.pv:
            if number == 1 and not self.summary.pv and centipawns(line.score) is not None:
                self.summary = line
            return
        if number == 1:
            self.summary = line
            if len(self._iterations) < _MOST_ITERATIONS:
                self._iterations[line.depth] = line
        if self._lines_wanted > 1 and 1 <= number <= self._lines_wanted:
            self._lines[number] = line

    def answer(self, game_id: str, search_id: int, move: str, ponder: str | None, asked_at: float) -> BestMove:
        """Return the answer to the search, which ends now."""
        chosen = None if move in (NO_MOVE, "0000") else _plain_move(move)
        has_score_alone = bool(self.summary.score) and not self.summary.pv
        return BestMove(
            game_id,
            search_id,
            chosen,
            replace(self.summary, pv=chosen or "") if has_score_alone else self.summary,
            lines=tuple(self._lines[number] for number in sorted(self._lines)),
            took_s=time.monotonic() - asked_at,
            ponder=None if ponder is None else _plain_move(ponder),
            asked_at=asked_at,
            iterations=tuple(self._iterations.values()),
        )


def _plain_move(move: str) -> str:
    """Return a move in lower case, all but the piece that is dropped: some engines write e7e8Q."""
    return move if "@" in move else move.lower()


@dataclass(frozen=True, slots=True)
class EngineReady:
    """A new engine has answered `uci` and `isready`, and starts the search it was asked for meanwhile."""

    game_id: str


@dataclass(frozen=True, slots=True)
class EngineDied:
    """The engine that ran search `search_id` (None: it was idle) ended or was killed."""

    game_id: str
    search_id: int | None
    reason: str


def go_command(search: Search) -> str:
    """Return the `go` line of a search."""
    limits = search.limits
    values = {
        "wtime": limits.white_time_ms,
        "btime": limits.black_time_ms,
        "winc": limits.white_increment_ms,
        "binc": limits.black_increment_ms,
        "depth": limits.depth,
        "nodes": limits.nodes,
        "movetime": limits.move_time_ms,
    }
    # The list of searchmoves has no end mark, so it comes last.
    chosen = f" searchmoves {' '.join(search.root_moves)}" if search.root_moves else ""
    given = "".join(f" {name} {value}" for name, value in values.items() if value is not None)
    return "go" + " ponder" * limits.ponder + given + chosen


def search_info(details: list[str]) -> tuple[int, SearchInfo]:
    """Return the number of the line among several, and the fields of an `info` line; unreadable ones are left out."""
    value_of = dict(pairwise(details))
    pv = details.index("pv") if "pv" in details else len(details)
    score = details.index("score") if "score" in details else pv
    return _count(value_of.get("multipv", "1")), SearchInfo(
        depth=_count(value_of.get("depth")),
        nodes=_count(value_of.get("nodes")),
        score=" ".join(details[score + 1 : score + 3]) if score < pv else "",
        pv=" ".join(details[pv + 1 :]),
        nps=_count(value_of.get("nps")),
    )


def _count(text: str | None) -> int:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else 0


def centipawns(score: str) -> int | None:
    """Return a UCI score as centipawns, a mate as the records have it; None if there is no score."""
    match score.split():
        case ["cp", value] if _is_number(value):
            return int(value)
        case ["mate", moves] if _is_number(moves):
            return mate_cp(int(moves))
    return None


def _is_number(text: str) -> bool:
    return re.fullmatch("[+-]?[0-9]{1,8}", text) is not None


EngineReport = BestMove | EngineReady | EngineDied
Emit = Callable[[EngineReport], None]
