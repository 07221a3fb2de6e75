"""Move sources asked before the engine: books, endgame tablebases, and servers that know openings or endings.

Knows how each source is asked and which moves of its answer may be played. A source that fails, hangs or lies is
skipped and paused for a while; the engine then searches. Only legal moves leave this package.
Must not know: games, streams, and the clock beyond the time limit of a question.
Offers: `MoveResolver` (the sources of one game), `Hosts` (the servers, shared by all games), `models` (questions and
answers), `check_sources` and `warn_of_unusable_files` (what does not work, before a game needs it).
"""

from lichessbot.move_sources.check import check_sources
from lichessbot.move_sources.http import Hosts
from lichessbot.move_sources.local import warn_of_unusable_files
from lichessbot.move_sources.resolver import MoveResolver

__all__ = ["Hosts", "MoveResolver", "check_sources", "models", "warn_of_unusable_files"]
