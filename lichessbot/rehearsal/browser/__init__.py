"""The page on which a person plays against the bot under test, and watches its other games.

Knows the person as an ordinary account of the site, what the page shows, and the analysis after a game.
Must not know: the bot's process and the daemon's code.
Offers: `page`, which answers the requests of browsers, and `person`, who plays.
"""

__all__ = ["page", "person"]
