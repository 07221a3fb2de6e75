"""Online sources: the opening explorer, cloud evaluations and tablebase of Lichess, and chessdb.cn."""

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final, Generic, TypeVar

from engine.facade import Board, InvalidMove
from lichessbot.config.sources import (
    ChessdbConfig,
    ChessdbQuality,
    CloudConfig,
    CloudQuality,
    ExplorerConfig,
    ExplorerSort,
    ExplorerSource,
    OnlineTableConfig,
    TableQuality,
)
from lichessbot.lichess.enums import Colour, Variant
from lichessbot.move_sources.http import Host, Request
from lichessbot.move_sources.models import (
    Chessdb,
    CloudEvaluation,
    Explorer,
    Question,
    Suggestion,
    Table,
    Variation,
    parse,
    parse_chessdb,
    parse_growing_explorer,
)
from lichessbot.storage.evaluations import mate_cp
from lichessbot.uci.search import SearchInfo

CHESSDB_PATH: Final = "/cdb.php"
_MOST_MOVES: Final = 30
_MOST_VARIATIONS: Final = 5
_ACTIONS: Final = {ChessdbQuality.ALL: "query", ChessdbQuality.GOOD: "querybest", ChessdbQuality.BEST: "querypv"}


C = TypeVar("C")
T = TypeVar("T")


class _OnlineSource(Generic[C]):
    """A server with the configuration of one source."""

    def __init__(self, host: Host, config: C, retries: int) -> None:
        self._host = host
        self._config = config
        self._retries = retries

    def _ask(
        self, path: str, query: Mapping[str, object], until: float, parse_reply: Callable[[bytes], T], **options: bool
    ) -> T:
        """Raises ApiError."""
        return self._host.ask(Request(path, query, until, self._retries, **options), parse_reply)

    def _ask_chessdb(self, action: str, question: Question, until: float) -> Chessdb:
        """Raises ApiError."""
        query = {"action": action, "board": question.board.fen(), "json": 1}
        return self._ask(CHESSDB_PATH, query, until, partial(parse_chessdb, pause=self._host.rate_limit_pause))


class ExplorerServer(_OnlineSource[ExplorerConfig]):
    """The opening explorer: moves that people play, with their results."""

    name: Final = "lichess_opening_explorer"

    def __init__(self, host: Host, config: ExplorerConfig, retries: int, our_name: str) -> None:
        super().__init__(host, config, retries)
        self._player = config.player_name or our_name

    def find(self, question: Question, until: float) -> Suggestion | None:
        """Raises ApiError."""
        board, source = question.board, self._config.source
        query: dict[str, object] = {"fen": board.fen(), "moves": _MOST_MOVES, "topGames": 0}
        if source is not ExplorerSource.MASTERS:
            query |= {"variant": _variant(question), "recentGames": 0}
        growing = source is ExplorerSource.PLAYER
        if growing:
            query |= {"player": self._player, "color": board.turn}
        parse_reply = parse_growing_explorer if growing else partial(parse, Explorer)
        known = self._ask(f"/{source.value}", query, until, parse_reply, with_token=True, growing=growing)
        return self._best(known, board)

    def _best(self, known: Explorer, board: Board) -> Suggestion | None:
        """Return the moves played often enough, best first."""
        white = board.turn == Colour.WHITE
        played = [
            move
            for move in known.moves
            if move.games >= self._config.min_games
            and (not self._config.only_with_wins or move.wins(white=white) > 0)
        ]
        if self._config.sort is ExplorerSort.WIN_RATE:
            played.sort(key=lambda move: (-move.points(white=white), -move.games))
        else:
            played.sort(key=lambda move: -move.games)
        return Suggestion(tuple(move.uci for move in played)) if played else None


class CloudServer(_OnlineSource[CloudConfig]):
    """Cloud evaluations."""

    name: Final = "lichess_cloud_analysis"

    def find(self, question: Question, until: float) -> Suggestion | None:
        """Raises ApiError."""
        lines = 1 if self._config.move_quality is CloudQuality.BEST else _MOST_VARIATIONS
        query = {"fen": question.board.fen(), "multiPv": lines, "variant": _variant(question)}
        known = self._ask("/api/cloud-eval", query, until, partial(parse, CloudEvaluation))
        deep = known.depth >= self._config.min_depth and known.knodes >= self._config.min_knodes
        return self._choose(known, question.board) if deep else None

    def _choose(self, known: CloudEvaluation, board: Board) -> Suggestion | None:
        """Return the best line, or one not much worse."""
        sign = 1 if board.turn == Colour.WHITE else -1
        scored = [(sign * _centipawns(line), line) for line in known.pvs if line.is_complete]
        if not scored:
            return None
        margin = 0 if self._config.move_quality is CloudQuality.BEST else self._config.max_score_difference
        near = [(score, line) for score, line in scored if score >= scored[0][0] - margin]
        score, line = random.choice(near) if margin else scored[0]
        text = f"cp {score}" if line.mate is None else f"mate {sign * line.mate}"
        summary = SearchInfo(known.depth, known.knodes * 1000, text, line.moves)
        return Suggestion((line.moves.split()[0],), summary)


class ChessdbServer(_OnlineSource[ChessdbConfig]):
    """Opening moves of chessdb.cn, scored by its engines."""

    name: Final = "chessdb_book"

    def find(self, question: Question, until: float) -> Suggestion | None:
        """Raises ApiError."""
        known = self._ask_chessdb(_ACTIONS[self._config.move_quality], question, until)
        if self._config.move_quality is not ChessdbQuality.BEST:
            move = known.move or known.egtb
            moves = (move,) if move else tuple(it.uci for it in known.search_moves)
            return Suggestion(moves, choice=not move) if moves else None
        return self._variation(known)

    def _variation(self, known: Chessdb) -> Suggestion | None:
        if not known.pv or (known.depth or 0) < self._config.min_depth:
            return None
        score = "" if known.score is None else f"cp {known.score}"
        return Suggestion(known.pv[:1], SearchInfo(known.depth or 0, 0, score, " ".join(known.pv)))


def _variant(question: Question) -> str:
    """Return the variant as opening servers name it: a game from a position is a standard game."""
    return Variant.STANDARD.value if question.variant == Variant.FROM_POSITION else question.variant


def _centipawns(line: Variation) -> int:
    """Return the score for White; nearer mates score higher."""
    if line.mate is not None:
        return mate_cp(line.mate)
    return line.cp or 0


_NAME: Final = "online_egtb"
_MOST_COMPLETE_PIECES: Final = 7
_COMPLETE_PIECES: Final[Mapping[str, int]] = {Variant.ATOMIC: 6, Variant.ANTICHESS: 6}
# chessdb.cn subtracts the plies from a move to the next capture or pawn move from these scores.
_WIN_SCORE: Final = 25_000
_CURSED_SCORE: Final = 20_000
_FIFTY_MOVES_PLIES: Final = 100
_DRAW: Final = 0


def may_castle(board: Board) -> bool:
    """Return whether either side may castle: tablebases do not cover castling."""
    return board.fen().split()[2] != "-"


def is_op1(board: Board) -> bool:
    """Return whether a position has an opposing pair of pawns, and neither side only a king and one pawn.

    Of the positions with eight pieces, the op1 tables of Lichess hold these. A pair opposes each other if the black
    pawn stands further up the file of the white pawn.
    """
    placement = board.fen().split()[0]
    opposed = any(_opposes(board, file) for file in "abcdefgh")
    sides = ("".join(filter(str.isupper, placement)), "".join(filter(str.islower, placement)).upper())
    return opposed and all(sorted(side) != ["K", "P"] for side in sides)


def _opposes(board: Board, file: str) -> bool:
    pieces = [board.piece_at(f"{file}{rank}") for rank in range(2, 8)]
    return "P" in pieces and "p" in pieces[pieces.index("P") :]


class LichessTables(_OnlineSource[OnlineTableConfig]):
    """The Lichess tablebase: complete for seven pieces, op1 positions for eight; six in atomic and antichess."""

    name: Final = _NAME

    def find(self, question: Question, until: float) -> Suggestion | None:
        """Raises ApiError."""
        board, rules = question.board, question.board.variant
        is_complete = board.piece_count <= _COMPLETE_PIECES.get(rules, _MOST_COMPLETE_PIECES)
        if not is_complete and (rules in _COMPLETE_PIECES or not is_op1(board)):
            return None
        return self._choose(self._ask(f"/{rules}", {"fen": board.fen()}, until, partial(parse, Table)))

    def _choose(self, known: Table) -> Suggestion | None:
        wdl = known.category.wdl
        if wdl is None:
            return None
        # The category of a move is the opponent's result.
        keeping = [move for move in known.moves if move.category.wdl == -wdl]
        # A win that is perhaps a draw is worse than a certain one, and such a loss is better.
        better = [move for move in keeping if move.category.is_vague == (wdl < 0)] or keeping
        moves = tuple(move.uci for move in better)
        return _suggestion(moves, wdl // 2 if known.category.is_vague else wdl, self._config.move_quality)


class ChessdbTables(_OnlineSource[OnlineTableConfig]):
    """The tablebase of chessdb.cn: with more than seven pieces its scores are those of engines.

    It ignores the fifty-move clock; its moves come best first.
    """

    name: Final = _NAME

    def find(self, question: Question, until: float) -> Suggestion | None:
        """Raises ApiError."""
        if question.board.piece_count > _MOST_COMPLETE_PIECES:
            return None
        known = self._ask_chessdb("queryall", question, until)
        results = [(chessdb_wdl(it.score, _clock_after(question.board, it.uci)), it) for it in known.moves]
        if not results:
            return None
        wdl, best = max(results, key=lambda it: it[0])
        keeping = [it for result, it in results if result == wdl]
        if abs(wdl) == 1:    # only the quickest win or the longest defence may come in time
            keeping = [it for it in keeping if it.score == best.score]
        return _suggestion(tuple(it.uci for it in keeping), wdl, self._config.move_quality)


def _suggestion(keeping: tuple[str, ...], wdl: int, quality: TableQuality) -> Suggestion | None:
    """Return the moves that keep the result of the position, best first.

    Servers name first what ends a drawn position soonest, such as an exchange into bare kings.
    """
    choice = wdl == _DRAW or quality is TableQuality.SUGGEST
    return Suggestion(keeping, wdl=wdl, choice=choice) if keeping else None


def _clock_after(board: Board, move: str) -> int:
    """Return the fifty-move clock after a move; 0 if the move is illegal."""
    with suppress(InvalidMove):        # no illegal move is played, see `playable`
        return board.after(move).halfmove_clock
    return 0


def chessdb_wdl(score: int, clock: int) -> int:
    """Return the result for chessdb.cn's score of a tablebase move after which the fifty-move clock is `clock`.

    A win or loss that the fifty-move rule may turn into a draw is 1 or -1.
    """
    if score == 0:
        return 0
    distance = _WIN_SCORE - abs(score) + 1     # it may be rounded down by a ply
    in_time = clock == 0 or clock + distance <= _FIFTY_MOVES_PLIES
    return (1 if score > 0 else -1) * (2 if abs(score) > _CURSED_SCORE and in_time else 1)
