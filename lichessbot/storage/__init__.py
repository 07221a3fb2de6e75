"""All SQL: the state file and the records in it.

Must not know: Lichess, engines and decisions.
"""

__all__ = ["challenge_records", "database", "records", "store"]
