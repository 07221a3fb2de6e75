"""A game's board for callers that use text: moves are UCI or SAN strings.

Both spellings of castling are accepted everywhere: king takes rook (e1h1) and king's target (e1g1).
"""

import re

from engine.core.bitboard import parse_square, square_name
from engine.core.draws import is_insufficient_material, repetition_count
from engine.core.fen import STARTING_FEN, format_fen, parse_fen
from engine.core.move import looks_like_uci, uci_text
from engine.core.movegen import legal_moves
from engine.core.pieces import PIECE_LETTERS
from engine.core.position import Position
from engine.evaluation.evaluate import static_score

WHITE, BLACK = "white", "black"
DARK_SQUARES = 0xAA55AA55AA55AA55
CASTLING_FLAG = 2
ENDS_MASK = 0xFFF
# Of a move's first four letters: its origin and target as the engine packs them.
ENDS = {square_name(ends & 63) + square_name(ends >> 6): ends for ends in range(ENDS_MASK + 1)}
CASTLING_WORDS = {"O-O": True, "0-0": True, "o-o": True, "O-O-O": False, "0-0-0": False, "o-o-o": False}
FIGURINES = str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBNPKQRBNP")
# Algebraic notation as people write it: piece, origin in part or whole, dash or cross, target.
SAN = re.compile(r"([KQRBNP])?([a-h])?([1-8])?[-x:]?([a-h][1-8])(?:[=/(]?([QRBNqrbn])\)?)?(?: ?e\.p\.)?")


class InvalidMove(ValueError):
    """The text is not a legal move. The message quotes it and the position."""


def _side(colour: str) -> int:
    return 0 if colour == WHITE else 1


class Board:
    """A position reached by moves from a starting position. Raises InvalidFen for a FEN that is not a legal position.

    With `chess960` moves are written with castling as king takes rook, otherwise as the king's own move where that is
    the ordinary e1g1, e1c1, e8g8 or e8c8.
    """

    def __init__(self, fen: str = STARTING_FEN, *, chess960: bool = False) -> None:
        self.initial_fen = fen
        self.chess960 = chess960
        self._position, self.fullmove_number = parse_fen(fen)
        self._moves: list[str] = []

    def copy(self, *, moves: bool = True) -> "Board":
        """Return an independent copy. Without `moves` it has no move list, which is faster; repetitions are kept."""
        other = Board.__new__(Board)
        other.initial_fen, other.chess960 = self.initial_fen, self.chess960
        other._position = Position()
        other._position.copy_from(self._position)
        other.fullmove_number = self.fullmove_number
        other._moves = list(self._moves) if moves else []
        return other

    def replayed(self) -> "Board":
        """Return the game replayed from its start, for use after the evaluation's weights have changed."""
        other = Board(self.initial_fen, chess960=self.chess960)
        for move in self._moves:
            other.push(move)
        return other

    # --- What stands where ---------------------------------------------------------------------------------------

    @property
    def turn(self) -> str:
        """Return the side to move, 'white' or 'black'."""
        return BLACK if self._position.black_to_move() else WHITE

    @property
    def moves(self) -> list[str]:
        """Return the moves played, in this board's own spelling."""
        return list(self._moves)

    @property
    def halfmove_clock(self) -> int:
        """Return the plies since the last capture or pawn move."""
        return int(self._position.state()["halfmove_clock"])

    @property
    def position(self) -> Position:
        """Return the engine's position; do not change it."""
        return self._position

    def fen(self) -> str:
        """Return the X-FEN; the en passant square is named only if a legal capture exists."""
        return format_fen(self._position, self.fullmove_number)

    def piece_at(self, square: str) -> str | None:
        """Return the piece on a square such as 'e4': 'P' to 'K' for White, 'p' to 'k' for Black, None if empty."""
        from_a1 = "abcdefgh".index(square[0]) + 8 * "12345678".index(square[1])
        piece = self._position.state()["board"][from_a1]
        return None if piece == len(PIECE_LETTERS) else PIECE_LETTERS[piece]

    @property
    def piece_count(self) -> int:
        """Return the number of pieces on the board, kings and pawns included."""
        return sum(piece != len(PIECE_LETTERS) for piece in self._position.state()["board"])

    def key(self) -> int:
        """Return the Zobrist key: equal positions have equal keys."""
        return int(self._position.state()["key"])

    def diagram(self) -> str:
        """Return the board as eight lines of text, rank 8 on top, '.' for an empty square."""
        board = self._position.state()["board"]
        squares = ["." if piece == len(PIECE_LETTERS) else PIECE_LETTERS[piece] for piece in board]
        return "\n".join(" ".join(squares[rank : rank + 8]) for rank in range(56, -1, -8))

    def evaluate(self) -> int:
        """Return the static evaluation in centipawns, White's view."""
        score: int = static_score(self._position)
        return score if self.turn == WHITE else -score

    # --- Moves ---------------------------------------------------------------------------------------------------

    def legal_moves(self) -> list[str]:
        """Return every legal move in this board's own spelling."""
        return [self.spell(move) for move in legal_moves(self._position)]

    def normalise(self, text: str) -> str:
        """Return the same legal move in this board's own spelling. Raises InvalidMove."""
        return self.spell(self.parse(text))

    def king_takes_rook(self, text: str) -> str:
        """Return the same legal move with castling spelt as king takes rook. Raises InvalidMove."""
        return uci_text(self.parse(text))

    def parse(self, text: str) -> int:
        """Return the legal move as the engine packs it. Raises InvalidMove."""
        move = self._find(text)
        if move is None:
            problem = "is not legal here" if looks_like_uci(text) else "is not a move such as e2e4 or e7e8q"
            raise InvalidMove(f"{text[:20]!r} {problem}: {self.fen()}")
        return move

    def push(self, text: str) -> str:
        """Play a legal move; return it in this board's own spelling. Raises InvalidMove."""
        return self._play(self.parse(text))

    def push_san(self, text: str) -> str:
        """Play a legal move in algebraic notation, read as by `parse_san`. Raises InvalidMove."""
        return self._play(self._find_san(text))

    def _play(self, move: int) -> str:
        spelt = self.spell(move)
        self.fullmove_number += self.turn == BLACK
        self._position.commit(move)
        self._moves.append(spelt)
        return spelt

    def spell(self, move: int) -> str:
        """Return the text of a packed move, which need not be legal here."""
        text = uci_text(move)
        if move >> 12 == CASTLING_FLAG and not self.chess960 and text[0] == "e" and text[2] in "ah":
            return text[:2] + ("g" if text[2] == "h" else "c") + text[3]
        return text

    def _find(self, text: str) -> int | None:
        """Return the legal move with this text. If the text could mean two moves, it means king takes rook."""
        moves = legal_moves(self._position)
        ends = ENDS.get(text[:4])
        for move in moves:
            if move & ENDS_MASK == ends and uci_text(move) == text:
                return move
        for move in moves:
            if move >> 12 == CASTLING_FLAG and _as_king_moves(move) == text:
                return move
        return None

    # --- Check, mate, draws --------------------------------------------------------------------------------------

    def is_check(self) -> bool:
        """Return whether the side to move is in check."""
        return bool(self._position.is_check())

    def is_checkmate(self) -> bool:
        """Return whether the side to move is checkmated."""
        return self.is_check() and not legal_moves(self._position)

    def is_stalemate(self) -> bool:
        """Return whether the side to move is stalemated."""
        return not self.is_check() and not legal_moves(self._position)

    def is_insufficient_material(self) -> bool:
        """Return whether neither side can mate."""
        return bool(is_insufficient_material(self._position))

    def has_insufficient_material(self, side: str) -> bool:
        """Return whether this side ('white' or 'black') cannot mate even with the opponent's help."""
        pieces = self._position.state()["pieces"]
        us, them = 6 * _side(side), 6 - 6 * _side(side)
        pawns, knights, bishops, rooks, queens = pieces[us : us + 5]
        if pawns or rooks or queens:
            return False
        their_men = pieces[them] | pieces[them + 1] | pieces[them + 2] | pieces[them + 3]
        if knights:                # a knight mates only if own pieces block the king; a queen cannot block it
            return knights.bit_count() == 1 and not bishops and not their_men
        all_bishops = bishops | pieces[them + 2]
        one_colour = not all_bishops & DARK_SQUARES or not all_bishops & ~DARK_SQUARES
        return not bishops or (one_colour and not pieces[them] and not pieces[them + 1])

    def repetition_count(self) -> int:
        """Return how often the position has occurred in this game, including now."""
        return int(repetition_count(self._position))

    # --- Algebraic notation --------------------------------------------------------------------------------------

    def san(self, text: str) -> str:
        """Return the standard algebraic notation of a legal move, such as 'Nbxd7+'. Raises InvalidMove."""
        move = self.parse(text)
        body = self._san_body(move, text)
        self._position.push(move)
        try:
            if self._position.is_check():
                body += "+" if legal_moves(self._position) else "#"
        finally:
            self._position.pop(move)
        return body

    def parse_san(self, text: str) -> str:
        """Return the UCI text of a move in algebraic notation, leniently. Raises InvalidMove.

        Accepts marks for check and quality, superfluous or long origins (Ngf3, Ng1-f3), a missing cross, castling with
        zeros, and figurines; not UCI.
        """
        return self.spell(self._find_san(text))

    def _find_san(self, text: str) -> int:
        """Return the legal move as the engine packs it. Raises InvalidMove."""
        wanted = text.translate(FIGURINES).rstrip("+#!?")
        moves = legal_moves(self._position)
        if wanted in CASTLING_WORDS:
            short = CASTLING_WORDS[wanted]
            found = [m for m in moves if m >> 12 == CASTLING_FLAG and (m >> 6 & 63 > m & 63) == short]
        else:
            found = self._matching(moves, SAN.fullmatch(wanted))
        if len(found) == 1:
            return found[0]
        if found:
            choices = " or ".join(self.san(uci_text(move)) for move in found)
            raise InvalidMove(f"{text[:20]!r} could be {choices}: {self.fen()}")
        raise InvalidMove(f"{text[:20]!r} is not a legal move here: {self.fen()}")

    def _matching(self, moves: list[int], words: re.Match[str] | None) -> list[int]:
        """Return the moves that match the notation's piece, origin, target and promotion."""
        if words is None:
            return []
        piece, file, rank, target, promoted = words.groups()
        kind = PIECE_LETTERS.index(piece or "P")
        square = parse_square(target)
        board = self._position.state()["board"]
        return [
            move
            for move in moves
            if move >> 6 & 63 == square
            and board[move & 63] % 6 == kind
            and move >> 12 != CASTLING_FLAG
            and (file is None or "abcdefgh"[move & 7] == file)
            and (rank is None or "12345678"[move >> 3 & 7] == rank)
            and (promoted.upper() if promoted else "") == ("NBRQ"[move >> 12 & 3] if move & 0x8000 else "")
        ]

    def _san_body(self, move: int, text: str) -> str:
        """Return the notation without the mark for check or mate."""
        if move >> 12 == CASTLING_FLAG:
            return "O-O" if move >> 6 & 63 > move & 63 else "O-O-O"
        board = self._position.state()["board"]
        kind = PIECE_LETTERS[board[move & 63] % 6]
        target = uci_text(move)[2:4]
        takes = "x" if move & 0x4000 else ""
        if kind == "P":
            promotion = "=" + "NBRQ"[move >> 12 & 3] if move & 0x8000 else ""
            return (text[0] if takes else "") + takes + target + promotion
        if kind == "K":
            return kind + takes + target
        rivals = [
            uci_text(other)[:2]
            for other in legal_moves(self._position)
            if other >> 6 & 63 == move >> 6 & 63
            and other & 63 != move & 63
            and other >> 12 != CASTLING_FLAG
            and board[other & 63] == board[move & 63]
        ]
        return kind + _distinguish(uci_text(move)[:2], rivals) + takes + target


def _as_king_moves(castling: int) -> str | None:
    """Return castling as the king's own move; None if the king moves less than two files."""
    text = uci_text(castling)
    target = "g" if text[2] > text[0] else "c"
    return text[:2] + target + text[3] if abs(ord(target) - ord(text[0])) >= 2 else None


def _distinguish(origin: str, rivals: list[str]) -> str:
    """Return as much of the origin's name as distinguishes it: nothing, file, rank, or both."""
    if not rivals:
        return ""
    if all(rival[0] != origin[0] for rival in rivals):
        return origin[0]
    if all(rival[1] != origin[1] for rival in rivals):
        return origin[1]
    return origin
