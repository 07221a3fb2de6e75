"""The style of play, which has two parts that can be combined.

A named style adds a bonus for what our side likes (see `style_bonus.py`) to the evaluation, be it the network or the
hand-written terms. `STYLES.md` says what each style does and how it is measured.

The weights of groups of hand-written terms are in percent of the tuned weights: 100 is neutral, 0 ignores a group, a
negative value reverses it: at material -100 the engine wants to lose material. They apply to both sides, are shared by
the whole process, and replace the network.
"""

from enum import StrEnum
from functools import cache

from engine.evaluation.evaluate import use_values
from engine.evaluation.style_bonus import StyleBonus
from engine.evaluation.weights import Group, weighed

NEUTRAL = 100                      # percent
# By group. Nine queens that weigh more than twice as much would look like a mate.
GROUP_PERCENTS = {str(group): range(-200, 1 + (200 if group is Group.MATERIAL else 400)) for group in Group}


class StyleName(StrEnum):
    """The named styles."""

    ATTACKER = "attacker"
    SOLID = "solid"
    GAMBLER = "gambler"
    ENDGAME = "endgame"
    SWINDLER = "swindler"
    CLASSICAL = "classical"


# Centipawns by the features of `style_bonus.py`. Set by trial games; STYLES.md says which styles show.
_BONUSES = {
    StyleName.ATTACKER: {"attackers": 40, "storm": 10, "pieces_off": -6, "queens_off": -80},
    StyleName.SOLID: {"danger": -30, "blocked": 15, "pieces_off": 5},
    StyleName.GAMBLER: {"sacrifice": 110, "attackers": 6},
    StyleName.ENDGAME: {"queens_off": 220, "pieces_off": 8},
    StyleName.SWINDLER: {"attackers": 120, "storm": 5, "pieces_off": -15, "queens_off": -120},
    StyleName.CLASSICAL: {"centre": 30, "development": 25},
}


@cache
def bonus_of(name: StyleName) -> StyleBonus:
    """Return the bonus of a named style. That of the swindler counts only in bad positions."""
    return StyleBonus(_BONUSES[name], name is StyleName.SWINDLER)


class Style:
    """The named style, if any, and the percentage of each group."""

    def __init__(self) -> None:
        self.name: StyleName | None = None
        self._side = ""                # that the named style played for last
        self._percents = dict.fromkeys(Group, NEUTRAL)

    @property
    def bonus(self) -> StyleBonus | None:
        """What the named style adds to the evaluation."""
        return None if self.name is None else bonus_of(self.name)

    def turns_to(self, side: str) -> bool:
        """Play for this side from now on; return whether stored scores are void: their bonus was for the other one."""
        turned = self.name is not None and side != self._side
        self._side = side
        return turned

    @property
    def is_neutral(self) -> bool:
        """Whether no group is changed, so that the network can evaluate."""
        return all(percent == NEUTRAL for percent in self._percents.values())

    def weigh(self, group: Group, percent: int) -> None:
        """Set the percentage of a group. Positions set up before keep their old piece-square sum."""
        if self._percents[group] != percent:
            self._percents[group] = percent
            use_values(weighed({it: percent / NEUTRAL for it, percent in self._percents.items()}))

    def __str__(self) -> str:
        changed = [
            f"{group.replace('_', ' ')} {percent} %" for group, percent in self._percents.items() if percent != NEUTRAL
        ]
        return ", ".join(changed if self.name is None else [self.name, *changed])
