"""Alpha-beta search, move ordering, pruning, the transposition table, time management.

Knows how a position is searched within limits of depth, nodes and time.

Must not know: protocols, files and who asked. A function that a `.pxd` declares `noexcept` is a C function and never
raises; its `.py` repeats neither.
"""

__all__ = [
    "available_memory",
    "history",
    "iterative_deepening",
    "search",
    "search_stack",
    "time_manager",
    "transposition",
    "wdl",
]
