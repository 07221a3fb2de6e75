"""What a style shows in games: one measure for each named style, and the statistics that compare two players.

A measure is a number for one side of one game, or None if the game gives that side no chance to show it. `STYLES.md`
beside the styles defines each in words. Moves are counted as on a score sheet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, lgamma, log, log1p, sqrt
from statistics import mean, variance

from engine.core.position import Position
from engine.evaluation.style import StyleName
from engine.evaluation.style_bonus import seen
from engine.selfplay.records import Result

ATTACK_MOVES = range(8, 41)
ATTACKERS = 3                      # pieces at the enemy king that make an attack
GIVEN_UP_PLIES = 8                 # material that is still missing then was given up
SOUND_CP = -150                    # but not lost by force: the judge thinks no worse of the position afterwards
LOST_CP = -200                     # from here on a game counts as nearly lost
LOST_TWICE = 2                     # own moves in a row
COMPENSATED_CP = -100              # a side that is short of material and no worse than this has compensation
WORSE_CP = -100
QUEENS_MOVE = 25
DEVELOPED_MOVE = 12
FULLY_DEVELOPED = 7                # four knights and bishops, and 3 for a castled king, see style_bonus.py


@dataclass
class WatchedGame:
    """A game as one side sees it: what each position shows, the judge's scores, and the result.

    `ours` and `theirs` have what each side shows in every position, the opening's last first. `scores` are the judge's
    from our side, by the ply of the position, after our moves only.
    """

    us: int
    first_ply: int                 # of the game when it was begun to be watched
    ours: list[dict[str, int]] = field(default_factory=list)
    theirs: list[dict[str, int]] = field(default_factory=list)
    scores: dict[int, int] = field(default_factory=dict)
    points: float = 0.0

    def watch(self, position: Position) -> None:
        """Note a position of the game."""
        self.ours.append(seen(position, self.us))
        self.theirs.append(seen(position, self.us ^ 1))

    def judge(self, white_score: int) -> None:
        """Note what the judge thinks of the last position."""
        self.scores[len(self.ours) - 1] = white_score if self.us == 0 else -white_score

    def end(self, result: Result) -> None:
        """Note the result."""
        self.points = (result if self.us == 0 else Result.WHITE_WON - result) / 2

    def after_move(self, number: int) -> int:
        """Return the index of the position after the own move of this number, or of the last one."""
        ply = 2 * number - 1 + self.us
        return max(0, min(ply - self.first_ply, len(self.ours) - 1))

    def own_moves(self, numbers: range) -> list[int]:
        """Return the indices of the positions after these own moves, as far as they were played."""
        indices = (2 * number - 1 + self.us - self.first_ply for number in numbers)
        return [index for index in indices if 0 < index < len(self.ours)]


# --- Measures --------------------------------------------------------------------------------------------------------


def king_attacks(game: WatchedGame) -> float | None:
    """Return the share of our moves 8 to 40 after which three or more of our pieces attack around the enemy king."""
    return _attacks(game.ours, game.own_moves(ATTACK_MOVES))


def attacks_suffered(game: WatchedGame) -> float | None:
    """Return the same of the opponent's pieces and our king, after our moves: what we let stand."""
    return _attacks(game.theirs, game.own_moves(ATTACK_MOVES))


def _attacks(attackers: Sequence[dict[str, int]], indices: Sequence[int]) -> float | None:
    count = sum(attackers[index]["attackers"] >= ATTACKERS for index in indices)
    return count / len(indices) if indices else None


def draws(game: WatchedGame) -> float | None:
    """Return 1 for a draw."""
    return float(game.points == 0.5)


def sacrifices(game: WatchedGame) -> float | None:
    """Return how often we gave up material, a pawn or more, for compensation.

    It is still missing eight plies later, and the judge's score has fallen by less than half of it, to no less than
    -1.50. An exchange under way gives nothing up: what counts is the least that we had in the three positions before.
    """
    balance = [ours["material"] - theirs["material"] for ours, theirs in zip(game.ours, game.theirs, strict=True)]
    count, index = 0, 2
    while index + GIVEN_UP_PLIES < len(balance):
        before = min(balance[index - 2 : index + 1])
        given_up = before - max(balance[index + 2 : index + GIVEN_UP_PLIES + 1])
        if given_up > 0 and _is_sound(game, index, 100 * given_up // 2):
            count += 1
            index += GIVEN_UP_PLIES
        else:
            index += 1
    return float(count)


def _is_sound(game: WatchedGame, begin: int, most_cp: int) -> bool:
    """Return whether the judge saw us fall by less than `most_cp` in these plies, and not lost."""
    before = [score for ply, score in game.scores.items() if begin - 1 <= ply <= begin]
    after = [score for ply, score in game.scores.items() if begin + GIVEN_UP_PLIES - 1 <= ply <= begin + GIVEN_UP_PLIES]
    return bool(before and after) and after[0] > before[0] - most_cp and after[0] >= SOUND_CP


def gambits(game: WatchedGame) -> float | None:
    """Return the share of our moves after which we are a pawn or more short, but no worse than -1.00."""
    short = [
        score >= COMPENSATED_CP and game.ours[index]["material"] < game.theirs[index]["material"]
        for index, score in game.scores.items()
    ]
    return sum(short) / len(short) if short else None


def queens_traded(game: WatchedGame) -> float | None:
    """Return 1 if no queen is left after move 25."""
    return float(game.ours[game.after_move(QUEENS_MOVE)]["queens"] == 0)


def counterattacks(game: WatchedGame) -> float | None:
    """Return the share of king attacks, as above, of our moves after which the judge has us at -1.00 or less."""
    return _attacks(game.ours, [index for index, score in game.scores.items() if score <= WORSE_CP])


def swindles(game: WatchedGame) -> float | None:
    """Return 1 if we did not lose although the judge had us at -2.00 or less twice running; None if it never had."""
    scores = list(game.scores.values())
    behind = (max(scores[i : i + LOST_TWICE]) <= LOST_CP for i in range(len(scores) - LOST_TWICE + 1))
    return float(game.points > 0) if any(behind) else None


def classical_openings(game: WatchedGame) -> float | None:
    """Return 1 if after move 12 all our knights and bishops are developed, the king castled, a pawn in the centre."""
    ours = game.ours[game.after_move(DEVELOPED_MOVE)]
    return float(ours["development"] >= FULLY_DEVELOPED and ours["centre"] > 0)


def storms(game: WatchedGame) -> float | None:
    """Return the most ranks that our pawns on the files around the enemy king have advanced together."""
    return float(max(ours["storm"] for ours in game.ours))


def length(game: WatchedGame) -> float | None:
    """Return the number of moves."""
    return float((game.first_ply + len(game.ours)) // 2)


Measure = Callable[[WatchedGame], float | None]
MEASURES: dict[str, Measure] = {
    "king attacks": king_attacks,
    "attacks suffered": attacks_suffered,
    "draws": draws,
    "sacrifices": sacrifices,
    "gambits": gambits,
    "queens traded": queens_traded,
    "counterattacks": counterattacks,
    "swindles": swindles,
    "classical openings": classical_openings,
    "pawn storms": storms,
    "length": length,
}
NAMED_MEASURE = {
    StyleName.ATTACKER: "king attacks",
    StyleName.SOLID: "attacks suffered",
    StyleName.GAMBLER: "gambits",
    StyleName.ENDGAME: "queens traded",
    StyleName.SWINDLER: "counterattacks",
    StyleName.CLASSICAL: "classical openings",
}


# --- Statistics ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """The means of a measure for a style and for the default, the numbers of games, and the p of Welch's test."""

    styled: float
    default: float
    styled_games: int
    default_games: int
    p: float | None

    @property
    def ratio(self) -> float:
        return self.styled / self.default if self.default else float("inf") if self.styled else 1.0


def compare(measure: Measure, styled: Sequence[WatchedGame], default: Sequence[WatchedGame]) -> Comparison | None:
    """Compare two sets of games; None if one of them has no game that counts."""
    values = [[value for game in games if (value := measure(game)) is not None] for games in (styled, default)]
    if not all(values):
        return None
    means = [mean(it) for it in values]
    return Comparison(means[0], means[1], len(values[0]), len(values[1]), welch_p(values[0], values[1]))


def welch_p(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the p of Welch's test: the chance of means at least as far apart, up or down, of equal distributions.

    None if it is not defined: below two values on a side, or if neither side varies. (Welch 1947; Satterthwaite 1946)
    """
    if min(len(first), len(second)) < 2:
        return None
    error, other = variance(first) / len(first), variance(second) / len(second)      # squared, of the means
    if not error + other:
        return None
    freedom = (error + other) ** 2 / (error**2 / (len(first) - 1) + other**2 / (len(second) - 1))
    return student_p(abs(mean(first) - mean(second)) / sqrt(error + other), freedom)


def student_p(t: float, freedom: float) -> float:
    """Return the chance that Student's t with `freedom` degrees of freedom is at least as far from 0 as `t`, >= 0."""
    share = freedom / (freedom + t * t)
    if t >= 1:
        return _incomplete_beta(freedom / 2, 0.5, share)
    return 1 - _incomplete_beta(0.5, freedom / 2, 1 - share)      # the other series has too many terms


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function, by its series of positive terms. (DLMF 8.17.8)"""
    if x == 0:
        return 0.0
    term = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a + 1) - lgamma(b))
    total, number = 0.0, 0
    while total + term != total:
        total += term
        term *= x * (a + b + number) / (a + 1 + number)
        number += 1
    return total
