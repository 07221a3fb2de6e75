"""A game as a tree of moves: headers, variations, comments, NAGs and commands in comments such as `[%clk]`.

Knows nothing of PGN's syntax.
(Steven Edwards: Portable Game Notation, 1994; the commands in comments: PGN supplement, 2001)
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.board import Board
from engine.core.fen import STARTING_FEN, InvalidFen
from engine.variants.variant import InvalidVariant, find_variant, is_chess960

UNFINISHED = "*"
RESULTS = ("1-0", "0-1", "1/2-1/2", UNFINISHED)
COMMAND = re.compile(r"\[%(\w+)\s([^][]*)\]")
CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2}(?:\.\d{1,6})?)")


@dataclass(eq=False, slots=True)
class Node:
    """A move with its comments, NAGs and continuations. The first of `variations` continues the line.

    `move` is in UCI notation as the game's board spells it, empty at the root. `starting_comment` precedes the move if
    it begins a variation.
    """

    move: str = ""
    comment: str = ""
    starting_comment: str = ""
    nags: list[int] = field(default_factory=list)
    variations: list["Node"] = field(default_factory=list, repr=False)

    def add_variation(self, move: str) -> "Node":
        """Add a variation at the end and return it."""
        node = Node(move)
        self.variations.append(node)
        return node

    def mainline(self) -> Iterator["Node"]:
        """Yield the nodes of the main line."""
        node = self
        while node.variations:
            node = node.variations[0]
            yield node

    @property
    def text(self) -> str:
        """The comment without commands."""
        said = COMMAND.split(self.comment)[:: COMMAND.groups + 1]
        return " ".join(filter(None, map(str.strip, said)))

    @property
    def clock_s(self) -> float | None:
        """The mover's clock after the move, from `[%clk]`."""
        found = CLOCK.fullmatch(self._command("clk"))
        if found is None:
            return None
        hours, minutes, seconds = found.groups(default="0")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)

    def set_clock(self, seconds: float) -> None:
        """Set `[%clk]`, in whole seconds."""
        minutes, rest = divmod(max(0, int(seconds)), 60)
        self.set_command("clk", f"{minutes // 60}:{minutes % 60:02}:{rest:02}")

    def _command(self, name: str) -> str:
        return next((found[2].strip() for found in COMMAND.finditer(self.comment) if found[1] == name), "")

    def set_command(self, name: str, value: str) -> None:
        """Set a command in the comment."""
        others = [f"[%{found[1]} {found[2]}]" for found in COMMAND.finditer(self.comment) if found[1] != name]
        self.comment = " ".join(filter(None, [*others, f"[%{name} {value}]", self.text]))


@dataclass(eq=False)
class Game:
    """A game. `errors` lists what could not be read, each with its line."""

    headers: dict[str, str] = field(default_factory=dict)
    root: Node = field(default_factory=Node)
    errors: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, board: Board, headers: dict[str, str] | None = None) -> "Game":
        """Return the game that led to a board."""
        game = cls(dict(headers or {}))
        variant = find_variant(board.variant)
        if board.initial_fen != (variant.starting_fen if variant else STARTING_FEN):
            game.headers |= {"SetUp": "1", "FEN": board.initial_fen}
        if variant or board.chess960:
            game.headers.setdefault("Variant", variant.name if variant else "Chess960")
        node = game.root
        for move in board.moves:
            node = node.add_variation(move)
        return game

    @property
    def moves(self) -> list[str]:
        """The moves of the main line."""
        return [node.move for node in self.root.mainline()]

    @property
    def result(self) -> str:
        """'1-0', '0-1', '1/2-1/2' or '*'."""
        result = self.headers.get("Result", UNFINISHED)
        return result if result in RESULTS else UNFINISHED

    def board(self) -> Board:
        """Return the initial position. Raises InvalidFen or InvalidVariant."""
        variant = self.headers.get("Variant", "")
        return Board(self.headers.get("FEN") or None, chess960=is_chess960(variant), variant=variant)

    def standard_board(self) -> Board | None:
        """Return the initial position, None if it is unreadable or of a variant."""
        try:
            board = self.board()
        except (InvalidFen, InvalidVariant):
            return None
        return board if board.variant == "standard" else None
