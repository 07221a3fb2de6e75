"""The `rehearse` command: options, games, the bot's process, and the display.

Must not know: nothing of the daemon's code: it runs it as a process.
"""

__all__ = ["rehearse"]
