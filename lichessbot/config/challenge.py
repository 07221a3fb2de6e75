"""The section `challenge`: which challenges are accepted."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from lichessbot.config.fields import Flag, Number, Section, distinct
from lichessbot.vocabulary import Mode, Speed, Variant


class ChallengeConfig(Section):
    """Which challenges are accepted. Increments and bases in seconds."""

    concurrency: Annotated[Number, Field(ge=1, le=64)] = 1
    variants: Annotated[tuple[Variant, ...], Field(min_length=1), AfterValidator(distinct)] = tuple(Variant)
    time_controls: Annotated[tuple[Speed, ...], Field(min_length=1), AfterValidator(distinct)] = tuple(Speed)
    modes: Annotated[tuple[Mode, ...], Field(min_length=1), AfterValidator(distinct)] = tuple(Mode)
    accept_bot: Flag = True
    only_bot: Flag = False
    min_increment: Annotated[Number, Field(ge=0, le=180)] = 0
    max_increment: Annotated[Number, Field(ge=0, le=180)] = 20
    min_base: Annotated[Number, Field(ge=0, le=10800)] = 0
    max_base: Annotated[Number, Field(ge=0, le=10800)] = 1800

    bounds: ClassVar = (("min_increment", "max_increment"), ("min_base", "max_base"))

    def complaints(self) -> Iterator[tuple[str, str]]:
        yield from super().complaints()
        if self.only_bot and not self.accept_bot:
            yield "only_bot", "expected accept_bot to be true as well, found false"
