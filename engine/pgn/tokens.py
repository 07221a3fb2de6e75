"""Splits PGN into tokens: headers, moves, comments, parentheses, results. Knows nothing of chess.

(Steven Edwards: Portable Game Notation, 1994)
"""

import io
import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import BinaryIO

MAX_LINE = 1 << 20                 # characters; longer lines are split at a space
MAX_COMMENT = 100_000              # characters
MAX_HEADER = 2000                  # characters
MAX_QUOTED = 60                    # characters that an error quotes


class TokenKind(Enum):
    """The kind of a token."""

    TAG = auto()                   # the name, a line break and the value
    BLANK = auto()                 # an empty line
    NUMBER = auto()
    MOVE = auto()
    NAG = auto()
    GLYPH = auto()
    COMMENT = auto()
    OPEN = auto()
    CLOSE = auto()
    RESULT = auto()
    BROKEN = auto()                # an error message


TOKEN = re.compile(
    r"""
      (?P<BRACE>\{)
    | (?P<REST>;.*)
    | (?P<NAG>\$\d{1,5})
    | (?P<GLYPH>[!?]+)
    | (?P<OPEN>\()
    | (?P<CLOSE>\))
    | (?P<RESULT>(?:1-0|0-1|1/2-1/2|1/2|½-½|½|\*)(?![\w/-]))
    | (?P<NULL>(?:--|Z0|0000|@@@@)(?!\w))
    | (?P<MOVE>(?:[KQRBNP♔-♟]?[a-h]?[1-8]?[-x:]?[a-h][1-8](?:[=/]?[QRBNKqrbnk]|\([QRBNK]\))?|[O0o]-[O0o](?:-[O0o])?
        |[QRBNP]?@[a-h][1-8])[+\#]*(?!\w))
    | (?P<NUMBER>\d{1,6}\s*\.*(?=[\sA-Za-z0♔-♟@({$-]|$)|\.+)
    | (?P<REMARK>(?:e\.?\s?p\.?|[+=-]/?[+=-]?|[∞⩲⩱±∓]|N|D|ch|dbl|mate|draw)(?=[\s(){};,$]|$))
    | (?P<OTHER>[^\s(){};$!?,]+|[})])
    """,
    re.VERBOSE,
)
TAG = re.compile(r'\s*\[\s*([A-Za-z0-9_][\w+#=:.-]*)\s*"((?:[^"\\]|\\.)*)"\s*\]')
# With unescaped quotes inside, without quotes around the value, or without the closing bracket.
LOOSE_TAG = re.compile(r"\s*\[\s*([A-Za-z0-9_][\w+#=:.-]*)\s+(.*)")
ATTEMPT = re.compile(r"[A-Za-z♔-♟]\S*\d")           # meant to be a move
ESCAPED = re.compile(r'\\(["\\])')


def decoded(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file in UTF-8, with or without byte order mark; other lines as Windows-1252 or Latin-1."""
    text = io.TextIOWrapper(stream, "utf-8", "surrogateescape", newline=None)
    try:
        for line in bounded(text):
            yield line if line.isascii() else _western(line)
    finally:
        if not stream.closed:      # by a caller who left in the middle
            text.detach()          # leaves the stream open


def _western(line: str) -> str:
    try:
        line.encode()
        return line
    except UnicodeEncodeError:
        raw = line.encode("utf-8", "surrogateescape")
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def bounded(text: io.TextIOBase) -> Iterator[str]:
    """Yield lines; split those of more than MAX_LINE characters, at spaces if possible."""
    kept = ""
    while piece := text.readline(MAX_LINE):
        line, kept = kept + piece, ""
        if len(piece) == MAX_LINE and not piece.endswith("\n"):
            cut = line.rfind(" ") + 1
            if cut > 0 and len(line) - cut < MAX_LINE:
                line, kept = line[:cut], line[cut:]
        yield line
    if kept:
        yield kept


class Tokenizer:
    """Iterates over the tokens of a text; `line_number` is that of the last one."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._pushed_back: str | None = None              # a line to be read again
        self.line_number = 0

    def __iter__(self) -> Iterator[tuple[TokenKind, str]]:
        while (line := self._next()) is not None:
            if not line.strip():
                yield TokenKind.BLANK, ""
            elif line.startswith("%"):
                continue                           # the standard's escape for other programs' data
            elif line.lstrip().startswith("["):
                yield from self._tags(line)
            else:
                yield from self._movetext(line)

    def _next(self) -> str | None:
        if self._pushed_back is not None:
            line, self._pushed_back = self._pushed_back, None
            return line
        self.line_number += 1
        following = next(self._lines, None)
        return None if following is None else following.rstrip("\r\n").removeprefix("\ufeff")

    def _tags(self, line: str) -> Iterator[tuple[TokenKind, str]]:
        """Yield the headers of a line, usually one, and what follows them."""
        start = 0
        while found := TAG.match(line, start):
            yield TokenKind.TAG, found[1] + "\n" + ESCAPED.sub(r"\1", found[2][:MAX_HEADER])
            start = found.end()
        rest = line[start:]
        if start and not rest.lstrip().startswith("["):
            yield from self._movetext(rest)
        elif start == 0 and (found := LOOSE_TAG.match(line[:MAX_HEADER])):
            value = found[2].rstrip().removesuffix("]").rstrip()
            yield TokenKind.TAG, found[1] + "\n" + value.removeprefix('"').removesuffix('"')
        else:
            yield TokenKind.BROKEN, f"expected a header such as [White \"Name\"], found {_quoted(rest)}"

    def _movetext(self, line: str) -> Iterator[tuple[TokenKind, str]]:
        start = 0
        while found := TOKEN.search(line, start):
            start = found.end()
            group, text = found.lastgroup or "", found[0]
            if group == "BRACE":
                comment, line, start = self._comment(line, start)
                yield TokenKind.COMMENT, comment
                if self._pushed_back is not None:
                    yield TokenKind.BROKEN, "a comment is not closed before the next game"
            elif group == "REST":
                yield TokenKind.COMMENT, text[1:].strip()
            elif group == "NULL" or (group == "OTHER" and ATTEMPT.match(text)):
                yield TokenKind.MOVE, text
            elif group == "OTHER":
                yield TokenKind.BROKEN, f"expected a move, found {_quoted(text)}"
            elif group != "REMARK":    # such as e.p. or += after a move
                yield TokenKind[group], text

    def _comment(self, line: str, start: int) -> tuple[str, str, int]:
        """Return a comment, its lines joined by spaces, the line with its closing brace, and the index after it.

        A comment that is not closed ends before the next game's headers, or with the text.
        """
        parts: list[str] = []
        length = 0
        while True:
            end = line.find("}", start)
            body = line[start : end if end >= 0 else None].strip()
            if length < MAX_COMMENT:
                parts.append(body[: MAX_COMMENT - length])
                length += len(parts[-1]) + 1
            if end >= 0:
                return " ".join(filter(None, parts)), line, end + 1
            following = self._next()
            if following is None or (not body and following.startswith('[Event "')):
                self._pushed_back = following
                return " ".join(filter(None, parts)), "", 0
            line, start = following, 0


def _quoted(text: str) -> str:
    text = text.strip()
    return repr(text) if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]!r}..."
