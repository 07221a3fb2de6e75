"""Games of the engine against itself: what they are stored as, matches between evaluations, and their statistics.

Knows players with a node limit, adjudication, the record format, and how work is spread over processes.
Must not know: how weights and networks are fitted, and the command line.
Offers records, self-play, matches with their statistics, and games for an opening book.
"""

__all__ = ["book_growing", "match", "records", "selfplay", "sprt"]
