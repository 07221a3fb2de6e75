"""The commands of `lichessbot-engine`, one module each.

Must not know: chess: each command calls what does the work.
"""

__all__ = ["book", "terminal", "training"]
