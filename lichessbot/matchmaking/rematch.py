"""What follows from a game that is over: rematches that we offer, and bots that did not begin to play.

Lichess lets bots offer a rematch only as a new challenge. Time is passed in, in monotonic seconds. Whether the offer is
sent, as slots and quotas allow, is decided elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lichessbot.config.matchmaking import RematchConfig
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.enums import PROPOSABLE_VARIANTS, Colour, ExactClock, GameStatus, is_offered_base
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.matchmaking.selection import Proposal
from lichessbot.timeouts import Timeouts, earliest

# The opponent is gone, or something is wrong with the game.
_NOT_AFTER: Final = (GameStatus.TIMEOUT, GameStatus.CHEAT, GameStatus.UNKNOWN_FINISH)


def rematch_after(game: FinishedGame, config: RematchConfig, played: int) -> Proposal | None:
    """Return the rematch to offer after a game, with colours reversed; None if there is none.

    `played`: how many rematches in a row led to this game.
    """
    full, them = game.full, game.opponent
    if not config.offer.covers(is_bot=them.is_bot) or played >= config.offers_in_a_row:
        return None
    if not game.was_watched or not game.was_played or game.status in _NOT_AFTER:
        return None
    terms = _terms_of(game, game.colour.other)
    if them.id is None or terms is None:
        return None
    return Proposal(them.id, terms, is_bot=them.is_bot, rematch_of=full.id)


def no_show(game: FinishedGame) -> Proposal | None:
    """Return a game that was aborted because a bot never made its first move; None if it was another."""
    them, waited_for_them = game.opponent, game.plies == (1 if game.colour is Colour.WHITE else 0)
    terms = _terms_of(game, game.colour)
    if not them.is_bot or them.id is None or terms is None or not game.was_watched:
        return None
    return Proposal(them.id, terms) if game.status is GameStatus.ABORTED and waited_for_them else None


def _terms_of(game: FinishedGame, colour: Colour) -> Terms | None:
    """Return the terms of a challenge of ours to such a game; None in a tournament and where we make none."""
    full = game.full
    clock = _offered_clock(full.clock.exact) if full.clock else None
    variant = next((it for it in PROPOSABLE_VARIANTS if it == full.variant.key), None)
    if clock is None or variant is None or full.tournament_id is not None:
        return None
    return Terms(variant, clock, full.rated, colour)


def _offered_clock(clock: ExactClock) -> ExactClock | None:
    """Return the clock if Lichess offers it in challenges of bots, as it does any increment."""
    return clock if is_offered_base(clock.base_s) and clock.speed is not None else None


@dataclass(frozen=True, slots=True)
class _Offer:
    proposal: Proposal
    due_at: float


class PendingRematches:
    """The rematches that are to be offered soon."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._black_waits_s = timeouts.rematch_black_waits.total_seconds()
        self._patience_s = timeouts.rematch_patience.total_seconds()
        self._offers: list[_Offer] = []

    @property
    def wake_at(self) -> float | None:
        """When `take` or `take_overdue` has something to return."""
        return earliest(*(it.due_at for it in self._offers))

    def add(self, proposal: Proposal, now: float) -> None:
        """Offer this soon. The side that had Black waits, so that two bots do not offer each other a rematch."""
        had_white = proposal.terms.colour is Colour.BLACK
        self._offers.append(_Offer(proposal, now if had_white else now + self._black_waits_s))

    def take(self, now: float) -> Proposal | None:
        """Return what is to be offered now, once."""
        offer = next((it for it in self._offers if it.due_at <= now <= it.due_at + self._patience_s), None)
        if offer is None:
            return None
        self._offers.remove(offer)
        return offer.proposal

    def take_overdue(self, now: float) -> Sequence[Proposal]:
        """Return what is not to be offered any more, once: the opponents may be gone."""
        overdue = [it for it in self._offers if now > it.due_at + self._patience_s]
        self._offers = [it for it in self._offers if it not in overdue]
        return [it.proposal for it in overdue]

    def drop(self, opponent: str | None = None) -> None:
        """Drop the offers to this opponent, who challenges us, or without one all offers, as the bot stops."""
        self._offers = [it for it in self._offers if opponent not in (None, it.proposal.opponent)]
