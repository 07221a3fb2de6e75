"""The search for our move: move sources first, then the engine, then a search in this process.

Pure: returns actions; `now` is monotonic seconds, passed in. An engine that fails is replaced once if the clock
allows, and awaited if days are left; after that the daemon finds a move itself. No move waits for an engine that hung
twice in a row, until it answers. The game decides whether an answer is legal and what it is good for.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from engine.facade import Board, InvalidMove, Limits
from lichessbot.config import EngineConfig
from lichessbot.games.actions import (
    Action,
    AskSources,
    Fallback,
    KillEngine,
    PonderHit,
    StartSearch,
    StopSearch,
)
from lichessbot.games.time_budget import GameClock
from lichessbot.lichess.models import GameFull
from lichessbot.move_sources.models import Question, SourceAnswer
from lichessbot.uci.search import FALLBACK, BestMove, Search, SearchInfo

_ONLY_MOVE: Final = "only move"
# An engine that hangs may cost half the clock each time: after this many times in a row, no move waits for it.
_MOST_HANGS: Final = 2


@dataclass(frozen=True, slots=True)
class TimedPosition:
    """A board, and the clocks of its state."""

    board: Board
    clock: GameClock

    @property
    def moves(self) -> tuple[str, ...]:
        return tuple(self.board.moves)


@dataclass(frozen=True, slots=True)
class ChosenMove:
    """A move of ours and where it comes from. `board`: the position before it.

    `answer`: what the move was chosen by; None if it was the only legal one. `narrowed_by`: the source that left
    several moves to the engine; empty if none did.
    """

    board: Board
    move: str
    answer: BestMove | SourceAnswer | None = None
    narrowed_by: str = ""

    @property
    def ply(self) -> int:
        return len(self.board.moves) + 1

    @property
    def source(self) -> str:
        """`engine`, `fallback`, `only move`, or the name of the book, tablebase or server."""
        return _ONLY_MOVE if self.answer is None else self.answer.source

    @property
    def sources(self) -> str:
        """The same, after the source that left the choice to it, if one did."""
        return f"{self.narrowed_by}, {self.source}" if self.narrowed_by else self.source

    @property
    def summary(self) -> SearchInfo:
        """What the search said of the move."""
        return SearchInfo() if self.answer is None else self.answer.summary


class Stage(Enum):
    """Whose answer is awaited, and what happens if it does not come in time."""

    SOURCES = auto()
    """That of the move sources: the engine is asked instead."""
    STARTING = auto()
    """That of an engine that still starts: the daemon itself moves, and the engine goes on starting."""
    SEARCHING = auto()
    """That of an engine that searches: it is told to stop."""
    STOPPING = auto()
    """That of an engine that was told to stop: it counts as hung."""
    POSTPONED = auto()
    """No engine runs: one is tried again."""
    FALLBACK = auto()
    """That of the search in this process, which always ends in time."""


@dataclass(slots=True)
class _Pending:
    """The search or question whose answer is awaited."""

    search: Search | Question
    stage: Stage
    due_at: float | None
    """When the answer should be there; None for the fallback."""
    second_try: bool = False


class MoveSearch:
    """At most one search for our move, and at most one ponder search."""

    def __init__(self, engine: EngineConfig) -> None:
        self.engine = engine
        """The configuration of the engine to ask; it may change during the game."""
        self._last_id = 0
        self._pending: _Pending | None = None
        self._pondering = Pondering()
        self._engine_restarts = False
        """An engine failed or was slow to start, and it or its successor is still starting."""
        self._engine_starts = True
        """The process to search next has not told that it is ready."""
        self._first_id = 1
        """Of the searches by that process."""
        self._postponed_since: float | None = None
        """When no engine ran for this move, which waits for one; over visits in between, too."""
        self._hangs = 0
        """How often an engine was told to stop and did not answer, since one last answered."""

    @property
    def due_at(self) -> float | None:
        """When `tick` has something to do."""
        return None if self._pending is None else self._pending.due_at

    @property
    def engine_wanted(self) -> bool:
        """Return whether an engine searches or ponders for us."""
        return self._pending is not None or self._pondering.active

    @property
    def is_hung(self) -> bool:
        """Return whether an engine was told to stop; if so and `due_at` has passed, it hangs."""
        return self._pending is not None and self._pending.stage is Stage.STOPPING

    @property
    def has_failed(self) -> bool:
        """Return whether even the search in this process was asked."""
        return self._pending is not None and self._pending.stage is Stage.FALLBACK

    def is_about(self, moves: tuple[str, ...]) -> bool:
        """Return whether the position after `moves` is being searched."""
        return self._pending is not None and self._pending.search.moves == moves

    def awaits(self, search_id: int | None) -> bool:
        """Return whether the answer to this search or question is awaited."""
        return self._pending is not None and self._pending.search.search_id == search_id

    def is_settled_for(self, search_id: int | None) -> bool:
        """Return whether what an engine tells of this search is too late: the search in this process has taken over."""
        return self.has_failed or not self.awaits(search_id)

    def finish(self) -> None:
        """Note that the move was found."""
        self._pending = None
        self._postponed_since = None

    def discard(self) -> None:
        """Ignore the answers to everything that was asked."""
        self._pending = None
        self._pondering.discard()

    def stop(self) -> Iterator[Action]:
        """Stop whatever the engine searches."""
        if self.engine_wanted:
            self.discard()
            yield StopSearch()

    def stop_pondering(self) -> Iterator[Action]:
        """Stop a search on the opponent's time, as another engine is to play."""
        if self._pending is None:
            yield from self.stop()

    def await_opponent(self, moves: tuple[str, ...]) -> Iterator[Action]:
        """Stop every search but a ponder search that can still be hit."""
        if self._pending is not None or not self._pondering.still_possible(moves):
            yield from self.stop()

    # Reports

    def note_answer(self, answer: BestMove) -> None:
        """Note any answer of an engine or of the fallback; it may belong to a ponder search."""
        self._pondering.note_answer(answer)
        if answer.source != FALLBACK:
            self._hangs = 0
        if not (self.has_failed and self.awaits(answer.search_id)):
            self._engine_restarts = False
            self._engine_starts &= answer.search_id < self._first_id

    def engine_is_gone(self) -> None:
        """Note that another process searches next, which is as slow to start as the first one."""
        self._engine_starts, self._first_id = True, self._last_id + 1

    def engine_is_ready(self, position: TimedPosition | None, now: float) -> None:
        """Give an engine that has started the usual time to think. `position`: None before the first state."""
        self._engine_restarts = self._engine_starts = False
        pending = self._pending
        if position is None or pending is None or pending.stage is not Stage.STARTING:
            return
        assert isinstance(pending.search, Search), "only an engine starts"
        pending.stage = Stage.SEARCHING
        pending.due_at = now + self._think_limit_s(position, pending.search.limits, now)

    def engine_died(self, search_id: int | None) -> None:
        """Note that the next engine has yet to start."""
        self._pondering.engine_failed(search_id)
        self._engine_restarts = True

    # Asking

    def ask_sources(self, position: TimedPosition, full: GameFull, now: float) -> AskSources:
        """Ask the move sources."""
        self._last_id += 1
        clock = position.clock
        limit_s = clock.sources_limit_s(now)
        remaining_s = clock.remaining_s(now) if clock.timed else None
        board = position.board.copy()
        question = Question(self._last_id, full.variant.key, board, remaining_s, full.initial_s, limit_s)
        self._pending = _Pending(question, Stage.SOURCES, now + limit_s)
        return AskSources(question)

    def ask_engine(self, position: TimedPosition, now: float, root_moves: tuple[str, ...] = ()) -> Iterator[Action]:
        """Ask the engine for the best move, among `root_moves` if given; a ponder search of this position goes on."""
        search = self._pondering.hit(position.moves)
        if search is not None and not root_moves and position.clock.covers(search.limits, now):
            limit_s = self._think_limit_s(position, search.limits, now)
            self._pending = _Pending(search, Stage.SEARCHING, now + limit_s)
            yield PonderHit(search.search_id)
            if self._pondering.early_answer is not None:
                yield self._pondering.early_answer
        elif self._is_too_slow(position.clock, now):
            # The daemon moves. The new engine searches as well, so that it has started by one of the next moves:
            # waiting for it at every move would cost most of the clock.
            start = self._start(position, now, root_moves=root_moves)
            yield self._fall_back(start.search, position, now)
            yield start
        else:
            yield self._start(position, now, root_moves=root_moves)

    def _is_too_slow(self, clock: GameClock, now: float) -> bool:
        """Return whether a move cannot wait for the engine, which has to start first or hung at its last searches."""
        has_hung = clock.timed and self._hangs >= _MOST_HANGS
        return has_hung or (self._engine_restarts and not clock.affords_engine_start(now))

    def ponder(self, position: TimedPosition, move: str, reply: str | None, now: float) -> Iterator[Action]:
        """Ponder on `reply` to our `move`."""
        if self.engine.ponder:
            limits = position.clock.limits(self.engine, now, after_move=True)
            search = self._pondering.start(position.board, move, reply, self._last_id + 1, limits)
            if search is not None:
                self._last_id += 1
                yield StartSearch(search)

    # No answer in time

    def read_clock(self, position: TimedPosition, now: float) -> None:
        """Give a search under way no more time than the clock of a new connection allows: the old one may be wrong."""
        pending, clock = self._pending, position.clock
        if pending is None or pending.due_at is None or pending.stage is Stage.POSTPONED:
            return
        if pending.stage is Stage.SOURCES:
            limit_s = clock.sources_limit_s(now)
        elif pending.stage is Stage.STOPPING:
            limit_s = clock.stop_limit_s(now)
        else:
            limit_s = self._think_limit_s(position, clock.limits(self.engine, now), now)
            if pending.stage is Stage.STARTING:
                limit_s = clock.start_limit_s(limit_s, now, first=not self._engine_restarts)
        pending.due_at = min(pending.due_at, now + limit_s)

    def time_out(self, position: TimedPosition, now: float) -> Iterator[Action]:
        """Ask the engine instead of the sources, move without an engine that is starting, or stop the engine."""
        pending = self._pending
        assert pending is not None, "only a pending search times out"
        if isinstance(pending.search, Question):
            yield from self.ask_engine(position, now)
        elif pending.stage is Stage.POSTPONED:
            yield self._start(position, now, root_moves=pending.search.root_moves)
        elif pending.stage is Stage.STARTING:
            # Killing it would not help: the next one would start as slowly.
            self._engine_restarts = True
            self._last_id += 1
            yield self._fall_back(replace(pending.search, search_id=self._last_id), position, now)
        else:
            self._pondering.engine_failed(pending.search.search_id)
            pending.stage, pending.due_at = Stage.STOPPING, now + position.clock.stop_limit_s(now)
            yield StopSearch()

    def replace_engine(self, position: TimedPosition, reason: str, now: float) -> Iterator[Action]:
        """Kill the engine and try another once if the clock allows, else find a move in this process.

        With days left an engine that is only replaced or out of reach comes back: then later tries are worth the wait.
        """
        pending = self._pending
        assert pending is not None, "only a pending search fails"
        assert isinstance(pending.search, Search), "only an engine is replaced"
        self._hangs += self.is_hung
        yield KillEngine(reason)
        self._pondering.engine_failed(pending.search.search_id)
        self._engine_restarts = True
        if not pending.second_try and position.clock.affords_engine_start(now):
            yield self._start(position, now, root_moves=pending.search.root_moves, second_try=True)
        elif (wait_s := self._affordable_wait_s(position.clock, now)) is not None:
            pending.stage, pending.due_at = Stage.POSTPONED, now + wait_s
        else:
            yield self._fall_back(pending.search, position, now)

    def _affordable_wait_s(self, clock: GameClock, now: float) -> float | None:
        """Return how long to wait for an engine to come back, longer each time; None if the move cannot wait."""
        if self._postponed_since is None:
            self._postponed_since = now
        wait_s = max(clock.timeouts.visit.total_seconds(), now - self._postponed_since)
        return wait_s if clock.by_days and clock.retry_pause_s(wait_s, now) == wait_s else None

    def _think_limit_s(self, position: TimedPosition, limits: Limits, now: float) -> float:
        """Return how long the engine may search before it is told to stop; after a search that hung, not as long."""
        limit_s = position.clock.think_limit_s(self.engine, limits, position.board, now)
        return position.clock.limit_after_a_hang_s(limit_s, now) if self._hangs else limit_s

    def _fall_back(self, search: Search, position: TimedPosition, now: float) -> Fallback:
        self._pending = _Pending(search, Stage.FALLBACK, None)
        return Fallback(search.search_id, position.board.copy(), position.clock.fallback_limit_s(now))

    def _start(
        self, position: TimedPosition, now: float, *, root_moves: tuple[str, ...] = (), second_try: bool = False
    ) -> StartSearch:
        self._last_id += 1
        board, clock = position.board, position.clock
        limits = clock.limits(self.engine, now)
        search = Search.of(self._last_id, board, limits, root_moves)
        stage, limit_s = Stage.SEARCHING, self._think_limit_s(position, limits, now)
        if self._engine_restarts or self._engine_starts:
            stage, limit_s = Stage.STARTING, clock.start_limit_s(limit_s, now, first=not self._engine_restarts)
        self._pending = _Pending(search, stage, now + limit_s, second_try)
        return StartSearch(search)


class Pondering:
    """At most one ponder search at a time."""

    def __init__(self) -> None:
        self._search: Search | None = None
        self.early_answer: BestMove | None = None
        """The answer to the latest ponder search if it came before the ponder hit, as some engines send it."""
        self._latest_id: int | None = None
        self._is_answered = True
        """The latest ponder search, or one after it, has an answer."""
        self._given_up = False

    @property
    def active(self) -> bool:
        return self._search is not None

    def start(self, board: Board, move: str, reply: str | None, search_id: int, limits: Limits) -> Search | None:
        """Return the search of the position after our `move` and the expected `reply`; None if there is none."""
        self.discard()
        if self._given_up or reply is None:
            return None
        try:
            expected = board.after(move, reply)
        except InvalidMove:
            return None
        if not expected.legal_moves():
            return None
        self._latest_id, self._is_answered = search_id, False
        self._search = Search.of(search_id, expected, limits._replace(ponder=True))
        return self._search

    def still_possible(self, moves: tuple[str, ...]) -> bool:
        """Return whether the search can still be hit after `moves`, with the opponent to move."""
        return self._search is not None and self._search.moves[:-1] == moves

    def hit(self, moves: tuple[str, ...]) -> Search | None:
        """End pondering; return the search as an ordinary one if it is of the position after `moves`."""
        search = self._search
        self._search = None
        return search.without_ponder() if search is not None and search.moves == moves else None

    def note_answer(self, answer: BestMove) -> None:
        """Note any answer; it may come before the ponder hit."""
        self._is_answered = True  # an engine answers in order, and ponders only after its answer to the last search
        if self._search is not None and self._search.search_id == answer.search_id:
            self.early_answer = answer

    def engine_failed(self, search_id: int | None) -> None:
        """Ponder no more in this game if the engine failed at the latest ponder search, hit or missed, or at its end.

        Some engines ignore `ponderhit`, or the `stop` that ends a ponder search, which costs much of the clock.
        """
        if not self._is_answered or (search_id is not None and search_id == self._latest_id):
            self.discard()
            self._given_up = True

    def discard(self) -> None:
        self._search = self.early_answer = None
