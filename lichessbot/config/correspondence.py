"""The section `correspondence`: games with days for each move, or without any clock."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from lichessbot.config.fields import Flag, Number, Section


class CorrespondenceConfig(Section):
    """How games with days for each move, or without a clock, are played. Times in seconds."""

    concurrency: Annotated[Number, Field(ge=1, le=16)] = 1
    move_time: Annotated[Number, Field(ge=1, le=600)] = 60
    checkin_period: Annotated[Number, Field(ge=1, le=86400)] = 300
    disconnect_time: Annotated[Number, Field(ge=0, le=86400)] = 150
    ponder: Flag = False

    @property
    def check_in_every(self) -> timedelta:
        """Between two looks at whose turn it is in the games at which nobody sits."""
        return timedelta(seconds=self.checkin_period)

    @property
    def linger(self) -> timedelta:
        """How long to wait at the board for the opponent's next move."""
        return timedelta(seconds=self.disconnect_time)
