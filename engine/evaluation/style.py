"""The style of play: the weight of each group of evaluation terms, in percent of the tuned weights.

100 is neutral, 0 ignores a group, a negative value reverses it: at material -100 the engine wants to lose material.
A style applies to both sides. The weights are shared by the whole process.
"""

from collections.abc import Mapping

from engine.evaluation.evaluate import use_values
from engine.evaluation.weights import Group, styled

NEUTRAL = 100                      # percent
LEAST = -200
MOST = 400
MOST_MATERIAL = 200                # nine queens that weigh more would look like a mate


def most(group: Group) -> int:
    """Return the largest percentage of a group."""
    return MOST_MATERIAL if group is Group.MATERIAL else MOST


def in_words(group: Group) -> str:
    """Return a group's name in words, such as 'pawn advance'."""
    return group.replace("_", " ")


class Style:
    """The percentage of each group."""

    def __init__(self) -> None:
        self._percents = dict.fromkeys(Group, NEUTRAL)

    @property
    def is_neutral(self) -> bool:
        return all(percent == NEUTRAL for percent in self._percents.values())

    def set(self, group: Group, percent: int) -> None:
        """Set the percentage of a group. Positions set up before keep their old piece-square sum."""
        if self._percents[group] != percent:
            self._percents[group] = percent
            use_values(styled(self._times()))

    def _times(self) -> Mapping[Group, float]:
        return {group: percent / NEUTRAL for group, percent in self._percents.items()}

    def __str__(self) -> str:
        changed = [f"{in_words(it)} {percent} %" for it, percent in self._percents.items() if percent != NEUTRAL]
        return ", ".join(changed)
