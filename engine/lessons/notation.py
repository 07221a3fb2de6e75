"""What people read of a game: evaluations, its end in words, variations.

Evaluations are written as in cce: pawns from White's view, `M+2` for a mate in two, `M-0` for White mated.
"""

from collections.abc import Sequence

from engine.accuracy import Score
from engine.board import THREEFOLD, Board, Ending

REPETITION = "threefold repetition"
DRAWS = {
    Ending.STALEMATE: "stalemate",
    Ending.INSUFFICIENT_MATERIAL: "neither side can mate",
    Ending.FIFTY_MOVES: "fifty moves without capture or pawn move",
    Ending.FIVEFOLD_REPETITION: REPETITION,
    Ending.VARIANT_DRAW: "both kings have arrived",
}


def score_text(score: Score) -> str:
    """Return '+0.35', 'M+2' if White mates in two, 'M-2' if Black does."""
    return f"M{score.mate:+}" if score.cp is None else pawns_text(score.cp)


def pawns_text(centipawns: float) -> str:
    """Return '+0.35'; never '-0.00'."""
    text = f"{centipawns / 100:+.2f}"
    return "+0.00" if text == "-0.00" else text


def final_text(board: Board) -> str | None:
    """Return 'M-0' if Black has won, 'M+0' if White has, 'DRAW', or None while the game goes on."""
    winner = winner_of(board)
    if winner is not None:
        return "M-0" if winner == "black" else "M+0"
    return "DRAW" if drawn_by(board) else None


def winner_of(board: Board) -> str | None:
    """Return the side that has won by the rules, or None."""
    outcome = board.outcome()
    return None if outcome is None else outcome.winner


def drawn_by(board: Board) -> str | None:
    """Return the rule that makes the game a draw, or None."""
    outcome = board.outcome()
    if outcome is not None:
        return DRAWS.get(outcome.ending)
    return REPETITION if board.repetition_count() >= THREEFOLD else None


def ending_text(board: Board) -> str | None:
    """Return 'checkmate, white wins' or 'draw: stalemate' in plain words, or None while the game goes on."""
    winner, rule = winner_of(board), drawn_by(board)
    if winner is not None:
        return f"{'checkmate, ' if board.is_checkmate() else ''}{winner} wins"
    return f"draw: {rule}" if rule is not None else None


def san_line(board: Board, moves: Sequence[str]) -> str:
    """Return a variation in algebraic notation with move numbers: '5... Nf6 6. O-O'."""
    replay = board.copy(moves=False)
    words = []
    for index, move in enumerate(moves):
        if replay.turn == "white":
            words.append(f"{replay.fullmove_number}.")
        elif index == 0:
            words.append(f"{replay.fullmove_number}...")
        words.append(replay.san(move))
        replay.push(move)
    return " ".join(words)
