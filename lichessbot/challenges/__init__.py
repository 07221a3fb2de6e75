"""Challenges to us: which are accepted, and what happens to them until they are.

Knows the rules that decide (`policy`), the facts on which they depend (`snapshot`), who waits for a slot (`queue`), who
takes one (`slots`), and the block lists on the web and in files (`player_lists`); `handler` answers each once.
Must not know: how games are played, and our own challenges.
Offers: `handler`, `player_lists`, `policy`, `slots` and `snapshot`.
"""

__all__ = ["handler", "player_lists", "policy", "slots", "snapshot"]
