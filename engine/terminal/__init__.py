"""The engine's face in a terminal: playing, analysing, and showing what it knows.

Knows how a person plays and analyses in a terminal. Must not know: protocols and the daemon.
"""

COMMANDS = ("play", "analyse", "eval", "perft", "compare-search", "depth-table", "articles")

__all__ = ["analyse", "articles", "drawing", "play", "players", "playing", "stopwatch", "tools"]
