"""The embedded Lichess as an HTTP server: routes, payloads, streams, running games.

Knows requests (`auth`, `params`, `routes`), answers (`payloads`, `export`), and the state of the whole site
(`site`, `game_session`, `arena_runner`), which lives on one event loop.
Must not know: faults and the bot under test.
Offers: `server` and `site`, and what the faults and the players of a rehearsal need of running games and streams.
"""

__all__ = ["export", "game_session", "server", "site", "streams"]
