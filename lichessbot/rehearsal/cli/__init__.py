"""The `rehearse` command: options, games, the bot's process, and the display.

Knows how a rehearsal is set up, run, shown and judged.
Must not know: the daemon's code; the daemon runs as a child process.
Offers: `rehearse`, and the `options` of its command.
"""

__all__ = ["options", "rehearse"]
