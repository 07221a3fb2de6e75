"""Check whether the move sources of a configuration work."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.facade import STARTING_FEN, Board, Book, InvalidBook, Tablebase, review_book
from lichessbot.config import EngineConfig
from lichessbot.errors import ApiError, Refused
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.models import STANDARD_START
from lichessbot.lichess.positions import start_board
from lichessbot.log import EventLog
from lichessbot.move_sources.http import Hosts
from lichessbot.move_sources.local import book_problem
from lichessbot.move_sources.models import Question
from lichessbot.move_sources.resolver import Kind, Source, sources_for

# A position that every tablebase knows.
_ROOK_ENDING: Final = "8/8/8/4k3/8/8/4K3/4R3 w - - 0 1"
# Enough to check the moves that games begin with.
_POSITIONS_REVIEWED: Final = 200
_PROBLEMS_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """The result for one source."""

    works: bool
    text: str
    may_pass: bool = False
    """Whether the check passes all the same: a server may answer later, and engines use tables that give no moves."""


def check_sources(engines: Sequence[EngineConfig], hosts: Hosts) -> Iterator[SourceCheck]:
    """Check every configured book, tablebase and server once."""
    for file, starts in _books(engines).items():
        try:
            review = review_book(Book(file), starts, _POSITIONS_REVIEWED)
        except (InvalidBook, OSError) as error:
            yield SourceCheck(False, f"book {file}: {book_problem(error)}: the bot would play without this book")
            continue
        found = f"book {file}: {review.entries:,} moves in {review.positions:,} positions"
        yield SourceCheck(review.is_sound, "; ".join([found, *review.faults]))
    tables = (engine.lichess_bot_tbs.syzygy for engine in engines)
    for paths in dict.fromkeys(it.paths for it in tables if it.enabled):
        yield _check_tables(Tablebase(paths), paths)
    for engine in {engine.online_moves: engine for engine in engines}.values():
        for limited in sources_for(engine, hosts, EventLog()):
            if limited.kind is Kind.ONLINE_OPENINGS:
                yield _check_server(limited.source, STARTING_FEN, hosts)
            elif limited.kind is Kind.ONLINE_ENDINGS:
                yield _check_server(limited.source, _ROOK_ENDING, hosts)


def _books(engines: Sequence[EngineConfig]) -> dict[Path, list[Board]]:
    """Return the enabled books with the starts of the variants that they are for."""
    found: dict[Path, list[Board]] = {}
    for polyglot in (it.polyglot for it in engines if it.polyglot.enabled):
        for variants, files in polyglot.book.shelves():
            start = start_board(min(variants), STANDARD_START)
            for file in files:
                found.setdefault(file, []).append(start)
    return found


def _check_tables(base: Tablebase, paths: Sequence[Path]) -> SourceCheck:
    """Open every file; name the first few bad ones."""
    problems = base.review()
    one_kind = [] if base.is_complete else ["moves are found only where both kinds are there, .rtbw and .rtbz"]
    more = [f"and {len(problems) - _PROBLEMS_NAMED} more"] if len(problems) > _PROBLEMS_NAMED else []
    none = f"no tables (.rtbw and .rtbz files) in {', '.join(map(str, paths))}"
    found = f"syzygy: {base.describe() if len(base) else none}"
    is_sound = len(base) > 0 and not problems
    text = "; ".join([found, *one_kind, *problems[:_PROBLEMS_NAMED], *more])
    return SourceCheck(is_sound and not one_kind, text, may_pass=is_sound)


def _check_server(source: Source, fen: str, hosts: Hosts) -> SourceCheck:
    patience_s = hosts.access.timeouts.source_answer.total_seconds()
    question = Question(0, Variant.STANDARD, Board(fen), None, None, patience_s)
    asked_at = time.monotonic()
    try:
        found = source.find(question, asked_at + patience_s)
    except Refused as error:
        return SourceCheck(False, f"{source.name} refuses: {error}")
    except ApiError as error:
        return SourceCheck(False, f"{source.name} does not answer: {error}", may_pass=True)
    moves = found.moves[0] if found else "no move"
    return SourceCheck(True, f"{source.name} answers after {time.monotonic() - asked_at:.1f} s: {moves}")
