"""Every wait of the embedded Lichess, by name, so that tests can shorten them.

They are those of Lichess, unless a comment says that they are guesses. Also the two clocks: waits
and games use the monotonic one, dates are wall time.
"""

import math
import time
from dataclasses import dataclass, fields, replace


def monotonic_ms() -> int:
    """Return the monotonic milliseconds."""
    return time.monotonic_ns() // 1_000_000


def wall_ms() -> int:
    """Return the milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class Timing:
    """Waits in seconds, without the clocks of games."""

    tick_s: float = 7.0                     # between empty lines on every stream, and between checks of a flag
    challenge_expiry_s: float = 20.0        # before an unanswered real-time challenge goes offline
    challenge_keep_alive_s: float = 50.0    # between empty lines on a keepAliveStream
    threefold_settle_s: float = 0.05        # from the third repetition to the draw; a guess
    claim_s: float = 0.5                    # from a claim to the answer
    presence_lapse_s: float = 1.0           # from the end of the game stream to absence
    absence_check_s: float = 5.0            # between checks of absence, and its minimum
    claim_wait_s: float = 40.0              # of absence before a claim, in bullet and blitz
    claim_clock_margin_s: float = 3.0       # by which the absent player's clock must exceed what is left of it
    later_retry_s: float = 0.5              # before a house bot repeats a challenge declined with "later"
    first_moves_s: float = 30.0             # for both first moves before the house bot aborts; never shortened

    arena_waits_s: float = 60.0             # for which a request for an arena game counts
    arena_pairs_s: float = 1.0              # between pairings in an arena; a guess
    arena_first_move_s: float = 16.0        # for each side's first move in an arena (bullet; more in slower games)
    restart_gift_s: float = 20.0            # added to the clock of the side to move by a restart of the site
    restart_other_gift_s: float = 10.0      # and to the other clock
    restart_mercy_s: float = 120.0          # after a restart, in which a flag aborts a game without a move since
    day_s: float = 86_400.0                 # of correspondence games and of quotas
    minute_s: float = 60.0                  # of the quota of challenges

    first_moves_in_trouble_s: float = 120.0  # more time for them, with faults
    connect_in_trouble_s: float = 300.0     # more time for the bot to open its event stream, with faults

    # Durations of the faults: all of them guesses.
    rate_limit_s: float = 60.0              # after a 429, with nothing but moves: "a full minute"
    named_pause_s: float = 30.0             # named by a 429, in whole seconds
    slow_answer_s: float = 5.0
    slow_headers_s: float = 5.0
    outage_s: float = 10.0                  # without new connections
    restart_s: float = 20.0                 # from the end of all streams to the first answer
    second_client_s: float = 1.0            # for which the other client keeps the event stream
    flood_s: float = 10.0                   # before unanswered challenges of a flood are withdrawn
    threefold_late_s: float = 1.0           # from the draw by a third repetition until it is shown late
    notice_silence_s: float = 20.0          # before a correct client treats a silent stream as dead: nearly three ticks
    notice_asking_s: float = 30.0           # before a correct client asks for the games in progress
    event_streams_window_s: float = 600.0   # with 30 openings of the event stream at most
    account_window_s: float = 300.0         # with 30 requests for the account at most

    @property
    def named_pause_seconds(self) -> int:
        """The named pause in whole seconds, as on the wire."""
        return math.ceil(self.named_pause_s)

    def scaled(self, factor: float) -> "Timing":
        """Return the waits multiplied by `factor`, but no shorter one for the first moves: engines start no faster."""
        scaled = {field.name: getattr(self, field.name) * factor for field in fields(self)}
        return replace(self, **{**scaled, "first_moves_s": self.first_moves_s * max(factor, 1.0)})
