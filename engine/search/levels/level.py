"""The levels: what a player of a given rating sees, knows and judges, as a few numbers in chess words.

Skill is the scale of the model: `TABLE` has the numbers at some skills, and between two rows they change evenly. What
rating a skill has is measured (`calibration.py`); `level_of` looks the skill of a rating up there.
"""

from bisect import bisect_right
from typing import NamedTuple

from engine.search.levels.calibration import RATED

USUAL_TENSION = 3                  # attacked pieces in a usual position of a game
PRACTISED_FROM = 450               # skill of a player who has learnt the basic mates


class Level(NamedTuple):
    """A player of limited strength.

    Up to `FULL_SEARCH_FROM` it thinks with a small search of its own; beyond it the engine's full search plays, with
    few nodes, and only among the candidate moves that it sees.
    """

    skill: float
    plies: float               # how far it looks ahead; 2.3: three plies at 30 % of its moves, two at the others
    blindness: float           # ordinary quiet replies that it overlooks, per mille, see `vision.py`
    capture_blindness: float   # captures, per mille; recaptures it always sees
    exchange_plies: float      # captures in a row that it follows on different squares
    understanding: float       # percent: weight of position against material
    taste_cp: float            # largest bonus or malus for a piece on a square, by its taste
    misjudgement_cp: float     # standard deviation of its error about a position
    nodes: float               # of the full search per move; 0: its own search
    book_plies: float          # plies of opening that it knows

    def hurried(self, hurry: float) -> "Level":
        """Return the level in a hurry: 0 is all the time that the player wants, 1 is none."""
        more = 1 + hurry / 2
        return self._replace(
            plies=max(1.0, self.plies - hurry / 2),
            blindness=self.blindness * more,
            capture_blindness=self.capture_blindness * more,
            misjudgement_cp=self.misjudgement_cp * more,
            nodes=max(1.0, self.nodes / more**2) if self.nodes else 0,
        )

    def in_complexity(self, tension: int) -> "Level":
        """Return the level where this many pieces are attacked: the more, the more quiet moves are overlooked."""
        more = 1 + (tension - USUAL_TENSION) / 10
        return self._replace(blindness=self.blindness * more, misjudgement_cp=self.misjudgement_cp * more)

    def practised(self) -> "Level":
        """Return the level against a bare king: practised, without errors, and looking further."""
        return self._replace(
            plies=self.plies + 1.5,
            blindness=0.0,
            capture_blindness=0.0,
            understanding=100.0,
            taste_cp=0.0,
            misjudgement_cp=0.0,
        )

    def careful(self) -> "Level":
        """Return the level in a losing position: attacked pieces are always seen, and judgement is better."""
        return self._replace(capture_blindness=0.0, misjudgement_cp=self.misjudgement_cp / 2)


TABLE = (
    #     skill  plies blind capt. exch. underst. taste misj. nodes    book
    Level(200,   1.0,  1500, 9000, 0,    0,       60,   250,  0,       0),
    Level(500,   1.0,  700,  3500, 1,    80,      14,   30,   0,       2),
    Level(800,   1.0,  450,  1500, 2,    100,     10,   12,   0,       4),
    Level(1200,  1.2,  300,  500,  3,    100,     10,   9,    0,       8),
    Level(1600,  2.3,  180,  40,   6,    100,     9,    8,    0,       12),
    Level(2000,  4.0,  60,   0,    10,   100,     6,    5,    0,       16),
)  # fmt: skip
FULL_TABLE = (
    Level(2000,  1.0,  10,   0,    10,   100,     0,    0,    260,     16),
    Level(2400,  1.0,  0,    0,    10,   100,     0,    0,    2_600,   20),
    Level(3300,  1.0,  0,    0,    10,   100,     0,    0,    134_000, 24),
    Level(3700,  1.0,  0,    0,    10,   100,     0,    0,    200_000, 24),
)  # fmt: skip
FULL_SEARCH_FROM = FULL_TABLE[0].skill
LEAST_RATING, MOST_RATING = 600, 2850      # of the option UCI_Elo


def level_at(skill: float) -> Level:
    """Return the level at a skill, which is limited to those of the tables."""
    table = TABLE if skill < FULL_SEARCH_FROM else FULL_TABLE
    skill = min(max(skill, table[0].skill), table[-1].skill)
    index = min(bisect_right([row.skill for row in table], skill), len(table) - 1)
    low, high = table[index - 1], table[index]
    part = (skill - low.skill) / (high.skill - low.skill)

    def between(name: str) -> float:
        first, last = getattr(low, name), getattr(high, name)
        if name == "nodes" and first:
            return float(first * (last / first) ** part)       # strength grows with the number's logarithm
        return float(first + (last - first) * part)

    return Level(**{name: between(name) for name in Level._fields})


def nodes_in_variants(level: Level) -> float:
    """Return the nodes per move in a variant, where the full search plays at every skill.

    Where these are too few for one ply, `LevelPlayer` searches one ply.
    """
    if level.nodes:
        return level.nodes
    lowest = TABLE[0].skill
    return float(FULL_TABLE[0].nodes ** ((level.skill - lowest) / (FULL_SEARCH_FROM - lowest)))


def skill_of(rating: float) -> float:
    """Return the skill that has this rating by the calibration, extended by its first and last rows."""
    ratings = [row[0] for row in RATED]
    index = min(max(bisect_right(ratings, rating), 1), len(RATED) - 1)
    (low, low_skill), (high, high_skill) = RATED[index - 1 : index + 1]
    return low_skill + (high_skill - low_skill) * (rating - low) / (high - low)


def level_of(rating: int) -> Level:
    """Return the level of a rating."""
    return level_at(skill_of(rating))
