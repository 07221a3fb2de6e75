"""Every duration the daemon waits for, by name.

Tests and rehearsals scale those that depend on Lichess, all together; so they are fields here rather than constants of
the modules that use them. What an operator sets stands in the config (`abort_time`) and is not scaled.

`Standstill` notices when nothing at all was done for too long.

A `wake_at` says, in monotonic seconds, when the `tick` beside it has something to do; `earliest` joins such moments.
"""

import time
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Final, Self

# `time.monotonic` does not count the time while the machine is suspended. These do: the first on Linux, else on macOS.
_CLOCK_OF_SUSPENDED: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
LONGEST_STANDSTILL_S = 5.0
"""The main loop looks every second; a busy machine may keep it for a few."""

_OF_THIS_MACHINE: Final = {
    "engine_stop",
    "engine_overrun",
    "engine_idle",
    "engine_restart_floor",
    "fallback",
}
# A server on this machine gets no faster either. An answer given up too early was perhaps a 429, or that to a move,
# which is then sent twice.
_LEAST_FACTORS: Final = {
    "connect": 0.1,
    "game_answer": 0.3,
    "stuck_move": 0.3,
    "request_answer": 0.1,
    "stuck_request": 0.1,
    "source_answer": 0.3,
    # Nor does an engine start faster; where Lichess gets more time, the machine may be busy, and that takes longer.
    "engine_handshake": 1.0,
    "engine_first_move": 1.0,
}


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Durations; the defaults suit lichess.org."""

    connect: timedelta = timedelta(seconds=5)
    """To open a connection."""
    liveness: timedelta = timedelta(seconds=15)
    """Time without a byte after which a stream counts as dead; keep-alive lines come every 7 s."""
    game_answer: timedelta = timedelta(seconds=3)
    """For the answer to a move: sending it again is better than waiting longer."""
    stuck_move: timedelta = timedelta(seconds=6)
    """For the complete answer to a move, which may arrive byte by byte, before the stream is checked for the move."""
    request_answer: timedelta = timedelta(seconds=10)
    """For the answer to every other request."""
    stuck_request: timedelta = timedelta(seconds=30)
    """For the complete answer to every other request, which may arrive byte by byte, before it is given up."""
    settled_request: timedelta = timedelta(seconds=1)
    """For the answer to a request whose effect an event has shown, before other requests are sent without it."""
    record_patience: timedelta = timedelta(seconds=0.5)
    """How long a command that must not be sent twice waits for the disk that remembers it."""
    request_patience: timedelta = timedelta(seconds=15)
    """How long a request is worth sending or repeating: an unanswered challenge expires after 20 s."""
    challenge_wait: timedelta = timedelta(seconds=12)
    """For a free slot before a challenge is declined: it expires after 20 s, and the answer takes time too."""
    list_answer: timedelta = timedelta(seconds=15)
    """For a whole list of players from its server."""
    list_refresh: timedelta = timedelta(minutes=15)
    """Between two downloads of a list of players."""
    list_look: timedelta = timedelta(seconds=5)
    """Between two looks whether a file with a list of players changed."""
    list_retry: timedelta = timedelta(seconds=30)
    """Minimum between two downloads of a list of players after a failure."""
    rate_limit: timedelta = timedelta(seconds=60)
    """Pause after a 429 that names none."""
    longest_pause: timedelta = timedelta(minutes=10)
    """A 429 that asks for more means the daily quota of one kind of request, not all requests."""
    rate_limit_spacing: timedelta = timedelta(seconds=1)
    """Minimum between two attempts at a move if the clock would run out during the requested pause."""
    backoff_first: timedelta = timedelta(seconds=0.5)
    """Longest second retry; the first is immediate, later bounds double."""
    backoff_ceiling: timedelta = timedelta(seconds=45)
    """Longest delay between two attempts at the event stream or the account. With 30 s, a long outage would use up
    Lichess's limits for both, and the bot would miss events for minutes after its end."""
    game_backoff_ceiling: timedelta = timedelta(seconds=4)
    """Longest delay between two attempts at a move or at a game's stream: a clock is running."""
    first_move_pause: timedelta = timedelta(seconds=10)
    """Between two attempts at a first move, whatever pause was requested: many abort after 20 s without a move."""
    absence: timedelta = timedelta(seconds=12)
    """To open a game's stream again, whatever pause was requested: in bullet and blitz an opponent may claim the game
    40 s after we left, and a third of that if we are four pawns behind. Twice as long in rapid, three times in
    classical games, as is the time until a claim."""
    arena_first_move: timedelta = timedelta(seconds=8)
    """To find a first move in an arena."""
    arena_start: timedelta = timedelta(seconds=15)
    """To make it: Lichess ends the game of a player who has not moved after 16 s or, in slow games, more."""
    retry_floor: timedelta = timedelta(milliseconds=100)
    """Minimum between two attempts at a move, however little time is left."""
    stream_proven: timedelta = timedelta(seconds=15)
    """A stream that lasted this long was good; one that ends cleanly sooner may have been taken by another client."""
    stream_stuck: timedelta = timedelta(minutes=2)
    """Beyond its own schedule before a stream's thread counts as stuck."""
    stream_spacing: timedelta = timedelta(milliseconds=500)
    """Minimum between two openings of one stream, whatever asks for the second."""
    stream_window: timedelta = timedelta(seconds=1)
    """Window in which at most four streams are opened again, the most urgent first."""
    eviction_pause: timedelta = timedelta(seconds=60)
    """Before a stream that another client took is opened again."""
    event_stream_window: timedelta = timedelta(minutes=10)
    """Window in which Lichess allows 30 openings of the event stream."""
    account_window: timedelta = timedelta(minutes=5)
    """Window in which Lichess allows 30 requests for the account."""
    challenge_window: timedelta = timedelta(minutes=1)
    """Window in which Lichess allows 25 challenges."""
    decline_window: timedelta = timedelta(seconds=10)
    """Window in which at most 20 challenges are declined; others wait for the next, and some for too long."""
    challenge_look: timedelta = timedelta(seconds=2)
    """Between two reads of a challenge by `lichessbot challenge`, which has no event stream."""
    game_look: timedelta = timedelta(seconds=10)
    """Between two reads of the game by `lichessbot challenge`, and before a failed read is repeated."""
    quota_day: timedelta = timedelta(days=1)
    """Window in which Lichess counts games between bots, and challenges."""
    challenge_pause_ceiling: timedelta = timedelta(hours=1)
    """Longest pause after a refused challenge, unless Lichess asks for more."""
    challenge_open: timedelta = timedelta(seconds=25)
    """For an answer to our challenge before it is withdrawn: Lichess itself lets it expire after 20 s."""
    challenge_minute: timedelta = timedelta(minutes=1)
    """One minute of the config key `challenge_timeout`."""
    challenge_spacing: timedelta = timedelta(minutes=1)
    """Between two challenges of ours; doubles with each failed one."""
    challenge_spacing_ceiling: timedelta = timedelta(minutes=10)
    """Longest `challenge_spacing`; also the spacing while games are in progress."""
    human_waits: timedelta = timedelta(minutes=2)
    """Time after a human found no free slot in which no bot gets one."""
    ratings_age: timedelta = timedelta(hours=1)
    """Age after which our own ratings are read again."""
    rematch_black_waits: timedelta = timedelta(seconds=3)
    """Before a rematch is offered by the player who had Black: the other may offer it at once."""
    rematch_patience: timedelta = timedelta(seconds=10)
    """After which a rematch is no longer offered."""
    pair_break: timedelta = timedelta(hours=1)
    """Longest break between the two games of a pair; later the colours still alternate."""
    tournament_window: timedelta = timedelta(minutes=10)
    """Window in which Lichess allows 30 requests to join a tournament."""
    tournament_limit: timedelta = timedelta(hours=1)
    """Longest pause after a limit: Lichess allows four new tournaments in an hour."""
    tournament_asks: timedelta = timedelta(seconds=50)
    """Between two requests for a tournament game: an older Lichess forgets a request after a minute."""
    tournament_look: timedelta = timedelta(minutes=10)
    """Between two reads of a tournament to come: its start may be moved, and no timer runs while we are suspended."""
    tournament_soon: timedelta = timedelta(minutes=2)
    """Before its start a tournament gets its slot, because a game begun now may last into it."""
    tournament_end: timedelta = timedelta(seconds=4)
    """Until the next read whether a tournament without time left is over."""
    tournament_retry: timedelta = timedelta(seconds=30)
    """After a request about a tournament that had no answer."""
    token_look: timedelta = timedelta(days=1)
    """Between two reads when the token expires."""
    denied_token: timedelta = timedelta(minutes=1)
    """Without one good answer from Lichess before a denied token is believed to be dead."""
    stream_answer: timedelta = timedelta(seconds=5)
    """For a game's stream to open before another connection is tried; less if the clock is short."""
    first_state: timedelta = timedelta(seconds=5)
    """For the state of the game on a new stream before the stream is opened again; less if the clock is short."""
    stream_floor: timedelta = timedelta(seconds=1)
    """Minimum of `stream_answer` and `first_state`."""
    rejected_states: timedelta = timedelta(minutes=1)
    """Time in which our rules refuse every state of a game before it is resigned: the opponent waits."""
    games_told: timedelta = timedelta(seconds=1)
    """For the list of our games, once an engine is ready, before unfinished games are joined from the records."""
    move_echo: timedelta = timedelta(seconds=5)
    """For an acknowledged move to appear on the game's stream before the stream is read again."""
    game_start: timedelta = timedelta(seconds=5)
    """For an accepted challenge or a request in an arena to become a game before the list of games is read."""
    playing_spacing: timedelta = timedelta(seconds=3)
    """Minimum between two reads of the games in progress."""
    heartbeat: timedelta = timedelta(minutes=3)
    """Between two reads of the games in progress when nothing seems wrong."""
    playing_without_events: timedelta = timedelta(seconds=10)
    """Between two reads of the games in progress while the event stream is not open: in an arena the first move is due
    within 16 s."""
    silence_floor: timedelta = timedelta(seconds=3)
    """An opponent who thinks no longer than this is never checked for silence."""
    silence_ceiling: timedelta = timedelta(seconds=20)
    """An opponent who thinks this long is checked for silence, whatever the clocks."""
    offer_answer: timedelta = timedelta(seconds=5)
    """How long an answer to a takeback request, or a claim, is worth sending; moves wait no longer for it."""
    claim_retry: timedelta = timedelta(seconds=10)
    """Between two claims against an opponent who stays away."""
    chat_spacing: timedelta = timedelta(seconds=2)
    """Minimum between two answers in one chat room."""
    review_look: timedelta = timedelta(seconds=10)
    """After the end of a game until its chat is first read for a request to review it; the last time is nine times as
    late."""
    more_time: timedelta = timedelta(seconds=60)
    """Time given to an opponent who asks for it before the first move."""
    abort_retry: timedelta = timedelta(seconds=10)
    """Between the first two attempts to abort or resign a game; doubles with each."""
    abort_retry_ceiling: timedelta = timedelta(minutes=10)
    """Longest `abort_retry`: Lichess may refuse every attempt."""
    source_answer: timedelta = timedelta(seconds=3)
    """For a book's or server's move before the engine is asked instead."""
    source_rest: timedelta = timedelta(seconds=20)
    """Before a server that failed is asked again, by any game; doubles with each failure in a row."""
    source_rest_ceiling: timedelta = timedelta(hours=1)
    """Longest `source_rest`; applies at once to a server that refuses our token.

    When Lichess's quota of a day is used up, each question holds back all but moves for a minute.
    """
    cloud_window: timedelta = timedelta(days=1)
    """Window in which Lichess allows a program 600 requests for a cloud evaluation."""
    visit: timedelta = timedelta(minutes=5)
    """Beyond the thinking time, for our move in a correspondence game before another game gets its place."""
    engine_handshake: timedelta = timedelta(seconds=15)
    """For a new engine to answer `uci`: a cold disk on a small machine is slow."""
    engine_first_move: timedelta = timedelta(minutes=1)
    """Beyond that, to answer `isready`, and for its first move in the startup check: some load a large network."""
    engine_stop: timedelta = timedelta(seconds=1)
    """For the best move after `stop` before the engine counts as hung, and for its end after `quit`."""
    engine_overrun: timedelta = timedelta(seconds=2)
    """Beyond a fixed move time before the engine is told to stop."""
    check_spacing: timedelta = timedelta(minutes=1)
    """Between the beginnings of two checks of engines with which games cannot play."""
    engine_idle: timedelta = timedelta(minutes=5)
    """For an engine of ours to wait for its next game before it is closed."""
    untimed_move: timedelta = timedelta(seconds=10)
    """Thinking time per move in a game without a clock, unless the config sets one."""
    engine_restart_floor: timedelta = timedelta(seconds=1.5)
    """With less than this on the clock the fallback moves instead of waiting for a restarted engine."""
    fallback: timedelta = timedelta(milliseconds=50)
    """For the daemon's own search when no engine answers; every other game waits meanwhile."""

    def scaled(self, factor: float) -> Self:
        """Return a copy with every wait for Lichess multiplied by `factor`; processes on this machine get no faster.

        Waits for answers, and for an engine to start, have a least factor of their own.
        """
        assert factor > 0
        factors = {field.name: factor for field in fields(self) if field.name not in _OF_THIS_MACHINE}
        factors |= {name: max(factor, least) for name, least in _LEAST_FACTORS.items()}
        return replace(self, **{name: getattr(self, name) * it for name, it in factors.items()})


def is_due(due_at: float | None, now: float) -> bool:
    """Return whether a moment has come; None never comes."""
    return due_at is not None and now >= due_at


def earliest(*moments: float | None) -> float | None:
    """Return the first of some moments; None if none is to come."""
    return min((moment for moment in moments if moment is not None), default=None)


class Standstill:
    """Notices that the daemon did nothing: the machine was suspended, or the process was stopped or starved.

    What arrived meanwhile is read late, so that clocks show too much, and connections may be dead without a sign.
    """

    def __init__(self) -> None:
        self._looked_at: float | None = None

    def look(self) -> float | None:
        """Return the seconds since the last look if that was too long ago, else None; to be called every second."""
        before, self._looked_at = self._looked_at, time.clock_gettime(_CLOCK_OF_SUSPENDED)
        passed_s = 0.0 if before is None else self._looked_at - before
        return passed_s if passed_s > LONGEST_STANDSTILL_S else None
