"""A game being played at the terminal: board, clocks, result, taking back, and its PGN. Reads and prints nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches

from engine.board import Board, InvalidMove
from engine.core.move import looks_like_uci
from engine.lessons.cce_notation import drawn_by
from engine.pgn.game import UNFINISHED, Game
from engine.terminal.chess_clock import SIDES, ChessClock, TimeControl, parse_seconds

WINS = {"white": "1-0", "black": "0-1"}
DRAW = "1/2-1/2"


def other_side(side: str) -> str:
    """The opponent."""
    return SIDES[1 - SIDES.index(side)]


def time_control_of(game: Game) -> TimeControl | None:
    """The time control that a game's headers tell of."""
    return parse_seconds(game.headers.get("TimeControl", ""))


def _is_outdated(header: str) -> bool:
    """Does it tell of the players or of the end, which become others when the game goes on?"""
    return header in ("White", "Black", "Termination") or header.endswith(("Elo", "RatingDiff", "Title", "FideId"))


@dataclass(frozen=True)
class End:
    """How the game ended: PGN's result, and the reason in words."""

    result: str
    reason: str


@dataclass
class TerminalGame:
    """Everything that is so at one moment of the game."""

    board: Board
    names: Mapping[str, str]
    watch: ChessClock | None = None
    end: End | None = None
    headers: dict[str, str] = field(default_factory=dict)
    clocks_s: list[dict[str, float]] = field(default_factory=list)     # when each ply began

    def __post_init__(self) -> None:
        self._note_clocks()

    @classmethod
    def resume(cls, game: Game, names: Mapping[str, str], control: TimeControl | None) -> "TerminalGame":
        """Go on with a game from its main line, with the clocks it tells of unless others are requested.

        Raises InvalidFen or UnknownVariant if it cannot be played here.
        """
        told = control or time_control_of(game)
        playing = cls(game.board(), names, ChessClock(told) if told else None)
        for node in game.root.mainline():
            mover = playing.board.turn
            playing.board.push(node.move)
            if playing.watch is not None and control is None and node.clock_s is not None:
                playing.watch.set_both({**playing.watch.both_s(), mover: node.clock_s})
            playing._note_clocks()
        playing.headers = {name: value for name, value in game.headers.items() if not _is_outdated(name)}
        playing._look_for_end()
        return playing

    # --- Moves ---------------------------------------------------------------------------------------------------

    def read_move(self, text: str) -> str:
        """The legal move a person means, in UCI or algebraic notation. Raises InvalidMove, with the nearest choice."""
        board = self.board
        if looks_like_uci(text.lower()):
            try:
                return board.normalise(text.lower())
            except InvalidMove:
                pass               # b7c8 of a pawn without its new piece may still be read below
        try:
            return board.parse_san(text)
        except InvalidMove as error:
            if " could be " in str(error):
                raise
        moves = {board.san(move): move for move in board.legal_moves()}
        close = get_close_matches(text, [*moves, *moves.values()], 1, 0.5)
        nearest = f"; did you mean {close[0]}?" if close else f"; legal are {', '.join(sorted(moves)[:8])} ..."
        raise InvalidMove(f"{text[:20]!r} is not a legal move here{nearest}")

    def moves_from(self, square: str) -> list[str]:
        """The legal moves of what stands on a square."""
        return [move for move in self.board.legal_moves() if move[:2] == square]

    def play(self, move: str) -> str:
        """A legal move, its clock pressed; returns its algebraic notation."""
        san = self.board.san(move)
        if self.watch is not None:
            self.watch.start(self.board.turn)
            self.watch.press()
        self.board.push(move)
        self._note_clocks()
        self._look_for_end()
        return san

    def take_back(self, plies: int) -> None:
        """Back by so many plies, with the clocks of then; an ended game goes on."""
        kept = self.board.moves[: len(self.board.moves) - plies]
        board = Board(self.board.initial_fen, chess960=self.board.chess960)
        for move in kept:
            board.push(move)
        self.board, self.end = board, None
        if self.watch is not None:
            self.watch.set_both(self.clocks_s[len(kept)])
            del self.clocks_s[len(kept) + 1 :]

    def _note_clocks(self) -> None:
        if self.watch is not None:
            self.clocks_s.append(self.watch.both_s())

    # --- The end -------------------------------------------------------------------------------------------------

    def _look_for_end(self) -> None:
        reason = drawn_by(self.board)
        if self.board.is_checkmate():
            winner = other_side(self.board.turn)
            self._finish(WINS[winner], f"checkmate, {winner} wins")
        elif reason is not None:
            self._finish(DRAW, f"draw: {reason}")

    def _finish(self, result: str, reason: str) -> None:
        self.end = End(result, reason)
        if self.watch is not None:
            self.watch.stop()

    def resign(self, side: str) -> None:
        """This side gives up."""
        self._finish(WINS[other_side(side)], f"{side} resigns")

    def look_at_clock(self) -> None:
        """Is the mover's time up? Then he has lost, unless the opponent could not mate by any play."""
        side = self.board.turn
        if self.end is None and self.watch is not None and self.watch.left_s(side) <= 0:
            winner = other_side(side)
            if self.board.has_insufficient_material(winner):
                self._finish(DRAW, f"draw: {side}'s time is up, but {winner} cannot mate")
            else:
                self._finish(WINS[winner], f"{side}'s time is up, {winner} wins")

    # --- On paper ------------------------------------------------------------------------------------------------

    def game(self) -> Game:
        """The game so far, with clocks."""
        result = self.end.result if self.end else UNFINISHED
        headers = {
            "Event": "Game in the terminal",
            "Date": f"{date.today():%Y.%m.%d}",
            **self.headers,
            "White": self.names["white"],
            "Black": self.names["black"],
            "Result": result,
        }
        if self.watch is not None:
            headers["TimeControl"] = f"{self.watch.control.base_s:g}+{self.watch.control.increment_s:g}"
        game = Game.of(self.board, headers)
        mover = Board(self.board.initial_fen, chess960=self.board.chess960).turn
        for node, left_s in zip(game.root.mainline(), self.clocks_s[1:], strict=False):
            node.set_clock(left_s[mover])
            mover = other_side(mover)
        return game
