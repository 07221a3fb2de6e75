"""The Lichess API: endpoints, streams, the values they carry, and how often requests may be sent.

Knows JSON, HTTP, rate limits and retries. Must not know: games in progress, engines, and the configuration.
Offers `client` (one method per endpoint, with `answers`), `outbox` (sends `commands` from other threads), `streams`
(reads streams into `models`), `finished_game`, `positions`, `rate_limiter` and `http`, the API's words in `enums` and
`challenge_terms`, and what an odds game gives (`odds`).
"""

__all__ = [
    "answers",
    "challenge_terms",
    "client",
    "commands",
    "enums",
    "finished_game",
    "http",
    "models",
    "odds",
    "outbox",
    "positions",
    "rate_limiter",
    "streams",
]
