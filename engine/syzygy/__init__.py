"""Syzygy endgame tablebases: the file format, WDL and DTZ probing.

Knows how positions with few pieces are looked up in files, and what WDL and DTZ say about a position and its moves.
Must not know: search and evaluation. Offers `Tablebase` for positions on the board and `Prober` for those of a search.
"""

__all__ = ["file_header", "prober", "tablebase"]
