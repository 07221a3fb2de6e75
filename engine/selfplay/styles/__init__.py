"""Games of a style against the default: what the style shows, and what it costs.

Knows games of the engine against itself and the measure of each named style.
Must not know: how a style changes the evaluation, and the command line.
Offers the games of a style with their score, and the statistics that compare two players.
"""

__all__ = ["match", "measures"]
