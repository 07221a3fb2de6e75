"""Games of the engine against itself: records, matches, and their statistics.

Must not know: how weights and networks are fitted.
"""

__all__ = ["book_growing", "match", "records", "selfplay", "sprt", "worker_pool"]
