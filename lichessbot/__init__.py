"""A Lichess bot daemon: accepts challenges, plays whole games, and loses none of them to the network."""

from engine import __version__

__all__ = ["__version__"]
