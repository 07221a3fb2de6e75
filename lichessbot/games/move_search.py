"""Who is asked for our move, in which order, and what if there is no answer.

Pure: actions out, `now` is monotonic seconds, passed in. The move sources come first, then the engine, which may be at
it already; one that fails gets one successor if the clock allows, and then the daemon itself finds a move. Whether an
answer is a legal move, and what it is good for, only the game can tell.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.facade import Board, InvalidMove, Limits
from lichessbot.config import EngineConfig
from lichessbot.games.actions import Action, AskSources, Fallback, KillEngine, PonderHit, StartSearch, StopSearch
from lichessbot.games.time_budget import GameClock
from lichessbot.lichess.models import GameFull
from lichessbot.move_sources.models import Question
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import BestMove, Search


@dataclass(frozen=True, slots=True)
class Position:
    """What is thought about, and the clocks that run meanwhile."""

    board: Board
    clock: GameClock

    @property
    def moves(self) -> tuple[str, ...]:
        return tuple(self.board.moves)


@dataclass(slots=True)
class _Thought:
    search: Search | Question
    due_at: float | None
    """When the engine is told to stop and, once told, counts as hung; None: no engine is asked.

    For a question to the move sources: when the engine is asked instead.
    """
    second_try: bool = False
    awaits_start: bool = False
    """Nobody thinks yet: `due_at` is when the daemon itself moves, and lets the new engine go on starting."""
    told_to_stop: bool = False


class MoveSearch:
    """One thought at a time about our move, and one supposition about the opponent's."""

    def __init__(self, engine: EngineConfig, timeouts: Timeouts) -> None:
        self.engine = engine
        """Which engine is to be asked, and how."""
        self._timeouts = timeouts
        self._searches = 0
        self._thought: _Thought | None = None
        self._pondering = Pondering()
        self._successor_is_new = False
        """Whether an engine failed, and the one after it is still starting."""

    @property
    def due_at(self) -> float | None:
        """When `hurry` has something to do."""
        return None if self._thought is None else self._thought.due_at

    @property
    def engine_wanted(self) -> bool:
        """Whether an engine thinks for us, at whoever's turn."""
        return self._thought is not None or self._pondering.active

    @property
    def is_hung(self) -> bool:
        """Whether an engine was told to stop; when it is due, it did not."""
        return self._thought is not None and self._thought.told_to_stop

    @property
    def has_failed(self) -> bool:
        """Whether even the daemon's own search was asked: there is nobody else."""
        return self._thought is not None and self._thought.due_at is None

    def is_about(self, moves: tuple[str, ...]) -> bool:
        return self._thought is not None and self._thought.search.moves == moves

    def is_asked(self, search_id: int | None) -> bool:
        """Whether the answer to this search or question is waited for."""
        return self._thought is not None and self._thought.search.search_id == search_id

    def done(self) -> None:
        """The answer is there."""
        self._thought = None

    def drop(self) -> None:
        """Nothing that was asked counts any more, and whoever was asked is gone."""
        self._thought = None
        self._pondering.drop()

    def stop(self) -> Iterator[Action]:
        """Whatever an engine thinks about is of no use any more."""
        if self.engine_wanted:
            self.drop()
            yield StopSearch()

    def await_opponent(self, moves: tuple[str, ...]) -> Iterator[Action]:
        """It is the opponent's turn: only what may still come true is thought about."""
        if self._thought is not None or not self._pondering.still_possible(moves):
            yield from self.stop()

    # What is heard

    def note(self, answer: BestMove) -> None:
        """Any answer of an engine, or of the daemon itself; it may be one to a mere supposition."""
        self._pondering.note(answer)
        if not (self.has_failed and self.is_asked(answer.search_id)):
            self._successor_is_new = False

    def engine_is_ready(self, clock: GameClock, now: float) -> None:
        """A new one: it thinks as long as any other."""
        self._successor_is_new = False
        thought = self._thought
        if thought is not None and thought.awaits_start and isinstance(thought.search, Search):
            thought.awaits_start = False
            thought.due_at = now + clock.patience_s(self.engine, thought.search.limits, self._timeouts, now)

    def died(self, search_id: int | None) -> None:
        """An engine is gone, and the next one has yet to start; if our move was asked for, it is to be replaced."""
        self._pondering.died(search_id)
        self._successor_is_new = True

    # Asking

    def consult(self, position: Position, full: GameFull, now: float) -> AskSources:
        """The move sources, before the engine."""
        self._searches += 1
        clock = position.clock
        patience_s = clock.consulting_s(self._timeouts, now)
        remaining_s = clock.remaining_s(now) if clock.timed else None
        board = position.board.copy()
        question = Question(self._searches, full.variant.key, board, remaining_s, full.initial_s, patience_s)
        self._thought = _Thought(question, now + patience_s)
        return AskSources(question)

    def ask(self, position: Position, now: float, only: tuple[str, ...] = ()) -> Iterator[Action]:
        """The engine, which is at it already if the opponent did what it expected. `only`: choose among these."""
        search = self._pondering.hit(position.moves)
        if search is None or only or not position.clock.bears(search.limits, now):
            if self._successor_is_new and not self._can_wait(position.clock, now):
                yield from self._do_without(position, now)
            else:
                yield self._think(position, now, only=only)
            return
        patience_s = position.clock.patience_s(self.engine, search.limits, self._timeouts, now)
        self._thought = _Thought(search, now + patience_s)
        yield PonderHit(search.search_id)

    def early_answer(self) -> BestMove | None:
        """What the engine said of our position before it arose."""
        search = self._thought.search if self._thought is not None else None
        return self._pondering.early_answer(search) if isinstance(search, Search) else None

    def ponder(self, position: Position, move: str, reply: str | None, now: float) -> Iterator[Action]:
        """Our `move` leaves, and the engine expects `reply`."""
        if self.engine.ponder:
            limits = position.clock.limits_after_move(self.engine, self._timeouts, now)
            search = self._pondering.suppose(position.board, move, reply, self._searches + 1, limits)
            if search is not None:
                self._searches += 1
                yield StartSearch(search)

    # Nobody answers

    def hurry(self, position: Position, now: float) -> Iterator[Action]:
        """Time is up: sources are given up, an engine is told to stop."""
        thought = self._thought
        assert thought is not None, "only who thinks can be hurried"
        if isinstance(thought.search, Question):
            yield from self.ask(position, now)
        elif thought.awaits_start:
            # To kill it would be to begin anew: where one is slow, the next one is as slow.
            self._searches += 1
            thought.search = replace(thought.search, search_id=self._searches)
            yield self._fall_back(thought, thought.search, position, now)
        else:
            thought.told_to_stop = True
            thought.due_at = now + position.clock.stopping_s(self._timeouts, now)
            yield StopSearch()

    def replace_engine(self, position: Position, reason: str, now: float) -> Iterator[Action]:
        """A new engine gets one try if the clock allows; then the daemon itself finds a move."""
        thought, clock = self._thought, position.clock
        assert thought is not None, "only who thinks can fail"
        assert isinstance(thought.search, Search), "only an engine is replaced"
        yield KillEngine(reason)
        self._successor_is_new = True
        if not thought.second_try and self._can_wait(clock, now):
            yield self._think(position, now, only=thought.search.only, second_try=True)
        else:
            yield self._fall_back(thought, thought.search, position, now)

    def _do_without(self, position: Position, now: float) -> Iterator[Action]:
        """The daemon itself moves; the new engine is asked as well, so that it is there for one of the next moves.

        To wait for it in every move, and to kill it each time, would cost most of the clock and never get it started.
        """
        think = self._think(position, now, only=())
        assert self._thought is not None, "it was just begun"
        yield self._fall_back(self._thought, think.search, position, now)
        yield think

    def _fall_back(self, thought: _Thought, search: Search, position: Position, now: float) -> Fallback:
        thought.due_at, thought.awaits_start = None, False
        return Fallback(search.search_id, position.board.copy(), position.clock.fallback_s(self._timeouts, now))

    def _can_wait(self, clock: GameClock, now: float) -> bool:
        """Whether the clock can bear the start of an engine."""
        return clock.remaining_s(now) > self._timeouts.engine_restart_floor.total_seconds()

    def _think(
        self, position: Position, now: float, *, only: tuple[str, ...], second_try: bool = False
    ) -> StartSearch:
        self._searches += 1
        board, clock = position.board, position.clock
        limits = clock.limits(self.engine, self._timeouts, now)
        search = Search(self._searches, board.initial_fen, board.chess960, position.moves, limits, only)
        patience_s = clock.starting_s if self._successor_is_new else clock.patience_s
        due_at = now + patience_s(self.engine, limits, self._timeouts, now)
        self._thought = _Thought(search, due_at, second_try, awaits_start=self._successor_is_new)
        return StartSearch(search)


class Pondering:
    """At most one supposition at a time."""

    def __init__(self) -> None:
        self._search: Search | None = None
        self._early: BestMove | None = None
        self._given_up = False

    @property
    def active(self) -> bool:
        return self._search is not None

    def suppose(self, board: Board, move: str, reply: str | None, search_id: int, limits: Limits) -> Search | None:
        """What to search after our `move`, if `reply` is expected; None if there is nothing to search."""
        self.drop()
        if self._given_up or reply is None:
            return None
        expected = board.copy()
        try:
            expected.push(move)
            expected.push(reply)
        except InvalidMove:
            return None
        if not expected.legal_moves():
            return None
        moves = tuple(expected.moves)
        limits = replace(limits, ponder=True)
        self._search = Search(search_id, board.initial_fen, board.chess960, moves, limits)
        return self._search

    def still_possible(self, moves: tuple[str, ...]) -> bool:
        """Whether the game, which stands at `moves` with the opponent to move, can still reach what is searched."""
        return self._search is not None and self._search.moves[:-1] == moves

    def hit(self, moves: tuple[str, ...]) -> Search | None:
        """The search under way if it is of this position, from now on an ordinary one."""
        search = self._search
        self._search = None
        if search is None or search.moves != moves:
            return None
        return replace(search, limits=replace(search.limits, ponder=False))

    def note(self, answer: BestMove) -> None:
        """Some engines answer without waiting for the hit."""
        if self._search is not None and self._search.search_id == answer.search_id:
            self._early = answer

    def early_answer(self, search: Search) -> BestMove | None:
        """What is already known about a search that was hit."""
        early = self._early
        return early if early is not None and early.search_id == search.search_id else None

    def died(self, search_id: int | None) -> None:
        """The engine is gone; if it was pondering, it is not asked to again."""
        if self._search is not None and self._search.search_id == search_id:
            self.drop()
            self._given_up = True

    def drop(self) -> None:
        self._search = self._early = None
