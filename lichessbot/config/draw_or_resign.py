"""The section `engine.draw_or_resign`: when a game is offered as a draw or given up."""

from typing import Annotated

from pydantic import Field

from lichessbot.config.fields import Flag, Number, Section

_Moves = Annotated[Number, Field(ge=1, le=100)]
_Rating = Annotated[Number, Field(ge=0, le=4000)]


class DrawOrResignConfig(Section):
    """Scores in centipawns from our side; None leaves that condition out.

    One search alone never resigns; a tablebase does.
    """

    offer_draw_enabled: Flag = False
    offer_draw_score: Annotated[Number, Field(ge=0, le=2000)] = 0
    offer_draw_moves: _Moves = 5
    offer_draw_pieces: Annotated[Number, Field(ge=2, le=32)] = 10
    offer_draw_for_egtb_zero: Flag = True
    offer_draw_min_game_length: Annotated[Number, Field(ge=0, le=300)] = 0
    offer_draw_against_humans: Flag = True
    offer_draw_min_rating: _Rating | None = None
    resign_enabled: Flag = False
    resign_score: Annotated[Number, Field(ge=-20000, le=0)] = -1000
    resign_moves: Annotated[Number, Field(ge=2, le=100)] = 3
    resign_for_egtb_minus_two: Flag = True
    resign_against_humans: Flag = True
    resign_min_rating: _Rating | None = None
    opponent_flag_time: Annotated[Number, Field(ge=0, le=3600)] = 30
