"""Alpha-beta search, move ordering, pruning, the transposition table, time management.

Knows how a position is searched within limits of depth, nodes and time. Offers the search of one thread (`search`), the
loop over depths (`iterative_deepening`), a whole search with its reports (`running_search`), what these share and what
limits them, and play of limited strength (`levels`).
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
