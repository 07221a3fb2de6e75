"""Draws the board as text, with or without colours and Unicode."""

from collections.abc import Collection
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

from engine.accuracy import Score, win_percent
from engine.board import Board
from engine.lessons.notation import score_text

OUTLINES = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟", strict=True))
VALUES = {"K": 0, "Q": 9, "R": 5, "B": 3, "N": 3, "P": 1}      # in the order shown; antichess captures kings
# Square colours halfway between black and white: pieces of both colours stand out.
SQUARES = ("#6f8ba6", "#9fb4c8")
LAST_MOVE = ("#b08f2f", "#c8a951")
CHECK = "#c0504d"
BAR_ROWS = 8


@dataclass(frozen=True)
class Theme:
    """What the terminal can show."""

    unicode: bool
    colour: bool

    @classmethod
    def detect(cls, console: Console, ascii_only: bool = False) -> "Theme":
        """Return what this console can show."""
        try:
            "".join(OUTLINES.values()).encode(console.encoding)
        except UnicodeEncodeError:
            ascii_only = True
        return cls(not ascii_only, console.is_terminal and not console.no_color)

    def piece(self, letter: str) -> str:
        """Return the symbol of a piece; with colours both sides have the filled shapes."""
        if not self.unicode:
            return letter
        return OUTLINES[letter.lower()] if self.colour else OUTLINES[letter]


@dataclass(frozen=True)
class BoardView:
    """What to draw: the position and its orientation, evaluation, marked squares and texts."""

    board: Board
    white_below: bool = True
    white_score: Score | None = None
    targets: Collection[str] = field(default_factory=tuple)
    above: str = ""                # text right of the board at the top, and at the bottom
    below: str = ""
    is_narrow: bool = False        # leave out what stands right of the board


def draw(view: BoardView, theme: Theme) -> Text:
    """Draw eight rows with the evaluation bar, and the file letters below."""
    ranks = range(8, 0, -1) if view.white_below else range(1, 9)
    files = "abcdefgh" if view.white_below else "hgfedcba"
    marked = _last_move(view.board)
    checked = _checked_king(view.board)
    text = Text()
    for row, rank in enumerate(ranks):
        text.append_text(_bar(view, theme, row))
        text.append(f" {rank} ")
        for file in files:
            square = f"{file}{rank}"
            text.append_text(_square(view, theme, square, square in marked, square == checked))
        beside = _beside(view, theme, top=row == 0) if row in (0, 7) and not view.is_narrow else ""
        text.append(f"  {beside}".rstrip() + "\n")
    text.append(f"{' ' * (2 if view.white_score else 0)}   {''.join(f' {file} ' for file in files)}")
    if view.white_score is not None:
        text.append(f"  {score_text(view.white_score)}")
    return text


def _beside(view: BoardView, theme: Theme, *, top: bool) -> str:
    """Return the text right of the first or last row, with the pocket or the checks of the side that sits there."""
    side = "black" if top == view.white_below else "white"
    pocket, checks = view.board.pocket(side), view.board.checks_given(side)
    parts = [view.above if top else view.below]
    if pocket:
        parts.append(f"pocket {''.join(map(theme.piece, pocket))}")
    if checks:
        parts.append(f"checks {checks}")
    return "  ".join(filter(None, parts))


def _last_move(board: Board) -> set[str]:
    """Return the squares of the last move, empty before the first."""
    moves = board.moves
    return {moves[-1][:2], moves[-1][2:4]} if moves else set()


def _checked_king(board: Board) -> str:
    if not board.is_check():
        return ""
    king = "K" if board.turn == "white" else "k"
    squares = (f"{file}{rank}" for file in "abcdefgh" for rank in range(1, 9))
    return next(square for square in squares if board.piece_at(square) == king)


def _square(view: BoardView, theme: Theme, square: str, marked: bool, checked: bool) -> Text:
    letter = view.board.piece_at(square)
    target = square in view.targets
    light = (ord(square[0]) + int(square[1])) % 2 == 1         # a1 is dark
    captures = target and letter is not None
    glyph = theme.piece(letter) if letter else _empty_square(theme, target)
    if theme.colour:
        ground = CHECK if checked or captures else LAST_MOVE[light] if marked else SQUARES[light]
        ink = "#ffffff" if letter and letter.isupper() else "#000000"
        return Text(f" {glyph} ", style=f"{ink} on {ground}")
    if captures:
        return Text(f"({glyph})")
    return Text(f"[{glyph}]" if marked else f" {glyph} ")


def _empty_square(theme: Theme, target: bool) -> str:
    if target:
        return "•" if theme.colour and theme.unicode else "*"
    return " " if theme.colour else "."


def _bar(view: BoardView, theme: Theme, row: int) -> Text:
    """Draw one row of the evaluation bar; White's share grows from White's side of the board."""
    if view.white_score is None:
        return Text()
    white_rows = round(win_percent(view.white_score) / 100 * BAR_ROWS)
    white = row >= BAR_ROWS - white_rows if view.white_below else row < white_rows
    if theme.colour:
        return Text("  ", style=f"on {'#eeeeee' if white else '#303030'}")
    glyphs = "█░" if theme.unicode else "#."
    return Text(glyphs[0 if white else 1] + " ")


def captured(board: Board, side: str, theme: Theme) -> str:
    """Return the pieces that this side has captured and its material lead: '♕♙♙ +5'.

    In crazyhouse nothing: they are in its pocket.
    """
    if board.variant == "crazyhouse":
        return ""
    before, now = _counts(board.at_start()), _counts(board)
    theirs = str.lower if side == "white" else str.upper
    missing = {kind: before[theirs(kind)] - now[theirs(kind)] for kind in VALUES}
    missing["P"] += sum(min(0, missing[kind]) for kind in VALUES if kind != "P")     # promoted
    taken = "".join(theme.piece(theirs(kind)) * max(0, missing[kind]) for kind in VALUES)
    balance = sum(VALUES[kind] * (now[kind] - now[kind.lower()]) for kind in VALUES)
    ahead = balance if side == "white" else -balance
    return f"{taken} +{ahead}".strip() if ahead > 0 else taken


def _counts(board: Board) -> dict[str, int]:
    diagram = board.diagram()
    return {letter: diagram.count(letter) for letter in OUTLINES}
