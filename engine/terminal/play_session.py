"""The interactive session of `play`: reads commands, lets the computer think, draws the board.

Lines, results of searches and the end of the input arrive as events on one queue.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Queue

from rich.console import Console

from engine.board import Board, InvalidMove
from engine.facade import Limits
from engine.lessons.notation import score_text
from engine.nearest import did_you_mean
from engine.terminal.board_view import BoardView, Theme, captured, draw
from engine.terminal.chess_clock import clock_text, opponent_of
from engine.terminal.keyboard import InputEnded, LineTyped, next_event, read_lines
from engine.terminal.players import BackgroundSearch, Player, SearchDone, quick_evaluation
from engine.terminal.terminal_game import TerminalGame

HINT_LIMITS = Limits(move_time_ms=1000)
SQUARE = re.compile(r"[a-h][1-8]")
HELP = """\
e4, Nf3, e2e4, O-O   play a move, in SAN or UCI notation
N@f3                 drop a piece from the pocket, in crazyhouse
e2                   show the moves of the piece there
undo                 take back your last move
hint                 ask the engine for a move
now                  make the computer move at once
moves                list all legal moves
board, flip          draw the board again, or turn it
fen, pgn             print the position or the game so far
save game.pgn        write the game to a new file; save! overwrites
resign, quit         give up the game, or leave"""


class PlaySession:
    """A game of two players with a user at the keyboard."""

    def __init__(self, game: TerminalGame, players: Mapping[str, Player], console: Console, theme: Theme) -> None:
        self._game = game
        self._players = players
        self._console = console
        self._theme = theme
        self._queue: Queue[object] = Queue()
        self._search = BackgroundSearch(self._queue)
        self._awaited = 0              # number of the search for the next move,
        self._hint_awaited = 0         # or for a hint
        self._premoves: list[str] = []    # typed before their turn
        self._written: set[Path] = set()
        self._prompted = False
        self._quitting = False
        self._input_ended = False
        self._announced = False        # the end of the game
        self._white_below = not players["white"].is_computer or players["black"].is_computer
        self._commands: dict[str, Callable[[str], None]] = {
            "help": lambda rest: self._say(HELP),
            "undo": self._undo,
            "hint": self._hint,
            "now": lambda rest: self._search.move_now(),
            "moves": self._list_moves,
            "board": lambda rest: self._draw(),
            "flip": self._flip,
            "fen": lambda rest: self._say(self._board.fen()),
            "pgn": lambda rest: self._say(self._game.pgn().rstrip()),
            "save": self._save,
            "save!": self._save_anyway,
            "resign": self._resign,
            "quit": self._quit,
        }

    def run(self, descriptor: int) -> None:
        """Play until the user quits or presses Ctrl-C. `descriptor` is the input."""
        read_lines(descriptor, self._queue)
        try:
            self._draw()
            self._announce_end()
            while not self._quitting:
                self._prompt()
                self._start_computer()
                self._handle(self._wait())
                self._announce_end()
        except KeyboardInterrupt:
            self._say("")
        finally:
            self._search.cancel()

    # --- Events --------------------------------------------------------------------------------------------------

    @property
    def _board(self) -> Board:
        return self._game.board

    def _humans(self) -> list[str]:
        return [side for side, player in self._players.items() if not player.is_computer]

    def _is_computers_turn(self) -> bool:
        return self._players[self._board.turn].is_computer

    def _start_computer(self) -> None:
        """Start a search if it is the computer's turn."""
        game, player = self._game, self._players[self._board.turn]
        if game.end is None and player.limits is not None and not self._awaited:
            limits = player.limits
            if game.clock is not None:
                left_s, increment_ms = game.clock.both_s(), round(game.clock.control.increment_s * 1000)
                limits = limits._replace(
                    white_time_ms=round(left_s["white"] * 1000),
                    black_time_ms=round(left_s["black"] * 1000),
                    white_increment_ms=increment_ms,
                    black_increment_ms=increment_ms,
                )
            self._awaited = self._search.start(self._board, limits, player.style, player.rating)

    def _wait(self) -> object:
        """Return the next event, or None if the mover's time is up first."""
        game = self._game
        if game.end is not None or game.clock is None:
            return next_event(self._queue)
        game.clock.start(self._board.turn)
        return next_event(self._queue, game.clock.left_s(self._board.turn))

    def _handle(self, event: object) -> None:
        self._game.check_flag()
        match event:
            case LineTyped(text):
                self._prompted = False
                self._obey(text.strip())
            case SearchDone(number, move, white_score) if number == self._awaited:
                self._awaited = 0
                if move is not None and self._game.end is None:
                    self._move(move, f" ({score_text(white_score)})" if white_score else "")
            case SearchDone(number, move, white_score) if number == self._hint_awaited and move is not None:
                evaluation = f" ({score_text(white_score)})" if white_score else ""
                self._say(f"hint: {self._board.san(move)}{evaluation}")
            case InputEnded():
                self._input_ended = True
        while self._premoves and not self._awaited and self._game.end is None and not self._is_computers_turn():
            self._try_move(self._premoves.pop(0))
        if self._input_ended and self._humans() and not self._premoves:
            self._quitting = True

    def _announce_end(self) -> None:
        end = self._game.end
        if end is None or self._announced:
            return
        self._announced = True
        self._awaited = self._hint_awaited = 0
        self._premoves.clear()
        self._search.cancel()
        self._say(f"{end.result}  {end.reason}")
        if not self._humans():
            self._quitting = True

    # --- Commands ------------------------------------------------------------------------------------------------

    def _obey(self, text: str) -> None:
        word, _, rest = text.partition(" ")
        command = self._commands.get(word.lower())
        if command is not None:
            command(rest.strip())
        elif SQUARE.fullmatch(text) and self._is_own_piece(text):
            self._show_moves(text)
        elif text:
            self._try_move(text)

    def _is_own_piece(self, square: str) -> bool:
        """Return whether a piece of the side to move is there; then the text cannot be a pawn move."""
        piece = self._board.piece_at(square)
        return piece is not None and piece.isupper() == (self._board.turn == "white")

    def _show_moves(self, square: str) -> None:
        moves = self._game.moves_from(square)
        if moves:
            targets = {self._target(move) for move in moves}
            self._draw(targets)
            self._say(f"{square}: {', '.join(map(self._board.san, moves))}")
        else:
            self._say(f"{square}: no legal move")

    def _list_moves(self, rest: str) -> None:
        self._say(", ".join(sorted(map(self._board.san, self._board.legal_moves()))) or "no legal move")

    def _target(self, move: str) -> str:
        """Return the square to mark; for castling, the king's."""
        san = self._board.san(move)
        if san.startswith("O-O"):
            return ("c" if san.startswith("O-O-O") else "g") + move[1]
        return move[2:4]

    def _is_over(self) -> bool:
        """Return whether the game is over, and say so."""
        if self._game.end is None:
            return False
        self._say("the game is over: `undo` takes back a move, `save FILE` writes it, `quit` leaves")
        return True

    def _try_move(self, text: str) -> None:
        if self._is_over():
            return
        if self._is_computers_turn():
            self._premoves.append(text)
            self._say(f"{text} waits for your turn; `now` makes the computer move, `undo` takes this back")
            return
        try:
            move = self._game.read_move(text)
        except InvalidMove as error:
            hint = did_you_mean(text.split()[0].lower(), self._commands, 0.7)
            self._say(f"unknown command {text[:20]!r}{hint}" if hint else str(error))
            self._premoves.clear()     # they were meant to follow this move
            return
        self._move(move, "")

    def _move(self, move: str, evaluation: str) -> None:
        side, number = self._board.turn, self._board.fullmove_number
        self._hint_awaited = 0
        san = self._game.play(move)
        dots = "." if side == "white" else "..."
        self._say(f"\n{self._players[side].name}: {number}{dots} {san}{evaluation}")
        self._draw()

    def _undo(self, rest: str) -> None:
        """Take back to the last position with a human to move."""
        if self._premoves:
            self._say(f"{self._premoves.pop()} is taken back")
            return
        humans, side = self._humans(), self._board.turn
        plies = 1 if opponent_of(side) in humans else 2
        if not humans or plies > len(self._board.moves):
            self._say("nothing to take back")
            return
        self._search.cancel()
        self._awaited = self._hint_awaited = 0
        self._announced = False
        self._game.take_back(plies)
        self._draw()

    def _hint(self, rest: str) -> None:
        if self._is_over():
            return
        if self._is_computers_turn():
            self._say("no hint: it is not your turn")
            return
        self._hint_awaited = self._search.start(self._board, HINT_LIMITS, None)

    def _flip(self, rest: str) -> None:
        self._white_below = not self._white_below
        self._draw()

    def _resign(self, rest: str) -> None:
        humans = self._humans()
        if self._is_over():
            return
        if not humans:
            self._say("no human player can resign")
            return
        self._game.resign(self._board.turn if self._board.turn in humans else humans[0])

    def _quit(self, rest: str) -> None:
        self._quitting = True

    def _save(self, name: str) -> None:
        # Not `Path.exists`, which raises for a name that is too long or in a folder of others.
        if os.path.exists(name) and Path(name) not in self._written:
            self._say(f"{name} exists already: choose another name, or `save! {name}` to overwrite it")
            return
        self._save_anyway(name)

    def _save_anyway(self, name: str) -> None:
        if not name:
            self._say("expected a file name, such as save game.pgn")
            return
        try:
            Path(name).write_text(self._game.pgn(), encoding="utf-8")
        except (OSError, ValueError) as error:         # ValueError: a null byte in the name
            reason = error.strerror if isinstance(error, OSError) else "the name contains a null byte"
            self._say(f"cannot write {name}: {reason}")
            return
        self._written.add(Path(name))
        self._say(f"written to {name}")

    # --- Output --------------------------------------------------------------------------------------------------

    def _say(self, text: str) -> None:
        self._prompted = False
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _prompt(self) -> None:
        """Ask a human for a move, or after the game for a command, unless the last line does so already."""
        is_over = self._game.end is not None
        if self._console.is_terminal and not self._prompted and (is_over or self._board.turn in self._humans()):
            self._prompted = True
            self._console.print("> " if is_over else f"{self._board.turn}> ", end="", markup=False, highlight=False)

    def _draw(self, targets: frozenset[str] | set[str] = frozenset()) -> None:
        top, bottom = ("black", "white") if self._white_below else ("white", "black")
        self._prompted = False
        # Two humans play without the engine's opinion.
        bar = None if len(self._humans()) == 2 else quick_evaluation(self._board)
        view = BoardView(self._board, self._white_below, bar, targets, self._beside(top), self._beside(bottom))
        self._console.print(draw(view, self._theme), soft_wrap=True)

    def _beside(self, side: str) -> str:
        """Return a side's name, clock and captured pieces."""
        watch = self._game.clock
        clock = clock_text(watch.left_s(side)) if watch is not None else ""
        turn = "*" if side == self._board.turn and self._game.end is None else ""
        parts = (self._players[side].name + turn, clock, captured(self._board, side, self._theme))
        return "  ".join(filter(None, parts))
