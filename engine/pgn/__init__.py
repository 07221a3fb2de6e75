"""Games as text.

Knows PGN in all the forms that files have, games as trees of moves with comments, and time controls.
Must not know: search and evaluation.
Offers the tree of a game, reading and writing PGN, and time controls.
"""

__all__ = ["game", "pgn", "time_control"]
