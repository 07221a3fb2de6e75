"""The chat of a game: what the bot says in its two rooms.

Knows: when the bot greets and which commands it obeys (`chat`), and how it words facts (`texts`).
"""
