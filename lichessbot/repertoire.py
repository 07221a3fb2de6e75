"""What was played from each position of an opening, so that no opponent gets the same game twice.

A position that never stood before is searched as any other. Where an earlier game, or one that is going on, came by
already, the engine is asked for several lines, and of those not much worse than the best the one is played that was
played least often. That costs strength only where the alternative is to repeat oneself, and it holds against an
opponent who always answers the same. Pure but for what the store remembers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from engine.facade import Board, InvalidMove, polyglot_key
from lichessbot.messages import BestMove, Search, SearchSummary
from lichessbot.store import Store

# Our own first 20 moves: later, games have long gone their own ways.
_MOST_PLIES: Final = 40
_LINES: Final = 4
# How much worse than the best a move may be; more so the more often the best was played, but only up to a limit.
_MARGIN_CP: Final = 20
_MARGIN_PER_TIME_CP: Final = 5
_LARGEST_MARGIN_CP: Final = 60


@dataclass(frozen=True, slots=True)
class _Position:
    """What a game thinks about."""

    search_id: int
    key: int
    board: Board


class Repertoire:
    """Shared by all games; for one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thought_about: dict[str, _Position] = {}

    def prepare(self, game_id: str, search: Search) -> Search:
        """The search as it should be made: for several lines if the position stood before."""
        self.forget(game_id)
        if len(search.moves) >= _MOST_PLIES or search.only:
            return search
        board = Board(search.initial_fen, chess960=search.chess960)
        for move in search.moves:
            board.push(move)
        key = polyglot_key(board)
        stood_before = self._store.times_played(key) or key in {it.key for it in self._thought_about.values()}
        self._thought_about[game_id] = _Position(search.search_id, key, board)
        return replace(search, lines=_LINES) if stood_before else search

    def settle(self, report: BestMove) -> BestMove:
        """The answer to a prepared search with the move to play, which is remembered; any other answer as it is."""
        position = self._thought_about.get(report.game_id)
        if position is None or position.search_id != report.search_id:
            return report
        self.forget(report.game_id)
        chosen = choose(report.lines, self._store.times_played(position.key))
        if chosen is not None:
            report = replace(report, move=chosen.move, summary=chosen)
        try:
            self._store.note_played(position.key, position.board.normalise(report.move or ""))
        except InvalidMove:
            return report  # the game finds out by itself, and what to do about such an engine
        return report

    def forget(self, game_id: str) -> None:
        """The game thinks no more."""
        self._thought_about.pop(game_id, None)


def choose(lines: Sequence[SearchSummary], played: Mapping[str, int]) -> SearchSummary | None:
    """The least played of the moves that are good enough, the better one of two; None if there is no choice.

    A line from an earlier depth than the best one's is not compared with it, and a mate has no alternative.
    """
    best = lines[0] if lines else SearchSummary()
    best_cp = best.centipawns
    if best_cp is None:
        return None
    margin_cp = min(_MARGIN_CP + _MARGIN_PER_TIME_CP * played.get(best.move, 0), _LARGEST_MARGIN_CP)
    good = [line for line in lines if line.move and line.depth >= best.depth - 1 and _cp(line) >= best_cp - margin_cp]
    return min(good, key=lambda line: played.get(line.move, 0))


def _cp(line: SearchSummary) -> float:
    """Being mated is the worst, and mating is what the best line would do."""
    return -math.inf if line.centipawns is None else line.centipawns
