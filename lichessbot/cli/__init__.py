"""The commands of `lichessbot`, one module each.

Must not know: chess and the API: each command calls what does the work.
"""

__all__ = ["challenge", "check", "explain", "tournament", "upgrade"]
