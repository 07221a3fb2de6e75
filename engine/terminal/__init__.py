"""The engine's face in a terminal: playing, analysing, and showing what it knows."""

COMMANDS = ("play", "analyse", "eval", "perft", "compare-search", "depth-table", "articles")
