"""Every wait of the daemon, by name, in one place; nothing here waits.

Tests and rehearsals scale all of them together. What an operator may want to change is not here
but in the config (`abort_time`), and is not scaled.
"""

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Self


@dataclass(frozen=True, slots=True)
class Waits:
    """Durations the daemon waits for; the defaults are for lichess.org."""

    connect: timedelta = timedelta(seconds=5)
    """For a connection to open."""
    liveness: timedelta = timedelta(seconds=20)
    """For any byte on a stream, whose keep-alive line comes every 7 s, before it counts as dead."""
    game_answer: timedelta = timedelta(seconds=3)
    """For the answer to a game command: a move is better sent again than waited for."""
    house_answer: timedelta = timedelta(seconds=10)
    """For the answer to every other request."""
    house_patience: timedelta = timedelta(seconds=15)
    """How long an unanswered house request is repeated: an unanswered challenge lives 20 s."""
    rate_limit: timedelta = timedelta(seconds=60)
    """After a 429 that names no pause of its own."""
    rate_limit_spacing: timedelta = timedelta(seconds=1)
    """At least between two tries of a move whose clock does not survive the asked pause."""
    backoff_first: timedelta = timedelta(seconds=0.5)
    """Bound of the second retry; the first is immediate, later bounds double."""
    backoff_ceiling: timedelta = timedelta(seconds=30)
    """No delay between two attempts at the event stream or the account grows beyond this."""
    game_backoff_ceiling: timedelta = timedelta(seconds=4)
    """No delay between two attempts at a move or a game's stream grows beyond this: a clock runs."""
    stream_proven: timedelta = timedelta(seconds=15)
    """A stream that stood this long was good; one that ends cleanly sooner may have been taken."""
    eviction_pause: timedelta = timedelta(seconds=60)
    """Before an evicted stream is taken back: Lichess allows 30 openings in 10 minutes."""
    move_echo: timedelta = timedelta(seconds=5)
    """For an acknowledged move to show on the game stream before the stream is read anew."""
    game_start: timedelta = timedelta(seconds=25)
    """For an accepted challenge to become a game before its slot is questioned."""
    abort_retry: timedelta = timedelta(seconds=10)
    """Between two attempts to abort a game whose opponent never moves."""
    engine_handshake: timedelta = timedelta(seconds=15)
    """For a new engine to answer `uci` and `isready`: a cold disk on a small machine is slow."""
    engine_stop: timedelta = timedelta(seconds=1)
    """For the best move of an engine told to stop, before it counts as hung."""
    engine_overrun: timedelta = timedelta(seconds=2)
    """Beyond a fixed move time before the engine is told to stop."""
    untimed_move: timedelta = timedelta(seconds=10)
    """Thinking time per move in a game without a clock, unless the config sets one."""
    engine_restart_floor: timedelta = timedelta(seconds=1.5)
    """With less than this on the clock a failed engine is not restarted: the fallback moves."""
    fallback: timedelta = timedelta(milliseconds=50)
    """For the daemon's own search when no engine answers; every other game waits meanwhile."""

    def scaled(self, factor: float) -> Self:
        """All waits multiplied by `factor`."""
        assert factor > 0
        return type(self)(**{field.name: getattr(self, field.name) * factor for field in fields(self)})
