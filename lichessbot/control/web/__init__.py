"""The daemon's web server: the operator's page, the status as JSON and as a stream of events, health, and metrics.

Knows: how the page is served (`service`, `routes`, `static`, `metrics`), to whom (`guard`, `connections`), and how the
main thread is asked for a status, once for all pages (`snapshots`).
Must not know: the records and the configuration, which come in through `server`.
Offers: `server` and `site`. Everything else is imported only once a server is wanted: it takes time and memory.
"""

__all__ = ["server", "site"]
