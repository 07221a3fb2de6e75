"""Whether the client behaves: no illegal or doubled move, and the pauses and windows of the limits kept.

Pure: monotonic milliseconds are passed in. A move that was never legal is always an offence. A move that comes too late
or twice is an offence once a game has more of them than it had faults, takebacks and ends that can explain one each.
A move whose answer was lost explains one more of the same move.
"""

from collections import Counter, deque
from dataclasses import dataclass

from lichessbot.rehearsal.faults.traffic import Place, Traffic
from lichessbot.rehearsal.rules.quotas import REQUESTS_PER_WINDOW, Count
from lichessbot.rehearsal.rules.timing import Timing

UNDER_WAY_MS = 300                      # a request may have been sent before the client knew better
_LATEST_TOLD = 6                        # of what came before an offence in a game

# A running clock cannot wait: moves go on after a 429, and the stream that tells what to move.
_NEVER_PAUSED = (Place.MOVE, Place.GAME_STREAM)


@dataclass(frozen=True)
class Arrival:
    """A move that arrived, and the position at that moment."""

    game_id: str
    uci: str
    position_ms: int        # when the position came; identifies it, as every move and takeback changes it
    is_legal: bool          # the bot may play it now
    was_legal: bool         # it is or was legal for the bot in some position of this game


@dataclass(frozen=True)
class _Pause:
    """What a 429 asked for, and what it answered."""

    traffic: Traffic
    at_ms: int
    until_ms: float


class ClientChecks:
    """Checks the requests of one client."""

    def __init__(self, timing: Timing) -> None:
        self._offences: Counter[str] = Counter()
        self._pauses: list[_Pause] = []
        self._slips: Counter[str] = Counter()
        self._tries: dict[str, Arrival] = {}
        self._unanswered: Counter[tuple[str | None, str | None]] = Counter()    # moves, by game and move
        self._latest: dict[str, deque[tuple[str, int]]] = {}     # what was done in a game, and when
        self._counts = {
            Place.EVENT_STREAM: Count(1000 * timing.event_streams_window_s),
            Place.ACCOUNT: Count(1000 * timing.account_window_s),
        }

    @property
    def offences(self) -> list[str]:
        """What it did wrong, in words."""
        return [text if times == 1 else f"{text}, {times} times" for text, times in self._offences.items()]

    def hear(self, traffic: Traffic, now_ms: int, arrived_ms: int | None = None) -> None:
        """Check a request that is read now, and arrived at `arrived_ms` if that is known.

        One that arrived before a pause or is read after it is no offence.
        """
        arrived_ms = now_ms if arrived_ms is None else arrived_ms
        if traffic.place is Place.GAME_STREAM and traffic.game_id is not None:
            self._tries.pop(traffic.game_id, None)      # it may find another move for the position that it reads
            self._note(traffic.game_id, "the game read", now_ms)
        pauses = [it for it in self._pauses if it.at_ms + UNDER_WAY_MS < arrived_ms and now_ms < it.until_ms]
        if traffic.place not in _NEVER_PAUSED and pauses:
            first = min(pauses, key=lambda it: it.at_ms)
            pause = f"the pause of {(first.until_ms - first.at_ms) / 1000:g} s that a 429 ({first.traffic}) asks for"
            self._offences[f"a request ({traffic}) {arrived_ms - first.at_ms} ms into {pause}"] += 1
        if (count := self._counts.get(traffic.place)) is not None:
            count.add(now_ms)
            if count.sum(now_ms) == REQUESTS_PER_WINDOW + 1:
                self._offences[f"more than {REQUESTS_PER_WINDOW} requests ({traffic.place.value}) in their window"] += 1

    def was_limited(self, traffic: Traffic, pause_s: float, now_ms: int) -> None:
        """Expect a pause: that request is answered 429 now, which asks for `pause_s`."""
        self._pauses = [it for it in self._pauses if it.until_ms > now_ms]
        self._pauses.append(_Pause(traffic, now_ms, now_ms + 1000 * pause_s))

    def answer_lost(self, traffic: Traffic) -> None:
        """Note that this answer does not arrive, or not for a while: expect no pause that only it asked for.

        A client that does not know whether its move was carried out may send the move again.
        """
        if traffic.place is Place.MOVE:
            self._unanswered[traffic.game_id, traffic.uci] += 1
        lost = traffic.place, traffic.game_id
        self._pauses = [it for it in self._pauses if (it.traffic.place, it.traffic.game_id) != lost]

    def hear_move(self, move: Arrival, now_ms: int, *, is_refused: bool, slips_allowed: int) -> None:
        """Check a move that was carried out, refused by the rules, or answered by a fault.

        `slips_allowed`: the faults, takebacks and ends of this game, each of which can make one move late or doubled.
        """
        game_id = move.game_id
        into_it_ms = now_ms - move.position_ms
        slip = None
        self._note(game_id, f"{move.uci} {'refused' if is_refused else 'carried out'}", now_ms)
        if not move.was_legal:
            self._offend(game_id, f"{move.uci} is illegal {into_it_ms} ms into its position", now_ms)
        elif is_refused and self._unanswered[game_id, move.uci] > 0:
            self._unanswered[game_id, move.uci] -= 1
        elif is_refused and into_it_ms >= UNDER_WAY_MS:
            slip = f"{move.uci} is late or doubled, {into_it_ms} ms into its position"
        elif move.is_legal and (earlier := self._other_try(move)) is not None:
            slip = f"{move.uci} after {earlier.uci} for the same position"
        if slip is not None:
            self._slips[game_id] += 1
            if self._slips[game_id] > slips_allowed:
                self._offend(game_id, slip, now_ms)

    def _other_try(self, move: Arrival) -> Arrival | None:
        """Return another move for the same position, unless the game was read again in between."""
        earlier = self._tries.get(move.game_id)
        if earlier is not None and earlier.uci == move.uci:
            return None     # repeated, it is still meant for the position it was found for
        self._tries[move.game_id] = move
        return earlier if earlier is not None and earlier.position_ms == move.position_ms else None

    def _offend(self, game_id: str, what: str, now_ms: int) -> None:
        *earlier, _ = self._latest[game_id]
        before = ", ".join(f"{it} {now_ms - at_ms} ms before" for it, at_ms in earlier)
        self._offences[f"game {game_id}: {what}" + (f" ({before})" if before else "")] += 1

    def _note(self, game_id: str, what: str, now_ms: int) -> None:
        self._latest.setdefault(game_id, deque(maxlen=_LATEST_TOLD + 1)).append((what, now_ms))
