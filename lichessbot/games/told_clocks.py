"""The clocks that Lichess tells, corrected where they cannot be true."""

from typing import Final

from lichessbot.games.time_budget import FREE_PLIES, UNLIMITED_MS, GameClock
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import GameFull, GameState

_DAY_MS: Final = 24 * 60 * 60 * 1000
# A clock that nobody tells is taken for this share of the initial time.
_SHARE_OF_AN_UNKNOWN_CLOCK: Final = 1 / 20
_LEAST_UNKNOWN_CLOCK_MS: Final = 1000
# What our clock may gain from one state to the next beside increments: opponents give 15 s at a time, and a takeback
# returns the time of a move. If it gains more, the states after that show it.
_MOST_GAIN_MS: Final = 60_000


def with_possible_clock(full: GameFull, state: GameState, colour: Colour, last: GameClock | None) -> GameState:
    """Return a state in which the clock of `colour`, ours, shows no more than is possible.

    That follows from the `last` state, or from the start of the game. With more than we have, a search would not end in
    time.
    """
    if full.clock is None:
        return state
    since_ms, plies = full.clock.initial, len(state.moves.split())
    if last is not None and last.timed:
        since_ms, plies = last.state.time_ms(colour), plies - len(last.state.moves.split())
    most_ms = since_ms + (max(0, plies) // 2 + 1) * full.clock.increment + _MOST_GAIN_MS
    side = "w" if colour is Colour.WHITE else "b"
    most = {f"{side}time": most_ms, f"{side}inc": full.clock.increment}
    excess = {name: value for name, value in most.items() if getattr(state, name) > value}
    return state.model_copy(update=excess) if excess else state


def with_known_clocks(full: GameFull, state: GameState, last: GameClock | None, now: float) -> GameState:
    """Return a state that is the first of a connection, or lacks a clock, with the time we know of in place of a zero.

    After a reconnect, Lichess sometimes sends zero clocks in a game that goes on (lichess-bot issue 1053). We know the
    clocks of the `last` state, or, before both sides have moved, the initial time. Otherwise, as after a restart, the
    clock is guessed low: if it really were 0, the game would be over.
    """
    if state.wtime > 0 and state.btime > 0:
        return state
    if full.clock is None:
        days = full.days_per_turn
        left_ms = UNLIMITED_MS if days is None else days * _DAY_MS
        return state.model_copy(update={"wtime": state.wtime or left_ms, "btime": state.btime or left_ms})
    guess_ms = max(_LEAST_UNKNOWN_CLOCK_MS, int(full.clock.initial * _SHARE_OF_AN_UNKNOWN_CLOCK))
    initial_ms = full.clock.initial if len(state.moves.split()) < FREE_PLIES else 0
    known_ms = dict.fromkeys(Colour, initial_ms)
    if last is not None and last.timed:
        known_ms = {
            last.colour: int(last.remaining_s(now) * 1000),
            last.colour.other: last.state.time_ms(last.colour.other),
        }
    wtime = state.wtime or known_ms[Colour.WHITE] or guess_ms
    btime = state.btime or known_ms[Colour.BLACK] or guess_ms
    return state.model_copy(update={"wtime": wtime, "btime": btime})
