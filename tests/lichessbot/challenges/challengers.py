"""Challenges for the tests of queue and handler."""

from typing import Any

from lichessbot.config import ChallengeConfig
from lichessbot.lichess.models import ChallengeReceived

CLOCK = {"type": "clock", "limit": 180, "increment": 2}


def received(
    name: str, *, rating: int | None = 1500, title: str | None = None, rated: bool = False, days: int | None = None
) -> ChallengeReceived:
    """A challenge whose id is the challenger's name."""
    challenge = {
        "id": name,
        "challenger": {"id": name, "rating": rating, "title": title},
        "variant": {"key": "standard"},
        "rated": rated,
        "speed": "correspondence" if days else "blitz",
        "timeControl": {"type": "correspondence", "daysPerTurn": days} if days else CLOCK,
    }
    return ChallengeReceived.model_validate({"challenge": challenge, "compat": {"bot": True}})


def config(**keys: Any) -> ChallengeConfig:
    return ChallengeConfig.model_validate({"concurrency": 64, **keys})


WEAK = received("weak", rating=1000)
STRONG = received("strong", rating=2000)
