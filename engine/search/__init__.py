"""Alpha-beta search, move ordering, pruning, the transposition table, time management.

Must not know: protocols, files and who asked.
"""

__all__ = [
    "history",
    "iterative_deepening",
    "search",
    "search_stack",
    "time_manager",
    "transposition",
    "wdl",
]
