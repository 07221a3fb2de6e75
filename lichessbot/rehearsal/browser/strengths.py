"""How strong the bot plays against a person: as configured, or at a level.

Must not know: how the bot takes over a level.
"""

from dataclasses import dataclass
from typing import Final, Protocol


@dataclass(frozen=True)
class Strength:
    """A choice of the page. `level`: of the bot in casual games; None: as configured."""

    key: str
    name: str
    level: int | None = None


STRENGTHS: Final = (
    Strength("full", "As configured"),
    *(Strength(f"level-{level}", f"Level {level}", level) for level in range(2600, 799, -200)),
)


class CannotSetStrength(Exception):
    """The bot did not take over the strength."""


class Bot(Protocol):
    """The bot under test, as far as its strength is concerned."""

    def set_level(self, level: int | None) -> None:
        """Play new casual games against the person at this level, or as configured; return once that is in use.

        Raises CannotSetStrength.
        """
