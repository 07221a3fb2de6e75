"""How the engine likes to play: how much each group of evaluation terms weighs, in percent of what games taught.

100 is neutral, 0 leaves a group out, less turns it round: an engine whose material counts -100 is glad to be rid of
it. A style is symmetric, so that it expects the opponent to have the same taste. Weights belong to the whole process.
"""

from collections.abc import Mapping

from engine.evaluation.evaluate import use_values
from engine.evaluation.weights import Group, styled

NEUTRAL = 100                      # percent
LEAST = -200
MOST = 400
MOST_MATERIAL = 200                # nine queens that weigh more would look like a mate


def most(group: Group) -> int:
    """The largest percentage of a group."""
    return MOST_MATERIAL if group is Group.MATERIAL else MOST


def in_words(group: Group) -> str:
    """A group's name for people: 'pawn advance'."""
    return group.replace("_", " ")


class Style:
    """The percentages in force, and the only way to change them."""

    def __init__(self) -> None:
        self._percents = dict.fromkeys(Group, NEUTRAL)

    @property
    def is_neutral(self) -> bool:
        return all(percent == NEUTRAL for percent in self._percents.values())

    def set(self, group: Group, percent: int) -> None:
        """Evaluate with the group so heavy from now on. Only positions set up afterwards are judged rightly."""
        if self._percents[group] != percent:
            self._percents[group] = percent
            use_values(styled(self._times()))

    def _times(self) -> Mapping[Group, float]:
        return {group: percent / NEUTRAL for group, percent in self._percents.items()}

    def __str__(self) -> str:
        changed = [f"{in_words(it)} {percent} %" for it, percent in self._percents.items() if percent != NEUTRAL]
        return ", ".join(changed)
