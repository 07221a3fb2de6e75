"""Syzygy endgame tablebases: file format, probing, and what a root position is worth.

Must not know: search and evaluation.
"""

__all__ = ["file_header", "prober", "tablebase"]
