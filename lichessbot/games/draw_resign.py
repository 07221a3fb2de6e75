"""Whether a game is worth playing on: when a draw is offered or accepted, and when a lost game is resigned.

Pure. Judges by the scores of our own searches, one for each of our moves, and by a tablebase if one was asked. Draws
leave with a move; Lichess drops an offer within 20 plies of the last one, so none is made there. A move that was not
searched has no score: it neither counts nor breaks a row.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, Self

from engine.facade import Board
from lichessbot.config import DrawOrResignConfig
from lichessbot.games.time_budget import GameClock
from lichessbot.lichess.models import Player

_OFFER_SPACING_PLIES: Final = 20
_OFFERABLE_PLIES: Final = 2
_REPETITIONS: Final = 3
_FIFTY_MOVES_PLIES: Final = 100
_SCORES_KEPT: Final = 100
_MATE_CP: Final = 100_000
_LOST_BY_TABLE: Final = -2


class Decision(Enum):
    PLAY_ON = auto()
    DRAW = auto()
    """Offer one, or accept the one that is offered."""
    RESIGN = auto()


@dataclass(frozen=True, slots=True)
class PositionFacts:
    """What counts beside the scores, when our move is found."""

    ply: int
    """Plies played before our move."""
    pieces: int
    opponent: Player
    offered: bool
    """The opponent's offer stands."""
    opponent_hurry_s: float
    """What is left to an opponent who will sooner lose on time than we; endless if that is not so."""
    cannot_be_lost: bool
    """The opponent has too little to mate with, or our move ends the game as a draw by itself."""

    @classmethod
    def of(cls, board: Board, move: str, clock: GameClock, opponent: Player, now: float) -> Self:
        """`board` before our legal `move`, as the state in `clock` tells it."""
        after = board.copy()
        after.push(move)
        them = clock.colour.other
        return cls(
            ply=len(board.moves),
            pieces=board.piece_count,
            opponent=opponent,
            offered=clock.state.offers_draw(them),
            opponent_hurry_s=clock.opponent_hurry_s(now),
            cannot_be_lost=after.has_insufficient_material(them) or _is_drawn(after),
        )


class DrawResignPolicy:
    """The scores of one game, and what follows from them."""

    def __init__(self, rules: DrawOrResignConfig, *, offered_earlier: bool) -> None:
        """`offered_earlier`: by a process before this one, nobody knows when."""
        self.rules = rules
        """They may change once more is known of the game."""
        self._scores_cp: dict[int, int] = {}
        self._table: tuple[int, int] | None = None
        """The ply a tablebase was asked about last, and what it said."""
        self._offered_earlier = offered_earlier
        self._last_offer_ply: int | None = None

    def note(self, ply: int, score: str) -> None:
        """What the search for the move after `ply` plies said in UCI; later ones were taken back."""
        self._scores_cp = {known: it for known, it in self._scores_cp.items() if known < ply}
        if self._last_offer_ply is not None:
            self._last_offer_ply = min(self._last_offer_ply, ply)
        score_cp = centipawns(score)
        if score_cp is not None:
            self._scores_cp[ply] = score_cp
        if len(self._scores_cp) > _SCORES_KEPT:
            del self._scores_cp[min(self._scores_cp)]

    def note_table(self, ply: int, wdl: int) -> None:
        """What a tablebase says the position after `ply` plies is worth to us, 2 to -2."""
        self._table = ply, wdl

    def judge(self, it: PositionFacts) -> Decision:
        """What goes with our move, or instead of it."""
        if self._offered_earlier:
            self._offered_earlier, self._last_offer_ply = False, it.ply
        if self._accepts(it) or (it.offered and self._resigns(it)):
            return Decision.DRAW
        if self._offers(it):
            self._last_offer_ply = it.ply
            return Decision.DRAW
        return Decision.RESIGN if self._resigns(it) else Decision.PLAY_ON

    def _accepts(self, it: PositionFacts) -> bool:
        scores_cp, limit_cp = self._latest(self.rules.offer_draw_moves), self.rules.offer_draw_score
        if not (it.offered and self._agrees_to_draws(it)):
            return False
        if self._table_says_drawn(it):
            return True
        if not scores_cp:
            return False
        worst_to_give_cp = max(scores_cp)
        return worst_to_give_cp < -limit_cp or (worst_to_give_cp <= limit_cp and self._is_time_for_a_draw(it))

    def _offers(self, it: PositionFacts) -> bool:
        scores_cp = self._latest(self.rules.offer_draw_moves)
        level = bool(scores_cp) and all(abs(score) <= self.rules.offer_draw_score for score in scores_cp)
        level = level or self._table_says_drawn(it)
        return level and self._agrees_to_draws(it) and self._is_time_for_a_draw(it) and self._would_be_heard(it)

    def _resigns(self, it: PositionFacts) -> bool:
        rules = self.rules
        scores_cp = self._latest(rules.resign_moves)
        lost = bool(scores_cp) and max(scores_cp) <= rules.resign_score
        lost = lost or (rules.resign_for_egtb_minus_two and self._table == (it.ply, _LOST_BY_TABLE))
        fits = _fits(it.opponent, against_humans=rules.resign_against_humans, min_rating=rules.resign_min_rating)
        return rules.resign_enabled and lost and fits and not it.cannot_be_lost and not self._flag_is_near(it)

    def _agrees_to_draws(self, it: PositionFacts) -> bool:
        rules = self.rules
        fits = _fits(
            it.opponent, against_humans=rules.offer_draw_against_humans, min_rating=rules.offer_draw_min_rating
        )
        return rules.offer_draw_enabled and fits and not self._flag_is_near(it)

    def _is_time_for_a_draw(self, it: PositionFacts) -> bool:
        moves = it.ply // 2
        return it.pieces <= self.rules.offer_draw_pieces and moves >= self.rules.offer_draw_min_game_length

    def _table_says_drawn(self, it: PositionFacts) -> bool:
        return self.rules.offer_draw_for_egtb_zero and self._table == (it.ply, 0)

    def _would_be_heard(self, it: PositionFacts) -> bool:
        last = self._last_offer_ply
        spaced = last is None or it.ply - last > _OFFER_SPACING_PLIES
        return spaced and it.ply >= _OFFERABLE_PLIES and it.opponent.ai_level is None

    def _flag_is_near(self, it: PositionFacts) -> bool:
        return it.opponent_hurry_s < self.rules.opponent_flag_time

    def _latest(self, count: int) -> list[int]:
        """The last `count` scores, or none if there are fewer."""
        scores_cp = [self._scores_cp[ply] for ply in sorted(self._scores_cp)]
        return scores_cp[-count:] if len(scores_cp) >= count else []


def centipawns(score: str) -> int | None:
    """A UCI score as a number: a mate is worth more than any material. None if nothing was said."""
    match score.split():
        case ["cp", value] if _is_number(value):
            return int(value)
        case ["mate", moves] if _is_number(moves):
            mate_in = int(moves)
            return _MATE_CP - mate_in if mate_in > 0 else -_MATE_CP - mate_in
    return None


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 9


def _fits(opponent: Player, *, against_humans: bool, min_rating: int | None) -> bool:
    strong = min_rating is None or (opponent.rating is not None and opponent.rating >= min_rating)
    return strong and (against_humans or opponent.is_bot)


def _is_drawn(board: Board) -> bool:
    """Ended, or about to be ended by Lichess, which claims repetitions for bots."""
    repeated = board.repetition_count() >= _REPETITIONS
    fifty_moves = board.halfmove_clock >= _FIFTY_MOVES_PLIES and not board.is_checkmate()
    return repeated or fifty_moves or board.is_insufficient_material() or board.is_stalemate()
