"""Who is asked for a move before the engine: books on the disk, and servers that know openings or endings.

A game asks its `MoveResolver`, which answers within the deadline of the game or is ignored. Nothing here can
cost a game: what fails, hangs or lies is passed over, rests for a while, and the engine thinks. Only legal moves leave
this package.

Must not know: games, streams, and the clock beyond its own deadline.
"""

from lichessbot.move_sources.check import check_sources
from lichessbot.move_sources.http import Hosts
from lichessbot.move_sources.local import unusable_books
from lichessbot.move_sources.resolver import MoveResolver

__all__ = ["Hosts", "MoveResolver", "check_sources", "models", "unusable_books"]
