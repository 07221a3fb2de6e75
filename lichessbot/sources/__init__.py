"""Who is asked for a move before the engine: books on the disk, and servers that know openings or endings.

A game asks its `Desk`, which answers on the queue within the game's patience or is not waited for. Nothing here can
cost a game: what fails, hangs or lies is passed over, rests for a while, and the engine thinks. Only legal moves leave
this package.
"""

from lichessbot.sources.books import unusable
from lichessbot.sources.desk import Desk
from lichessbot.sources.hosts import Hosts
from lichessbot.sources.trial import Trial, trials

__all__ = ["Desk", "Hosts", "Trial", "trials", "unusable"]
