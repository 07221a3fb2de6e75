"""The state of a game in the terminal: board, clocks, result, takebacks, PGN. Reads and prints nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches

from engine.board import AmbiguousMove, Board, InvalidMove
from engine.core.move import looks_like_uci
from engine.lessons.notation import ending_text, winner_of
from engine.pgn.game import UNFINISHED, Game
from engine.pgn.pgn import pgn_text
from engine.pgn.time_control import TimeControl, parse_header
from engine.terminal.chess_clock import ChessClock, opponent_of

WINS = {"white": "1-0", "black": "0-1"}
DRAW = "1/2-1/2"


def time_control_of(game: Game) -> TimeControl | None:
    """Return the time control in the headers of a game."""
    return parse_header(game.headers.get("TimeControl", ""))


def _is_outdated(header: str) -> bool:
    """Return whether a header tells the players, the length or the end, which change when the game continues."""
    of_player = header in ("White", "Black") or header.endswith(("Elo", "RatingDiff", "Title", "FideId"))
    return of_player or header in ("PlyCount", "Termination")


@dataclass(frozen=True)
class End:
    """How the game ended: PGN's result and the reason."""

    result: str
    reason: str


@dataclass
class TerminalGame:
    """A game under way or over."""

    board: Board
    names: Mapping[str, str]
    clock: ChessClock | None = None
    end: End | None = None
    headers: dict[str, str] = field(default_factory=dict)
    clocks_s: list[dict[str, float]] = field(default_factory=list)     # at the start of each ply, for takebacks
    written_s: list[float | None] = field(default_factory=list)        # the mover's after each ply, as PGN has them

    def __post_init__(self) -> None:
        self._note_clocks()

    @classmethod
    def resume(cls, game: Game, names: Mapping[str, str], control: TimeControl | None) -> "TerminalGame":
        """Continue the main line of a game, with its clocks unless `control` sets others.

        Raises InvalidFen or InvalidVariant if it cannot be played here.
        """
        chosen = control or time_control_of(game)
        resumed = cls(game.board(), names, ChessClock(chosen) if chosen else None)
        for node in game.root.mainline():
            mover = resumed.board.turn
            resumed.board.push(node.move)
            if resumed.clock is not None and control is None and node.clock_s is not None:
                resumed.clock.set_both({**resumed.clock.both_s(), mover: node.clock_s})
            resumed._note_clocks()
            resumed.written_s.append(node.clock_s)
        resumed.headers = {name: value for name, value in game.headers.items() if not _is_outdated(name)}
        resumed._check_end()
        return resumed

    # --- Moves ---------------------------------------------------------------------------------------------------

    def read_move(self, text: str) -> str:
        """Return the legal move that a text means, in UCI or SAN. Raises InvalidMove, with the nearest choice."""
        board = self.board
        if looks_like_uci(text.lower()):
            try:
                return board.normalise(text.lower())
            except InvalidMove:
                pass               # b7c8 without the promotion piece may still be SAN
        try:
            return board.parse_san(text)
        except AmbiguousMove:
            raise
        except InvalidMove:
            pass                   # it gets a better hint below
        moves = {board.san(move): move for move in board.legal_moves()}
        queens = [san for san, move in moves.items() if san.startswith(f"{text}=Q") or move == f"{text.lower()}q"]
        in_other_case = [san for san in moves if san.lower().rstrip("+#") == text.lower().rstrip("+#")]
        close = queens or in_other_case or get_close_matches(text, [*moves, *moves.values()], 1, 0.5)
        hint = f"; did you mean {close[0]}?" if close else "; `moves` lists the legal ones, `help` the commands"
        raise InvalidMove(f"{text[:20]!r} is not a legal move here{hint}")

    def moves_from(self, square: str) -> list[str]:
        """Return the legal moves of the piece on a square."""
        return [move for move in self.board.legal_moves() if move[:2] == square]

    def play(self, move: str) -> str:
        """Play a legal move, press the clock and return the move in SAN."""
        san, mover = self.board.san(move), self.board.turn
        if self.clock is not None:
            self.clock.press()
        self.board.push(move)
        self.written_s.append(self.clock.left_s(mover) if self.clock is not None else None)
        self._note_clocks()
        self._check_end()
        return san

    def take_back(self, plies: int) -> None:
        """Take back plies and restore the clocks; a finished game continues."""
        kept = self.board.moves[: len(self.board.moves) - plies]
        self.board, self.end = self.board.at_start().after(*kept), None
        del self.written_s[len(kept) :]
        if self.clock is not None:
            self.clock.set_both(self.clocks_s[len(kept)])
            del self.clocks_s[len(kept) + 1 :]

    def _note_clocks(self) -> None:
        if self.clock is not None:
            self.clocks_s.append(self.clock.both_s())

    # --- The end -------------------------------------------------------------------------------------------------

    def _check_end(self) -> None:
        reason = ending_text(self.board)
        if reason is not None:
            winner = winner_of(self.board)
            self._finish(DRAW if winner is None else WINS[winner], reason)

    def _finish(self, result: str, reason: str) -> None:
        self.end = End(result, reason)
        if self.clock is not None:
            self.clock.stop()

    def resign(self, side: str) -> None:
        self._finish(WINS[opponent_of(side)], f"{side} resigns")

    def check_flag(self) -> None:
        """End the game if the mover's time is up: lost, or drawn if the opponent cannot mate."""
        side = self.board.turn
        if self.end is None and self.clock is not None and self.clock.left_s(side) <= 0:
            winner = opponent_of(side)
            if self.board.has_insufficient_material(winner):
                self._finish(DRAW, f"draw: {side}'s time is up, but {winner} cannot mate")
            else:
                self._finish(WINS[winner], f"{side}'s time is up, {winner} wins")

    # --- PGN -----------------------------------------------------------------------------------------------------

    def pgn(self) -> str:
        """Return the game so far, with clocks."""
        headers = {
            "Event": "Game in the terminal",
            "Date": f"{date.today():%Y.%m.%d}",
            **self.headers,
            "White": self.names["white"],
            "Black": self.names["black"],
        }
        if self.clock is not None:
            headers["TimeControl"] = str(self.clock.control)
        return pgn_text(headers, self.board, self.end.result if self.end else UNFINISHED, self.written_s)
