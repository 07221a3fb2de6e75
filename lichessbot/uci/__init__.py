"""UCI engines as child processes.

Knows the protocol, the process, the options of an engine, the profiles that choose its configuration and level, the
choice among its good opening moves, and the check of all engines at the start.
Must not know: games and Lichess beyond the models that describe a game.
Offers: `restarting_engine` (the engine of one game), `simple_engine` (an engine for a thread that waits for it),
`search` (questions and answers), `profiles` (which configuration a game gets), `strength` (at which level),
`configured_engines` (which ones games may get), `machine` (which configurations fit on this one), `opening_variety`
(which of several good moves is played), `startup_check`.
"""

__all__ = [
    "configured_engines",
    "engine_checks",
    "machine",
    "opening_variety",
    "profiles",
    "restarting_engine",
    "search",
    "simple_engine",
    "startup_check",
    "strength",
]
