"""Every wait of the daemon, by name, in one place; nothing here waits.

Tests and rehearsals scale those for Lichess together. What an operator may want to change is not here
but in the config (`abort_time`), and is not scaled.
"""

from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Final, Self

_OF_THIS_MACHINE: Final = {
    "engine_handshake",
    "engine_first_move",
    "engine_stop",
    "engine_overrun",
    "engine_restart_floor",
    "fallback",
}


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Durations the daemon waits for; the defaults are for lichess.org."""

    connect: timedelta = timedelta(seconds=5)
    """For a connection to open."""
    liveness: timedelta = timedelta(seconds=15)
    """For any byte on a stream, whose keep-alive line comes every 7 s, before it counts as dead."""
    game_answer: timedelta = timedelta(seconds=3)
    """For the answer to a game command: a move is better sent again than waited for."""
    stuck_move: timedelta = timedelta(seconds=6)
    """For the whole answer to a move, which may trickle in, before it is looked for on the stream."""
    request_answer: timedelta = timedelta(seconds=10)
    """For the answer to every other request."""
    stuck_request: timedelta = timedelta(seconds=30)
    """For the whole answer to every other request, which may trickle in, before it is given up."""
    request_patience: timedelta = timedelta(seconds=15)
    """How long a house request is worth sending or repeating: an unanswered challenge lives 20 s."""
    challenge_wait: timedelta = timedelta(seconds=12)
    """For a slot, before a challenge is declined: after 20 s Lichess lets it expire, and the answer needs time too."""
    list_answer: timedelta = timedelta(seconds=15)
    """For a whole list of players from its server."""
    list_refresh: timedelta = timedelta(minutes=15)
    """Between two looks at a list of players."""
    list_retry: timedelta = timedelta(seconds=30)
    """At least between two looks at a list of players that could not be had."""
    rate_limit: timedelta = timedelta(seconds=60)
    """After a 429 that names no pause of its own."""
    longest_pause: timedelta = timedelta(minutes=10)
    """A 429 that asks for more means the daily quota of one kind of request, not all of them."""
    rate_limit_spacing: timedelta = timedelta(seconds=1)
    """At least between two tries of a move whose clock does not survive the asked pause."""
    backoff_first: timedelta = timedelta(seconds=0.5)
    """Bound of the second retry; the first is immediate, later bounds double."""
    backoff_ceiling: timedelta = timedelta(seconds=45)
    """No delay between two attempts at the event stream or the account grows beyond this: were it 30 s, a long outage
    would use up what Lichess allows of them, and the bot would stay deaf for minutes after its end."""
    game_backoff_ceiling: timedelta = timedelta(seconds=4)
    """No delay between two attempts at a move or a game's stream grows beyond this: a clock runs."""
    first_move_pause: timedelta = timedelta(seconds=10)
    """Between two tries of a first move, whatever the asked pause: many abort a game that does not begin in 20 s."""
    retry_floor: timedelta = timedelta(milliseconds=100)
    """At least between two tries of a move, however little is left on the clock."""
    stream_proven: timedelta = timedelta(seconds=15)
    """A stream that stood this long was good; one that ends cleanly sooner may have been taken."""
    stream_stuck: timedelta = timedelta(minutes=2)
    """Beyond its own schedule before a stream's thread counts as stuck: looking up a name may take long."""
    eviction_pause: timedelta = timedelta(seconds=60)
    """Before an evicted stream is taken back."""
    event_stream_window: timedelta = timedelta(minutes=10)
    """In which Lichess allows 30 openings of the event stream."""
    account_window: timedelta = timedelta(minutes=5)
    """In which Lichess allows 30 requests for the account."""
    challenge_window: timedelta = timedelta(minutes=1)
    """In which Lichess allows 25 challenges."""
    challenge_look: timedelta = timedelta(seconds=2)
    """Between two looks at a challenge by `lichessbot challenge`, which hears no events."""
    game_look: timedelta = timedelta(seconds=10)
    """Between two looks at its game, and before a look is repeated."""
    quota_day: timedelta = timedelta(days=1)
    """In which Lichess counts games between bots, and challenges."""
    challenge_pause_ceiling: timedelta = timedelta(hours=1)
    """No pause after a refused challenge grows beyond this, unless Lichess asks for more."""
    challenge_open: timedelta = timedelta(seconds=25)
    """For an answer to a challenge of ours before it is withdrawn: Lichess itself forgets it after 20 s."""
    challenge_minute: timedelta = timedelta(minutes=1)
    """What the config calls a minute in `challenge_timeout`."""
    challenge_spacing: timedelta = timedelta(minutes=1)
    """Between two challenges of ours; doubles with each one in vain."""
    challenge_spacing_ceiling: timedelta = timedelta(minutes=10)
    """Beyond which that does not grow; also between two challenges while games are played."""
    human_waits: timedelta = timedelta(minutes=2)
    """After a human found no free slot, in which none is given to a bot."""
    ratings_age: timedelta = timedelta(hours=1)
    """After which our own ratings are read anew."""
    pair_break: timedelta = timedelta(hours=1)
    """Longest between the two games of a pair; later the colours still alternate."""
    tournament_window: timedelta = timedelta(minutes=10)
    """In which Lichess allows 30 requests to join a tournament."""
    tournament_asks: timedelta = timedelta(seconds=50)
    """Between two requests for a game of a tournament: Lichess forgets one after a minute."""
    tournament_soon: timedelta = timedelta(minutes=2)
    """Before its start a tournament gets its slot: a game begun then may well last into it."""
    tournament_end: timedelta = timedelta(seconds=4)
    """Until the next look whether a tournament is over that has no time left."""
    tournament_retry: timedelta = timedelta(seconds=30)
    """After a request about a tournament that got no answer."""
    stream_answer: timedelta = timedelta(seconds=5)
    """For the stream of a game to open, before another connection is tried; less where the clock is short."""
    first_state: timedelta = timedelta(seconds=5)
    """For the state of the game on its newly opened stream, before that is opened again; less as well."""
    stream_floor: timedelta = timedelta(seconds=1)
    """But never less than this for either."""
    games_told: timedelta = timedelta(seconds=1)
    """For the list of our games, once an engine is ready, before those left over are joined from memory."""
    move_echo: timedelta = timedelta(seconds=5)
    """For an acknowledged move to show on the game stream before the stream is read anew."""
    game_start: timedelta = timedelta(seconds=5)
    """For a challenge whose acceptance was acknowledged to become a game before its slot is questioned."""
    playing_spacing: timedelta = timedelta(seconds=3)
    """At least between two readings of the games in progress."""
    heartbeat: timedelta = timedelta(minutes=3)
    """Between two readings of the games in progress when nothing seems wrong."""
    silence_floor: timedelta = timedelta(seconds=3)
    """An opponent who took no longer than this over a move is not looked after."""
    silence_ceiling: timedelta = timedelta(seconds=20)
    """An opponent who took this long over a move is looked after, whatever the clocks."""
    offer_answer: timedelta = timedelta(seconds=5)
    """How long the answer to a request for a takeback, or a claim, is worth sending; moves wait no longer for it."""
    claim_retry: timedelta = timedelta(seconds=10)
    """Between two claims of the game of an opponent who stays away."""
    chat_spacing: timedelta = timedelta(seconds=2)
    """At least between two answers in one chat room."""
    more_time: timedelta = timedelta(seconds=60)
    """What an opponent gets who asks for time before the first move."""
    abort_retry: timedelta = timedelta(seconds=10)
    """Between two attempts to abort a game whose opponent never moves."""
    source_answer: timedelta = timedelta(seconds=3)
    """For a book or a server that is asked for a move, before the engine is asked instead."""
    source_rest: timedelta = timedelta(seconds=20)
    """Before a server that failed to give a move is asked again, by any game; doubles with each failure in a row."""
    source_rest_ceiling: timedelta = timedelta(minutes=10)
    """No such rest grows beyond this; a server that refuses our token has it at once."""
    cloud_window: timedelta = timedelta(days=1)
    """In which Lichess allows 3000 questions for a cloud evaluation."""
    visit: timedelta = timedelta(minutes=5)
    """Beyond the thinking time, for our move in a correspondence game, before another game gets the place."""
    engine_handshake: timedelta = timedelta(seconds=15)
    """For a new engine to answer `uci` and `isready`: a cold disk on a small machine is slow."""
    engine_first_move: timedelta = timedelta(minutes=1)
    """For its answer to a first question, before any game depends on it: some load a large network for that."""
    engine_stop: timedelta = timedelta(seconds=1)
    """For the best move of an engine told to stop, before it counts as hung."""
    engine_overrun: timedelta = timedelta(seconds=2)
    """Beyond a fixed move time before the engine is told to stop."""
    untimed_move: timedelta = timedelta(seconds=10)
    """Thinking time per move in a game without a clock, unless the config sets one."""
    engine_restart_floor: timedelta = timedelta(seconds=1.5)
    """With less than this on the clock nobody waits for the successor of a failed engine: the fallback moves."""
    fallback: timedelta = timedelta(milliseconds=50)
    """For the daemon's own search when no engine answers; every other game waits meanwhile."""

    def scaled(self, factor: float) -> Self:
        """All waits for Lichess multiplied by `factor`; a process of this machine gets no faster."""
        assert factor > 0
        names = {field.name for field in fields(self)} - _OF_THIS_MACHINE
        return replace(self, **{name: getattr(self, name) * factor for name in names})
