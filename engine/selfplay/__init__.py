"""Games of the engine against itself and others: records, matches between evaluations, ladders, their statistics.

Knows players with a node limit, adjudication, the record format, and how work is spread over processes and
machines.
Must not know: how weights and networks are fitted, and the command line.
Offers records, self-play, matches and ladders with their statistics, comparisons with people's games, what a style
shows in its games, games for an opening book, and parallel work.
"""

__all__ = [
    "book_growing",
    "calibration",
    "cluster",
    "games",
    "humanness",
    "ladder",
    "match",
    "people",
    "records",
    "selfplay",
    "sprt",
    "styles",
    "uci_client",
    "worker_pool",
]
