"""Polyglot opening books.

Knows the file format, position keys, how books are checked, and how games become books.
Must not know: search, evaluation and where games come from.
Offers reading and writing books, their review, and statistics of games.
"""

__all__ = ["book_statistics", "opening_book", "polyglot"]
