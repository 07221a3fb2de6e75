"""What was played from each position of an opening, so that no opponent gets the same game twice.

A position that never stood before is searched as any other. Where an earlier game, or one that is going on, came by
already, the engine is asked for several lines, and of those not much worse than the best the one is played that was
played least often. That costs strength only where the alternative is to repeat oneself, and it holds against an
opponent who always answers the same. Pure but for what the store remembers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from engine.facade import Board, InvalidMove, polyglot_key
from lichessbot.storage.store import Store
from lichessbot.uci.search import BestMove, Search, SearchSummary

# Our own first 20 moves: later, games have long gone their own ways.
_MOST_PLIES: Final = 40
_LINES: Final = 4
# How much less than the best a move may promise, in points of a game: 0.03 is 20 centipawns in an equal position and a
# minor piece in a won one. More for each time the best was played, and for each position in a row that stood before.
_MARGIN: Final = 0.03
_MARGIN_PER_REPETITION: Final = 0.01
_LARGEST_MARGIN: Final = 0.15
# So many centipawns make ten wins of eleven games, as the Elo formula counts points of rating.
_CP_FOR_TEN_TO_ONE: Final = 400


@dataclass(slots=True)
class _Walk:
    """One game in its opening."""

    search_id: int
    key: int
    board: Board
    known: int
    """So many of its last positions in a row stood before."""
    known_earlier: int
    """The same for the position before."""
    supposed: bool
    """Whether the position may never arise: the engine thinks on the opponent's time."""


class OpeningVariety:
    """Shared by all games; for one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._walks: dict[str, _Walk] = {}

    def prepare(self, game_id: str, search: Search) -> Search:
        """The search as it should be made: for several lines if the position stood before."""
        earlier = self._walks.pop(game_id, None)
        if len(search.moves) >= _MOST_PLIES or search.only:
            return search
        board = Board(search.initial_fen, chess960=search.chess960)
        for move in search.moves:
            board.push(move)
        key = polyglot_key(board)
        stood_before = bool(self._store.times_played(key)) or key in {walk.key for walk in self._walks.values()}
        known_earlier = 0 if earlier is None else earlier.known_earlier if earlier.supposed else earlier.known
        known = known_earlier + 1 if stood_before else 0
        self._walks[game_id] = _Walk(search.search_id, key, board, known, known_earlier, search.limits.ponder)
        return replace(search, lines=_LINES) if stood_before else search

    def ponder_hit(self, game_id: str) -> None:
        """The position that the engine thinks about on the opponent's time has arisen."""
        if game_id in self._walks:
            self._walks[game_id].supposed = False

    def settle(self, report: BestMove) -> BestMove:
        """The answer to a prepared search with the move to play, which is remembered; any other answer as it is."""
        walk = self._walks.get(report.game_id)
        if walk is None or walk.search_id != report.search_id or walk.supposed:
            return report
        chosen = choose(report.lines, self._store.times_played(walk.key), walk.known)
        if chosen is not None:
            report = replace(report, move=chosen.move, summary=chosen, reply=chosen.reply)
        try:
            self._store.note_played(walk.key, walk.board.normalise(report.move or ""))
        except InvalidMove:
            return report  # the game finds out by itself, and what to do about such an engine
        return report

    def forget(self, game_id: str) -> None:
        """The game is over."""
        self._walks.pop(game_id, None)


def choose(lines: Sequence[SearchSummary], played: Mapping[str, int], known: int = 0) -> SearchSummary | None:
    """The least played of the moves that are good enough, the better one of two; None if there is no choice.

    `known`: so many positions in a row stood before. A line from an earlier depth than the best one's is not compared
    with it, and a mate has no alternative.
    """
    best = lines[0] if lines else SearchSummary()
    if best.centipawns is None:
        return None
    repetitions = played.get(best.move, 0) + known
    margin = min(_MARGIN + _MARGIN_PER_REPETITION * repetitions, _LARGEST_MARGIN)
    good = [
        line
        for line in lines
        if line.move and line.depth >= best.depth - 1 and _promise(best) - _promise(line) <= margin
    ]
    return min(good, key=lambda line: played.get(line.move, 0))


def _promise(line: SearchSummary) -> float:
    """Points of a game to expect; of a line that mates or is mated none, as nobody chooses it for a change."""
    if line.centipawns is None:
        return 0.0
    return float(1 / (1 + 10 ** (-line.centipawns / _CP_FOR_TEN_TO_ONE)))
