"""An embedded Lichess: a real HTTP server on loopback that speaks the Bot API, and the `rehearse` command.

Built from the API contract alone. It imports nothing of the daemon, so that client and server
cannot share a misreading; the rules of chess come from `engine.facade`.


Knows how Lichess behaves, from the API contract. Must not know: the daemon's code.
"""

__all__ = ["cli"]
