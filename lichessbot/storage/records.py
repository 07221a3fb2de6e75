"""What the state file keeps, as plain values."""

from dataclasses import dataclass
from enum import StrEnum


class LimitedAction(StrEnum):
    """What is done a limited number of times in a game, restarts or not."""

    GREETING = "greeting"
    GOODBYE = "goodbye"
    DRAW_OFFER = "draw offer"
    TAKEBACK = "takeback"


@dataclass(frozen=True, slots=True)
class ListFetched:
    """A new version of a list of players; `etag` is the server's name for it, empty if it has none."""

    address: str
    names: frozenset[str]
    etag: str = ""


@dataclass(frozen=True, slots=True)
class SlotHolder:
    """An opponent in one game, or in one that is about to start; `user_id` is empty if anonymous."""

    user_id: str
    is_bot: bool
    has_clock: bool = True
