"""Which sources are asked about a position, in which order, and when one is passed over.

Order: the operator's books and tables of endings, online tables, chessdb, cloud evaluations, the explorer, and last
the small book the bot brings. `may_ask` is pure; one panel serves one game.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from queue import SimpleQueue
from typing import Final, Protocol

from engine.facade import OWN_BOOK
from lichessbot.config import EngineConfig
from lichessbot.config.sources import OnlineSource, PolyglotConfig, TableSource
from lichessbot.errors import ApiError, Refused
from lichessbot.lichess.enums import Variant
from lichessbot.log import EventLog
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

# The book the bot brings knows so many of our own moves, and nothing beyond.
_OWN_BOOK_MOVES: Final = 7


class Kind(Enum):
    """What a source knows, and with it which limits hold."""

    BOOK = auto()
    ONLINE_OPENINGS = auto()
    ENDINGS = auto()
    ONLINE_ENDINGS = auto()


class Source(Protocol):
    """Anybody who may know a move."""

    @property
    def name(self) -> str: ...

    def find(self, question: Question, until: float) -> Suggestion | None:
        """What it knows, by the monotonic second `until`; None if nothing. Raises ApiError."""


@dataclass(frozen=True)
class LimitedSource:
    """A source and its limits: our own moves from the start, seconds on the clock now and at the start, men."""

    kind: Kind
    source: Source
    max_depth: int | None = None
    min_time: int = 0
    max_time: int | None = None
    max_pieces: int | None = None
    variants: frozenset[str] = frozenset(Variant)


def may_ask(seat: LimitedSource, question: Question) -> bool:
    """Whether the limits of a source allow this question."""
    board = question.board
    if question.variant not in seat.variants:
        return False
    if seat.max_depth is not None and len(board.moves) // 2 >= seat.max_depth:
        return False
    if question.remaining_s is not None and question.remaining_s < seat.min_time:
        return False
    if seat.max_time is not None and question.initial_s is not None and question.initial_s > seat.max_time:
        return False
    return seat.max_pieces is None or (board.piece_count <= seat.max_pieces and not may_castle(board))


class Panel:
    """The sources of one game."""

    def __init__(self, seats: Sequence[LimitedSource], most_misses: int, log: EventLog) -> None:
        """Servers that know openings are left alone once they had no answer to `most_misses` positions."""
        self._seats = tuple(seats)
        self._most_misses = most_misses
        self._misses = 0
        self._log = log

    def concerns(self, question: Question) -> bool:
        """Whether any of them would be asked. Takes no time."""
        return any(self._is_concerned(seat, question) for seat in self._seats)

    def consult(self, question: Question, until: float) -> tuple[Suggestion, str] | None:
        """The first playable finding and whose it is; None if nobody knows a move in time."""
        missed = False
        for seat in self._seats:
            if time.monotonic() >= until or not self._is_concerned(seat, question):
                continue
            found, answered = self._ask(seat, question, until)
            if found is not None:
                return found, seat.source.name
            missed |= answered and seat.kind is Kind.ONLINE_OPENINGS
        self._misses += missed
        return None

    def _is_concerned(self, seat: LimitedSource, question: Question) -> bool:
        given_up = seat.kind is Kind.ONLINE_OPENINGS and self._misses >= self._most_misses
        return not given_up and may_ask(seat, question)

    def _ask(self, seat: LimitedSource, question: Question, until: float) -> tuple[Suggestion | None, bool]:
        """What may be played of what it knows, and whether it answered at all."""
        name = seat.source.name
        try:
            found = seat.source.find(question, until)
        except HostPaused:
            return None, False
        except Refused as error:
            self._log.debug("source.refused", source=name, reason=error)
            return None, True
        except ApiError as error:
            self._log.debug("source.failed", source=name, reason=error)
            return None, False
        if found is None:
            return None, True
        good = playable(found, question.board, repeats=seat.kind in (Kind.ENDINGS, Kind.ONLINE_ENDINGS))
        if good is None:
            self._log.debug("source.unplayable", source=name, moves=" ".join(found.moves[:5])[:60])
        return good, True


def sources_for(config: EngineConfig, hosts: Hosts, log: EventLog) -> list[LimitedSource]:
    """The sources that `config` wants, in their order."""
    mine = [*_books(config, log), *_local_tables(config, log)]
    return [*mine, *_online(config, hosts), *_own_book(config, log)]


def _books(config: EngineConfig, log: EventLog) -> list[LimitedSource]:
    polyglot = config.polyglot
    if not polyglot.enabled:
        return []
    shelves = {
        frozenset({Variant.STANDARD.value, Variant.FROM_POSITION.value}): polyglot.book.standard,
        frozenset({Variant.CHESS960.value}): polyglot.book.chess960,
    }
    return [
        LimitedSource(Kind.BOOK, PolyglotBooks("polyglot", files, polyglot, log), polyglot.max_depth, variants=variants)
        for variants, files in shelves.items()
        if files
    ]


def _local_tables(config: EngineConfig, log: EventLog) -> list[LimitedSource]:
    syzygy = config.lichess_bot_tbs.syzygy
    if not syzygy.enabled:
        return []
    return [LimitedSource(Kind.ENDINGS, SyzygyTables(syzygy, log), max_pieces=syzygy.max_pieces)]


def _own_book(config: EngineConfig, log: EventLog) -> list[LimitedSource]:
    """Its weights are what the moves brought: they are meant as they are."""
    if not config.own_book:
        return []
    shelf = PolyglotBooks("own_book", (OWN_BOOK,), PolyglotConfig(), log)
    return [LimitedSource(Kind.BOOK, shelf, max_depth=_OWN_BOOK_MOVES)]


def _online(config: EngineConfig, hosts: Hosts) -> list[LimitedSource]:
    online = config.online_moves
    retries, timeouts = online.max_retries, hosts.access.timeouts
    chessdb, cloud, explorer = online.chessdb_book, online.lichess_cloud_analysis, online.lichess_opening_explorer
    found = []
    if online.online_egtb.enabled:
        found.append(_tables(config, hosts))
    openings: list[tuple[OnlineSource, Source]] = [
        (chessdb, ChessdbServer(hosts.at(online.chessdb_url), chessdb, retries, timeouts)),
        (cloud, CloudServer(hosts.at(hosts.access.url), cloud, retries)),
        (explorer, ExplorerServer(hosts.at(online.explorer_url), explorer, retries, hosts.access.user_name or "")),
    ]
    return found + [
        LimitedSource(Kind.ONLINE_OPENINGS, source, online.max_depth, limits.min_time, limits.max_time)
        for limits, source in openings
        if limits.enabled
    ]


def _tables(config: EngineConfig, hosts: Hosts) -> LimitedSource:
    online = config.online_moves
    egtb, retries, timeouts = online.online_egtb, online.max_retries, hosts.access.timeouts
    source: Source
    if egtb.source is TableSource.LICHESS:
        source = LichessTables(hosts.at(online.tablebase_url), egtb, retries)
    else:
        source = ChessdbTables(hosts.at(online.chessdb_url), egtb, retries, timeouts)
    return LimitedSource(Kind.ONLINE_ENDINGS, source, None, egtb.min_time, egtb.max_time, egtb.max_pieces)


# So many threads of one game may hang before its questions are answered with nothing.
_MOST_THREADS: Final = 3


class MoveResolver:
    """The move sources of one game. For one thread."""

    def __init__(self, game_id: str, config: EngineConfig, hosts: Hosts, emit: Callable[[SourceAnswer], None]) -> None:
        self._game_id = game_id
        self._emit = emit
        log = EventLog(game_id)
        self._panel = Panel(sources_for(config, hosts, log), config.online_moves.max_out_of_book_moves, log)
        self._clerks: list[_Clerk] = []

    def ask(self, question: Question) -> None:
        """Never waits. Every question is answered, unless the sources hang."""
        if not self._panel.concerns(question):
            self._emit(SourceAnswer(self._game_id, question.search_id))
            return
        self._clerks = [clerk for clerk in self._clerks if clerk.is_alive()]
        clerk = next((clerk for clerk in self._clerks if not clerk.is_busy), None)
        if clerk is None:
            if len(self._clerks) >= _MOST_THREADS:
                self._emit(SourceAnswer(self._game_id, question.search_id))
                return
            clerk = _Clerk(self._game_id, self._panel, self._emit)
            self._clerks.append(clerk)
            clerk.start()
        clerk.ask(question)

    def close(self) -> None:
        """Say nothing more to what was asked so far."""
        for clerk in self._clerks:
            clerk.stop()
        self._clerks = []


class _Clerk(threading.Thread):
    """Answers one question after the other."""

    def __init__(self, game_id: str, panel: Panel, emit: Callable[[SourceAnswer], None]) -> None:
        super().__init__(name=f"sources-{game_id}", daemon=True)
        self._game_id = game_id
        self._panel = panel
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
            advice = self._advice(question)
            self.is_busy = False
            if not self._stopping:
                self._emit(advice)

    def _advice(self, question: Question) -> SourceAnswer:
        asked_at = time.monotonic()
        found = self._panel.consult(question, asked_at + question.patience_s)
        took_s = time.monotonic() - asked_at
        if found is None:
            return SourceAnswer(self._game_id, question.search_id, took_s=took_s)
        finding, source = found
        return SourceAnswer(
            self._game_id, question.search_id, finding.moves, source, finding.summary, finding.wdl, took_s
        )
