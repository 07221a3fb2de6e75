"""Games as text: PGN, its tokens, and the tree of moves.

Must not know: search and evaluation.
"""

__all__ = ["game", "pgn"]
