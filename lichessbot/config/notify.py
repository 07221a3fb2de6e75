"""The section `notify`: the operator's program that is told what happens."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from lichessbot.config.base import Command, Number, Section
from lichessbot.config.challenge import SomeOf


class NotifyEvent(StrEnum):
    """What the operator's program can be told."""

    OFFLINE = "offline"
    """No event stream for `offline_after`."""
    ONLINE = "online"
    """It is open again, after `offline` was told."""
    GAME_STARTED = "game_started"
    GAME_WON = "game_won"
    GAME_LOST = "game_lost"
    """On time too, if `lost_on_time` is not told."""
    GAME_DRAWN = "game_drawn"
    LOST_ON_TIME = "lost_on_time"
    ENGINE_DIED = "engine_died"
    """The bot starts it again by itself."""
    ENGINE_FAILS = "engine_fails"
    """No new games until the engines work again."""
    TOKEN_EXPIRES = "token_expires"
    """14, 7, 3 and 1 days before."""
    TOKEN_REFUSED = "token_refused"
    """The daemon ended because of it."""
    DAEMON_STOPPED = "daemon_stopped"


class NotifyConfig(Section):
    """The section `notify`. Times in seconds."""

    command: Command | None = None
    on: SomeOf[NotifyEvent] = (
        NotifyEvent.OFFLINE,
        NotifyEvent.ONLINE,
        NotifyEvent.LOST_ON_TIME,
        NotifyEvent.ENGINE_DIED,
        NotifyEvent.ENGINE_FAILS,
        NotifyEvent.TOKEN_EXPIRES,
        NotifyEvent.TOKEN_REFUSED,
        NotifyEvent.DAEMON_STOPPED,
    )
    timeout: Annotated[Number, Field(ge=1, le=60)] = 10
    offline_after: Annotated[Number, Field(ge=0, le=86400)] = 300
