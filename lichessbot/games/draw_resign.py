"""Draw offers and resigning: whether to offer or accept a draw, to resign, or to play on.

Pure. Decides by the scores of our searches, one for each of our moves, and by an endgame tablebase if one was asked.
A move that was not searched has no score: it is skipped, and at such a move no score decides. Scores that a tablebase
refutes do not count any more. A draw is offered with a move, and at most every 20 plies, as Lichess requires.
"""

import math
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, Self

from engine.facade import Board
from lichessbot.config import DrawOrResignConfig
from lichessbot.games.time_budget import GameClock
from lichessbot.lichess.models import GameFull, Player
from lichessbot.uci.search import centipawns

_OFFER_SPACING_PLIES: Final = 20
_OFFERABLE_PLIES: Final = 2
_REPETITIONS: Final = 3
_CLEARLY_WORSE_CP: Final = 100
_WIN: Final = 2
_CURSED_WIN: Final = 1
_LOSS: Final = -2


class Decision(Enum):
    PLAY_ON = auto()
    DRAW = auto()
    """Offer a draw, or accept the opponent's offer."""
    RESIGN = auto()


@dataclass(frozen=True, slots=True)
class PositionFacts:
    """The facts beside the scores when our move is found."""

    ply: int
    """Plies played before our move."""
    pieces: int
    opponent: Player
    offered: bool
    """The opponent has offered a draw."""
    opponent_flag_s: float
    """The remaining time of an opponent who has less than we and no increment; infinite otherwise."""
    cannot_be_lost: bool
    """The opponent has no mating material, or our move draws."""
    cannot_be_won: bool = False
    """We have no mating material, so that the game is drawn even if the opponent loses on time."""

    @classmethod
    def of(cls, board: Board, move: str, clock: GameClock, full: GameFull, now: float) -> Self:
        """Return the facts for our legal `move` on `board`."""
        after = board.after(move)
        them = clock.colour.other
        return cls(
            ply=len(board.moves),
            pieces=board.piece_count,
            opponent=full.player(them),
            offered=clock.state.offers_draw(them),
            opponent_flag_s=clock.opponent_flag_s(now),
            cannot_be_lost=after.has_insufficient_material(them) or _is_drawn(after),
            cannot_be_won=after.has_insufficient_material(clock.colour),
        )


class DrawResignPolicy:
    """Keeps the scores of one game and decides by them."""

    def __init__(self, rules: DrawOrResignConfig, *, offered_earlier: bool) -> None:
        """`offered_earlier`: an earlier process offered a draw, at an unknown ply."""
        self.rules = rules
        """They may change once the game's own stream is read."""
        self._scores_cp: dict[int, int] = {}
        """By ply, in the order of the game."""
        self._wdl: int | None = None
        """What a tablebase says of the present position."""
        self._last_offer_ply = math.inf if offered_earlier else -math.inf
        """Infinite while it is unknown, minus infinite without an offer."""

    def forget_from(self, ply: int) -> None:
        """Forget what is known of the positions after `ply` plies and more, as it is our turn after that many."""
        self._wdl = None
        self._scores_cp = {known: it for known, it in self._scores_cp.items() if known < ply}

    def note_score(self, ply: int, score: str) -> None:
        """Note the UCI score of the search after `ply` plies."""
        score_cp = centipawns(score)
        if score_cp is not None:
            self._scores_cp[ply] = score_cp

    def note_wdl(self, wdl: int | None) -> None:
        """Note a tablebase result for us in the present position, 2 for a win to -2 for a loss; None without one.

        A move from a tablebase has no score: scores from before the opponent's mistake would remain the latest.
        """
        self._wdl = wdl
        if wdl is not None and wdl > 0:
            self._scores_cp = {}
        elif wdl is not None and wdl > _LOSS:
            lost_cp = self.rules.resign_score
            self._scores_cp = {known: it for known, it in self._scores_cp.items() if it > lost_cp}

    def decide(self, it: PositionFacts) -> Decision:
        """Decide what to do with our move, or instead of it."""
        # An offer of an earlier process, or before a takeback, was made at this ply at the latest.
        self._last_offer_ply = min(self._last_offer_ply, it.ply)
        resigns = self._resigns(it)
        # An offered draw is better than resigning, even if draws are switched off.
        if self._accepts(it) or (it.offered and resigns):
            return Decision.DRAW
        if self._offers(it):
            self._last_offer_ply = it.ply
            return Decision.DRAW
        return Decision.RESIGN if resigns else Decision.PLAY_ON

    def _accepts(self, it: PositionFacts) -> bool:
        if not (it.offered and self._agrees_to_draws(it)):
            return False
        if self.rules.offer_draw_for_egtb_zero and self._wdl is not None:
            # It is not won, as we agree: a draw is the best to hope for. The scores may be from before our mistake.
            return True
        scores_cp = self._latest(it.ply, self.rules.offer_draw_moves)
        if not scores_cp:
            return False
        highest_cp = max(scores_cp)
        is_worse = highest_cp <= -_worse_cp(self.rules) and self._is_long_enough(it)
        return is_worse or (highest_cp <= self.rules.offer_draw_score and self._is_time_for_a_draw(it))

    def _offers(self, it: PositionFacts) -> bool:
        scores_cp = self._latest(it.ply, self.rules.offer_draw_moves)
        level = bool(scores_cp) and all(abs(score) <= self.rules.offer_draw_score for score in scores_cp)
        level = level or (self.rules.offer_draw_for_egtb_zero and self._wdl == 0)
        return level and self._agrees_to_draws(it) and self._is_time_for_a_draw(it) and self._may_offer(it)

    def _resigns(self, it: PositionFacts) -> bool:
        rules = self.rules
        scores_cp = self._latest(it.ply, rules.resign_moves)
        lost = bool(scores_cp) and max(scores_cp) <= rules.resign_score
        lost = lost or (rules.resign_for_egtb_minus_two and self._wdl == _LOSS)
        may_resign = _may_resign(rules, it.opponent)
        return may_resign and lost and not it.cannot_be_lost and not self._opponent_may_flag(it)

    def _agrees_to_draws(self, it: PositionFacts) -> bool:
        is_won = self._wdl in (_CURSED_WIN, _WIN)
        awaits_flag = self._opponent_may_flag(it) and not it.cannot_be_won
        return _may_draw(self.rules, it.opponent) and not is_won and not awaits_flag

    def _is_time_for_a_draw(self, it: PositionFacts) -> bool:
        return it.pieces <= self.rules.offer_draw_pieces and self._is_long_enough(it)

    def _is_long_enough(self, it: PositionFacts) -> bool:
        return it.ply // 2 + 1 >= self.rules.offer_draw_min_game_length

    def _may_offer(self, it: PositionFacts) -> bool:
        spaced = it.ply - self._last_offer_ply > _OFFER_SPACING_PLIES
        return spaced and it.ply >= _OFFERABLE_PLIES and it.opponent.ai_level is None

    def _opponent_may_flag(self, it: PositionFacts) -> bool:
        return it.opponent_flag_s < self.rules.opponent_flag_time

    def _latest(self, ply: int, count: int) -> list[int]:
        """Return the last `count` scores, or none if there are fewer or the position after `ply` plies was not judged.

        An only move is not searched: scores from before the opponent's mistake would decide.
        """
        is_judged = ply in self._scores_cp or self._wdl is not None
        scores_cp = list(self._scores_cp.values())
        return scores_cp[-count:] if is_judged and len(scores_cp) >= count else []


def describe(rules: DrawOrResignConfig, opponent: Player) -> str:
    """Say when we accept a draw, without telling anything of the present game."""
    if not _may_draw(rules, opponent):
        if _may_resign(rules, opponent):
            return "I accept a draw only instead of resigning."
        if not rules.offer_draw_enabled:
            return "I neither offer nor accept draws."
        if not (rules.offer_draw_against_humans or opponent.is_bot):
            return "I do not agree to draws with humans."
        return f"I agree to draws only with opponents rated {rules.offer_draw_min_rating} or higher."
    start = f" from move {rules.offer_draw_min_game_length} on" if rules.offer_draw_min_game_length else ""
    return (
        f"I accept draws{start} if my last {rules.offer_draw_moves} scores are at most "
        f"{rules.offer_draw_score / 100:.2f} with up to {rules.offer_draw_pieces} pieces, "
        f"or at most {-_worse_cp(rules) / 100:.2f} with more."
    )


def _worse_cp(rules: DrawOrResignConfig) -> int:
    """Return how far below 0 our scores are in a position that is worse, not drawn."""
    return max(_CLEARLY_WORSE_CP, rules.offer_draw_score)


def _may_draw(rules: DrawOrResignConfig, opponent: Player) -> bool:
    return rules.offer_draw_enabled and _fits(
        opponent, against_humans=rules.offer_draw_against_humans, min_rating=rules.offer_draw_min_rating
    )


def _may_resign(rules: DrawOrResignConfig, opponent: Player) -> bool:
    return rules.resign_enabled and _fits(
        opponent, against_humans=rules.resign_against_humans, min_rating=rules.resign_min_rating
    )


def _fits(opponent: Player, *, against_humans: bool, min_rating: int | None) -> bool:
    strong = min_rating is None or (opponent.rating is not None and opponent.rating >= min_rating)
    return strong and (against_humans or opponent.is_bot)


def _is_drawn(board: Board) -> bool:
    """Return whether the game is drawn; Lichess ends repetitions of bots by itself."""
    outcome = board.outcome()
    return board.repetition_count() >= _REPETITIONS or (outcome is not None and outcome.winner is None)
