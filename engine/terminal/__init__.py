"""The engine's face in a terminal: playing, analysing, and showing what it knows.

Knows how a person plays and analyses in a terminal. Must not know: protocols and the daemon.
"""

__all__ = ["analysis", "articles", "board_view", "chess_clock", "play_session", "players", "reports", "terminal_game"]
