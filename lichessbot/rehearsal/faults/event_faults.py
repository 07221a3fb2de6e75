"""Faults by other players and clients: challenges withdrawn, replaced or sent by the hundred, a second client.

Lives on the event loop as an observer of the site, and acts like any other player.
"""

import asyncio

from lichessbot.rehearsal.faults.catalogue import LATE_THREEFOLD, Fault, Layer
from lichessbot.rehearsal.faults.schedule import FaultSchedule
from lichessbot.rehearsal.faults.traffic import Place
from lichessbot.rehearsal.rules.accounts import Account, Grant
from lichessbot.rehearsal.rules.challenges import Challenge, Terms
from lichessbot.rehearsal.rules.clock import TimeControl
from lichessbot.rehearsal.rules.enums import Color, Variant
from lichessbot.rehearsal.rules.timing import wall_ms
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.site import ChallengeMade, GameChanged, GameStarted, Site, SiteEvent
from lichessbot.rehearsal.server.streams import one_line

STRANGERS = 100


class EventFaults:
    """Carries out these faults of `schedule` against the bot with this grant."""

    def __init__(self, site: Site, grant: Grant, schedule: FaultSchedule) -> None:
        self._site = site
        self._bot = grant.account
        self._grant = grant
        self._schedule = schedule
        self._strangers: list[Account] = []
        site.observe(self._on)

    def _on(self, happening: SiteEvent) -> None:
        """Act in a later turn of the event loop, so that other observers come first."""
        match happening:
            case ChallengeMade(challenge):
                asyncio.get_running_loop().call_soon(self._strike_challenge, challenge)
            case GameStarted(session) if self._schedule.number(session.game.id) is not None:
                if self._is_late(session.game.id):
                    session.show_threefold_late()
                self._strike_game(session, Place.GAME_START)
            case GameStarted(session) if self._is_of_a_stranger(session):
                asyncio.get_running_loop().call_soon(session.abort)
            case GameChanged(session) if session.game.threefold_pending:
                if self._is_late(session.game.id):
                    self._schedule.carry_out(LATE_THREEFOLD, session.game.id)
            case GameChanged(session) if session.game.setup.account(session.game.turn) is self._bot:
                self._strike_game(session, Place.TURN)

    def _strike_challenge(self, challenge: Challenge) -> None:
        """Strike a new challenge if it belongs to the rehearsal."""
        if self._schedule.number(challenge.id) is None or not challenge.is_active:
            return
        match self._schedule.strike(Layer.EVENTS, Place.CHALLENGE, challenge.id):
            case Fault.CHALLENGE_CANCELED:
                self._site.cancel(challenge.id, challenge.challenger)
            case Fault.CHALLENGE_REPLACED:
                self._site.invite(challenge.challenger, self._bot, challenge.terms)
            case Fault.CHALLENGE_EXPIRED:
                challenge.seen_at_ms -= round(1000 * self._site.timing.challenge_expiry_s)

    def _strike_game(self, session: GameSession, place: Place) -> None:
        soon = asyncio.get_running_loop().call_soon
        match self._schedule.strike(Layer.EVENTS, place, session.game.id):
            case Fault.EVICTION:
                soon(self._evict)
            case Fault.EVENTS_ENDED:
                soon(self._site.end_event_streams)
            case Fault.FLOOD:
                soon(self._flood, session.game.setup.time_control)
            case Fault.CASTLING:
                session.game.writes_king_takes_rook = True
            case Fault.GAME_STREAM_ENDED:
                soon(session.end_streams)

    def _evict(self) -> None:
        """Open the event stream as another client, which ends the bot's, and keep it for a while."""
        stream = self._site.open_event_stream(self._grant, one_line)      # no fault strikes what nobody reads
        asyncio.get_running_loop().call_later(
            self._site.timing.second_client_s, self._site.close_event_stream, self._grant, stream
        )

    def _flood(self, clock: TimeControl) -> None:
        """Challenge the bot from a hundred accounts; unanswered challenges are withdrawn."""
        if not self._strangers:
            self._strangers = [Account(f"Stranger{number}", wall_ms()) for number in range(1, STRANGERS + 1)]
            for account in self._strangers:
                self._site.accounts.add(account)
        terms = Terms(Variant.STANDARD, clock)
        challenges = [self._site.invite(stranger, self._bot, terms) for stranger in self._strangers]
        asyncio.get_running_loop().call_later(self._site.timing.flood_s, self._withdraw, challenges)

    def _withdraw(self, challenges: list[Challenge]) -> None:
        for challenge in challenges:
            if challenge.is_active:
                self._site.cancel(challenge.id, challenge.challenger)

    def _is_of_a_stranger(self, session: GameSession) -> bool:
        return any(session.game.setup.account(color) in self._strangers for color in Color)

    def _is_late(self, game_id: str) -> bool:
        """Return whether the draw by repetition is shown late in that game."""
        number = self._schedule.number(game_id)
        return number is not None and self._schedule.plans(LATE_THREEFOLD, number)
