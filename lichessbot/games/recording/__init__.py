"""The record of a game: what the database keeps of it, and its PGN.

Knows: how a game is recorded while it is played (`recorder`), how a finished one is written to files (`archive`), and
its text (`pgn`). A ply that no process has seen at the time has no clock, and one that was not searched has no
evaluation.
"""
