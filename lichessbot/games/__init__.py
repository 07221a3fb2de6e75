"""Playing the games in progress, from the stream to the move and the PGN.

Must not know: challenges and matchmaking.
"""

__all__ = ["manager", "opening_variety", "pgn", "recovery", "session", "time_budget"]
