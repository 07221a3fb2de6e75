"""Every wait of the embedded Lichess, named once, so that tests can run at a fraction of real time.

Sources are the contract's sections 3 to 6; a wait that the contract leaves open says so.
The two clocks are here too: waits and games count on the monotonic one, dates are wall time.
"""

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
    ai_game_hold_s: float = 0.5             # moves in games against the built-in AI are held this long
    claim_s: float = 0.5                    # claim-victory takes at least this long
    presence_lapse_s: float = 1.0           # from the end of the game stream to being absent
    absence_check_s: float = 5.0            # how often absence is looked at, and how long it must last
    claim_wait_s: float = 40.0              # absence before a claim, in bullet and blitz
    claim_wait_floor_s: float = 10.0
    claim_clock_margin_s: float = 3.0       # the leaver's clock must exceed the wait by this much
    later_retry_s: float = 0.5              # the house asks a bot again that said "later"
    first_moves_s: float = 30.0             # until both have moved, or the house aborts

    def scaled(self, factor: float) -> "Timing":
        """The same waits, each multiplied by `factor`."""
        return replace(self, **{field.name: getattr(self, field.name) * factor for field in fields(self)})
