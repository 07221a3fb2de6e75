"""The command line of `lichessbot-engine`, one module per command or group of commands.

Knows the options, their defaults and checks, and turns errors into one line and an exit code.
Must not know: how the work is done; each command calls the package that does it.
Offers `main.run`.
"""

__all__ = ["main"]
