"""An engine as a child process that speaks UCI: its options, profiles and startup check.

Must not know: Lichess and games.
"""

__all__ = ["engine", "profiles", "search", "startup_check"]
