"""The gate through which every command leaves: a lane for the moves of each game, one for all else.

A lane is a thread with a session of its own, so that no slow request holds up another game's move.
Everything but moves goes one request at a time, the most urgent first, as often as courtesy allows.
Knows how to carry a command out and how long it is worth repeating; whether a game's command is
worth repeating only that game can tell.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from itertools import count
from queue import SimpleQueue
from typing import Final

from lichessbot.api import Api
from lichessbot.backoff import Backoff
from lichessbot.courtesy import Courtesy, Purpose
from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable
from lichessbot.messages import (
    Abort,
    AcceptChallenge,
    Answer,
    AnswerTakeback,
    Bots,
    CancelChallenge,
    ClaimDraw,
    ClaimVictory,
    Command,
    CommandDone,
    CommandFailed,
    CreateChallenge,
    DeclineChallenge,
    GameCommand,
    Inbox,
    JoinTournament,
    LeaveTournament,
    Outgoing,
    ReadAccount,
    ReadBots,
    ReadChallenge,
    ReadOutgoing,
    ReadPlaying,
    ReadRatings,
    ReadStatuses,
    ReadTournament,
    Resign,
    Say,
    SendMove,
    Statuses,
)
from lichessbot.waits import Waits

# Lines of chat that wait to be sent, of all games together.
_MOST_TALK: Final = 20


class Gate:
    """Routes commands to their lanes; every command is answered by exactly one report."""

    def __init__(
        self, open_api: Callable[[timedelta], Api], inbox: Inbox, waits: Waits, courtesy: Courtesy
    ) -> None:
        """`open_api` makes a session with the given read time-out."""
        self._open_api = open_api
        self._inbox = inbox
        self._waits = waits
        self._courtesy = courtesy
        self._house: _HouseLane | None = None
        self._games: dict[str, _MoveLane] = {}

    @property
    def wake_at(self) -> float | None:
        """When `tick` is to look after the house lane; None while nothing is under way there."""
        return self._house.stuck_at if self._house is not None else None

    def tick(self) -> None:
        """Give up a house request whose answer trickles in for ever; what waited behind it goes on."""
        stuck_at = self.wake_at
        if self._house is not None and stuck_at is not None and time.monotonic() >= stuck_at:
            waiting = self._house.abandon()
            self._house = None
            if waiting:
                self._house_lane().take_over(waiting)

    def send(self, command: Command) -> None:
        """Carry out `command` off this thread. A move of a game without a lane opens one."""
        if isinstance(command, SendMove):
            self._move_lane(command.game_id).send(command)
        else:
            self._house_lane().send(command)

    @property
    def is_talking(self) -> bool:
        """Whether something is still to be said."""
        return self._house is not None and self._house.is_talking

    def close_game(self, game_id: str) -> None:
        """Forget the game: commands not yet begun are dropped."""
        lane = self._games.pop(game_id, None)
        if lane is not None:
            lane.stop()
        if self._house is not None:
            self._house.drop(game_id)

    def close(self) -> None:
        """Drop everything not yet begun."""
        for game_id in list(self._games):
            self.close_game(game_id)
        if self._house is not None:
            self._house.stop()
            self._house = None

    def _move_lane(self, game_id: str) -> "_MoveLane":
        lane = self._games.get(game_id)
        if lane is not None and lane.is_stuck(self._waits.stuck_answer.total_seconds()):
            lane.stop()
            lane = None
        if lane is None:
            api = self._open_api(self._waits.game_answer)
            lane = self._games[game_id] = _MoveLane(game_id, api, self._inbox, self._courtesy)
            lane.start()
        return lane

    def _house_lane(self) -> "_HouseLane":
        if self._house is None:
            api = self._open_api(self._waits.house_answer)
            self._house = _HouseLane(api, self._inbox, self._courtesy, self._waits)
            self._house.start()
        return self._house


class _MoveLane(threading.Thread):
    """Sends the moves of one game in their order, each once and at once."""

    def __init__(self, game_id: str, api: Api, inbox: Inbox, courtesy: Courtesy) -> None:
        super().__init__(name=f"lane-{game_id}", daemon=True)
        self._api = api
        self._inbox = inbox
        self._courtesy = courtesy
        self._moves: SimpleQueue[SendMove | None] = SimpleQueue()
        self._busy_since: float | None = None
        self._stopping = False

    def send(self, command: SendMove) -> None:
        self._moves.put(command)

    def stop(self) -> None:
        """End after the request under way, if any."""
        self._stopping = True
        self._moves.put(None)

    def is_stuck(self, patience_s: float) -> bool:
        """An answer that trickles in byte by byte never meets the read time-out."""
        busy_since = self._busy_since
        return busy_since is not None and time.monotonic() - busy_since > patience_s

    def run(self) -> None:
        while (command := self._moves.get()) is not None and not self._stopping:
            self._busy_since = time.monotonic()
            report = _carry_out(self._api, command, self._courtesy)
            self._busy_since = None
            if not self._stopping:
                self._inbox.put(report)
        self._api.close()


class _Urgency(IntEnum):
    """The most urgent command goes first, whatever came earlier."""

    GAME = 0
    ACCEPTANCE = 1
    LOOK = 2
    DECLINE = 3
    MATCH = 4
    TALK = 5


@dataclass(order=True)
class _Errand:
    """A command on its way through the house lane; sorted by urgency, then by age."""

    urgency: _Urgency
    number: int
    command: Command = field(compare=False)
    backoff: Backoff = field(compare=False)
    give_up_at: float = field(compare=False)
    not_before: float = field(default=0.0, compare=False)


class _HouseLane(threading.Thread):
    """One request at a time; repeats what got no answer while that has a chance."""

    def __init__(self, api: Api, inbox: Inbox, courtesy: Courtesy, waits: Waits) -> None:
        super().__init__(name="lane-house", daemon=True)
        self._api = api
        self._inbox = inbox
        self._courtesy = courtesy
        self._waits = waits
        self._numbers = count()
        self._errands: list[_Errand] = []
        self._changed = threading.Condition()
        self._under_way: _Errand | None = None
        self._begun_at = 0.0
        self._stopping = False

    @property
    def stuck_at(self) -> float | None:
        """When the request under way will have taken too long, which no read time-out notices."""
        return None if self._under_way is None else self._begun_at + self._waits.stuck_house_answer.total_seconds()

    def abandon(self) -> list[_Errand]:
        """End the thread when it comes free, fail what is under way, and hand over what waits."""
        with self._changed:
            self._stopping = True
            stuck, self._under_way = self._under_way, None
            if stuck is not None:
                self._inbox.put(CommandFailed(stuck.command, Unreachable("no whole answer in time")))
            return list(self._errands)

    def take_over(self, errands: list[_Errand]) -> None:
        """Go on where another lane was abandoned."""
        with self._changed:
            self._errands += errands
            self._changed.notify()

    def send(self, command: Command) -> None:
        backoff = Backoff(self._waits.backoff_first, self._waits.backoff_ceiling)
        give_up_at = time.monotonic() + _patience(command, self._waits).total_seconds()
        if isinstance(command, AcceptChallenge):
            give_up_at = min(give_up_at, command.until)
        with self._changed:
            errand = _Errand(_urgency(command), next(self._numbers), command, backoff, give_up_at)
            self._errands.append(errand)
            self._drop_old_talk()
            self._changed.notify()

    @property
    def is_talking(self) -> bool:
        """Whether something is still to be said."""
        with self._changed:
            return any(isinstance(errand.command, Say) for errand in (*self._errands, self._under_way) if errand)

    def _drop_old_talk(self) -> None:
        """While nothing may be sent, talk is not heaped up."""
        talk = sorted(errand for errand in self._errands if errand.urgency is _Urgency.TALK)
        for errand in talk[:-_MOST_TALK]:
            self._errands.remove(errand)
            self._inbox.put(CommandFailed(errand.command, Unreachable("not sent: there is too much to say")))

    def drop(self, game_id: str) -> None:
        """The commands of this game need not be sent any more."""
        with self._changed:
            self._errands = [errand for errand in self._errands if not _is_for(errand.command, game_id)]

    def stop(self) -> None:
        """End after the request under way, if any."""
        with self._changed:
            self._stopping = True
            self._changed.notify()

    def run(self) -> None:
        while (errand := self._next()) is not None:
            report = self._attempt(errand)
            with self._changed:
                self._under_way = None
                if report is not None and not self._stopping:
                    self._inbox.put(report)
        self._api.close()

    def _next(self) -> _Errand | None:
        """Wait for a command that may be sent, or has waited too long; None at the end."""
        with self._changed:
            while not self._stopping:
                now = time.monotonic()
                errand = min((it for it in self._errands if it.not_before <= now), default=None)
                if errand is not None:
                    self._errands.remove(errand)
                    self._under_way, self._begun_at = errand, now
                    return errand
                next_at = min((it.not_before for it in self._errands), default=None)
                self._changed.wait(None if next_at is None else next_at - now)
        return None

    def _attempt(self, errand: _Errand) -> CommandDone | CommandFailed | None:
        """Send the command if courtesy allows; None if it shall be tried again."""
        now = time.monotonic()
        if _goes_stale(errand.command) and now >= errand.give_up_at:
            return CommandFailed(errand.command, Unreachable("not sent: too late to be of use"))
        wait_s = self._courtesy.ask(_purpose(errand.command))
        if wait_s > 0:
            self._put_back(errand, now + wait_s)
            return None
        report = _carry_out(self._api, errand.command, self._courtesy)
        error = report.error if isinstance(report, CommandFailed) else None
        if not _is_worth_repeating(errand.command, error):
            return report
        retry_at = time.monotonic() + errand.backoff.next_delay().total_seconds()
        if retry_at > errand.give_up_at:
            return report
        self._put_back(errand, retry_at)
        return None

    def _put_back(self, errand: _Errand, not_before: float) -> None:
        if _goes_stale(errand.command):
            not_before = min(not_before, errand.give_up_at)
        errand.not_before = not_before
        with self._changed:
            self._errands.append(errand)


def _urgency(command: Command) -> _Urgency:
    match command:
        case SendMove() | Abort() | Resign() | AnswerTakeback() | ClaimVictory() | ClaimDraw():
            return _Urgency.GAME
        case AcceptChallenge() | CancelChallenge():
            return _Urgency.ACCEPTANCE  # somebody may wait for the slot of our own challenge
        case ReadAccount() | ReadPlaying() | ReadChallenge() | ReadOutgoing():
            return _Urgency.LOOK
        case DeclineChallenge() | LeaveTournament():
            return _Urgency.DECLINE
        case Say():
            return _Urgency.TALK
        case JoinTournament() | ReadTournament():
            return _Urgency.MATCH
        case CreateChallenge() | ReadRatings() | ReadBots() | ReadStatuses():
            return _Urgency.MATCH


def _purpose(command: Command) -> Purpose:
    match command:
        case ReadAccount() | ReadRatings():
            return Purpose.ACCOUNT
        case CreateChallenge():
            return Purpose.CHALLENGE
        case JoinTournament():
            return Purpose.TOURNAMENT
    return Purpose.OTHER


def _goes_stale(command: Command) -> bool:
    """What waited longer than those who asked for it is gone, or would surprise."""
    asked_for = AcceptChallenge | DeclineChallenge | AnswerTakeback | ClaimVictory | ClaimDraw
    return isinstance(command, asked_for | CreateChallenge | Say)


def _patience(command: Command, waits: Waits) -> timedelta:
    """How long it is worth sending."""
    of_a_game = isinstance(command, AnswerTakeback | ClaimVictory | ClaimDraw)
    return waits.offer_answer if of_a_game else waits.house_patience


def _is_worth_repeating(command: Command, error: ApiError | None) -> bool:
    """A game repeats its commands itself, as long as they have a point; and without our account we can do nothing."""
    if isinstance(error, Refused):
        return isinstance(command, ReadAccount) and not error.denies_token
    # A challenge created twice could become two games.
    return isinstance(error, Unreachable) and not isinstance(command, GameCommand | CreateChallenge | Say)


def _is_for(command: Command, game_id: str) -> bool:
    return isinstance(command, GameCommand) and command.game_id == game_id


def _carry_out(api: Api, command: Command, courtesy: Courtesy) -> CommandDone | CommandFailed:
    try:
        answer = _execute(api, command)
    except RateLimited as error:
        courtesy.hold_back(error.pause)
        return CommandFailed(command, error)
    except ApiError as error:
        return CommandFailed(command, error)
    return CommandDone(command, answer, api.sent_at, time.monotonic())


def _execute(api: Api, command: Command) -> Answer:
    """One attempt. Raises ApiError."""
    match command:
        case SendMove(game_id, _, move, offering_draw):
            api.move(game_id, move, offering_draw=offering_draw)
        case Abort(game_id, _):
            api.abort(game_id)
        case Resign(game_id, _):
            api.resign(game_id)
        case AnswerTakeback(game_id, granted):
            api.answer_takeback(game_id, granted=granted)
        case ClaimVictory(game_id):
            api.claim_victory(game_id)
        case ClaimDraw(game_id):
            api.claim_draw(game_id)
        case Say(game_id, room, text):
            api.say(game_id, room, text)
        case AcceptChallenge(challenge_id):
            api.accept_challenge(challenge_id)
        case DeclineChallenge(challenge_id, reason):
            api.decline_challenge(challenge_id, reason)
        case ReadAccount() | ReadRatings():
            return api.account()
        case ReadPlaying():
            return api.playing()
        case CreateChallenge(opponent, terms):
            return api.create_challenge(opponent, terms)
        case CancelChallenge(challenge_id):
            api.cancel_challenge(challenge_id)
        case ReadChallenge(challenge_id):
            return api.challenge(challenge_id)
        case ReadOutgoing():
            return Outgoing(api.outgoing_challenges())
        case ReadBots():
            return Bots(api.online_bots())
        case ReadStatuses(ids):
            return Statuses(api.user_statuses(ids))
        case JoinTournament(tournament_id, team, password, pair):
            api.join_tournament(tournament_id, team, password, pair=pair)
        case LeaveTournament(tournament_id):
            api.leave_tournament(tournament_id)
        case ReadTournament(tournament_id):
            return api.tournament(tournament_id)
    return None
