"""Games as text.

Knows PGN in all the forms that files have, and games as trees of moves with comments.
Must not know: search and evaluation.
Offers the tree of a game, and reading and writing PGN.
"""

__all__ = ["game", "pgn"]
