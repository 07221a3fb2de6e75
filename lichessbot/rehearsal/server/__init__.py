"""The embedded Lichess as an HTTP server: routes, payloads, streams, running games.

Must not know: faults and the bot under test.
"""

__all__ = ["export", "game_session", "params", "server", "site", "streams"]
