"""An embedded Lichess: a real HTTP server on loopback that speaks the Bot API, and the `rehearse` command.

Built from the documentation and the behaviour of Lichess (lichess.org/api), without the daemon, so that client and
server cannot share a misreading.
Knows how Lichess behaves: its rules, its API, and what goes wrong between it and a bot.
Must not know: the daemon's code. The rules of chess come from `engine.facade`.
Offers: `cli`, for the command line.
"""

__all__ = ["cli"]
