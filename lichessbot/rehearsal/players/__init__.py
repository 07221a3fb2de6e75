"""The opponents of a rehearsal and how they behave.

Must not know: the `rehearse` command.
"""

__all__ = ["behaviour", "house_bots", "opponents", "start_positions"]
