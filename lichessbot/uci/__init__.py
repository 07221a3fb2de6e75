"""UCI engines as child processes.

Knows the protocol, the process, the options of an engine, the profiles that choose its configuration, and the check of
all engines at the start.
Must not know: games and Lichess beyond the models that describe a game.
Offers: `restarting_engine` (the engine of one game), `search` (questions and answers), `profiles` (which configuration
a game gets), `startup_check`.
"""

__all__ = ["profiles", "restarting_engine", "search", "startup_check"]
