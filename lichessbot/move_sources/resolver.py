"""Resolve a position to a move: which sources are asked, in which order, and which are skipped.

Order: the operator's books and endgame tablebases, the servers in the order of their keys, and last the book that comes
with the bot.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from queue import SimpleQueue
from typing import ClassVar, Final, Protocol, Self

from engine.facade import OWN_BOOK
from lichessbot.config import EngineConfig
from lichessbot.config.sources import (
    STANDARD_RULES,
    ChessdbConfig,
    CloudConfig,
    ExplorerConfig,
    OnlineMovesConfig,
    OnlineSource,
    OnlineTableConfig,
    OpeningSource,
    PolyglotConfig,
    TableSource,
)
from lichessbot.errors import ApiError, RateLimited, Refused
from lichessbot.log import EventLog, try_start
from lichessbot.move_sources.http import HostPaused, Hosts
from lichessbot.move_sources.local import PolyglotBooks, SyzygyTables
from lichessbot.move_sources.models import Question, SourceAnswer, Suggestion, playable
from lichessbot.move_sources.online import (
    ChessdbServer,
    ChessdbTables,
    CloudServer,
    ExplorerServer,
    LichessTables,
    may_castle,
)

_OPERATORS_BOOKS: Final = "polyglot"
# The book that comes with the bot holds this many of our own moves.
_OWN_BOOK_MOVES: Final = 7
# If this many threads of one game hang, or of games that are over, questions are answered with nothing.
_MAX_WORKERS: Final = 3
_MAX_LEFT_BEHIND: Final = 12


class Kind(Enum):
    """The kind of a source."""

    BOOK = auto()
    ONLINE_OPENINGS = auto()
    ENDINGS = auto()
    ONLINE_ENDINGS = auto()


class Source(Protocol):
    """Anything that may know a move."""

    @property
    def name(self) -> str: ...

    def find(self, question: Question, until: float) -> Suggestion | None:
        """Return what the source knows, by the monotonic second `until`; None if nothing. Raises ApiError."""


@dataclass(frozen=True)
class LimitedSource:
    """A source and its limits: our own moves from the start, seconds on the clock now and at the start, pieces.

    `max_moves`: after this many moves from it in a game, the source is not asked any more. `only_without_book`: it is
    not asked once the operator's books gave a move. `repeats`: whether its moves may repeat a position.
    """

    kind: Kind
    source: Source
    max_depth: int | None = None
    min_time: int = 0
    max_time: int | None = None
    max_pieces: int | None = None
    variants: frozenset[str] = STANDARD_RULES
    max_moves: int | None = None
    only_without_book: bool = False
    repeats: bool = False

    def allows(self, question: Question) -> bool:
        """Return whether the limits allow this question."""
        board = question.board
        if question.variant not in self.variants:
            return False
        if self.max_depth is not None and len(board.moves) // 2 >= self.max_depth:
            return False
        if question.remaining_s is not None and question.remaining_s < self.min_time:
            return False
        if self.max_time is not None and question.initial_s is not None and question.initial_s > self.max_time:
            return False
        return self.max_pieces is None or (board.piece_count <= self.max_pieces and not may_castle(board))


class MoveResolver:
    """The move sources of one game. `ask` and `close` are for one thread; workers call `resolve`."""

    _left_behind: ClassVar[list["_Worker"]] = []
    """The threads that hung when their games ended, as on a disk that is gone."""

    def __init__(
        self, game_id: str, sources: Sequence[LimitedSource], max_misses: int, emit: Callable[[SourceAnswer], None]
    ) -> None:
        """Opening servers are not asked any more once `max_misses` positions were unknown to them."""
        self._game_id = game_id
        self._sources = tuple(sources)
        self._max_misses = max_misses
        self._misses = 0
        # The plies with a move from each source: a position that is asked about twice counts once.
        self._given: defaultdict[str, set[int]] = defaultdict(set)
        self._emit = emit
        self._log = EventLog(game_id)
        self._workers: list[_Worker] = []

    @classmethod
    def for_game(cls, game_id: str, config: EngineConfig, hosts: Hosts, emit: Callable[[SourceAnswer], None]) -> Self:
        """Make the resolver that `config` asks for."""
        sources = sources_for(config, hosts, EventLog(game_id))
        return cls(game_id, sources, config.online_moves.max_out_of_book_moves, emit)

    def ask(self, question: Question) -> SourceAnswer | None:
        """Return the answer without moves if no source can be asked; else have `question` answered through `emit`.

        Never blocks. Only a source that hangs gives no answer.
        """
        self._workers = _alive(self._workers)
        self._left_behind[:] = _alive(self._left_behind)
        worker = next((worker for worker in self._workers if not worker.is_busy), None)
        useless = not any(self._asks(source, question) for source in self._sources)
        many_hang = len(self._workers) >= _MAX_WORKERS or len(self._left_behind) >= _MAX_LEFT_BEHIND
        if useless or (worker is None and many_hang):
            return SourceAnswer(self._game_id, question.search_id)
        if worker is None:
            worker = _Worker(f"sources-{self._game_id}", self.resolve, self._emit)
            if not try_start(worker, self._log):
                return SourceAnswer(self._game_id, question.search_id)
            self._workers.append(worker)
        worker.ask(question)
        return None

    def close(self) -> None:
        """Drop the answers to everything asked so far, and close books and tables until the next question."""
        for worker in self._workers:
            worker.stop()
        self._left_behind.extend(worker for worker in self._workers if worker.is_busy)
        self._workers = []
        for it in self._sources:
            if isinstance(it.source, PolyglotBooks | SyzygyTables):
                it.source.close()

    def resolve(self, question: Question) -> SourceAnswer:
        """Return the first playable suggestion; without moves if there is none in time."""
        asked_at = time.monotonic()
        until = asked_at + question.patience_s
        missed = False
        for source in self._sources:
            if time.monotonic() >= until or not self._asks(source, question):
                continue
            found, answered = self._find(source, question, until)
            if found is not None:
                took_s = time.monotonic() - asked_at
                name = source.source.name
                if took_s < question.patience_s:   # else the game asks the engine
                    self._given[name].add(len(question.moves))
                return SourceAnswer(
                    self._game_id, question.search_id, found.moves, name, found.summary, found.wdl, took_s
                )
            missed |= answered and source.kind is Kind.ONLINE_OPENINGS
        self._misses += missed
        return SourceAnswer(self._game_id, question.search_id, took_s=time.monotonic() - asked_at)

    def _asks(self, source: LimitedSource, question: Question) -> bool:
        given_up = source.kind is Kind.ONLINE_OPENINGS and self._misses >= self._max_misses
        if given_up or (source.only_without_book and self._given[_OPERATORS_BOOKS]):
            return False
        before = self._given[source.source.name] - {len(question.moves)}
        used_up = source.max_moves is not None and len(before) >= source.max_moves
        return not used_up and source.allows(question)

    def _find(self, limited: LimitedSource, question: Question, until: float) -> tuple[Suggestion | None, bool]:
        """Return what may be played of a source's suggestion, and whether the source answered, if only with a 429."""
        name = limited.source.name
        try:
            found = limited.source.find(question, until)
        except HostPaused:
            return None, False
        except Refused as error:
            self._log.debug("source.refused", source=name, reason=error)
            return None, True
        except ApiError as error:
            self._log.debug("source.failed", source=name, reason=error)
            return None, isinstance(error, RateLimited)
        except Exception as error:
            self._log.crash("source.crashed", error, source=name)
            return None, False
        if found is None:
            return None, True
        good = playable(found, question.board, repeats=limited.repeats)
        if good is None:
            self._log.debug("source.unplayable", source=name, moves=" ".join(found.moves[:5])[:60])
        return good, True


def _alive(workers: Sequence["_Worker"]) -> list["_Worker"]:
    return [worker for worker in workers if worker.is_alive()]


class _Worker(threading.Thread):
    """Answers one question after the other."""

    def __init__(
        self, name: str, resolve: Callable[[Question], SourceAnswer], emit: Callable[[SourceAnswer], None]
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._resolve = resolve
        self._emit = emit
        self._questions: SimpleQueue[Question | None] = SimpleQueue()
        self._stopping = False
        self.is_busy = False

    def ask(self, question: Question) -> None:
        self.is_busy = True
        self._questions.put(question)

    def stop(self) -> None:
        self._stopping = True
        self._questions.put(None)

    def run(self) -> None:
        while (question := self._questions.get()) is not None and not self._stopping:
            answer = self._resolve(question)
            self.is_busy = False
            if not self._stopping:
                self._emit(answer)


def sources_for(config: EngineConfig, hosts: Hosts, log: EventLog) -> list[LimitedSource]:
    """Return the sources that `config` enables, in their order."""
    return list(_enabled(config, hosts, log))


def _enabled(config: EngineConfig, hosts: Hosts, log: EventLog) -> Iterator[LimitedSource]:
    polyglot, syzygy = config.polyglot, config.lichess_bot_tbs.syzygy
    if polyglot.enabled:
        for variants, files in polyglot.book.shelves():
            yield LimitedSource(
                Kind.BOOK,
                PolyglotBooks(_OPERATORS_BOOKS, files, polyglot, log),
                polyglot.max_depth,
                variants=variants,
                max_moves=polyglot.max_moves,
                repeats=polyglot.allow_repetitions,
            )
    if syzygy.enabled:
        yield LimitedSource(Kind.ENDINGS, SyzygyTables(syzygy, log), max_pieces=syzygy.max_pieces, repeats=True)
    yield from _online(config.online_moves, hosts)
    if config.has_own_book:
        books = PolyglotBooks("own_book", (OWN_BOOK,), PolyglotConfig(), log)
        yield LimitedSource(Kind.BOOK, books, max_depth=_OWN_BOOK_MOVES)


def _online(online: OnlineMovesConfig, hosts: Hosts) -> Iterator[LimitedSource]:
    for config in online.sources.values():
        source = _server(config, online, hosts)
        match config:
            case OnlineTableConfig():
                yield LimitedSource(
                    Kind.ONLINE_ENDINGS,
                    source,
                    min_time=config.min_time,
                    max_time=config.max_time,
                    max_pieces=config.max_pieces,
                    variants=config.variants,
                    repeats=True,
                )
            case OpeningSource():
                yield LimitedSource(
                    Kind.ONLINE_OPENINGS,
                    source,
                    _smaller(online.max_depth, config.max_depth),
                    config.min_time,
                    config.max_time,
                    variants=config.variants,
                    max_moves=config.max_moves,
                    only_without_book=config.only_without_book,
                    repeats=config.allow_repetitions,
                )


def _server(config: OnlineSource, online: OnlineMovesConfig, hosts: Hosts) -> Source:
    """Return the server that this section of `online` is about."""
    retries = online.max_retries
    match config:
        case OnlineTableConfig(source=TableSource.LICHESS):
            return LichessTables(hosts.at(online.tablebase_url), config, retries)
        case OnlineTableConfig():
            return ChessdbTables(hosts.at(online.chessdb_url), config, retries)
        case ChessdbConfig():
            return ChessdbServer(hosts.at(online.chessdb_url), config, retries)
        case CloudConfig():
            return CloudServer(hosts.at(hosts.access.url), config, retries)
        case ExplorerConfig():
            return ExplorerServer(hosts.at(online.explorer_url), config, retries, hosts.access.user_name or "")
    raise AssertionError(f"{type(config).__name__} has no server")


def _smaller(limit: int | None, other: int | None) -> int | None:
    """Return the smaller limit; None is no limit."""
    return min((it for it in (limit, other) if it is not None), default=None)
