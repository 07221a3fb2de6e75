"""Whether the client behaves: no illegal or doubled move, and the rules of the limits kept (contract 2 and 3.3).

Pure: monotonic milliseconds are passed in. What went wrong around the client is its excuse, and is
asked for; what a fault is, is not known here.
"""

from collections import Counter, deque
from dataclasses import dataclass
from typing import Protocol

from lichessbot.rehearsal.faults.traffic import Place, Traffic
from lichessbot.rehearsal.rules.timing import Timing

UNDER_WAY_MS = 300                      # a request may have been sent before the client knew better
ALLOWED_IN_WINDOW = 30
_LATEST_TOLD = 6                        # of what came before an illegal or doubled move

# A running clock cannot wait: moves go on after a 429, and the stream that tells what to move.
_NEVER_PAUSED = (Place.MOVE, Place.GAME_STREAM)


@dataclass(frozen=True)
class Situation:
    """The state of the game when a move arrived, and whether the move was refused."""

    bot_is_on_turn: bool
    draw_is_pending: bool               # a position came a third time: it looks like the bot's turn, and is nobody's
    last_own_move: str | None           # the bot's latest on the board
    last_change_ms: int                 # identifies the position: every move and takeback changes it
    ended_ms: int | None
    refused: bool                       # by the rules, not by a fault


@dataclass(frozen=True)
class _Pause:
    """What a 429 asked for, and what it answered."""

    traffic: Traffic
    at_ms: int
    until_ms: float


@dataclass(frozen=True)
class _Try:
    uci: str
    last_change_ms: int
    is_late: bool           # refused right after a fault had brought the position: it was meant for the one before
    is_outdated: bool       # sent before what a reading anew was to tell: not yet there, or not on its way for long
    at_ms: int
    was_refused: bool

    @property
    def counts(self) -> bool:
        """Whether it was meant for the position in which it arrived."""
        return not self.is_late and not self.is_outdated


class Excuses(Protocol):
    """What is known of the faults that a client met."""

    def struck_since(self, game_id: str, since_ms: int) -> bool:
        """Whether anything has gone wrong for that game since then."""

    def is_cut_off(self, game_id: str, by_ms: int) -> bool:
        """Whether the stream of that game broke before then, and was not opened again."""

    def is_spoilt(self, game_id: str, since_ms: int, until_ms: int) -> bool:
        """Whether a line of that game's stream was lost or made unreadable in that time."""

    def lost_between(self, traffic: Traffic, since_ms: int, until_ms: int) -> bool:
        """Whether an answer to such a request was lost on its way in that time, or delayed."""


class ClientChecks:
    """Checks the requests of one client."""

    def __init__(self, timing: Timing, excuses: Excuses) -> None:
        self._offences: Counter[str] = Counter()
        self._timing = timing
        self._excuses = excuses
        self._pauses: deque[_Pause] = deque()
        self._tries: dict[str, _Try] = {}
        self._tries_before_reading: dict[str, _Try | None] = {}
        self._read_ms: dict[str, int] = {}
        self._latest: dict[str, deque[tuple[str, int]]] = {}     # what was done in a game, and when
        self._windows = {
            Place.EVENT_STREAM: _Window(1000 * timing.event_streams_window_s),
            Place.ACCOUNT: _Window(1000 * timing.account_window_s),
        }

    @property
    def offences(self) -> list[str]:
        """What it did wrong, in words."""
        return [text if times == 1 else f"{text}, {times} times" for text, times in self._offences.items()]

    def hear(self, traffic: Traffic, now_ms: int) -> None:
        """A request arrives."""
        if traffic.place is Place.GAME_STREAM and traffic.game_id is not None:
            # It reads anew: whatever it tried is settled.
            self._tries_before_reading[traffic.game_id] = self._tries.pop(traffic.game_id, None)
            self._read_ms[traffic.game_id] = now_ms
            self._note(traffic.game_id, "the game read", now_ms)
        told_ms = [now_ms - pause.at_ms for pause in self._pauses if self._is_told(pause, now_ms)]
        if traffic.place not in _NEVER_PAUSED and told_ms:
            told = f"{max(told_ms)} ms into the pause that a 429 asks for"
            self._offences[f"a request ({traffic.place.value}) {told}"] += 1
        window = self._windows.get(traffic.place)
        if window is not None and window.count(now_ms) == ALLOWED_IN_WINDOW + 1:
            self._offences[f"more than {ALLOWED_IN_WINDOW} requests ({traffic.place.value}) in their window"] += 1

    def was_limited(self, traffic: Traffic, pause_s: float, now_ms: int) -> None:
        """That request is answered 429 now, which asks for `pause_s`."""
        while self._pauses and self._pauses[0].until_ms <= now_ms:
            self._pauses.popleft()
        self._pauses.append(_Pause(traffic, now_ms, now_ms + 1000 * pause_s))

    def _is_told(self, pause: _Pause, now_ms: int) -> bool:
        """Whether `pause` lasts and the client knows of it by now."""
        lasts = pause.at_ms + UNDER_WAY_MS < now_ms < pause.until_ms
        return lasts and not self._excuses.lost_between(pause.traffic, pause.at_ms, now_ms)

    def hear_move(self, traffic: Traffic, now: Situation, now_ms: int) -> None:
        """A move was carried out or refused."""
        game_id, uci = traffic.game_id, traffic.uci
        assert game_id is not None
        assert uci is not None
        self._note(game_id, f"{uci} {_became(refused=now.refused)}", now_ms)
        is_repeated = uci == now.last_own_move
        is_struck = self._excuses.struck_since(game_id, now.last_change_ms - UNDER_WAY_MS)
        is_disturbed = is_struck and now.refused
        is_late = is_disturbed and self._was_just_changed(now, now_ms)
        is_unread = self._is_reading_late(game_id, now)
        is_cut_off = self._excuses.is_cut_off(game_id, now.last_change_ms + UNDER_WAY_MS)
        is_untold = is_unread or is_cut_off or self._was_line_withheld(game_id, now, now_ms)
        is_overtaken = is_late or is_untold or (is_disturbed and self._was_meant_before(game_id, uci, now, now_ms))
        if not is_repeated:
            is_outdated = is_unread or (is_struck and self._was_just_read(game_id, now_ms))
            self._compare(game_id, _Try(uci, now.last_change_ms, is_late, is_outdated, now_ms, now.refused))
        if not now.refused:
            return
        if now.bot_is_on_turn and now.ended_ms is None and not is_repeated and not is_overtaken:
            told = f"{uci} is illegal {now_ms - now.last_change_ms} ms into its position"
            self._offences[f"game {game_id}: {told}{self._before(game_id, now_ms)}"] += 1
        elif not self._is_excused(game_id, now, now_ms):
            self._offences[f"game {game_id}: {uci} is {'doubled' if is_repeated else 'out of turn'}"] += 1

    def _note(self, game_id: str, what: str, now_ms: int) -> None:
        self._latest.setdefault(game_id, deque(maxlen=_LATEST_TOLD + 1)).append((what, now_ms))

    def _before(self, game_id: str, now_ms: int) -> str:
        """The client's latest actions in that game, for the message."""
        *earlier, _ = self._latest[game_id]
        told = ", ".join(f"{what} {now_ms - at_ms} ms before" for what, at_ms in earlier)
        return f" ({told})" if told else ""

    def _compare(self, game_id: str, now: _Try) -> None:
        """Never two different moves for one position, unless the game was read anew in between."""
        earlier = self._tries.get(game_id)
        if earlier is not None and earlier.uci == now.uci:
            return          # repeated, it is still meant for the position it was found for
        if earlier is not None and earlier.counts and earlier.last_change_ms == now.last_change_ms:
            told = f"{_told(now)} after {_told(earlier)} for the same position"
            self._offences[f"game {game_id}: {told}{self._before(game_id, now.at_ms)}"] += 1
        self._tries[game_id] = now

    def _is_excused(self, game_id: str, now: Situation, now_ms: int) -> bool:
        """Whether the position changed while the move was under way, or a fault hid it."""
        if now.draw_is_pending:
            return True
        just_changed = self._was_just_changed(now, now_ms)
        return just_changed or self._excuses.struck_since(game_id, now.last_change_ms - UNDER_WAY_MS)

    def _was_just_changed(self, now: Situation, now_ms: int) -> bool:
        """Whether the move may have been under way when the position came."""
        changed_ms = now.last_change_ms if now.ended_ms is None else now.ended_ms
        return now_ms - changed_ms < UNDER_WAY_MS

    def _was_just_read(self, game_id: str, now_ms: int) -> bool:
        """Whether the move may have been under way when the client asked to read the game anew."""
        return now_ms - self._read_ms.get(game_id, -UNDER_WAY_MS) < UNDER_WAY_MS

    def _is_reading_late(self, game_id: str, now: Situation) -> bool:
        """Whether the game was read anew to learn of its position, but the answer was lost or trickled in."""
        read_ms = self._read_ms.get(game_id)
        if read_ms is None or read_ms < now.last_change_ms - UNDER_WAY_MS:
            return False
        return self._excuses.lost_between(Traffic(Place.GAME_STREAM, game_id), read_ms, read_ms + UNDER_WAY_MS)

    def _was_line_withheld(self, game_id: str, now: Situation, now_ms: int) -> bool:
        """Whether the line with the position was lost, unreadable or is still trickling in.

        Only until the game is read anew.
        """
        changed_ms = now.last_change_ms
        if self._read_ms.get(game_id, changed_ms) > changed_ms:
            return False
        about_then = changed_ms - UNDER_WAY_MS, changed_ms + UNDER_WAY_MS
        trickles = now_ms - changed_ms < 1000 * self._timing.slow_headers_s + UNDER_WAY_MS
        return self._excuses.is_spoilt(game_id, *about_then) or (
            trickles and self._excuses.lost_between(Traffic(Place.GAME_STREAM, game_id), *about_then)
        )

    def _was_meant_before(self, game_id: str, uci: str, now: Situation, now_ms: int) -> bool:
        """Whether the client repeats what it tried in an earlier position, and cannot have read the game anew since."""
        earlier = self._tries.get(game_id)
        if earlier is None and self._was_just_read(game_id, now_ms):
            earlier = self._tries_before_reading[game_id]
        if earlier is None or earlier.uci != uci:
            return False
        return earlier.is_late or earlier.last_change_ms != now.last_change_ms


def _told(tried: _Try) -> str:
    """The move, whether it was refused, and how old its position was."""
    became = _became(refused=tried.was_refused)
    return f"{tried.uci} ({became}, {tried.at_ms - tried.last_change_ms} ms into it)"


def _became(*, refused: bool) -> str:
    return "refused" if refused else "carried out"


class _Window:
    """A sliding count of requests of one kind."""

    def __init__(self, length_ms: float) -> None:
        self._length_ms = length_ms
        self._times_ms: deque[int] = deque()

    def count(self, now_ms: int) -> int:
        """Count one more; return how many there are in the window that ends now."""
        self._times_ms.append(now_ms)
        while self._times_ms[0] <= now_ms - self._length_ms:
            self._times_ms.popleft()
        return len(self._times_ms)
