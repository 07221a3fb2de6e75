"""The hand-written evaluation: its terms, known endgames, weights and styles.

Must not know: search, time and files.
"""

__all__ = ["endings", "evaluate", "style", "weights"]
