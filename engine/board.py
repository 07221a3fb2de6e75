"""A game's board for callers that use text: moves are UCI or SAN strings. It knows standard chess and all variants.

Both spellings of castling are accepted everywhere: king takes rook (e1h1) and king's target (e1g1).
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from engine.core.bitboard import parse_square, square_name
from engine.core.draws import FIFTY_MOVES_PLIES, cannot_win, is_insufficient_material, repetition_count
from engine.core.fen import STARTING_FEN, format_fen, parse_fen
from engine.core.move import CASTLING, flag_of, from_square, is_capture, is_drop, looks_like_uci, to_square, uci_text
from engine.core.movegen import legal_moves
from engine.core.perft import portions
from engine.core.pieces import KINDS, NO_PIECE, PAWN, PIECE_LETTERS
from engine.core.position import Position
from engine.evaluation.evaluate import evaluate
from engine.evaluation.variant_terms import evaluation_of
from engine.variants.variant import find_variant
from engine.variants.variant_fen import checks_of, format_variant_fen, parse_variant_fen, pocket_of
from engine.variants.variant_position import DRAWN, UNDECIDED, VariantPosition

WHITE, BLACK = "white", "black"
SQUARES = tuple(map(square_name, range(64)))
ENDS_MASK = 0xFFF
# Of a move's first four letters: its origin and target as the engine packs them.
ENDS = {SQUARES[ends & 63] + SQUARES[ends >> 6]: ends for ends in range(ENDS_MASK + 1)}
CASTLING_WORDS = {"OO": True, "OOO": False}         # [without dashes] whether it is short
FIGURINES = str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBNPKQRBNP")
# Algebraic notation as people write it: piece, origin in part or whole, dash or cross, target.
SAN = re.compile(r"([KQRBNP])?([a-h])?([1-8])?[-x:]?([a-h][1-8])(?:[=/(]?([QRBNKqrbnk])\)?)?(?: ?e\.?p\.?)?")
DROP = re.compile(r"([QRBNP])?@([a-h][1-8])")
WINNERS = (WHITE, BLACK, None)     # [result] of a game that is decided
THREEFOLD = 3                      # times that a position occurs before a player may claim a draw
FIVEFOLD = 5                       # ... and the game is drawn without a claim


class InvalidMove(ValueError):
    """The text is not a legal move. The message quotes it and the position."""


class AmbiguousMove(InvalidMove):
    """The text could mean several legal moves. The message also names these."""


class Ending(StrEnum):
    """How a game ends by itself on Lichess."""

    CHECKMATE = "checkmate"
    VARIANT_END = "variant end"
    VARIANT_DRAW = "variant draw"  # both kings have arrived in racing kings
    STALEMATE = "stalemate"
    INSUFFICIENT_MATERIAL = "insufficient material"
    FIFTY_MOVES = "fifty moves"
    FIVEFOLD_REPETITION = "fivefold repetition"


class Outcome(NamedTuple):
    """The end of a game; `winner` is 'white', 'black', or None for a draw."""

    ending: Ending
    winner: str | None


def _side(colour: str) -> int:
    if colour not in (WHITE, BLACK):
        raise ValueError(f"expected '{WHITE}' or '{BLACK}', found {colour!r}")
    return 0 if colour == WHITE else 1


class Board:
    """A position reached by moves from a starting position, by default that of the variant.

    `variant` is 'standard' or a name that Lichess, UCI or PGN have for a variant; Chess960 is standard chess. Raises
    InvalidVariant, and InvalidFen for a FEN that is not a legal position of the variant.

    With `chess960` moves are written with castling as king takes rook, otherwise as the king's own move where that is
    the ordinary e1g1, e1c1, e8g8 or e8c8.

    Only one thread may use a board, as even `san` plays its move for a moment: give each thread a `copy`.
    """

    def __init__(self, fen: str | None = None, *, chess960: bool = False, variant: str = "standard") -> None:
        self._variant = None if variant == "standard" else find_variant(variant)
        start = STARTING_FEN if self._variant is None else self._variant.starting_fen
        self.initial_fen = start if fen is None else fen
        self.chess960 = chess960
        self._position: Position
        self._rules: VariantPosition | None = None     # the position again, if its rules are a variant's
        if self._variant is None:
            self._position, self.fullmove_number = parse_fen(self.initial_fen)
        else:
            self._rules, self.fullmove_number = parse_variant_fen(self._variant, self.initial_fen)
            self._position = self._rules
        self._moves: list[str] = []
        self.last_move = 0             # as the engine packs it; 0 if there is none

    def __repr__(self) -> str:
        """Return the FEN and the variant for people."""
        return f"<Board {self.variant}: {self.fen()}>"

    def __copy__(self) -> "Board":
        """Return an independent copy: one that shared the position would spoil both boards."""
        return self.copy()

    def __deepcopy__(self, memo: object) -> "Board":
        return self.copy()

    def copy(self, *, moves: bool = True) -> "Board":
        """Return an independent copy. Without `moves` it has no move list, which is faster; repetitions are kept."""
        other = Board.__new__(Board)
        other.initial_fen, other.chess960, other._variant = self.initial_fen, self.chess960, self._variant
        if self._rules is None:
            other._position, other._rules = Position(), None
            other._position.copy_from(self._position)
        else:
            other._position = other._rules = type(self._rules)()
            other._rules.copy_from(self._rules)
        other.fullmove_number = self.fullmove_number
        other._moves = list(self._moves) if moves else []
        other.last_move = self.last_move
        return other

    def after(self, *moves: str) -> "Board":
        """Return a copy on which these legal moves are played. Raises InvalidMove."""
        board = self.copy()
        for move in moves:
            board.push(move)
        return board

    def at_start(self) -> "Board":
        """Return a board before the first move of this game."""
        return Board(self.initial_fen, chess960=self.chess960, variant=self.variant)

    def replayed(self) -> "Board":
        """Return the game replayed from its start, for use after the evaluation's weights have changed."""
        return self.at_start().after(*self._moves)

    # --- What stands where ---------------------------------------------------------------------------------------

    @property
    def turn(self) -> str:
        """Return the side to move, 'white' or 'black'."""
        return BLACK if self._position.black_to_move() else WHITE

    @property
    def variant(self) -> str:
        """Return Lichess's name of the variant, such as 'kingOfTheHill'; 'standard' also for Chess960."""
        return "standard" if self._variant is None else self._variant.key

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
        """Return the X-FEN, as Lichess writes it; the en passant square is named only if a legal capture exists."""
        if self._variant is None or self._rules is None:
            return format_fen(self._position, self.fullmove_number)
        return format_variant_fen(self._variant, self._rules, self.fullmove_number)

    def piece_at(self, square: str) -> str | None:
        """Return the piece on a square such as 'e4': 'P' to 'K' for White, 'p' to 'k' for Black, None if empty."""
        piece = self._position.state()["board"][parse_square(square)]
        return None if piece == NO_PIECE else PIECE_LETTERS[piece]

    @property
    def piece_count(self) -> int:
        """Return the number of pieces on the board, kings and pawns included."""
        return int(self._position.state()["occupied"].bit_count())

    def pocket(self, side: str) -> str:
        """Return the pieces that this side may drop, from queen to pawn: 'QNPP', or 'qnpp' for Black."""
        return "" if self._rules is None or self.variant != "crazyhouse" else pocket_of(self._rules, _side(side))

    def checks_given(self, side: str) -> int:
        """Return how many checks this side has given in three-check."""
        return 0 if self._rules is None or self.variant != "threeCheck" else checks_of(self._rules, _side(side))

    def key(self) -> int:
        """Return the Zobrist key: equal positions have equal keys."""
        return int(self._position.state()["key"])

    def diagram(self) -> str:
        """Return the board as eight lines of text, rank 8 on top, '.' for an empty square."""
        board = self._position.state()["board"]
        squares = ["." if piece == NO_PIECE else PIECE_LETTERS[piece] for piece in board]
        return "\n".join(" ".join(squares[rank : rank + 8]) for rank in range(56, -1, -8))

    def evaluate(self) -> int:
        """Return the score of the hand-written terms in centipawns, White's view; `Engine` has the network's."""
        score: int
        if self._variant is None:
            score = evaluate(self._position)
        else:
            score = evaluation_of(self._variant.key).python_evaluate(self._position, self._position.state()["extra"])
        return score if self.turn == WHITE else -score

    # --- Moves ---------------------------------------------------------------------------------------------------

    def legal_moves(self) -> list[str]:
        """Return every legal move in this board's own spelling. Once a variant's rules end the game, none is legal."""
        return [self.spell(move) for move in self.packed_moves()]

    def packed_moves(self) -> list[int]:
        """Return the same moves as the engine packs them, much faster than to `parse` each."""
        return legal_moves(self._position) if self._rules is None else self._rules.legal_moves()

    def perft(self, depth: int) -> Iterator[int]:
        """Yield numbers that add up to the leaves at `depth` plies, so that a caller can be interrupted between them.

        Between yields, moves are made on the board's position; it is restored after the last one. Raises ValueError.
        """
        if self._rules is None:
            return portions(self._position, depth)
        return portions(self._rules, depth, VariantPosition.perft, VariantPosition.legal_moves)

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
        return self.push_packed(self.parse(text))

    def push_san(self, text: str) -> str:
        """Play a legal move in algebraic notation, read as by `parse_san`. Raises InvalidMove."""
        return self.push_packed(self._find_san(text))

    def push_packed(self, move: int) -> str:
        """Play a legal move as the engine packs it; return it in this board's own spelling."""
        spelt = self.spell(move)
        self.fullmove_number += self.turn == BLACK
        self._position.commit(move)
        self._moves.append(spelt)
        self.last_move = move
        return spelt

    def spell(self, move: int) -> str:
        """Return the text of a packed move, which need not be legal here."""
        text = uci_text(move)
        if flag_of(move) == CASTLING and not self.chess960 and text[0] == "e" and text[2] in "ah":
            return text[:2] + ("g" if text[2] == "h" else "c") + text[3]
        return text

    def _find(self, text: str) -> int | None:
        """Return the legal move with this text. If the text could mean two moves, it means king takes rook."""
        moves = self.packed_moves()
        ends = ENDS.get(text[:4])
        for move in moves:
            if (ends is None or move & ENDS_MASK == ends) and uci_text(move) == text:
                return move
        for move in moves:
            if flag_of(move) == CASTLING and _as_king_moves(move) == text:
                return move
        return None

    # --- Check and the end of the game ---------------------------------------------------------------------------

    def outcome(self) -> Outcome | None:
        """Return how the game has ended by itself, None while it goes on. Nobody has to claim what Lichess judges."""
        if self.is_checkmate():
            return Outcome(Ending.CHECKMATE, WHITE if self.turn == BLACK else BLACK)
        if self._result() != UNDECIDED:
            winner = WINNERS[self._result()]
            return Outcome(Ending.VARIANT_END if winner else Ending.VARIANT_DRAW, winner)
        if not self.packed_moves():
            winner = WINNERS[self._result_without_moves()]
            return Outcome(Ending.VARIANT_END if winner else Ending.STALEMATE, winner)
        if self.is_insufficient_material():
            return Outcome(Ending.INSUFFICIENT_MATERIAL, None)
        if self.halfmove_clock >= FIFTY_MOVES_PLIES and (self._rules is None or self._rules.has_fifty_move_rule):
            return Outcome(Ending.FIFTY_MOVES, None)
        if self.repetition_count() >= FIVEFOLD:
            return Outcome(Ending.FIVEFOLD_REPETITION, None)
        return None

    def _result(self) -> int:
        """Return who has won by the variant's own rules."""
        return UNDECIDED if self._rules is None else self._rules.result()

    def _result_without_moves(self) -> int:
        """Return the result for a side to move that has no legal move."""
        if self._rules is not None:
            return self._rules.result_if_stuck()
        return DRAWN if not self.is_check() else 0 if self.turn == BLACK else 1

    def is_check(self) -> bool:
        """Return whether the side to move is in check."""
        return bool(self._position.is_check())

    def is_checkmate(self) -> bool:
        """Return whether the side to move is checkmated."""
        if self._rules is not None:
            return bool(self._rules.is_checkmate())
        return self.is_check() and not legal_moves(self._position)

    def is_insufficient_material(self) -> bool:
        """Return whether neither side can win, as Lichess judges it."""
        if self._rules is not None:
            return bool(self._rules.is_dead())
        return bool(is_insufficient_material(self._position))

    def has_insufficient_material(self, side: str) -> bool:
        """Return whether this side ('white' or 'black') cannot win even with the opponent's help."""
        if self._rules is not None:
            return bool(self._rules.cannot_win(_side(side)))
        return bool(cannot_win(self._position, _side(side)))

    def repetition_count(self) -> int:
        """Return how often the position has occurred in this game, including now."""
        return int(repetition_count(self._position))

    # --- Algebraic notation --------------------------------------------------------------------------------------

    def san(self, text: str) -> str:
        """Return the standard algebraic notation of a legal move, such as 'Nbxd7+'. Raises InvalidMove."""
        move = self.parse(text)
        body = self._san_body(move)
        self._position.push(move)
        try:
            if self._somebody_has_won():
                body += "#"
            elif self._position.is_check():
                body += "+"
        finally:
            self._position.pop(move)
        return body

    def _somebody_has_won(self) -> bool:
        """Return whether the position is won for either side: by mate or by the variant's rules."""
        if self._result() != UNDECIDED:
            return self._result() != DRAWN
        # In standard chess only a check can have won, and looking for legal moves takes longer than for a check.
        may_be_won = self._rules is not None or self._position.is_check()
        return may_be_won and not self.packed_moves() and self._result_without_moves() != DRAWN

    def parse_san(self, text: str) -> str:
        """Return the UCI text of a move in algebraic notation, leniently. Raises InvalidMove.

        Accepts marks for check and quality, superfluous or long origins (Ngf3, Ng1-f3), a missing cross, castling with
        zeros or without dashes, and figurines; not UCI.
        """
        return self.spell(self._find_san(text))

    def _find_san(self, text: str) -> int:
        """Return the legal move as the engine packs it. Raises InvalidMove."""
        wanted = text.translate(FIGURINES).rstrip("+#!?")
        found: list[int] = []
        short = CASTLING_WORDS.get(wanted.upper().replace("0", "O").replace("-", ""))
        if short is not None:
            found = [move for move in self.packed_moves() if flag_of(move) == CASTLING and _is_short(move) == short]
        elif drop := DROP.fullmatch(wanted):
            found = [move for move in self.packed_moves() if uci_text(move) == f"{drop[1] or 'P'}@{drop[2]}"]
        elif words := SAN.fullmatch(wanted):
            piece, file, rank, target, promoted = words.groups()
            kind = PIECE_LETTERS.index(piece or "P")
            for move in self._moves_of(kind + KINDS * self._position.black_to_move(), parse_square(target)):
                origin = square_name(from_square(move))
                is_origin = file in (None, origin[0]) and rank in (None, origin[1])
                if is_origin and uci_text(move)[4:] == (promoted or "").lower():
                    found.append(move)
        if len(found) == 1:
            return found[0]
        if found:
            choices = " or ".join(self.san(uci_text(move)) for move in found)
            raise AmbiguousMove(f"{text[:20]!r} could be {choices}: {self.fen()}")
        raise InvalidMove(f"{text[:20]!r} is not a legal move here: {self.fen()}")

    def _moves_of(self, piece: int, target: int) -> list[int]:
        """Return the legal moves of such a piece to the target square, without drops and castling."""
        board = self._position.state()["board"]
        return [
            move
            for move in self.packed_moves()
            if to_square(move) == target
            and not is_drop(move)
            and flag_of(move) != CASTLING
            and board[from_square(move)] == piece
        ]

    def _san_body(self, move: int) -> str:
        """Return the notation without the mark for check or mate."""
        if flag_of(move) == CASTLING:
            return "O-O" if _is_short(move) else "O-O-O"
        if is_drop(move):
            return uci_text(move)
        piece = self._position.state()["board"][from_square(move)]
        origin = square_name(from_square(move))
        target = ("x" if is_capture(move) else "") + square_name(to_square(move))
        if piece % KINDS == PAWN:
            promoted = uci_text(move)[4:].upper()
            return (origin[0] if is_capture(move) else "") + target + (f"={promoted}" if promoted else "")
        rivals = {square_name(from_square(other)) for other in self._moves_of(piece, to_square(move))} - {origin}
        return PIECE_LETTERS[piece % KINDS] + _distinguish(origin, rivals) + target


def _is_short(castling: int) -> bool:
    return to_square(castling) > from_square(castling)


def _as_king_moves(castling: int) -> str | None:
    """Return castling as the king's own move; None if the king moves less than two files."""
    text = uci_text(castling)
    target = "g" if text[2] > text[0] else "c"
    return text[:2] + target + text[3] if abs(ord(target) - ord(text[0])) >= 2 else None


def _distinguish(origin: str, rivals: set[str]) -> str:
    """Return as much of the origin's name as distinguishes it: nothing, file, rank, or both."""
    if not rivals:
        return ""
    if all(rival[0] != origin[0] for rival in rivals):
        return origin[0]
    if all(rival[1] != origin[1] for rival in rivals):
        return origin[1]
    return origin
