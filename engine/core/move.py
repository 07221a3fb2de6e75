# cython: language_level=3
"""A move packed into 16 bits, and its UCI text.

Bits 0-5 are the square moved from, 6-11 the square moved to, 12-15 the flag. Castling is always "king takes own
rook" (e1h1) in every game: only this notation is never ambiguous in Chess960. In a promotion the low
two bits of the flag name the piece, knight to queen.

Two flags are of variants: a drop has the dropped kind in place of the origin, and a pawn may promote to a king. They
share a number, as no variant has both.

Compiled, all but the text is C declared in `move.pxd`; these are the plain versions.
"""

import cython

from engine.core.bitboard import parse_square, square_name

if not cython.compiled:
    NO_MOVE = 0                    # a1a1: no legal move looks like it

    QUIET = 0
    DOUBLE_PUSH = 1
    CASTLING = 2
    DROP = 3                       # of variants
    KING_PROMOTION = 3             # of variants; + CAPTURE when it captures
    CAPTURE = 4
    EN_PASSANT = 5
    PROMOTION = 8                  # + promoted kind - 1; + CAPTURE when it captures

    def from_square(move: int) -> int:
        """Return the origin square."""
        return move & 63

    def to_square(move: int) -> int:
        """Return the target square; for castling, the square of the king's own rook."""
        return move >> 6 & 63

    def flag_of(move: int) -> int:
        """Return one of the flags above."""
        return move >> 12

    def is_capture(move: int) -> bool:
        """Return whether the move takes a piece, en passant included."""
        return move & 0x4000 != 0

    def is_promotion(move: int) -> bool:
        """Return whether a pawn reaches the last rank."""
        return move & 0x8000 != 0

    def is_tactical(move: int) -> bool:
        """Return whether the move is a capture or promotion."""
        return move & 0xC000 != 0

    def promoted_kind(move: int) -> int:
        """Return the new piece of a promotion, KNIGHT (1) to QUEEN (4)."""
        return (move >> 12 & 3) + 1

    def is_drop(move: int) -> bool:
        """Return whether a piece is dropped. No pawn promotes from the first rank, where a drop has its kind."""
        return move & 0xF038 == DROP << 12

    def is_king_promotion(move: int) -> bool:
        """Return whether a pawn becomes a king, in a variant without drops."""
        return move >> 12 & 11 == KING_PROMOTION

    def castled_king(king: int, rook: int) -> int:
        """Return where the king stands after castling with the rook on this square."""
        return (king & 56) + (6 if rook > king else 2)

    def castled_rook(king: int, rook: int) -> int:
        """Return where the rook stands after castling."""
        return (king & 56) + (5 if rook > king else 3)


def uci_text(move: int) -> str:
    """Return the UCI text: 'e2e4', 'e7e8q', 'e1h1' for castling with the rook on h1, 'N@f3' for a drop."""
    target = square_name(to_square(move))
    if is_drop(move):
        return f"{'PNBRQ'[from_square(move)]}@{target}"
    promoted = "nbrq"[promoted_kind(move) - 1] if is_promotion(move) else "k" if is_king_promotion(move) else ""
    return square_name(from_square(move)) + target + promoted


def looks_like_uci(text: str) -> bool:
    """Return whether the text has the form of a UCI move, whatever the position."""
    dropped = text[:1] in ("P", "N", "B", "R", "Q") and text[1:2] == "@"
    try:
        parse_square("a1" if dropped else text[0:2])
        parse_square(text[2:4])
    except ValueError:
        return False
    return text[4:] == "" if dropped else text[4:] in ("", "n", "b", "r", "q", "k")
