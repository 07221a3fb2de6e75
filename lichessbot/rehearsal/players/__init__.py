"""The opponents of a rehearsal: how they choose moves, answer challenges and behave.

Knows the accounts that play by themselves (`house_bots`), their ways to choose a move (`opponents`), and what they do
besides moving (`behaviour`).
Must not know: the `rehearse` command.
Offers: all its modules.
"""

__all__ = ["behaviour", "house_bots", "opponents", "start_positions"]
