"""The correspondence games in progress, and which of them is played next.

Pure: `now` is monotonic seconds, passed in. A game that may last for months is not watched: a look at the games in
progress tells in which of them it is our turn, and those are played one after the other: who is short of time first,
else who has waited longest.
"""

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Final

from lichessbot.lichess.models import GameInfo

# Who has waited for so long goes before those with as much time left: else quick repliers would starve the others.
_PATIENCE_S: Final = 3600.0


@dataclass(slots=True)
class _CorrespondenceGame:
    info: GameInfo
    our_turn: bool
    known_at: float
    """When it was seen whose turn it is; what was seen earlier does not count any more."""
    deadline: float
    """When our time is up."""
    waits_since: float
    not_before: float = -math.inf
    has_ended: bool = False
    """It is to be visited once more, though no look shows it."""

    @property
    def urgency(self) -> float:
        """The moment by which it should be played."""
        return min(self.deadline, self.waits_since + _PATIENCE_S)


class CorrespondenceGames:
    """Every correspondence game in progress that we know of."""

    def __init__(self) -> None:
        self._correspondence: dict[str, _CorrespondenceGame] = {}

    def __len__(self) -> int:
        return len(self._correspondence)

    def __contains__(self, game_id: object) -> bool:
        return game_id in self._correspondence

    @property
    def games(self) -> list[GameInfo]:
        return [letter.info for letter in self._correspondence.values()]

    def note(self, info: GameInfo, seen_at: float) -> None:
        """What was seen of a game at `seen_at`; if nobody says whose turn it is, it may be ours."""
        known = self._correspondence.get(info.game_id)
        if known is not None and known.known_at > seen_at:
            return
        deadline = math.inf if info.seconds_left is None else seen_at + info.seconds_left
        letter = _CorrespondenceGame(info, info.is_my_turn is not False, seen_at, deadline, seen_at)
        if known is not None and known.our_turn and letter.our_turn:
            letter.waits_since, letter.not_before = known.waits_since, known.not_before
        self._correspondence[info.game_id] = letter

    def forget(self, game_id: str) -> None:
        """The game is over."""
        self._correspondence.pop(game_id, None)

    def forget_all_but(self, game_ids: Container[str], seen_at: float) -> None:
        """Nothing else was in progress at `seen_at`."""
        for game_id, letter in list(self._correspondence.items()):
            if game_id not in game_ids and letter.known_at <= seen_at and not letter.has_ended:
                del self._correspondence[game_id]

    def doubt_all_but(self, game_ids: Container[str], seen_before: float) -> None:
        """A list that was cut did not show them, and what we saw of them is that old: it may be our turn."""
        for game_id, letter in self._correspondence.items():
            if game_id not in game_ids and not letter.our_turn and letter.known_at <= seen_before:
                letter.our_turn, letter.waits_since = True, letter.known_at

    def call(self, game_id: str, now: float) -> None:
        """The game ended while nobody sat at it: it is visited once more, to see how."""
        letter = self._correspondence.get(game_id)
        if letter is not None:
            letter.known_at = letter.deadline = now
            letter.our_turn, letter.not_before = True, -math.inf
            letter.has_ended = True

    def put_back(self, game_id: str, now: float, *, not_before: float | None = None) -> None:
        """The game was left: as it is the opponent's turn, or, to be tried again later, without our move."""
        letter = self._correspondence.get(game_id)
        if letter is not None:
            letter.known_at, letter.has_ended = now, False
            letter.our_turn = not_before is not None
            letter.not_before = -math.inf if not_before is None else not_before

    def next(self, now: float, seated: Container[str]) -> GameInfo | None:
        """The most urgent game in which it is our turn and nobody sits."""
        waiting = [letter for letter in self._waiting(seated) if letter.not_before <= now]
        most_urgent = min(waiting, key=lambda letter: letter.urgency, default=None)
        return None if most_urgent is None else most_urgent.info

    def wake_at(self, seated: Container[str]) -> float | None:
        """When a game that was put back is to be tried again."""
        moments = (letter.not_before for letter in self._waiting(seated))
        return min((moment for moment in moments if moment != -math.inf), default=None)

    def _waiting(self, seated: Container[str]) -> Iterable[_CorrespondenceGame]:
        return [it for game_id, it in self._correspondence.items() if it.our_turn and game_id not in seated]
