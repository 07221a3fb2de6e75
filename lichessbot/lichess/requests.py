"""What each command means to Lichess: its request, its urgency, what it counts as, whether to repeat it.

Knows one command at a time; lanes and threads are the gate's. Whether a game's command is worth
repeating only that game can tell.
"""

import time
from datetime import timedelta
from enum import IntEnum

from lichessbot.errors import ApiError, RateLimited, Unreachable
from lichessbot.lichess.client import LichessClient
from lichessbot.lichess.commands import (
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
from lichessbot.lichess.rate_limiter import Purpose, RateLimiter
from lichessbot.timeouts import Timeouts


class Urgency(IntEnum):
    """The most urgent command goes first, whatever came earlier."""

    GAME = 0
    ACCEPTANCE = 1
    LOOK = 2
    DECLINE = 3
    MATCH = 4
    TALK = 5


def urgency_of(command: Command) -> Urgency:
    """What may wait for what."""
    match command:
        case SendMove() | Abort() | Resign() | AnswerTakeback() | ClaimVictory() | ClaimDraw():
            return Urgency.GAME
        case AcceptChallenge() | CancelChallenge():
            return Urgency.ACCEPTANCE  # somebody may wait for the slot of our own challenge
        case ReadAccount() | ReadPlaying() | ReadChallenge() | ReadOutgoing():
            return Urgency.LOOK
        case DeclineChallenge() | LeaveTournament():
            return Urgency.DECLINE
        case Say():
            return Urgency.TALK
        case CreateChallenge() | ReadRatings() | ReadBots() | ReadStatuses() | JoinTournament() | ReadTournament():
            return Urgency.MATCH


def purpose_of(command: Command) -> Purpose:
    """What Lichess counts it as."""
    match command:
        case ReadAccount() | ReadRatings():
            return Purpose.ACCOUNT
        case CreateChallenge():
            return Purpose.CHALLENGE
        case JoinTournament():
            return Purpose.TOURNAMENT
    return Purpose.OTHER


def goes_stale(command: Command) -> bool:
    """What waited longer than those who asked for it is gone, or would surprise."""
    asked_for = AcceptChallenge | DeclineChallenge | AnswerTakeback | ClaimVictory | ClaimDraw
    return isinstance(command, asked_for | CreateChallenge | Say)


def patience_for(command: Command, timeouts: Timeouts) -> timedelta:
    """How long it is worth sending."""
    of_a_game = isinstance(command, AnswerTakeback | ClaimVictory | ClaimDraw)
    return timeouts.offer_answer if of_a_game else timeouts.house_patience


def is_worth_repeating(command: Command, error: ApiError) -> bool:
    """A game repeats its commands itself, as long as they have a point; who we are is asked for until it is known."""
    # A challenge created twice could become two games.
    at_most_once = GameCommand | CreateChallenge | Say | ReadAccount
    return isinstance(error, Unreachable) and not isinstance(command, at_most_once)


def is_for(command: Command, game_id: str) -> bool:
    """Whether it is to no purpose without that game."""
    return isinstance(command, GameCommand) and command.game_id == game_id


def carry_out(api: LichessClient, command: Command, rate_limiter: RateLimiter) -> CommandDone | CommandFailed:
    """One attempt and its report; whoever asks for a pause gets it from everybody."""
    try:
        answer = _execute(api, command)
    except RateLimited as error:
        rate_limiter.hold_back(error.pause)
        return CommandFailed(command, error)
    except ApiError as error:
        return CommandFailed(command, error)
    return CommandDone(command, answer, api.sent_at, time.monotonic())


def _execute(api: LichessClient, command: Command) -> Answer:
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
