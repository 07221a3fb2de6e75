"""The correspondence games in progress, and which of them is played next.

Pure: `now` is monotonic seconds, passed in. The stream of a game that may last for months is not kept open: the list
of games in progress tells where it is our turn. Those games are played one after the other: the shortest time left
first, and where there is plenty, the longest wait.
"""

import math
from collections.abc import Container
from dataclasses import dataclass
from typing import Final

from lichessbot.lichess.models import GameInfo

# A game is due at the latest this many seconds after our turn began, so that fast games do not starve it. As Lichess
# gives at least a day for a turn, a game with less than this left goes before all new turns.
_MAX_WAIT_S: Final = 12 * 3600.0


@dataclass(slots=True)
class _CorrespondenceGame:
    info: GameInfo
    our_turn: bool
    known_at: float
    """When it was seen whose turn it is; older lists are ignored."""
    deadline: float
    """When our time is up."""
    waits_since: float
    not_before: float = -math.inf
    has_ended: bool = False
    """To be visited once more, though no list shows it."""

    @property
    def urgency(self) -> float:
        """The moment by which it should be played; the lowest goes first."""
        return min(self.deadline, self.waits_since + _MAX_WAIT_S)


class CorrespondenceGames:
    """All known correspondence games in progress."""

    def __init__(self) -> None:
        self._games: dict[str, _CorrespondenceGame] = {}

    def __len__(self) -> int:
        return len(self._games)

    def __contains__(self, game_id: object) -> bool:
        return game_id in self._games

    @property
    def games(self) -> list[GameInfo]:
        return [entry.info for entry in self._games.values()]

    def note(self, info: GameInfo, seen_at: float, *, is_new: bool = False) -> None:
        """Note a game as it was at `seen_at`; an unknown turn may be ours, and a new game is visited at once."""
        known = self._games.get(info.game_id)
        if known is not None and known.known_at > seen_at:
            return
        deadline = math.inf if info.seconds_left is None else seen_at + info.seconds_left
        entry = _CorrespondenceGame(info, is_new or info.is_my_turn is not False, seen_at, deadline, seen_at)
        if known is not None and known.our_turn and entry.our_turn:
            entry.waits_since, entry.not_before = known.waits_since, known.not_before
        self._games[info.game_id] = entry

    def forget(self, game_id: str) -> None:
        """Forget a game that is over."""
        self._games.pop(game_id, None)

    def revisit_all_but(self, game_ids: Container[str], seen_at: float) -> None:
        """Visit once more the games that were not in progress at `seen_at`: they have ended unnoticed."""
        for game_id, entry in self._games.items():
            if game_id not in game_ids and entry.known_at <= seen_at and not entry.has_ended:
                self.revisit(game_id, seen_at)

    def doubt_all_but(self, game_ids: Container[str], seen_before: float) -> None:
        """Assume our turn in games that an incomplete list does not show and that were last seen long ago."""
        for game_id, entry in self._games.items():
            if game_id not in game_ids and not entry.our_turn and entry.known_at <= seen_before:
                entry.our_turn, entry.waits_since = True, entry.known_at

    def revisit(self, game_id: str, now: float) -> None:
        """Visit a game once more that ended while it was suspended."""
        entry = self._games.get(game_id)
        if entry is not None:
            entry.known_at = entry.deadline = now
            entry.our_turn, entry.not_before = True, -math.inf
            entry.has_ended = True

    def put_back(self, game_id: str, now: float, *, not_before: float | None = None) -> None:
        """Note that a game was suspended; `not_before`: without our move, to be tried again then."""
        entry = self._games.get(game_id)
        if entry is not None:
            entry.known_at, entry.our_turn = now, not_before is not None
            if not_before is None:
                entry.not_before, entry.has_ended = -math.inf, False
                return
            # It goes behind those that waited meanwhile: if it never succeeds, it must not take their place every time.
            entry.not_before = entry.waits_since = not_before
            if entry.deadline <= not_before:
                entry.deadline = math.inf

    def next(self, now: float, in_session: Container[str]) -> GameInfo | None:
        """Return the most urgent game with our turn that has no session."""
        ours = (entry for game_id, entry in self._games.items() if entry.our_turn and game_id not in in_session)
        waiting = [entry for entry in ours if entry.not_before <= now]
        most_urgent = min(waiting, key=lambda entry: (entry.urgency, entry.deadline), default=None)
        return None if most_urgent is None else most_urgent.info
