"""Alpha-beta search, move ordering, pruning, the transposition table, time management.

Knows how a position is searched within limits of depth, nodes and time, and offers the search of one thread
(`search`), the loop over depths (`iterative_deepening`), the whole of a search with its reports (`running_search`), and
what they share or are limited by.
Must not know: protocols and file formats. A function that a `.pxd` declares `noexcept` is a C function that never
raises; the `.py` repeats neither.
"""

__all__ = [
    "available_memory",
    "history",
    "iterative_deepening",
    "levels",
    "running_search",
    "search",
    "search_stack",
    "time_manager",
    "transposition",
    "wdl",
]
