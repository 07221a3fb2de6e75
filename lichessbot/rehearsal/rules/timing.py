"""Every wait of the embedded Lichess, named once, so that tests can run at a fraction of real time.

Sources are the contract's sections 3 to 6; a wait that the contract leaves open says so.
The two clocks are here too: waits and games count on the monotonic one, dates are wall time.
"""

import math
import time
from dataclasses import dataclass, fields, replace


def monotonic_ms() -> int:
    """Milliseconds on a clock that nobody sets."""
    return time.monotonic_ns() // 1_000_000


def wall_ms() -> int:
    """Milliseconds since the epoch, for what people read."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class Timing:
    """Waits in seconds. Game clocks are not among them: they belong to each game."""

    tick_s: float = 7.0                     # empty line on every stream; also when a flag is looked at
    challenge_expiry_s: float = 20.0        # an unanswered real-time challenge goes offline, silently
    challenge_keep_alive_s: float = 50.0    # empty line on a keepAliveStream
    threefold_settle_s: float = 0.05        # from the third repetition to the draw: "a moment", a guess
    claim_s: float = 0.5                    # claim-victory takes at least this long
    presence_lapse_s: float = 1.0           # from the end of the game stream to being absent
    absence_check_s: float = 5.0            # how often absence is looked at, and how long it must last
    claim_wait_s: float = 40.0              # absence before a claim, in bullet and blitz
    claim_clock_margin_s: float = 3.0       # the leaver's clock must exceed the wait by this much
    later_retry_s: float = 0.5              # the house asks a bot again that said "later"
    first_moves_s: float = 30.0             # until both have moved, or the house aborts

    arena_waits_s: float = 60.0             # how long a program that asked waits to be paired in an arena
    arena_pairs_s: float = 1.0              # how often an arena looks for pairs: a guess
    arena_first_move_s: float = 16.0        # for each side's first move in an arena (contract 6.1, blitz)
    restart_gift_s: float = 20.0            # a restart of the site adds it to the clock of the side to move
    restart_other_gift_s: float = 10.0      # and this to the other one
    restart_mercy_s: float = 120.0          # who flags so soon after a restart, unmoved since, does not lose
    day_s: float = 86_400.0                 # of correspondence; in it bot games and challenges are counted (contract 2)
    minute_s: float = 60.0                  # in which challenges are counted, too

    first_moves_in_trouble_s: float = 150.0  # the same while faults are about
    connect_in_trouble_s: float = 300.0     # longer than usual, from the bot's start to its event stream

    # Waits of the faults (all of them ours: the contract does not say how long things go wrong).
    rate_limit_s: float = 60.0              # nothing but moves after a 429: "a full minute" (contract 2)
    named_pause_s: float = 30.0             # what a 429 asks for that names its pause, in whole seconds
    slow_answer_s: float = 5.0
    slow_headers_s: float = 5.0
    outage_s: float = 10.0                  # nobody can connect
    restart_s: float = 20.0                 # from the end of all streams to the first answer
    second_client_s: float = 1.0            # the other client keeps the event stream
    flood_s: float = 10.0                   # strangers wait for an answer to their challenges
    threefold_late_s: float = 1.0           # from the third repetition to the draw, when it is late
    notice_silence_s: float = 20.0          # a correct client calls a silent stream dead: nearly three ticks
    notice_asking_s: float = 30.0           # a correct client asks what is being played, if it has a doubt
    event_streams_window_s: float = 600.0   # 30 openings of the event stream are allowed in it (contract 2)
    account_window_s: float = 300.0         # 30 looks at the account are allowed in it (contract 2)

    @property
    def named_pause_seconds(self) -> int:
        """The named pause as it stands on the wire."""
        return math.ceil(self.named_pause_s)

    def scaled(self, factor: float) -> "Timing":
        """The same waits, each multiplied by `factor`."""
        return replace(self, **{field.name: getattr(self, field.name) * factor for field in fields(self)})
