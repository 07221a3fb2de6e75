"""What the log tells of one game: its start, each move, chat, offers, and its end.

Knows every report and action of the game; decides nothing. Keeps what was played and said, for the operator. A line of
the stream is logged after the game has reacted to it, so that no move waits for the log. Our move is logged when the
stream shows it, which also tells the clocks.
"""

from typing import Final

from engine.facade import Board, Ending, InvalidFen, InvalidMove, InvalidVariant
from lichessbot.control import status
from lichessbot.control.status import Evaluation, PlayedMove
from lichessbot.errors import Refused
from lichessbot.games.actions import Action, Fallback, GameOver
from lichessbot.games.move_search import ChosenMove
from lichessbot.inbox import Report
from lichessbot.lichess.commands import (
    Abort,
    AnswerTakeback,
    ClaimDraw,
    ClaimVictory,
    CommandFailed,
    ReadChat,
    Resign,
    SendMove,
)
from lichessbot.lichess.enums import Colour, GameStatus, Variant
from lichessbot.lichess.models import (
    SYSTEM_NAME,
    ChatLine,
    GameFull,
    GameInfo,
    GameState,
    OpponentGone,
    Player,
    StreamLine,
    UnknownEvent,
)
from lichessbot.lichess.positions import line_in_san, plies_in_common, start_board
from lichessbot.lichess.streams import StreamEvent, StreamLost, StreamRefused
from lichessbot.log import EventLog, counted
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.uci.search import BestMove, EngineDied, SearchInfo, centipawns

# A game with more moves at its first state began before we came.
_MOST_PLIES_OF_A_NEW_GAME: Final = 1
_THREEFOLD: Final = 3
_MOST_CHAT_LINES: Final = 30
_LONGEST_LINE: Final = 60  # plies of a principal variation that the operator sees
_ENDS: Final = {
    GameStatus.MATE: "checkmate",
    GameStatus.RESIGN: "resignation",
    GameStatus.STALEMATE: "stalemate",
    GameStatus.TIMEOUT: "a player left",
    GameStatus.OUT_OF_TIME: "out of time",
    GameStatus.CHEAT: "cheating detected",
    GameStatus.NO_START: "a player did not start",
    GameStatus.INSUFFICIENT_MATERIAL_CLAIM: "insufficient material",
    GameStatus.ABORTED: "before both had moved",
}
_VARIANT_ENDS: Final[dict[str, str]] = {
    Variant.KING_OF_THE_HILL: "a king in the centre",
    Variant.THREE_CHECK: "three checks",
    Variant.ANTICHESS: "no piece left that can move",
    Variant.ATOMIC: "a king exploded",
    Variant.HORDE: "no piece of the horde left",
    Variant.RACING_KINGS: "a king on the eighth rank",
}
_DRAWS_ON_THE_BOARD: Final = {
    Ending.FIFTY_MOVES: "fifty-move rule",
    Ending.VARIANT_DRAW: "both kings on the eighth rank",
}


class GameLog:
    """The log of one game. For the main thread."""

    def __init__(self, our_id: str, url: str, info: GameInfo) -> None:
        """`url` is the address of the server, `info` the game as it was announced."""
        self._log = EventLog(info.game_id)
        self._our_id = our_id
        self._url = url
        self._info = info
        self._full: GameFull | None = None
        self._announced_colour = info.color
        self._colour = Colour.WHITE
        """Ours, once the full state was read."""
        self._board = Board()
        self._moves: list[str] = []
        """Those logged, as Lichess writes them; the board has them too."""
        self._news: StreamLine | None = None
        """A line of the stream that is not logged yet."""
        self._sent: dict[tuple[int, str], ChosenMove] = {}
        """Our moves that the stream has yet to show, by ply and move."""
        self._draw_offered = False
        self._stream_was_lost = False
        self._absent_at_ply: int | None = None
        self.level: int | None = None
        """The rating at which we play; None at full strength."""
        self.round_trip_s: float | None = None
        """Of our latest move."""
        self.played: tuple[PlayedMove, ...] = ()
        """The moves that are logged; those before we came have no more than their notation."""
        self.chat: tuple[status.ChatLine, ...] = ()
        """The latest lines of the chat."""

    # Before the game reacts

    def note(self, report: Report, *, awaited: bool) -> None:
        """Take note of a report; `awaited`: our move may come of it."""
        match report:
            case StreamEvent(event=event):
                self._news = event
            case StreamLost(reason=reason, retry_in=retry_in):
                self._stream_was_lost = True
                tell = self._log.debug if report.on_request else self._log.warning
                tell("stream.lost", reason=reason, retry_in_s=retry_in.total_seconds())
            case StreamRefused(status=code, text=text):
                self._log.warning("stream.refused", status=code, text=text)
            case CommandFailed(command=command, error=error):
                # Lichess draws a third repetition a moment after it shows the move, and refuses ours in between.
                is_drawn = isinstance(command, SendMove) and isinstance(error, Refused) and self._is_third_repetition
                tell = self._log.debug if is_drawn or isinstance(command, ReadChat) else self._log.warning
                tell("command.failed", command=command.kind(), error=error)
            case EngineDied(reason=reason):
                self._log.warning("engine.died", reason=reason)
            case BestMove():
                self._note_best_move(report, awaited=awaited)
            case SourceAnswer(moves=moves, source=source, took_s=took_s) if moves:
                self._log.debug("source.move", source=source, moves=" ".join(moves), took_s=took_s)

    def _note_best_move(self, report: BestMove, *, awaited: bool) -> None:
        it = report.summary
        if not awaited:
            # Most of these answer a ponder search that was stopped.
            self._log.debug("engine.unused", move=report.move, depth=it.depth)
            return
        self._log.debug(
            "engine.move",
            move=report.move,
            depth=it.depth,
            nodes=it.nodes,
            score=it.score,
            nps=it.nps or None,
            pv=it.pv or None,
        )

    # When the game has reacted

    def note_action(self, action: Action) -> None:
        """Take note of an action that was carried out."""
        match action:
            case Fallback(time_s=time_s):
                self._log.warning("engine.fallback", time_s=time_s)
            case Abort(reason=reason):
                self._log.info("game.abort", reason=reason)
            case Resign(reason=reason):
                self._log.info("game.resign", reason=reason)
            case AnswerTakeback(granted=True):
                self._log.info("takeback.granted")
            case AnswerTakeback():
                self._log.info("takeback.denied")
            case ClaimVictory() | ClaimDraw():
                self._log.info("game.claim", victory=isinstance(action, ClaimVictory))

    def note_sent(self, command: SendMove, chosen: ChosenMove) -> None:
        """Take note of a move that was sent, perhaps again."""
        ply, move = command.ply, command.move
        self._log.debug("move.send", ply=ply, move=move, offer=command.offering_draw)
        is_new = (ply, move) not in self._sent
        self._sent[ply, move] = chosen
        if command.offering_draw and is_new:
            self.catch_up()  # an only move goes at once: the line that it answers may hold the opponent's offer
            self._log_draw()

    def _log_draw(self) -> None:
        if self._draw_offered:
            self._log.info("draw.accepted")
        else:
            self._log.info("draw.offered", by="us")

    def catch_up(self) -> None:
        """Log the line of the stream that came with the last report, if one did."""
        news, self._news = self._news, None
        match news:
            case GameFull():
                self._read_full(news)
            case GameState() if self._full is not None:
                self._read_state(self._full, news, fresh=False)
            case ChatLine(room=room, username=name, text=text) if not news.is_copy:
                self.chat = (*self.chat[-_MOST_CHAT_LINES + 1 :], status.ChatLine(name, text, room))
                tell = self._log.debug if name == SYSTEM_NAME else self._log.info
                tell("chat", room=room, name=name, text=text)
            case OpponentGone(gone=True):
                if self._absent_at_ply != len(self._moves):        # Lichess repeats it every few seconds
                    self._log.info("opponent.gone")
                self._absent_at_ply = len(self._moves)
            case OpponentGone():
                self._log.info("opponent.back")
                self._absent_at_ply = None
            case UnknownEvent(type=kind):
                self._log.debug("event.ignored", type=kind)

    def _read_full(self, full: GameFull) -> None:
        is_first, self._full = self._full is None, full
        moves = full.state.moves.split()
        plies = len(moves)
        self._log.info("game.state", white=full.white, black=full.black, variant=full.variant.key, plies=plies)
        self._colour = full.colour_of(self._our_id) or self._announced_colour or Colour.WHITE
        if is_first and not full.state.status.is_over:
            self._log_start(full, plies)
        elif self._stream_was_lost and not is_first:
            self._log.info("stream.restored", plies=plies)
        self._stream_was_lost = False
        if is_first and plies > _MOST_PLIES_OF_A_NEW_GAME:
            self._set_board(full, moves)
        self._read_state(full, full.state, fresh=True)

    def _log_start(self, full: GameFull, plies: int) -> None:
        opponent = full.player(self._colour.other)
        facts = {
            "opponent": opponent,
            "title": opponent.title or None,
            "rating": opponent.rating,
            "rated": full.rated,
            "speed": full.speed or None,
            "clock": time_control(full),
            "variant": full.variant.key,
            "colour": self._colour,
            "level": self.level,
            "tournament": full.tournament_id,
            "url": f"{self._url}/{full.id}",
        }
        if plies <= _MOST_PLIES_OF_A_NEW_GAME:
            self._log.info("game.start", **facts)
        else:
            self._log.info("game.resume", plies=plies, **facts)

    def _set_board(self, full: GameFull, moves: list[str]) -> None:
        """Take these moves as logged; a position that our rules refuse is the game's business."""
        try:
            self._board = board = start_board(full.variant.key, full.initial_fen)
            played = []
            for ply, move in enumerate(moves, 1):
                played.append(PlayedMove(ply, board.san(move)))
                board.push(move)
        except (InvalidFen, InvalidMove, InvalidVariant):
            return
        known = plies_in_common(self._moves, moves)
        self.played = (*self.played[:known], *played[known:])
        self._moves = list(moves)

    def _read_state(self, full: GameFull, state: GameState, *, fresh: bool) -> None:
        """Log what is new in a state. One that does not continue the known moves counts only if it is `fresh`."""
        moves = state.moves.split()
        known = plies_in_common(self._moves, moves)
        if known < len(self._moves) and not fresh:
            return
        if known < len(self._moves) or not self._moves:
            self._set_board(full, moves[:known])
        for move in moves[known:]:
            if not self._log_move(full, move, state if len(self._moves) + 1 == len(moves) else None):
                return
        offered = state.offers_draw(self._colour.other)
        if offered and not self._draw_offered and not state.status.is_over:
            self._log.info("draw.offered", by="opponent")
        self._draw_offered = offered

    def _log_move(self, full: GameFull, move: str, state: GameState | None) -> bool:
        """Log the next move, with the clocks of the `state` that it led to. Return whether our rules know the move."""
        board, ply = self._board, len(self._moves) + 1
        number, side = board.fullmove_number, board.turn
        try:
            san, played = board.san(move), board.push(move)
        except InvalidMove:
            return False
        self._moves.append(move)
        ours = side == self._colour
        chosen = self._sent.pop((ply, played), None) if ours else None
        it = SearchInfo() if chosen is None else chosen.summary
        has_clocks = full.clock is not None or full.days_per_turn is not None
        clocks_s: dict[Colour, float | None] = dict.fromkeys(Colour)
        if state is not None and has_clocks:
            clocks_s = {colour: state.time_ms(colour) / 1000 for colour in Colour}
        self.played = (*self.played, _played(ply, san, clocks_s[Colour(side)], chosen, self._colour))
        self._log.info(
            "game.move",
            number=number,
            colour=side,
            by="us" if ours else "opponent",
            san=san,
            move=played,
            our_clock_s=clocks_s[self._colour],
            their_clock_s=clocks_s[self._colour.other],
            score=it.score or None,
            depth=it.depth or None,
            nps=it.nps or None,
            source=None if chosen is None else chosen.sources,
        )
        return True

    def log_choice(self) -> None:
        """Log that the opponent chose the level."""
        self._log.info("game.level", level="full strength" if self.level is None else f"level {self.level}")

    def log_end(self, over: GameOver) -> None:
        """Log what is left to tell, and the result."""
        self.catch_up()
        opponent: Player | str = self._info.opponent.username
        if self._full is not None:
            opponent = self._full.player(self._colour.other)
            for move in over.missing:
                self._log_move(self._full, move, None)
        self._log.info(
            "game.over",
            status=over.status,
            winner=over.winner,
            plies=over.plies,
            opponent=opponent,
            result=self._result(over),
            how=self._how(over),
        )

    def _result(self, over: GameOver) -> str:
        if over.winner is not None:
            return "won" if over.winner is self._colour else "lost"
        if not over.status.was_played:
            return "aborted"
        return "ended" if over.status is GameStatus.UNKNOWN_FINISH else "drawn"

    @property
    def _is_third_repetition(self) -> bool:
        return self._board.repetition_count() >= _THREEFOLD

    def _how(self, over: GameOver) -> str:
        """Return how the game ended. Lichess tells no more of most draws than that they are draws."""
        if over.status is GameStatus.VARIANT_END and self._full is not None:
            return _VARIANT_ENDS.get(self._full.variant.key, "the rules of the variant")
        if over.status is not GameStatus.DRAW or self._full is None:
            return _ENDS.get(over.status, "for an unknown reason")
        if self._board.is_insufficient_material():
            return "insufficient material"
        if self._is_third_repetition:
            return "threefold repetition"
        outcome = self._board.outcome()
        return "agreement" if outcome is None else _DRAWS_ON_THE_BOARD.get(outcome.ending, "agreement")


def _played(ply: int, san: str, clock_s: float | None, chosen: ChosenMove | None, colour: Colour) -> PlayedMove:
    """Return a move with what is known of it. Lichess may send a zero for a clock, which says nothing."""
    clock_s = clock_s or None
    if chosen is None:
        return PlayedMove(ply, san, clock_s)
    it = chosen.summary
    score_cp, mate_in = score_for_white(it.score, colour)
    search_s = None if chosen.answer is None else chosen.answer.took_s
    return PlayedMove(ply, san, clock_s, chosen.sources, score_cp, mate_in, it.depth or None, search_s)


def score_for_white(score: str, colour: Colour) -> tuple[int | None, int | None]:
    """Return a UCI score that was found for a side as White's centipawns, or as White's moves to mate."""
    sign, value = 1 if colour is Colour.WHITE else -1, centipawns(score)
    if value is None:
        return None, None
    return (None, sign * int(score.split()[1])) if score.startswith("mate") else (sign * value, None)


def described(chosen: ChosenMove, colour: Colour) -> Evaluation:
    """Return what a move of ours was chosen by, from White's view."""
    it = chosen.summary
    score_cp, mate_in = score_for_white(it.score, colour)
    line = tuple(it.pv.split()[:_LONGEST_LINE])
    return Evaluation(
        move=chosen.move,
        source=chosen.source,
        score_cp=score_cp,
        mate_in=mate_in,
        depth=it.depth,
        nodes=it.nodes,
        nodes_per_s=it.nps,
        line=line,
        line_san=tuple(line_in_san(chosen.board, line)),
    )


def time_control(full: GameFull) -> str:
    """Return the time control in words: `3+2`, `2 days per move` or `without a clock`."""
    if full.clock is not None:
        return str(full.clock.exact)
    return "without a clock" if full.days_per_turn is None else f"{counted(full.days_per_turn, 'day')} per move"


def log_rating(info: GameInfo) -> None:
    """Log what a finished game did to our rating, if Lichess says so: for a rated game it may say nothing."""
    if info.rating_diff is not None:
        EventLog(info.game_id).info(
            "game.rating",
            change=info.rating_diff,
            rating=None if info.rating is None else info.rating + info.rating_diff,
            opponent_change=info.opponent.rating_diff,
        )
