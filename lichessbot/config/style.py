"""The section `engine.style`: how heavy each group of things weighs for the bot's own engine, in percent."""

from typing import Annotated

from pydantic import Field

from lichessbot.config.fields import Number, Section

NEUTRAL = 100
Weight = Annotated[Number, Field(ge=-200, le=400)]


class StyleConfig(Section):
    """100 is what games taught; less than 0 turns a group round. The engine has an option for each."""

    material: Annotated[Number, Field(ge=-200, le=200)] = NEUTRAL
    placement: Weight = NEUTRAL
    mobility: Weight = NEUTRAL
    pawn_structure: Weight = NEUTRAL
    pawn_advance: Weight = NEUTRAL
    pieces: Weight = NEUTRAL
    king_safety: Weight = NEUTRAL
    king_attack: Weight = NEUTRAL
    threats: Weight = NEUTRAL
    tempo: Weight = NEUTRAL

    @property
    def uci_options(self) -> dict[str, int]:
        """The keys that the operator has named, as the engine calls them: `Style King Attack`."""
        named = ((name, value) for name, value in self if name in self.model_fields_set)
        return {f"Style {name.replace('_', ' ').title()}": value for name, value in named}

    @property
    def is_neutral(self) -> bool:
        return all(value == NEUTRAL for _, value in self)

    @property
    def plays_to_lose(self) -> bool:
        """Whether good scores are bad news."""
        return self.material < 0
