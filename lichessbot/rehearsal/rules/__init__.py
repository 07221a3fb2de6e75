"""The rules of Lichess without HTTP: accounts, challenges, games, clocks, arenas.

Knows what Lichess allows and what a command leads to, as pure state: the time is a parameter.
Must not know: HTTP, JSON shapes, faults and the bot under test.
Offers: all its modules.
"""

__all__ = [
    "accounts",
    "arenas",
    "challenges",
    "clock",
    "enums",
    "errors",
    "game",
    "ids",
    "presence",
    "quotas",
    "ratings",
    "repeats",
    "setup",
    "teams",
    "timing",
]
