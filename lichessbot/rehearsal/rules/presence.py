"""Which players are present, and when an opponent's absence can be claimed.

Pure: monotonic milliseconds are passed in. A bot is present while its game stream is open.
"""

import math
from dataclasses import dataclass

from lichessbot.rehearsal.rules.enums import Color, Speed, Variant
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.timing import Timing

PAWNS_DOWN_FOR_SHORT_WAIT = 4

_PAWN_UNITS = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9}
_MATERIAL_SAYS_LITTLE = (Variant.ANTICHESS, Variant.CRAZYHOUSE, Variant.HORDE)
_WAIT_FACTOR = {Speed.RAPID: 2.0, Speed.CLASSICAL: 3.0}


@dataclass(frozen=True)
class OpponentGone:
    """A line for player `to`: the opponent left, with the seconds until a claim, or is back."""

    to: Color
    gone: bool
    claim_win_in_s: int | None = None       # rounded down, as on Lichess


class Presence:
    """The presence of both players of one game; both are present at the start."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._away_since_ms: dict[Color, float] = {}
        self._claim_in_s_told: dict[Color, int] = {}

    def arrive(self, color: Color, game: Game, now_ms: int) -> list[OpponentGone]:
        """Note that `color` is present; the opponent is told of it only if the game could have been claimed."""
        was_told = color in self._claim_in_s_told and self.is_claimable(color, game, now_ms)
        self._away_since_ms.pop(color, None)
        self._claim_in_s_told.pop(color, None)
        return [OpponentGone(color.other, gone=False)] if was_told else []

    def leave(self, color: Color, now_ms: int) -> None:
        """Note that the connection of `color` ended, which counts as absence after a short time."""
        self._away_since_ms[color] = now_ms + 1000 * self._timing.presence_lapse_s

    def is_away(self, color: Color) -> bool:
        """Return whether `color` has left."""
        return color in self._away_since_ms

    def is_claimable(self, leaver: Color, game: Game, now_ms: int) -> bool:
        """Return whether `leaver` has been absent long enough for a claim."""
        return self._away_ms(leaver, now_ms) >= self._wait_ms(leaver, game)

    def told_claim_in_s(self, leaver: Color) -> int | None:
        """Return the seconds until a claim, rounded up, when the opponent of `leaver` was last told of the absence.

        None if told of none.
        """
        return self._claim_in_s_told.get(leaver)

    def look(self, game: Game, now_ms: int) -> list[OpponentGone]:
        """Return the lines that tell players of each other's absence; called regularly."""
        return [line for leaver in Color for line in self._look_for(leaver, game, now_ms)]

    def _look_for(self, leaver: Color, game: Game, now_ms: int) -> list[OpponentGone]:
        away_ms = self._away_ms(leaver, now_ms)
        if not game.can_be_claimed or away_ms < 1000 * self._timing.absence_check_s:
            return []
        left_ms = self._wait_ms(leaver, game) - away_ms
        margin_ms = 1000 * self._timing.claim_clock_margin_s
        if left_ms > 0 and game.clock.remaining_ms(leaver, now_ms) <= left_ms + margin_ms:
            return []
        left_s = max(0.0, left_ms / 1000)
        self._claim_in_s_told[leaver] = math.ceil(left_s)
        return [OpponentGone(leaver.other, gone=True, claim_win_in_s=math.floor(left_s))]

    def _away_ms(self, color: Color, now_ms: int) -> float:
        since_ms = self._away_since_ms.get(color)
        return 0.0 if since_ms is None else max(0.0, now_ms - since_ms)

    def _wait_ms(self, leaver: Color, game: Game) -> float:
        """Return how long `leaver` may be absent before the opponent can claim."""
        wait_s = self._timing.claim_wait_s * _WAIT_FACTOR.get(game.setup.time_control.speed, 1.0)
        counts_material = game.setup.variant not in _MATERIAL_SAYS_LITTLE
        if counts_material and _pawns_down(leaver, game) >= PAWNS_DOWN_FOR_SHORT_WAIT:
            wait_s /= 3
        return 1000 * wait_s


def _pawns_down(color: Color, game: Game) -> int:
    """Return by how many pawns of material `color` is behind."""
    placement = game.fen().split()[0]
    white_ahead = sum(_PAWN_UNITS.get(piece.lower(), 0) * (1 if piece.isupper() else -1) for piece in placement)
    return -white_ahead if color is Color.WHITE else white_ahead
