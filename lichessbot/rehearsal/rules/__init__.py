"""The rules of Lichess without HTTP: accounts, challenges, games, clocks, arenas.

Must not know: HTTP, JSON shapes, faults and the bot under test.
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
    "setup",
    "timing",
]
