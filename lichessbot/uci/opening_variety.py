"""Variety in the opening: the moves played from each position are stored, so that games do not repeat.

A new position is searched as usual. In one that occurred in an earlier game, or occurs in another game in progress,
the engine is asked for several lines, and of those not much worse than the best the least played one is chosen. So
strength is given up only where the game would repeat, even against an opponent whose replies never change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final

from engine.facade import Board, InvalidMove, polyglot_key
from lichessbot.lichess.enums import Variant
from lichessbot.log import EventLog
from lichessbot.storage.store import Store
from lichessbot.uci.search import BestMove, Search, SearchInfo

# Our first 20 moves: later, games differ anyway.
_MAX_PLIES: Final = 40
_LINES: Final = 4
# How much worse than the best a move may be, in expected points: 0.03 is 20 centipawns in an equal position and a minor
# piece in a won one. The margin grows each time the best move was played, and with each known position in a row.
_MARGIN: Final = 0.03
_MARGIN_PER_REPETITION: Final = 0.01
_LARGEST_MARGIN: Final = 0.15
# In a lost position every move is within that margin: half of the points left are about 120 centipawns.
_LARGEST_SHARE: Final = 1 / 2
# This advantage wins ten of eleven games, by the Elo formula with centipawns for rating points.
_CP_FOR_TEN_TO_ONE: Final = 400
# No advantage counts as more: some engines write a mate as a million centipawns.
_MAX_CP: Final = 100_000


@dataclass(slots=True)
class _Opening:
    """The latest search of one game in its opening."""

    search_id: int
    key: int
    board: Board
    known: int
    """The number of known positions in a row up to this one."""
    known_earlier: int
    """The same for the position before this one."""
    pondering: bool
    """The position is only expected: the engine searches on the opponent's time."""


class OpeningVariety:
    """Shared by all games; for one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._openings: dict[str, _Opening] = {}

    def prepare(self, game_id: str, search: Search) -> Search:
        """Return the search to make: for several lines if the position is known."""
        earlier = self._openings.pop(game_id, None)
        if len(search.moves) >= _MAX_PLIES or search.root_moves:
            return search
        board = Board(search.initial_fen, chess960=search.chess960, variant=search.variant).after(*search.moves)
        key = _key(board)
        is_known = bool(self._store.times_played(key)) or key in {opening.key for opening in self._openings.values()}
        known_earlier = 0 if earlier is None else earlier.known_earlier if earlier.pondering else earlier.known
        known = known_earlier + 1 if is_known else 0
        self._openings[game_id] = _Opening(search.search_id, key, board, known, known_earlier, search.limits.ponder)
        return replace(search, multipv=_LINES) if is_known else search

    def ponder_hit(self, game_id: str) -> None:
        """Note that the position of the ponder search has arisen."""
        if game_id in self._openings:
            self._openings[game_id].pondering = False

    def choose_move(self, report: BestMove) -> BestMove:
        """Return the answer to a prepared search with the move to play, and store it; other answers unchanged.

        Variety is never worth a game: after a bug here, the engine's own move is played.
        """
        try:
            return self._choose_move(report)
        except Exception as error:
            EventLog(report.game_id).crash("variety.crashed", error)
            return report

    def _choose_move(self, report: BestMove) -> BestMove:
        opening = self._openings.get(report.game_id)
        if opening is None or opening.search_id != report.search_id or opening.pondering:
            return report
        # An engine of limited strength plays a weaker move than that of its best line: its lines have full strength.
        is_best = not report.lines or report.move == report.lines[0].move
        chosen = choose(report.lines, self._store.times_played(opening.key), opening.known)
        if chosen is not None and is_best and _normalised(opening.board, chosen.move):
            report = replace(report, move=chosen.move, summary=chosen, ponder=chosen.ponder)
        move = _normalised(opening.board, report.move or "")
        if move is not None:  # else the game replaces an engine that answers so
            self._store.note_played(opening.key, move)
        return report

    def forget(self, game_id: str) -> None:
        """Forget a game that is over."""
        self._openings.pop(game_id, None)


def _key(board: Board) -> int:
    """Return 64 bits for the position; Polyglot's know neither the variant, nor pockets, nor checks given."""
    if Variant(board.variant).has_standard_rules:
        return polyglot_key(board)
    placement, turn, castling, en_passant, _, _, *checks = board.fen().split()
    position = " ".join((board.variant, placement, turn, castling, en_passant, *checks))
    return int.from_bytes(blake2b(position.encode(), digest_size=8).digest())


def _normalised(board: Board, move: str) -> str | None:
    """Return a move as the board spells it; None if it is illegal, as in a line that an engine garbled."""
    try:
        return board.normalise(move)
    except InvalidMove:
        return None


def choose(lines: Sequence[SearchInfo], played: Mapping[str, int], known: int = 0) -> SearchInfo | None:
    """Return the least played of the good moves, the best of several; None if there is no choice.

    `known`: the number of known positions in a row. Lines of an earlier depth than the best one's are ignored, and a
    mate has no alternative.
    """
    best = lines[0] if lines else SearchInfo()
    if best.cp is None or not best.move:
        return None
    repetitions = played.get(best.move, 0) + known
    most = min(_LARGEST_MARGIN, _LARGEST_SHARE * _expected_points(best))
    margin = min(_MARGIN + _MARGIN_PER_REPETITION * repetitions, most)
    good = [
        line
        for line in lines
        if line.move and line.depth >= best.depth - 1 and _expected_points(best) - _expected_points(line) <= margin
    ]
    return min(good, key=lambda line: played.get(line.move, 0))


def _expected_points(line: SearchInfo) -> float:
    """Return the expected points of a line; 0 for a mate for or against us."""
    if line.cp is None:
        return 0.0
    cp = max(-_MAX_CP, min(line.cp, _MAX_CP))
    return float(1 / (1 + 10 ** (-cp / _CP_FOR_TEN_TO_ONE)))
