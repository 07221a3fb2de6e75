"""The opponents of a rehearsal: how they choose moves, answer challenges and behave.

Knows the accounts that play by themselves (`house_bots`), the ways to choose a move (`opponents`), the positions that
games start from (`start_positions`), and chat, offers and leaving (`behaviour`).
Must not know: the `rehearse` command.
Offers: all its modules.
"""

__all__ = ["behaviour", "house_bots", "opponents", "start_positions"]
