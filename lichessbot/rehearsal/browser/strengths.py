"""How strong the bot plays against a person: as configured, or at a level.

Must not know: how the bot takes over a level.
"""

from typing import Final, Protocol

# The choices of the page, by key; None: as configured.
LEVELS: Final = {"full": None, **{f"level-{level}": level for level in range(2600, 799, -200)}}


def strength_name(level: int | None) -> str:
    """Return what the page calls a level of the bot."""
    return "As configured" if level is None else f"Level {level}"


class CannotSetStrength(Exception):
    """The bot did not take over the strength."""


class Bot(Protocol):
    """The bot under test, as far as its strength is concerned."""

    def set_level(self, level: int | None) -> None:
        """Play new casual games against the person at this level, or as configured; return once that is in use.

        Raises CannotSetStrength.
        """
