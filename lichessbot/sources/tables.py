"""Servers that know endings: the tablebase of Lichess, and that of chessdb.cn."""

from functools import partial
from typing import Final

from engine.facade import Board
from lichessbot.config.sources import OnlineTableConfig, TableQuality
from lichessbot.messages import Question
from lichessbot.sources.finding import Finding
from lichessbot.sources.hosts import Errand, Host
from lichessbot.sources.openings import CHESSDB_PATH
from lichessbot.sources.replies import Table, parse_chessdb, parse_table
from lichessbot.waits import Waits

_NAME: Final = "online_egtb"
# chessdb counts down from these by the distance to the next capture or pawn move.
_CURSED_SCORE: Final = 20_000


def may_castle(board: Board) -> bool:
    """No table knows castling."""
    return board.fen().split()[2] != "-"


class LichessTables:
    """Exact for seven men, and for some positions of eight."""

    name: Final = _NAME

    def __init__(self, host: Host, config: OnlineTableConfig, retries: int) -> None:
        self._host = host
        self._config = config
        self._retries = retries

    def find(self, question: Question, until: float) -> Finding | None:
        """Raises ApiError."""
        errand = Errand("/standard", {"fen": question.board.fen()}, until, self._retries)
        return self._choose(self._host.ask(errand, parse_table))

    def _choose(self, known: Table) -> Finding | None:
        worth = known.category.wdl
        if worth is None:
            return None
        # Each move is judged with the opponent's eyes.
        keeping = tuple(move.uci for move in known.moves if move.category.wdl == -worth)
        return keep(keeping, worth, self._config.move_quality)


class ChessdbTables:
    """The same tables, as chessdb.cn tells of them."""

    name: Final = _NAME

    def __init__(self, host: Host, config: OnlineTableConfig, retries: int, waits: Waits) -> None:
        self._host = host
        self._config = config
        self._retries = retries
        self._parse = partial(parse_chessdb, pause=waits.rate_limit)

    def find(self, question: Question, until: float) -> Finding | None:
        """Raises ApiError."""
        query = {"action": "queryall", "board": question.board.fen(), "json": 1}
        known = self._host.ask(Errand(CHESSDB_PATH, query, until, self._retries), self._parse)
        ordered = sorted(known.moves, key=lambda move: -move.score)
        if not ordered:
            return None
        worth = chessdb_wdl(ordered[0].score)
        keeping = tuple(move.uci for move in ordered if chessdb_wdl(move.score) == worth)
        return keep(keeping, worth, self._config.move_quality)


def keep(keeping: tuple[str, ...], worth: int, quality: TableQuality) -> Finding | None:
    """What a table says of the moves that keep the position's worth, best first."""
    return Finding(keeping, wdl=worth, choice=quality is TableQuality.SUGGEST) if keeping else None


def chessdb_wdl(score: int) -> int:
    """What chessdb's score of a table position is worth."""
    if score == 0:
        return 0
    sign = 1 if score > 0 else -1
    return sign * (2 if abs(score) > _CURSED_SCORE else 1)
