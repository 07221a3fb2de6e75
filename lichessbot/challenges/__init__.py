"""Challenges to us: which are accepted, and what happens to them until they are.

Knows the rules that decide (`policy`), who waits for a slot (`queue`), who takes one (`slots`), and the block lists
on the web and in files (`player_lists`); `handler` answers each challenge once.
Must not know: how games are played, and our own challenges.
Offers: `handler`, `player_lists`, `policy` (with the snapshot on which decisions depend) and `slots`.
"""

__all__ = ["handler", "player_lists", "policy", "slots"]
