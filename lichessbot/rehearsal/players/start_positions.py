"""Start positions for From Position games: middlegames and endgames, and odds games.

Composed for this project, to cover castling, en passant, Black to move and promotion.
"""

from lichessbot.rehearsal.rules.enums import Color

# What is left by one who gives: the first rank and the second as White has them, and the castling rights.
ODDS = {
    "queen": ("RNB1KBNR", "PPPPPPPP", "KQ"),
    "rook": ("1NBQKBNR", "PPPPPPPP", "K"),
    "bishop": ("RN1QKBNR", "PPPPPPPP", "KQ"),
    "knight": ("R1BQKBNR", "PPPPPPPP", "KQ"),
    "pawn": ("RNBQKBNR", "PPPPP1PP", "KQ"),
}
_WHOLE = ("RNBQKBNR", "PPPPPPPP", "KQ")


def odds_fen(piece: str, giver: Color) -> str:
    """Return the ordinary set-up without a piece of one side, White to move."""
    white, black = (ODDS[piece], _WHOLE) if giver is Color.WHITE else (_WHOLE, ODDS[piece])
    rows = (black[0].lower(), black[1].lower(), "8", "8", "8", "8", white[1], white[0])
    return f"{'/'.join(rows)} w {white[2]}{black[2].lower()} - 0 1"


# Black can only move between h8 and g8, so White decides when a position repeats a third time.
REPETITION_FEN = "7k/7p/7P/8/8/8/4K3/5R2 b - - 0 1"

FROM_POSITION_FENS = (
    # An open game with every castling right, white to move.
    "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 0 1",
    # Black to move, en passant at once.
    "rnbqkbnr/ppp1pppp/8/8/3pP3/5N2/PPPP1PPP/RNBQKB1R b KQkq e3 0 1",
    # Kings on opposite wings still to castle: white short, black long.
    "r3kb1r/pppqpppp/2n2n2/3p1b2/3P1B2/2N1PN2/PPP2PPP/R2QK2R w Kq - 0 1",
    # A rook endgame with passed pawns on both sides.
    "8/5pk1/1p4p1/p1r4p/P4R1P/1P4P1/5PK1/8 w - - 0 1",
    # Pawns about to promote.
    "8/P5k1/8/6p1/6P1/8/p5K1/8 b - - 0 1",
    # A queenless middlegame, black to move.
    "r4rk1/pp1b1ppp/2n1pn2/2b5/8/1N2PN2/PP2BPPP/R1B2RK1 b - - 0 1",
)
