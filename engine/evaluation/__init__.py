"""Knows the hand-written evaluation: its terms, known endgames, weights and styles.

Must not know: search, time and files.
Offers `evaluate` (the sum), `endings` (known results and drawish scales), `weights` (names and values of the terms)
and `style` (scaling groups of weights).
"""

__all__ = ["endings", "evaluate", "style", "weights"]
