"""The chat of a game: what the bot says in its two rooms.

Knows: when the bot greets and what it does at a command (`chat`), how a command is spelled (`commands`), and how facts
are said (`texts`).
"""
