"""Polyglot opening books: reading, writing, and building them from games.

Must not know: search and evaluation.
"""

__all__ = ["book_statistics", "opening_book", "polyglot"]
