"""Opening books, and the names of openings.

Knows the Polyglot file format, position keys, how books are checked, and how games become books.
Must not know: search, evaluation and where games come from.
Offers reading and writing books, their review, statistics of games, and the name of the opening of a game.
"""

__all__ = ["book_statistics", "opening_book", "opening_names", "polyglot"]
