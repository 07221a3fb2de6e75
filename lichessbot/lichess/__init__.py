"""The Lichess Bot API: requests, streams, and the values they carry.

Must not know: games in progress, engines, and the configuration.
"""

__all__ = [
    "challenge_terms",
    "client",
    "commands",
    "enums",
    "http",
    "models",
    "outbox",
    "parsing",
    "rate_limiter",
    "streams",
]
