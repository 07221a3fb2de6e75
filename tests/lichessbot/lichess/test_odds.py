"""Odds games: which start positions are odds, who gives them and what."""

import pytest

from lichessbot.lichess.enums import Colour, Odds
from lichessbot.lichess.odds import handicap_of

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"


@pytest.mark.parametrize(
    ("fen", "giver", "odds", "words"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1", "white", "queen", "White plays without a queen"),
        ("1nbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1", "black", "rook", "Black plays without a rook"),
        ("r1bqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "black", "knight knight",
         "Black plays without 2 knights"),
        ("rnbqkbnr/ppppp1pp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "black", "pawn", "Black plays without a pawn"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPP1PP/RNBQKBNR b KQkq - 0 1", "white", "pawn move",
         "White plays without a pawn and moves second"),
        (f"{START} b KQkq - 0 1", "white", "move", "White moves second"),
        ("r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1", "black", "knight move",
         "Black plays without a knight and moves first"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NB1KBNR w Kkq - 0 1", "white", "queen rook",
         "White plays without a queen and a rook"),
    ],
)  # fmt: skip
def test_pieces_missing_on_one_side_are_odds(fen: str, giver: str, odds: str, words: str) -> None:
    handicap = handicap_of(fen)
    assert (handicap.giver, handicap.odds) == (Colour(giver), tuple(map(Odds, odds.split())))
    assert str(handicap) == words


@pytest.mark.parametrize(
    "fen",
    [
        f"{START} w KQkq - 0 1",
        "startpos",
        "",
        "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1",
        "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBNKBNR w KQkq - 0 1",
        "8888888888888888888888888888 w - - 0 1",
        "rnbqkbnr",
    ],
)
def test_other_starts_are_no_odds(fen: str) -> None:
    assert handicap_of(fen) is None
