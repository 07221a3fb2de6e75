"""How strong the bot plays against a person: as configured, or at a level.

Must not know: how the bot takes over a level.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol


@dataclass(frozen=True)
class Strength:
    """A choice of the page. `engine_keys`: of the section `engine` in the bot's configuration, for casual games."""

    key: str
    name: str
    engine_keys: Mapping[str, int] = field(default_factory=dict)


STRENGTHS: Final = (
    Strength("full", "As configured"),
    *(Strength(f"level-{level}", f"Level {level}", {"strength": level}) for level in range(2600, 799, -200)),
)


class CannotSetStrength(Exception):
    """The bot did not take over the strength."""


class Bot(Protocol):
    """The bot under test, as far as its strength is concerned."""

    def set_strength(self, keys: Mapping[str, int]) -> None:
        """Play new games against the person with these keys; return once they are in use. Raises CannotSetStrength."""
