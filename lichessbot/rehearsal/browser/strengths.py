"""How strong the bot plays against a person: as configured, or with a limit of its search.

Must not know: how the bot takes over a limit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol


@dataclass(frozen=True)
class Strength:
    """A choice of the page. `limits`: keys of the section `engine` in the bot's configuration."""

    key: str
    name: str
    limits: Mapping[str, int] = field(default_factory=dict)


STRENGTHS: Final = (
    Strength("full", "Full strength"),
    Strength("nodes-100000", "100,000 nodes a move", {"nodes": 100_000}),
    Strength("nodes-10000", "10,000 nodes a move", {"nodes": 10_000}),
    Strength("nodes-1000", "1,000 nodes a move", {"nodes": 1_000}),
    Strength("depth-3", "3 plies deep", {"depth": 3}),
    Strength("depth-1", "1 ply deep", {"depth": 1}),
)


class CannotLimit(Exception):
    """The bot did not take over the limits."""


class Bot(Protocol):
    """The bot under test, as far as its strength is concerned."""

    def limit(self, limits: Mapping[str, int]) -> None:
        """Play new games against the person with these limits; return once they are in use. Raises CannotLimit."""
