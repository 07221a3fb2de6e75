"""The `rehearse` command: options, games, the bot's process, and the display.

Knows how a rehearsal is set up, run, shown and judged.
Must not know: the daemon's code, which it runs as a process of its own.
Offers: `rehearse`, and the `options` of its command.
"""

__all__ = ["options", "rehearse"]
