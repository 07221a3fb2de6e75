"""The section `engine`: how strongly and how long the engine thinks."""

from typing import Annotated, ClassVar

from pydantic import Field

from lichessbot.config.draw_or_resign import DrawOrResignConfig
from lichessbot.config.fields import Flag, Number, Section
from lichessbot.config.sources import OnlineMovesConfig, PolyglotConfig


class EngineConfig(Section):
    """How strongly and how long the engine thinks; None leaves that limit out.

    What is kept back for the network is `move_overhead_ms` until enough round trips are known, then
    their percentile between the two bounds.
    """

    hash_mb: Annotated[Number, Field(ge=1, le=65536)] = 64
    threads: Annotated[Number, Field(ge=1, le=64)] = 1
    depth: Annotated[Number, Field(ge=1, le=100)] | None = None
    nodes: Annotated[Number, Field(ge=1)] | None = None
    move_time_ms: Annotated[Number, Field(ge=1, le=600_000)] | None = None
    move_overhead_ms: Annotated[Number, Field(ge=0, le=5000)] = 200
    move_overhead_percentile: Annotated[Number, Field(ge=50, le=100)] = 99
    min_move_overhead_ms: Annotated[Number, Field(ge=0, le=5000)] = 20
    max_move_overhead_ms: Annotated[Number, Field(ge=0, le=5000)] = 2000
    draw_or_resign: DrawOrResignConfig = DrawOrResignConfig()
    own_book: Flag = True
    variety: Flag = True
    polyglot: PolyglotConfig = PolyglotConfig()
    online_moves: OnlineMovesConfig = OnlineMovesConfig()

    @property
    def has_sources(self) -> bool:
        """Whether anybody is asked for a move before the engine."""
        return bool(self.sources)

    @property
    def sources(self) -> tuple[str, ...]:
        """Who is asked for a move before the engine, by the names of their keys, in their order."""
        asked = [("polyglot", self.polyglot.enabled), *self.online_moves.sources, ("own_book", self.own_book)]
        return tuple(name for name, enabled in asked if enabled)

    bounds: ClassVar = (("min_move_overhead_ms", "max_move_overhead_ms"),)
