"""One game as a pure state machine: commands in, lines of the game stream out.

Knows clocks, every end of a game, offers and chat; the rules of chess come from `engine.facade.Board`. Reads no clock
and does no I/O: monotonic milliseconds are passed in.
"""

import re
from dataclasses import dataclass
from itertools import chain

from engine.facade import Board, Ending, InvalidMove
from lichessbot.rehearsal.rules.clock import GameClock, RealTime
from lichessbot.rehearsal.rules.enums import ChatRoom, Color, Rule, Status, Variant
from lichessbot.rehearsal.rules.errors import InvalidForm, Refused
from lichessbot.rehearsal.rules.setup import GameSetup
from lichessbot.rehearsal.rules.timing import Timing

BOTH_MOVED_PLIES = 2
MAX_PLIES = 600                  # once there are more, a further move draws the game
DRAW_OFFER_SPACING_PLIES = 20
EARLY_DRAW_PLIES = 60            # `noEarlyDraw` holds until then

MAX_CHAT_LENGTH = 140
SYSTEM_NAME = "lichess"          # announces offers in both rooms
NO_WIN = "You cannot claim the win on this game"

_LINK = re.compile(r"https?://|www\.|\b[\w-]+\.(?:com|org|net|io|gg|tv|me|co)\b", re.IGNORECASE)
_UCI = re.compile(r"[a-h][1-8][a-h][1-8][nbrqk]?|[PNBRQ]@[a-h][1-8]")


# The status of a game that ends on the board; every other such end is a draw.
_ENDINGS = {
    Ending.CHECKMATE: Status.MATE,
    Ending.VARIANT_END: Status.VARIANT_END,
    Ending.STALEMATE: Status.STALEMATE,
}


@dataclass(frozen=True)
class GameState:
    """The state of a game at one moment."""

    moves: tuple[str, ...]
    white_ms: int
    black_ms: int
    increment_ms: int
    status: Status
    winner: Color | None
    draw_offer: Color | None
    takeback_offer: Color | None


@dataclass(frozen=True)
class ChatLine:
    """One chat line."""

    room: ChatRoom
    username: str
    text: str


Line = GameState | ChatLine


def holdings(board: Board, color: Color) -> str:
    """Return what a side has beside the board: `QNPP` in its pocket, or `+2` checks given; mostly nothing."""
    checks = board.checks_given(color)
    return f"+{checks}" if checks else board.pocket(color).upper()


class Game:
    """A game from its first position to its end. Each command returns the lines for the streams."""

    def __init__(self, setup: GameSetup, now_ms: int) -> None:
        self.setup = setup
        self.is_rated = setup.rated               # a repeated game becomes unrated at its end
        self.status = Status.STARTED
        self.winner: Color | None = None
        self.moves: list[str] = []                # as written on the wire
        # Castling as e1h1: always in other variants; in standard games Lichess has sent both.
        self.writes_king_takes_rook = setup.variant is not Variant.STANDARD
        self.clock = GameClock(setup.time_control)
        self.clock_history_ms: list[int] = []     # remaining time of the mover after each move
        self.chat: list[ChatLine] = []
        self.threefold_pending = False
        self.flag_was_drawn = False               # time ran out while the other side was offering a draw
        self.takebacks = 0
        self._taken_back: list[Board] = []        # positions that are no longer part of the game
        variant = setup.variant
        self._board = Board(setup.initial_fen, chess960=variant.has_own_start, variant=variant.key)
        self.first_to_move = self.turn
        self._started_ms = now_ms
        self.last_change_ms = now_ms               # when the last move was made or taken back
        self.ended_ms: int | None = None
        self._draw_offer: Color | None = None
        self._last_offer_ply: dict[Color, int] = {}
        self._takeback_offer: Color | None = None
        self._takeback_ply = 0                     # after how many plies it was made
        self._restarted_ms = self._aborts_until_ms = now_ms

    # The state.

    @property
    def id(self) -> str:
        return self.setup.id

    @property
    def ply(self) -> int:
        """Plies played since the start position."""
        return len(self.moves)

    @property
    def turn(self) -> Color:
        return Color(self._board.turn)

    @property
    def is_over(self) -> bool:
        return self.status.is_over

    @property
    def both_have_moved(self) -> bool:
        """Whether both sides have moved: until then a game can be aborted, and nothing can be offered or claimed."""
        return self.ply >= BOTH_MOVED_PLIES

    @property
    def is_abortable(self) -> bool:
        can_be = Rule.NO_ABORT not in self.setup.rules and self.setup.tournament_id is None
        return not self.is_over and not self.both_have_moved and can_be

    @property
    def last_change_at_ms(self) -> int:
        """When the last move was made, since the epoch."""
        return self.setup.created_at_ms + self.last_change_ms - self._started_ms

    @property
    def is_timed(self) -> bool:
        """Whether a clock runs."""
        return isinstance(self.setup.time_control, RealTime) and self.both_have_moved

    def board(self) -> Board:
        """Return a copy of the position."""
        return self._board.copy()

    def board_after(self, plies: int) -> Board:
        """Return the position after the first `plies` moves."""
        return self._board.at_start().after(*self.moves[:plies])

    def was_legal(self, color: Color, uci: str) -> bool:
        """Return whether that move was legal for `color` in any position of this game, also in one taken back."""
        positions = chain(map(self.board_after, range(self.ply + 1)), self._taken_back)
        return any(Color(board.turn) is color and is_legal_move(board, uci) for board in positions)

    def fen(self) -> str:
        return self._board.fen()

    @property
    def last_move_squares(self) -> str:
        """The last move as events tell it: castling as king takes rook, no promotion, a drop as its square twice."""
        if not self.moves:
            return ""
        move = self.board_after(self.ply - 1).king_takes_rook(self.moves[-1])
        return 2 * move[2:] if "@" in move else move[:4]

    def has_moved(self, color: Color) -> bool:
        return self.ply >= 1 if color is self.first_to_move else self.both_have_moved

    def state(self, now_ms: int) -> GameState:
        return GameState(
            moves=tuple(self.moves),
            white_ms=self.clock.remaining_ms(Color.WHITE, now_ms),
            black_ms=self.clock.remaining_ms(Color.BLACK, now_ms),
            increment_ms=self.clock.increment_ms,
            status=self.status,
            winner=self.winner,
            draw_offer=self._draw_offer,
            takeback_offer=self._takeback_offer,
        )

    # Moves and the clock.

    def play(self, color: Color, uci: str, now_ms: int) -> list[Line]:
        """Play a move. If the clock has run out, the game ends instead, without an error."""
        if not _UCI.fullmatch(uci):
            raise Refused(f"Invalid UCI: {uci}")
        if self.is_over or self.turn is not color:
            raise Refused("Not your turn, or game already over")
        if self.clock.is_flagged(color, now_ms):
            return self.check_flag(now_ms)
        if self.ply > MAX_PLIES:
            return self._finish(Status.DRAW, None, now_ms)
        try:
            with_rook = self._board.king_takes_rook(uci)
            if uci != with_rook and not self._may_castle_by_target(with_rook):
                raise Refused(f"Piece on {uci[:2]} cannot move to {uci[2:]}")
            move = self._board.push(uci)
        except InvalidMove as error:
            raise Refused(str(error)) from error
        self.moves.append(with_rook if self.writes_king_takes_rook else move)
        return self._after_move(color, now_ms)

    def _may_castle_by_target(self, with_rook: str) -> bool:
        """Return whether castling can be spelt as the king's own move: from ordinary squares, not in Chess960."""
        is_ordinary = with_rook[0] == "e" and with_rook[2] in "ah"
        return is_ordinary and self.setup.variant is not Variant.CHESS960

    def check_flag(self, now_ms: int) -> list[Line]:
        """End the game if the time of the side to move is used up."""
        color = self.turn
        if self.is_over or not self.clock.is_flagged(color, now_ms):
            return []
        has_mercy = self.is_timed and now_ms < self._aborts_until_ms
        if has_mercy and self.last_change_ms < self._restarted_ms:
            return self._finish(Status.ABORTED, None, now_ms)
        if self._draw_offer is color.other:
            self.flag_was_drawn = True
            return self._finish(Status.DRAW, None, now_ms)
        return self._finish(Status.OUT_OF_TIME, self._winner_by_default(color.other), now_ms)

    def settle_threefold(self, now_ms: int) -> list[Line]:
        """Draw the game, some time after the move that repeated the position a third time.

        Not if another move came meanwhile, which is accepted, as on Lichess.
        """
        if not self.threefold_pending:
            return []
        return self._finish(Status.DRAW, None, now_ms)

    def outlive_restart(self, timing: Timing, now_ms: int) -> None:
        """Survive a restart of the site: clocks gain time, and for a while a flag aborts the game."""
        if isinstance(self.setup.time_control, RealTime):
            self.clock.give(self.turn, round(1000 * timing.restart_gift_s), now_ms)
            self.clock.give(self.turn.other, round(1000 * timing.restart_other_gift_s), now_ms)
        self._restarted_ms = now_ms
        self._aborts_until_ms = now_ms + round(1000 * timing.restart_mercy_s)

    def check_start(self, ply: int, now_ms: int) -> list[Line]:
        """End the game if the first move of ply number `ply` was not made in time."""
        if self.is_over or self.ply != ply:
            return []
        return self._finish(Status.NO_START, self.turn.other, now_ms)

    # Leaving the game.

    def abort(self, now_ms: int) -> list[Line]:
        if not self.is_abortable:
            raise Refused("This game can no longer be aborted")
        return self._finish(Status.ABORTED, None, now_ms)

    def resign(self, color: Color, now_ms: int) -> list[Line]:
        """Resign; before both sides have moved, abort instead, except in tournaments."""
        if self.is_abortable:
            return self.abort(now_ms)
        if self.is_over or not (self.both_have_moved or self.setup.tournament_id is not None):
            raise Refused("This game cannot be resigned")
        return self._finish(Status.RESIGN, color.other, now_ms)

    def claim_victory(self, color: Color, now_ms: int, *, opponent_gone: bool) -> list[Line]:
        """Claim a win; no effect and no error on the claimer's turn, or where nothing can be claimed."""
        if self.turn is color or not self.can_be_claimed:
            return []
        if not opponent_gone:
            raise Refused(NO_WIN)
        return self._finish(Status.TIMEOUT, self._winner_by_default(color), now_ms)

    def claim_draw(self, color: Color, now_ms: int, *, opponent_gone: bool) -> list[Line]:
        """Claim a draw; no effect and no error while the game cannot be drawn."""
        if not self._is_drawable:
            return []
        if self.turn is color or not (self.can_be_claimed and opponent_gone):
            raise Refused("You cannot claim draw on this game")
        return self._finish(Status.TIMEOUT, None, now_ms)

    @property
    def can_be_claimed(self) -> bool:
        """Whether the game of an absent player can be claimed."""
        return self.is_timed and not self.is_over and Rule.NO_CLAIM_WIN not in self.setup.rules

    # Offers. No error: an offer that the rules do not allow is ignored.

    def offer_draw(self, color: Color, now_ms: int) -> list[Line]:
        """Offer a draw, accept the opponent's offer, or claim a threefold repetition."""
        if not self._is_drawable:
            return []
        if self._board.repetition_count() >= 3:
            return self._finish(Status.DRAW, None, now_ms)
        if self._draw_offer is color.other:
            return [*self._announce("Draw offer accepted"), *self._finish(Status.DRAW, None, now_ms)]
        if self._draw_offer is color or self._offered_lately(color):
            return []
        if self._board.has_insufficient_material(color.other):
            return self._finish(Status.INSUFFICIENT_MATERIAL_CLAIM, None, now_ms)
        self._draw_offer = color
        self._last_offer_ply[color] = self.ply
        return [*self._announce(f"{color.capitalize()} offers draw"), self.state(now_ms)]

    def decline_draw(self, color: Color) -> list[Line]:
        """Decline the opponent's offer, which writes no state."""
        if self.is_over or self._draw_offer is not color.other:
            return []
        self._draw_offer = None
        return self._announce(f"{color.capitalize()} declines draw")

    def offer_takeback(self, color: Color, now_ms: int) -> list[Line]:
        """Ask for a takeback, or accept the opponent's request."""
        both_allow = all(self.setup.account(side).allows_takebacks for side in Color)
        if self.is_over or not both_allow or not self.both_have_moved or self._takeback_offer is color:
            return []
        if self._takeback_offer is color.other:
            only_their_move = self._takeback_ply == self.ply and self.turn is color
            return self.take_back(color, 1 if only_their_move else 2, now_ms)
        self._takeback_offer, self._takeback_ply = color, self.ply
        moves = self._numbered_moves(2 if self.turn is color else 1)
        return [*self._announce(f"{color.capitalize()} proposes takeback ({moves})"), self.state(now_ms)]

    def decline_takeback(self, color: Color, now_ms: int) -> list[Line]:
        """Decline the opponent's request, or withdraw one's own."""
        if self.is_over or self._takeback_offer is None:
            return []
        answers = "cancels" if self._takeback_offer is color else "declines"
        self._takeback_offer = None
        return [*self._announce(f"{color.capitalize()} {answers} takeback"), self.state(now_ms)]

    def say(self, color: Color, room: ChatRoom, text: str) -> list[Line]:
        """Post a chat line; lines of bots with links are dropped without an error."""
        utf16_units = len(text.encode("utf-16-le", "surrogatepass")) // 2
        if not 1 <= utf16_units <= MAX_CHAT_LENGTH:
            raise InvalidForm({"text": f"Must be between 1 and {MAX_CHAT_LENGTH} characters"})
        account = self.setup.account(color)
        if account.is_bot and _LINK.search(text):
            return []
        return [self._keep(ChatLine(room, account.name, text))]

    # Parts.

    def _after_move(self, mover: Color, now_ms: int) -> list[Line]:
        self.clock.press(mover, self.ply, now_ms)
        self.clock_history_ms.append(self.clock.remaining_ms(mover, now_ms))
        self.last_change_ms = now_ms
        outcome = self._board.outcome()
        if outcome is not None:
            winner = None if outcome.winner is None else Color(outcome.winner)
            return self._finish(_ENDINGS.get(outcome.ending, Status.DRAW), winner, now_ms)
        self.threefold_pending = self._is_automatic_threefold()
        # The state of this move still shows what the move declines: a draw offer or the request for a takeback.
        lines = [self.state(now_ms), *self.decline_draw(mover)]
        if self._takeback_offer is mover.other:
            lines += self.decline_takeback(mover, now_ms)
        return lines

    def _is_automatic_threefold(self) -> bool:
        """Return whether this threefold repetition needs no claim: with a bot, or after a draw offer."""
        if not self._is_drawable or self._board.repetition_count() < 3:
            return False
        return any(self.setup.account(color).is_bot or self._offered_lately(color) for color in Color)

    @property
    def _is_drawable(self) -> bool:
        """Whether offers, claims and repetitions can draw the game: not before both have moved, nor after its end."""
        too_early = Rule.NO_EARLY_DRAW in self.setup.rules and self.ply < EARLY_DRAW_PLIES
        return not self.is_over and self.both_have_moved and not too_early

    def _offered_lately(self, color: Color) -> bool:
        last_ply = self._last_offer_ply.get(color)
        return last_ply is not None and self.ply - last_ply <= DRAW_OFFER_SPACING_PLIES

    def _winner_by_default(self, claimer: Color) -> Color | None:
        """Return `claimer`; None, a draw, if that side cannot win by any sequence of moves."""
        return None if self._board.has_insufficient_material(claimer) else claimer

    def take_back(self, accepter: Color, plies: int, now_ms: int) -> list[Line]:
        """Take back the last plies, which both players have agreed to, `accepter` last."""
        self.takebacks += 1
        self._taken_back += map(self.board_after, range(self.ply - plies + 1, self.ply + 1))
        self._rewind_clocks(plies)
        del self.moves[-plies:]
        self._board = self.board_after(self.ply)
        self.clock.run(self.turn, self.ply, now_ms)
        self.last_change_ms = now_ms
        self.threefold_pending = False
        self._takeback_offer = None
        self._draw_offer = None
        self._last_offer_ply = {color: min(ply, self.ply) for color, ply in self._last_offer_ply.items()}
        return [*self._announce(f"{accepter.capitalize()} accepts takeback"), self.state(now_ms)]

    def _numbered_moves(self, plies: int) -> str:
        """Return the last moves in SAN, such as `2...Nc6 3.Bb5`."""
        moves: list[str] = []
        for ply in range(self.ply - plies, self.ply):
            board = self.board_after(ply)
            dots = "." if board.turn == Color.WHITE else "..."
            number = "" if moves and dots == "..." else board.fen().split()[5] + dots
            moves.append(number + board.san(self.moves[ply]))
        return " ".join(moves)

    def _rewind_clocks(self, plies: int) -> None:
        """Set the clock of each side that was to move to its time after its own last move.

        The time spent on a move that is taken back stays spent.
        """
        color = self.turn
        for _ in range(plies):
            self.clock_history_ms.pop()
            self.clock.take_back(color, self.clock_history_ms[-1] if self.clock_history_ms else None)
            color = color.other

    def _finish(self, status: Status, winner: Color | None, now_ms: int) -> list[Line]:
        self.status = status
        self.winner = winner
        self.ended_ms = now_ms
        self.clock.stop(now_ms)
        self.threefold_pending = False
        return [self.state(now_ms)]

    def _announce(self, text: str) -> list[Line]:
        """Tell spectators, which leaves no trace, and the players."""
        return [
            ChatLine(ChatRoom.SPECTATOR, SYSTEM_NAME, text),
            self._keep(ChatLine(ChatRoom.PLAYER, SYSTEM_NAME, text)),
        ]

    def _keep(self, line: ChatLine) -> ChatLine:
        self.chat.append(line)
        return line


def is_legal_move(board: Board, uci: str) -> bool:
    """Return whether a move is legal, in any spelling of castling."""
    try:
        board.parse(uci)
    except InvalidMove:
        return False
    return True
