"""The variants of Lichess: crazyhouse, three-check, king of the hill, antichess, atomic, horde and racing kings.

Knows their rules. Each is a position of standard chess (`core/position.py`) that says what differs: which moves are
legal, what else a move does, and when the game is over. Standard chess and Chess960 need nothing of this.
Must not know: what a position is worth, how it is searched, and text other than FEN.
Offers `variant` (the variants by name), `variant_position` (what all have in common), and `variant_fen`.
"""

__all__ = ["variant", "variant_fen", "variant_position"]
