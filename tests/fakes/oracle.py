"""Fakes of the opening and tablebase servers on a real socket, with answers in their documented forms.

Each favours a move that no engine would play, so that tests see which source was asked. Built from the
documentation of the servers; python-chess is the judge of what is legal.
"""

import json
import threading
from collections.abc import Callable
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import chess

from tests.fakes.http_server import LocalServer

HUGE = b'{"moves":[' + b'{"uci":"a2a3","white":1},' * 40_000 + b"]}"


class Manner(Enum):
    """How the server behaves, whatever is asked."""

    HELPFUL = auto()
    IGNORANT = auto()
    """The position is unknown."""
    FAILING = auto()
    LIMITED = auto()
    """429, with a pause."""
    LIMITED_TRICKLING = auto()
    """429, with an endless text, byte by byte."""
    FORBIDDING = auto()
    """401."""
    HANGING = auto()
    """No answer at all."""
    TRICKLING = auto()
    """An endless answer, byte by byte."""
    LYING = auto()
    """Illegal moves, and text that is not a move."""
    NULL = auto()
    HUGE = auto()
    PAGE = auto()
    """200 with HTML."""
    REDIRECTING = auto()
    BROKEN = auto()
    """The connection breaks in the middle of the answer."""
    LEAVING = auto()
    """The connection closes without an answer."""


class Oracle:
    """Explorer, tablebase and chessdb at one address; `manner` may change at any time."""

    def __init__(self, manner: Manner = Manner.HELPFUL) -> None:
        self.manner = manner
        self.elsewhere = ""
        """The target of `REDIRECTING`."""
        self.paths: list[str] = []
        self.queries: list[dict[str, str]] = []
        self.tokens: list[str | None] = []
        self.connections = 0
        self.over = threading.Event()
        self._server = LocalServer(_handler(self))
        self.url = self._server.url

    def close(self) -> None:
        self.over.set()
        self._server.close()

    def say(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        """Return the status and body of a good answer."""
        fen = query.get("fen") or query.get("board", "")
        try:
            board = chess.Board(fen, chess960=query.get("variant") == "chess960")
        except ValueError:
            return 400, {"error": "invalid fen"}
        moves = favourites(board)
        if self.manner is Manner.LYING:  # no piece moves like the first, in any position
            moves = ["a1h7", "e1e9", "nonsense", "\ud83d\ude00", "0000"]
        if self.manner is Manner.IGNORANT:
            moves = []
        return _ANSWERS[path](board, moves, query)


def favourites(board: chess.Board) -> list[str]:
    """Return the legal moves, the best first; castling as king takes rook."""
    return sorted((board.uci(move, chess960=True) for move in board.legal_moves), key=lambda move: move[::-1])


def _explorer(board: chess.Board, moves: list[str], query: dict[str, str]) -> tuple[int, Any]:
    known = [
        {"uci": move, "san": "?", "averageRating": 2000, "white": 50, "draws": 50, "black": 50, "game": None}
        for move in moves
    ]
    win = "white" if board.turn else "black"
    for number, move in enumerate(known):
        move[win] = 1000 - number
    return 200, {"white": 1, "draws": 1, "black": 1, "moves": known, "topGames": [], "opening": None}


def _player(board: chess.Board, moves: list[str], query: dict[str, str]) -> tuple[int, Any]:
    status, last = _explorer(board, moves, query)
    first = {**last, "moves": [], "queuePosition": 3}
    return status, f"{json.dumps(first)}\n\n{json.dumps(last)}\n".encode()


def _table(board: chess.Board, moves: list[str], query: dict[str, str]) -> tuple[int, Any]:
    """Return an answer in which every position is won, by the first two moves only.

    With eight pieces it knows only positions with a blocked pair of pawns, and these without the fifty-move rule.
    """
    pieces = chess.popcount(board.occupied)
    blocked = board.pieces_mask(chess.PAWN, chess.WHITE) << 8 & board.pieces_mask(chess.PAWN, chess.BLACK)
    if pieces > 8 or (pieces == 8 and not blocked):
        return 200, {"category": "unknown", "dtz": None, "moves": [{"uci": it, "category": "unknown"} for it in moves]}
    lost, won, dtz = ("maybe-loss", "maybe-win", None) if pieces == 8 else ("loss", "win", 1)
    told = [
        {"uci": move, "san": "?", "category": lost if n < 2 else "draw", "dtz": dtz and -2, "zeroing": False}
        for n, move in enumerate(moves)
    ]
    return 200, {"category": won if moves else "unknown", "dtz": dtz, "dtm": None, "moves": told}


def _chessdb(board: chess.Board, moves: list[str], query: dict[str, str]) -> tuple[int, Any]:
    if not moves:
        return 200, {"status": "unknown"}
    match query["action"]:
        case "queryall":
            told = [{"uci": move, "san": "?", "score": 29_990 if n < 2 else 0} for n, move in enumerate(moves)]
            return 200, {"status": "ok", "moves": told, "ply": 1}
        case "querypv":
            return 200, {"status": "ok", "score": 17, "depth": 24, "pv": moves[:1]}
    return 200, {"status": "ok", "move": moves[0]}


_ANSWERS: dict[str, Callable[[chess.Board, list[str], dict[str, str]], tuple[int, Any]]] = {
    "/masters": _explorer,
    "/lichess": _explorer,
    "/player": _player,
    "/standard": _table,
    "/cdb.php": _chessdb,
}


def _handler(oracle: Oracle) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            oracle.connections += 1

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            oracle.paths.append(parts.path)
            oracle.queries.append(query)
            oracle.tokens.append(self.headers.get("Authorization"))
            self._answer(parts.path, query)

        def _answer(self, path: str, query: dict[str, str]) -> None:
            match oracle.manner:
                case Manner.FAILING:
                    self._send(500, b"<html>Internal Server Error</html>")
                case Manner.LIMITED:
                    self._send(429, b"slow down", ("Retry-After", "3600"))
                case Manner.FORBIDDING:
                    self._send(401, b'{"error":"Missing authorization header"}')
                case Manner.HANGING:
                    oracle.over.wait()
                    self.close_connection = True
                case Manner.TRICKLING:
                    self._trickle(200)
                case Manner.LIMITED_TRICKLING:
                    self._trickle(429)
                case Manner.NULL:
                    self._send(200, b"null")
                case Manner.HUGE:
                    self._send(200, HUGE)
                case Manner.PAGE:
                    self._send(200, b"<html><body>Please wait while we check your browser</body></html>")
                case Manner.REDIRECTING:
                    self._send(302, b"", ("Location", f"{oracle.elsewhere}{self.path}"))
                case Manner.BROKEN | Manner.LEAVING:
                    self._cut(oracle.manner)
                case _:
                    status, body = oracle.say(path, query) if path in _ANSWERS else (404, {"error": "Not found"})
                    self._send(status, body if isinstance(body, bytes) else json.dumps(body).encode())

        def _send(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _trickle(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            while not oracle.over.wait(0.02):
                self.wfile.write(b" ")

        def _cut(self, manner: Manner) -> None:
            if manner is Manner.BROKEN:
                self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{"moves":[')
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
