"""Whether to accept a challenge: event, config and free slots in, decision out.

Pure. The checks stand in the order that tells the challenger most, with the reasons Lichess
translates: who they are, the clock, the variant, the mode, and only then that we are busy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.facade import Board, InvalidFen
from lichessbot.config import ChallengeConfig
from lichessbot.events import Challenge, ChallengeReceived
from lichessbot.vocabulary import DeclineReason, Mode, Variant

_OPEN_STATUS: Final = "created"
_UNFAIR_RULE: Final = "noAbort"


@dataclass(frozen=True)
class Accept:
    pass


@dataclass(frozen=True)
class Decline:
    """`because` is for our own log; the challenger sees `reason`."""

    reason: DeclineReason
    because: str


@dataclass(frozen=True)
class Ignore:
    """Not for us to answer."""

    because: str


Decision = Accept | Decline | Ignore
_Check = Callable[[Challenge, ChallengeConfig], Decline | None]


def decide(received: ChallengeReceived, config: ChallengeConfig, our_id: str, free_slots: int) -> Decision:
    """What to answer. `free_slots`: games that may still begin, 0 while the daemon is stopping."""
    challenge = received.challenge
    if challenge.challenger is not None and challenge.challenger.id == our_id:
        return Ignore("our own challenge")
    if challenge.status != _OPEN_STATUS:
        return Ignore(f"its status is {challenge.status}")
    objections = (check(challenge, config) for check in _CHECKS)
    first = next((objection for objection in objections if objection), None)
    if first is not None:
        return first
    if free_slots <= 0:
        return Decline(DeclineReason.LATER, "no free slot")
    if not received.compat.bot:
        return Decline(DeclineReason.GENERIC, "Lichess says that bots cannot play it")
    return Accept()


def _challenger(challenge: Challenge, config: ChallengeConfig) -> Decline | None:
    is_bot = challenge.challenger is not None and challenge.challenger.is_bot
    if is_bot and not config.accept_bot:
        return Decline(DeclineReason.NO_BOT, "accept_bot is false")
    if not is_bot and config.only_bot:
        return Decline(DeclineReason.ONLY_BOT, "only_bot is true")
    return None


def _clock(challenge: Challenge, config: ChallengeConfig) -> Decline | None:
    base, increment = challenge.time_control.limit, challenge.time_control.increment
    if base is None or increment is None:
        return Decline(DeclineReason.TIME_CONTROL, f"time control {challenge.time_control.type}")
    if challenge.speed not in config.time_controls:
        return Decline(DeclineReason.TIME_CONTROL, f"speed {challenge.speed}")
    if base < config.min_base or increment < config.min_increment:
        return Decline(DeclineReason.TOO_FAST, f"clock {base}+{increment}")
    if base > config.max_base or increment > config.max_increment:
        return Decline(DeclineReason.TOO_SLOW, f"clock {base}+{increment}")
    return None


def _variant(challenge: Challenge, config: ChallengeConfig) -> Decline | None:
    key = challenge.variant.key
    if key not in config.variants:
        return Decline(DeclineReason.VARIANT, f"variant {key}")
    return None


def _start(challenge: Challenge, config: ChallengeConfig) -> Decline | None:
    """A start that our rules refuse could not be played."""
    if challenge.initial_fen is None:
        return None
    try:
        board = Board(challenge.initial_fen, chess960=challenge.variant.key != Variant.STANDARD)
    except InvalidFen as error:
        return Decline(DeclineReason.VARIANT, str(error))
    return None if board.legal_moves() else Decline(DeclineReason.VARIANT, "no legal move at the start")


def _mode(challenge: Challenge, config: ChallengeConfig) -> Decline | None:
    if challenge.rated and Mode.RATED not in config.modes:
        return Decline(DeclineReason.CASUAL, "rated is off")
    if not challenge.rated and Mode.CASUAL not in config.modes:
        return Decline(DeclineReason.RATED, "casual is off")
    return None


def _rules(challenge: Challenge, config: ChallengeConfig) -> Decline | None:
    """Under `noAbort` a game whose opponent never moves could be ended by nobody."""
    if _UNFAIR_RULE in challenge.rules:
        return Decline(DeclineReason.GENERIC, f"rule {_UNFAIR_RULE}")
    return None


_CHECKS: Final[tuple[_Check, ...]] = (_challenger, _clock, _variant, _start, _mode, _rules)
