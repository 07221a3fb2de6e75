"""Which challenges are accepted, and what happens to them until they are.

Must not know: how games are played.
"""

__all__ = ["handler", "player_lists", "policy", "slots"]
