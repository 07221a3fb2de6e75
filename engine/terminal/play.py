"""Playing at the terminal: reads what is typed, lets the computer think, draws the board.

Whatever happens comes as an event on one queue: a line, a thought, the end of the input.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from queue import Queue

from rich.console import Console

from engine.board import Board, InvalidMove
from engine.clock import Limits
from engine.lessons.wording import judgement_text
from engine.pgn import game_text
from engine.terminal.drawing import Look, Scene, captured, draw
from engine.terminal.keyboard import InputEnded, Typed, listen, next_event
from engine.terminal.players import Mind, Player, Thought, glance
from engine.terminal.playing import Playing, other_side
from engine.terminal.stopwatch import clock_text

HINT_LIMITS = Limits(move_time_ms=1000)
SQUARE = re.compile(r"[a-h][1-8]")
HELP = """\
e4, Nf3, e2e4, O-O   a move, in algebraic notation or from square to square
e2                   the moves of what stands there
undo                 take back your last move
hint                 what the engine would play
now                  let the computer move at once
moves                all legal moves
board, flip          draw the board again, or from the other side
fen, pgn             the position, the game so far
save game.pgn        write the game to a file; save! overwrites one that is there
resign, quit         give up, leave"""


class Play:
    """One sitting. `run` returns when it is over."""

    def __init__(self, playing: Playing, players: Mapping[str, Player], console: Console, look: Look) -> None:
        self._playing = playing
        self._players = players
        self._console = console
        self._look = look
        self._queue: Queue[object] = Queue()
        self._mind = Mind(self._queue)
        self._awaited = 0              # the number of the search whose thought is the next move,
        self._hint_awaited = 0         # or a hint
        self._early: list[str] = []    # moves typed before their turn
        self._written: set[Path] = set()
        self._leaving = False
        self._input_ended = False
        self._announced = False        # how the game ended
        self._white_below = not players["white"].is_computer or players["black"].is_computer
        self._commands: dict[str, Callable[[str], None]] = {
            "help": lambda rest: self._say(HELP),
            "undo": self._undo,
            "hint": self._hint,
            "now": lambda rest: self._mind.hurry(),
            "moves": lambda rest: self._say(", ".join(sorted(map(self._board.san, self._board.legal_moves())))),
            "board": lambda rest: self._draw(),
            "flip": self._flip,
            "fen": lambda rest: self._say(self._board.fen()),
            "pgn": lambda rest: self._say(game_text(self._playing.game()).rstrip()),
            "save": self._save,
            "save!": self._save_anyway,
            "resign": self._resign,
            "quit": self._quit,
        }

    def run(self, descriptor: int) -> None:
        """Play until somebody leaves; `descriptor` is what is typed on. Ctrl-C leaves too."""
        listen(descriptor, self._queue)
        try:
            self._draw()
            self._announce_end()
            self._prompt()
            while not self._leaving:
                self._let_computer_move()
                self._handle(self._wait())
                self._announce_end()
        except KeyboardInterrupt:
            self._say("")
        finally:
            self._mind.forget()

    # --- Events --------------------------------------------------------------------------------------------------

    @property
    def _board(self) -> Board:
        return self._playing.board

    def _people(self) -> list[str]:
        return [side for side, player in self._players.items() if not player.is_computer]

    def _is_computers_turn(self) -> bool:
        return self._players[self._board.turn].is_computer

    def _let_computer_move(self) -> None:
        """Begin to think if it is the computer's turn."""
        playing, player = self._playing, self._players[self._board.turn]
        if playing.end is None and player.limits is not None and not self._awaited:
            limits = player.limits
            if playing.watch is not None:
                left_s, gain_ms = playing.watch.both_s(), round(playing.watch.control.increment_s * 1000)
                limits = replace(
                    limits,
                    white_time_ms=round(left_s["white"] * 1000),
                    black_time_ms=round(left_s["black"] * 1000),
                    white_increment_ms=gain_ms,
                    black_increment_ms=gain_ms,
                )
            self._awaited = self._mind.think(self._board, limits, player.style)

    def _wait(self) -> object:
        """The next event; None when the mover's time is up before one comes."""
        playing = self._playing
        if playing.end is not None or playing.watch is None:
            return next_event(self._queue)
        playing.watch.start(self._board.turn)
        return next_event(self._queue, playing.watch.left_s(self._board.turn))

    def _handle(self, event: object) -> None:
        self._playing.look_at_clock()
        match event:
            case Typed(text):
                self._obey(text.strip())
            case Thought(number, move, judgement) if number == self._awaited:
                self._awaited = 0
                if move is not None and self._playing.end is None:
                    self._move(move, f" ({judgement_text(judgement)})" if judgement else "")
            case Thought(number, move, judgement) if number == self._hint_awaited and move is not None:
                opinion = f" ({judgement_text(judgement)})" if judgement else ""
                self._say(f"hint: {self._board.san(move)}{opinion}")
                self._prompt()
            case InputEnded():
                self._input_ended = True
        while self._early and not self._awaited and self._playing.end is None and not self._is_computers_turn():
            self._try_move(self._early.pop(0))
        if self._input_ended and self._people() and not self._early:
            self._leaving = True

    def _announce_end(self) -> None:
        end = self._playing.end
        if end is None or self._announced:
            return
        self._announced = True
        self._awaited = 0
        self._early.clear()
        self._mind.forget()
        self._say(f"{end.result}  {end.reason}")
        if not self._people():
            self._leaving = True

    # --- Commands ------------------------------------------------------------------------------------------------

    def _obey(self, text: str) -> None:
        word, _, rest = text.partition(" ")
        command = self._commands.get(word.lower())
        if command is not None:
            command(rest.strip())
        elif SQUARE.fullmatch(text) and self._stands_there(text):
            self._show_moves(text)
        elif text:
            self._try_move(text)
        if not self._leaving:
            self._prompt()

    def _stands_there(self, square: str) -> bool:
        """Does a man of the side to move stand there? Then no pawn can be meant to go there."""
        piece = self._board.piece_at(square)
        return piece is not None and piece.isupper() == (self._board.turn == "white")

    def _show_moves(self, square: str) -> None:
        moves = self._playing.moves_from(square)
        if moves:
            targets = {self._target(move) for move in moves}
            self._draw(targets)
            self._say(f"{square}: {', '.join(map(self._board.san, moves))}")
        else:
            self._say(f"{square}: no legal move")

    def _target(self, move: str) -> str:
        """Where the mark goes: for castling, where the king goes."""
        san = self._board.san(move)
        if san.startswith("O-O"):
            return ("c" if san.startswith("O-O-O") else "g") + move[1]
        return move[2:4]

    def _try_move(self, text: str) -> None:
        if self._playing.end is not None:
            self._say("the game is over; `undo` takes back, `save FILE` keeps it, `quit` leaves")
            return
        if self._is_computers_turn():
            self._early.append(text)
            self._say(f"{text} waits for your turn; `now` hurries the computer, `undo` takes it back")
            return
        try:
            move = self._playing.read_move(text)
        except InvalidMove as error:
            close = get_close_matches(text.split()[0].lower(), list(self._commands), 1, 0.7)
            self._say(f"unknown command {text[:20]!r}; did you mean {close[0]}?" if close else str(error))
            self._early.clear()        # what was to follow makes no sense any more
            return
        self._move(move, "")

    def _move(self, move: str, opinion: str) -> None:
        side, number = self._board.turn, self._board.fullmove_number
        self._hint_awaited = 0
        san = self._playing.play(move)
        dots = "." if side == "white" else "..."
        self._say(f"\n{self._players[side].name}: {number}{dots} {san}{opinion}")
        self._draw()
        self._prompt()

    def _undo(self, rest: str) -> None:
        """Back to the last position in which it was a person's turn."""
        if self._early:
            self._say(f"{self._early.pop()} is taken back")
            return
        people, side = self._people(), self._board.turn
        plies = 1 if other_side(side) in people else 2
        if not people or plies > len(self._board.moves):
            self._say("nothing to take back")
            return
        self._mind.forget()
        self._awaited = self._hint_awaited = 0
        self._announced = False
        self._playing.take_back(plies)
        self._draw()

    def _hint(self, rest: str) -> None:
        if self._playing.end is not None or self._is_computers_turn():
            self._say("no hint: it is not your move")
            return
        self._hint_awaited = self._mind.think(self._board, HINT_LIMITS, None)

    def _flip(self, rest: str) -> None:
        self._white_below = not self._white_below
        self._draw()

    def _resign(self, rest: str) -> None:
        people = self._people()
        if not people or self._playing.end is not None:
            self._say("there is nobody who could resign")
            return
        self._playing.resign(self._board.turn if self._board.turn in people else people[0])

    def _quit(self, rest: str) -> None:
        self._leaving = True

    def _save(self, name: str) -> None:
        path = Path(name)
        if name and path.exists() and path not in self._written:
            self._say(f"{name} exists already: choose another name, or `save! {name}` to overwrite it")
            return
        self._save_anyway(name)

    def _save_anyway(self, name: str) -> None:
        if not name:
            self._say("expected the name of a file, such as save game.pgn")
            return
        try:
            Path(name).write_text(game_text(self._playing.game()), encoding="utf-8")
        except (OSError, ValueError) as error:         # ValueError: a null byte in the name
            reason = error.strerror if isinstance(error, OSError) else "the name contains a null byte"
            self._say(f"cannot write {name}: {reason}")
            return
        self._written.add(Path(name))
        self._say(f"written to {name}")

    # --- Showing -------------------------------------------------------------------------------------------------

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _prompt(self) -> None:
        if self._console.is_terminal and self._playing.end is None and self._board.turn in self._people():
            self._console.print(f"{self._board.turn}> ", end="", markup=False, highlight=False)

    def _draw(self, targets: frozenset[str] | set[str] = frozenset()) -> None:
        top, bottom = ("black", "white") if self._white_below else ("white", "black")
        scene = Scene(
            self._board, self._white_below, glance(self._board), targets, self._beside(top), self._beside(bottom)
        )
        self._console.print(draw(scene, self._look), soft_wrap=True)

    def _beside(self, side: str) -> str:
        """Name, clock and booty of a side."""
        watch = self._playing.watch
        clock = clock_text(watch.left_s(side)) if watch is not None else ""
        turn = "*" if side == self._board.turn and self._playing.end is None else ""
        parts = (self._players[side].name + turn, clock, captured(self._board, side, self._look))
        return "  ".join(filter(None, parts))
