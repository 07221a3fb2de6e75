"""The engine in a terminal: playing, analysing, and showing what it knows of a position.

Knows the board as text, chess clocks, the keyboard and the session of a game.
Must not know: protocols, the daemon, and how command lines are parsed.
Offers the sessions and reports that `engine/cli/` calls.
"""

__all__ = ["analysis", "articles", "board_view", "chess_clock", "play_session", "players", "reports", "terminal_game"]
