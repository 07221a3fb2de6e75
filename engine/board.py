"""The rules for callers that speak text: a game's board, whose moves are UCI strings and whose every answer is exact.

Both spellings of castling are understood everywhere: king takes rook (e1h1) and king's target (e1g1).
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
# Algebraic notation as people write it: a piece, what is said of its origin, a stroke or cross, the target.
SAN = re.compile(r"([KQRBNP])?([a-h])?([1-8])?[-x:]?([a-h][1-8])(?:[=/(]?([QRBNqrbn])\)?)?(?: ?e\.p\.)?")


class InvalidMove(ValueError):
    """The text is no legal move here. The message quotes it and the position."""


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
        """An independent board with the same game behind it; without `moves` it has no list of them, which is faster.

        Repetitions are known in either case.
        """
        other = Board.__new__(Board)
        other.initial_fen, other.chess960 = self.initial_fen, self.chess960
        other._position = Position()
        other._position.copy_from(self._position)
        other.fullmove_number = self.fullmove_number
        other._moves = list(self._moves) if moves else []
        return other

    def replayed(self) -> "Board":
        """The same game played anew from its start, for when the weights of the evaluation have changed."""
        other = Board(self.initial_fen, chess960=self.chess960)
        for move in self._moves:
            other.push(move)
        return other

    # --- What stands where ---------------------------------------------------------------------------------------

    @property
    def turn(self) -> str:
        """'white' or 'black': whose move it is."""
        return BLACK if self._position.black_to_move() else WHITE

    @property
    def moves(self) -> list[str]:
        """The moves played, in this board's own spelling."""
        return list(self._moves)

    @property
    def halfmove_clock(self) -> int:
        """Plies since the last capture or pawn move."""
        return int(self._position.state()["halfmove_clock"])

    @property
    def position(self) -> Position:
        """The engine's own view; not to be changed."""
        return self._position

    def fen(self) -> str:
        """X-FEN; the en passant square stands only if a legal capture exists."""
        return format_fen(self._position, self.fullmove_number)

    def piece_at(self, square: str) -> str | None:
        """'P' to 'K' for White, 'p' to 'k' for Black, None for an empty square such as 'e4'."""
        from_a1 = "abcdefgh".index(square[0]) + 8 * "12345678".index(square[1])
        piece = self._position.state()["board"][from_a1]
        return None if piece == len(PIECE_LETTERS) else PIECE_LETTERS[piece]

    @property
    def piece_count(self) -> int:
        """Kings, pieces and pawns on the board."""
        return sum(piece != len(PIECE_LETTERS) for piece in self._position.state()["board"])

    def key(self) -> int:
        """The Zobrist key: equal positions have equal keys."""
        return int(self._position.state()["key"])

    def diagram(self) -> str:
        """The board as eight lines of text, rank 8 on top, '.' for an empty square."""
        board = self._position.state()["board"]
        squares = ["." if piece == len(PIECE_LETTERS) else PIECE_LETTERS[piece] for piece in board]
        return "\n".join(" ".join(squares[rank : rank + 8]) for rank in range(56, -1, -8))

    def evaluate(self) -> int:
        """The static evaluation in centipawns, White's view."""
        score: int = static_score(self._position)
        return score if self.turn == WHITE else -score

    # --- Moves ---------------------------------------------------------------------------------------------------

    def legal_moves(self) -> list[str]:
        """Every legal move in this board's own spelling."""
        return [self.spell(move) for move in legal_moves(self._position)]

    def normalise(self, text: str) -> str:
        """The same legal move in this board's own spelling. Raises InvalidMove."""
        return self.spell(self.parse(text))

    def king_takes_rook(self, text: str) -> str:
        """The same legal move with castling spelt as king takes rook. Raises InvalidMove."""
        return uci_text(self.parse(text))

    def parse(self, text: str) -> int:
        """The legal move as the engine packs it. Raises InvalidMove."""
        move = self._find(text)
        if move is None:
            problem = "is not legal here" if looks_like_uci(text) else "is not a move such as e2e4 or e7e8q"
            raise InvalidMove(f"{text[:20]!r} {problem}: {self.fen()}")
        return move

    def push(self, text: str) -> str:
        """Play a legal move; returns it in this board's own spelling. Raises InvalidMove."""
        return self._play(self.parse(text))

    def push_san(self, text: str) -> str:
        """`push` for a move in algebraic notation, read as `parse_san` reads it. Raises InvalidMove."""
        return self._play(self._find_san(text))

    def _play(self, move: int) -> str:
        spelt = self.spell(move)
        self.fullmove_number += self.turn == BLACK
        self._position.commit(move)
        self._moves.append(spelt)
        return spelt

    def spell(self, move: int) -> str:
        """The text of a move as the engine packs it; whether it is legal here does not matter."""
        text = uci_text(move)
        if move >> 12 == CASTLING_FLAG and not self.chess960 and text[0] == "e" and text[2] in "ah":
            return text[:2] + ("g" if text[2] == "h" else "c") + text[3]
        return text

    def _find(self, text: str) -> int | None:
        """The legal move with this text. Where one text could mean two moves, king takes rook wins."""
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
        """Is the side to move in check?"""
        return bool(self._position.is_check())

    def is_checkmate(self) -> bool:
        """In check without a legal move."""
        return self.is_check() and not legal_moves(self._position)

    def is_stalemate(self) -> bool:
        """Not in check and without a legal move."""
        return not self.is_check() and not legal_moves(self._position)

    def is_insufficient_material(self) -> bool:
        """Can neither side mate by any play?"""
        return bool(is_insufficient_material(self._position))

    def has_insufficient_material(self, side: str) -> bool:
        """Can this side ('white' or 'black') not mate by any play, however badly the other defends?"""
        pieces = self._position.state()["pieces"]
        us, them = 6 * _side(side), 6 - 6 * _side(side)
        pawns, knights, bishops, rooks, queens = pieces[us : us + 5]
        if pawns or rooks or queens:
            return False
        their_men = pieces[them] | pieces[them + 1] | pieces[them + 2] | pieces[them + 3]
        if knights:                # one knight mates only a king hemmed in by its own men, queens excepted
            return knights.bit_count() == 1 and not bishops and not their_men
        all_bishops = bishops | pieces[them + 2]
        one_colour = not all_bishops & DARK_SQUARES or not all_bishops & ~DARK_SQUARES
        return not bishops or (one_colour and not pieces[them] and not pieces[them + 1])

    def repetition_count(self) -> int:
        """How often the present position has stood in this game, now included."""
        return int(repetition_count(self._position))

    # --- Algebraic notation --------------------------------------------------------------------------------------

    def san(self, text: str) -> str:
        """Standard algebraic notation of a legal move, such as 'Nbxd7+'. Raises InvalidMove."""
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
        """The UCI text of a move in algebraic notation, however carelessly written. Raises InvalidMove.

        Understood are marks for check and quality, superfluous or long origins (Ngf3, Ng1-f3), a missing cross,
        castling with zeros, and figurines. A UCI text is none.
        """
        return self.spell(self._find_san(text))

    def _find_san(self, text: str) -> int:
        """The legal move as the engine packs it. Raises InvalidMove."""
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
        """The moves that fit what the notation says of piece, origin, target and promotion."""
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
        """The notation without the mark for check or mate."""
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
    """Castling as the king's own move; None if he moves one file or none, which is no castling to see."""
    text = uci_text(castling)
    target = "g" if text[2] > text[0] else "c"
    return text[:2] + target + text[3] if abs(ord(target) - ord(text[0])) >= 2 else None


def _distinguish(origin: str, rivals: list[str]) -> str:
    """As little of the origin's name as tells it from the others: nothing, file, rank, or both."""
    if not rivals:
        return ""
    if all(rival[0] != origin[0] for rival in rivals):
        return origin[0]
    if all(rival[1] != origin[1] for rival in rivals):
        return origin[1]
    return origin
