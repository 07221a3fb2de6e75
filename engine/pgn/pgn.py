"""Reads and writes PGN. (Steven Edwards: Portable Game Notation, 1994)

Reading accepts the many forms that files have and needs constant memory. What cannot be read is listed in the game's
`errors` and costs only that line; it never raises.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from engine.board import Board, InvalidMove
from engine.core.fen import InvalidFen
from engine.core.move import looks_like_uci
from engine.pgn.game import RESULTS, UNFINISHED, Game, Node
from engine.pgn.tokens import MAX_COMMENT, Tokenizer, TokenKind, decoded
from engine.variants.variant import InvalidVariant

LINE_LENGTH = 80
MAX_NODES = 200_000                # moves per game, variations included
MAX_NESTED = 100                   # depth of nested variations
MAX_HEADERS = 200
MAX_ERRORS = 20                    # per game
ROSTER = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?"}
GLYPHS = {"!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6}
NULL_MOVES = ("--", "Z0", "0000", "@@@@")
RESULT_WORDS = {"1/2": "1/2-1/2", "½-½": "1/2-1/2", "½": "1/2-1/2"}
FIRST_MOVE = re.compile(r"1\s*\.?")


# --- Games -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Line:
    """The main line or a variation, while it is read."""

    node: Node
    board: Board
    previous: Node | None = None   # the node before the last move, where variations start,
    earlier: Board | None = None   # and its board
    opening: str = ""              # a comment before the first move
    dead: bool = False             # a move could not be read: the rest is skipped

    def play(self, text: str, keep_board: bool) -> None:
        """Add a move. Raises InvalidMove."""
        earlier = self.board.copy(moves=False) if keep_board else None
        try:
            move = self.board.push_san(text)
        except InvalidMove:
            if not looks_like_uci(text):           # which some programs write
                raise
            move = self.board.push(text)
        self.previous, self.earlier = self.node, earlier
        self.node = self.node.add_variation(move)
        self.node.starting_comment, self.opening = self.opening, ""


class _GameBuilder:
    """A game, while it is read."""

    def __init__(self, tokens: Tokenizer, variations: bool) -> None:
        self._tokens = tokens
        self._variations = variations
        self.game = Game()
        self._lines: list[_Line] = []  # the main line and the open variations; none before the movetext
        self._skipped = 0              # open variations that are skipped
        self._nodes = 0
        self._ended = False            # after the result
        self._after_blank = False

    def belongs_to_next(self, kind: TokenKind, text: str) -> bool:
        """Return whether this token belongs to the next game."""
        if kind is TokenKind.TAG:
            return bool(self._lines) or (self._after_blank and text.partition("\n")[0] in self.game.headers)
        if kind is TokenKind.NUMBER and FIRST_MOVE.fullmatch(text) and len(self._lines) == 1 and not self._skipped:
            return self._lines[0].previous is not None and (self._ended or self._after_blank)
        return kind in (TokenKind.NUMBER, TokenKind.MOVE) and self._ended and self._after_blank

    def take(self, kind: TokenKind, text: str) -> None:
        """Handle a token."""
        if kind is TokenKind.BLANK:
            self._after_blank = True
            return
        self._after_blank = False
        if kind is TokenKind.TAG:
            self._header(*text.split("\n", 1))
        elif kind is TokenKind.BROKEN:
            self._add_error(text)
        else:
            if not self._lines:
                self._lines = [self._first_line()]
            self._movetext(kind, text)

    def finish(self) -> Game | None:
        """Return the game, None if it is empty."""
        if self._skipped or len(self._lines) > 1:
            self._add_error("a variation is not closed")
        something = self._lines or self.game.headers or self.game.errors
        return self.game if something else None

    def _header(self, name: str, value: str) -> None:
        if len(self.game.headers) < MAX_HEADERS:
            self.game.headers[name] = value

    def _first_line(self) -> _Line:
        """Return the main line, in the initial position that the headers give."""
        try:
            return _Line(self.game.root, self.game.board())
        except (InvalidFen, InvalidVariant) as error:
            self._add_error(str(error))
            return _Line(self.game.root, Board(), dead=True)

    def _movetext(self, kind: TokenKind, text: str) -> None:
        line = self._lines[-1]
        if kind is TokenKind.OPEN:
            self._open(line)
        elif kind is TokenKind.CLOSE:
            self._close()
        elif kind is TokenKind.RESULT and len(self._lines) == 1 and not self._skipped:
            self._ended = True
            if self.game.headers.get("Result", UNFINISHED) not in RESULTS[:3]:
                self.game.headers["Result"] = RESULT_WORDS.get(text, text)
        elif line.dead or self._skipped:
            return
        elif kind is TokenKind.MOVE:
            self._move(line, text)
        elif kind is TokenKind.COMMENT:
            self._comment(line, text)
        elif kind is TokenKind.NAG:
            line.node.nags.append(int(text[1:]))
        elif kind is TokenKind.GLYPH and text in GLYPHS:
            line.node.nags.append(GLYPHS[text])

    def _open(self, line: _Line) -> None:
        if self._skipped or line.dead or not self._variations:
            self._skipped += 1
        elif line.previous is None or line.earlier is None:
            self._add_error("a variation stands before any move")
            self._skipped += 1
        elif len(self._lines) > MAX_NESTED:
            self._add_error(f"variations are nested more than {MAX_NESTED} deep")
            self._skipped += 1
        else:
            self._lines.append(_Line(line.previous, line.earlier.copy(moves=False)))

    def _close(self) -> None:
        if self._skipped:
            self._skipped -= 1
        elif len(self._lines) > 1:
            self._lines.pop()
        else:
            self._add_error("expected a move, found ')' without '('")

    def _move(self, line: _Line, text: str) -> None:
        if self._nodes >= MAX_NODES:
            line.dead = True
            self._add_error(f"the game has more than {MAX_NODES} moves")
            return
        try:
            line.play(text, self._variations)
            self._nodes += 1
        except InvalidMove as error:
            line.dead = True
            null = f"{text!r} is a null move, which the rules do not know"
            self._add_error(null if text in NULL_MOVES else str(error))

    def _comment(self, line: _Line, text: str) -> None:
        """Store a comment after a move, or before the first move of a variation."""
        if line.previous is None and len(self._lines) > 1:
            line.opening = f"{line.opening} {text}".strip()[:MAX_COMMENT]
        else:
            line.node.comment = f"{line.node.comment} {text}".strip()[:MAX_COMMENT]

    def _add_error(self, problem: str) -> None:
        if len(self.game.errors) < MAX_ERRORS:
            self.game.errors.append(f"line {self._tokens.line_number}: {problem}")


def read_games(stream: BinaryIO, *, variations: bool = True) -> Iterator[Game]:
    """Yield the games of a binary file. Without `variations` only main lines are kept, which is faster."""
    tokens = Tokenizer(decoded(stream))
    builder = _GameBuilder(tokens, variations)
    for kind, text in tokens:
        if builder.belongs_to_next(kind, text):
            if (game := builder.finish()) is not None:
                yield game
            builder = _GameBuilder(tokens, variations)
        builder.take(kind, text)
    if (game := builder.finish()) is not None:
        yield game


# --- Writing ---------------------------------------------------------------------------------------------------------


def game_text(game: Game) -> str:
    """Return a game in PGN's export format with an empty line at the end. Only comments exceed 80 characters a line."""
    tags = {**ROSTER, "Result": UNFINISHED, **game.headers}
    lines = [f'[{name} "{_escape(value)}"]' for name, value in tags.items()]
    words = [*_comment_words(game.root.comment), *_line_words(game.root, game.board(), True), game.result]
    return "\n".join([*lines, "", *_wrap(words), "", ""])


def pgn_text(
    headers: Mapping[str, str],
    board: Board,
    result: str,
    clocks_s: Sequence[float | None] = (),
    evals: Sequence[str | None] = (),
) -> str:
    """Return the game that led to a board in PGN.

    `clocks_s` and `evals` have an item per ply, None if unknown: the mover's clock after it in seconds, and the
    evaluation from White's view, in pawns or as a mate such as '#-3', perhaps with a comma and the depth.
    """
    game = Game.of(board, {**headers, "Result": result})
    nodes = list(game.root.mainline())
    for node, evaluation in zip(nodes, evals, strict=False):
        if evaluation is not None:
            node.set_command("eval", evaluation)
    for node, seconds in zip(nodes, clocks_s, strict=False):
        if seconds is not None:
            node.set_clock(seconds)
    return game_text(game)


def _escape(value: str) -> str:
    return re.sub(r"[\r\n]+", " ", value).replace("\\", "\\\\").replace('"', '\\"')


def _comment_words(comment: str) -> list[str]:
    """Return the comment in braces as one word, so that it is not wrapped. It cannot contain a closing brace."""
    text = " ".join(comment.replace("}", ")").split())
    return [f"{{ {text} }}"] if text else []


def _line_words(node: Node, board: Board, numbered: bool) -> Iterator[str]:
    """Yield the words after a node and play its line on `board`. `numbered`: a move of Black needs its number too."""
    while node.variations:
        played, *variations = node.variations
        earlier = board.copy(moves=False)
        yield from _move_words(played, board, numbered)
        for variation in variations:
            yield from _variation_words(variation, earlier.copy(moves=False))
        numbered = bool(variations or played.comment)
        node = played


def _variation_words(first: Node, board: Board) -> list[str]:
    """Return a variation in parentheses."""
    words = [*_comment_words(first.starting_comment), *_move_words(first, board, True)]
    words += _line_words(first, board, bool(first.comment))
    return [f"({words[0]}", *words[1:-1], f"{words[-1]})"]


def _move_words(node: Node, board: Board, numbered: bool) -> Iterator[str]:
    """Yield a move with number, NAGs and comment, and play it."""
    if board.turn == "white":
        yield f"{board.fullmove_number}."
    elif numbered:
        yield f"{board.fullmove_number}..."
    yield board.san(node.move)
    board.push(node.move)
    yield from (f"${nag}" for nag in node.nags)
    yield from _comment_words(node.comment)


def _wrap(words: list[str]) -> list[str]:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > LINE_LENGTH:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
