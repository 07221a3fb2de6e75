"""When faults strike: decided at every opportunity, by the seed alone.

Opportunities are counted per game of the rehearsal, so that the same seed plans the same faults in whatever order the
games are struck. Must not know: what a fault does and costs.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lichessbot.rehearsal.faults.catalogue import Fault, Layer, PlacedFault, placed_faults
from lichessbot.rehearsal.faults.traffic import WITHOUT_GAME, Place

SPACING = 3         # opportunities between two faults of a game at the same place

_Strike = Callable[[PlacedFault, str | None], None]
# Frequent in every game, so that a fault need not strike at the first opportunity.
_FREQUENT = (
    (Layer.LINES, Place.STATE_LINE),
    (Layer.REQUESTS, Place.MOVE),
    (Layer.EVENTS, Place.MOVE),
    (Layer.EVENTS, Place.TURN),
    (Layer.CONNECTIONS, Place.MOVE),
    (Layer.CONNECTIONS, Place.GAME_STREAM),
)


@dataclass(frozen=True)
class FaultPlan:
    """Which faults, how often, and the seed of everything else.

    Without a `chance` each fault strikes once at each of its places; at a place of games, early in one of the games.
    With a `chance` a fault strikes at each opportunity with that probability, divided by the games `at_once` if it
    stops all games: otherwise Lichess would be less available the more games there are.
    """

    placed_faults: tuple[PlacedFault, ...] = ()
    chance: float | None = None
    seed: int = 0
    games: int = 1
    at_once: int = 1
    by_name: bool = False       # asked for by name: without a chance each has to strike

    @property
    def needs_a_proxy(self) -> bool:
        """Whether faults of connections are planned, which need the proxy."""
        return any(placed.fault.spec.layer is Layer.CONNECTIONS for placed in self.placed_faults)


@dataclass
class _Assigned:
    """A fault assigned to a game (None: to none), which strikes from opportunity `due` on."""

    placed: PlacedFault
    number: int | None
    due: int
    struck: bool = False


class FaultSchedule:
    """Decides at every opportunity whether a fault strikes, and calls `on_strike` with it."""

    def __init__(self, plan: FaultPlan, on_strike: _Strike = lambda _placed, _game_id: None) -> None:
        self.plan = plan
        self._on_strike = on_strike
        self._numbers: dict[str, int] = {}
        self._opportunities: Counter[tuple[Layer, Place, int | None]] = Counter()
        self._assigned = [] if plan.chance is not None else _assign(plan)

    @property
    def is_on(self) -> bool:
        return bool(self.plan.placed_faults)

    def enter(self, game_id: str, number: int) -> None:
        """Note that the game or challenge `game_id` belongs to game `number` of the rehearsal."""
        self._numbers[game_id] = number

    def number(self, game_id: str | None) -> int | None:
        """Return the number of a game of the rehearsal; None if it is not one."""
        return None if game_id is None else self._numbers.get(game_id)

    def strike(self, layer: Layer, place: Place, game_id: str | None = None) -> Fault | None:
        """Return the fault that strikes now, if any."""
        here = (placed for placed in self.plan.placed_faults if placed.place is place)
        candidates = [placed for placed in here if placed.fault.spec.layer is layer]
        if not candidates:
            return None
        number = self.number(game_id)
        self._opportunities[layer, place, number] += 1
        opportunity = self._opportunities[layer, place, number]
        placed = self._choose(candidates, number, opportunity)
        if placed is None:
            return None
        self._on_strike(placed, game_id)
        return placed.fault

    def carry_out(self, placed: PlacedFault, game_id: str) -> None:
        """Note that `placed` strikes in the game that was prepared for it."""
        number = self.number(game_id)
        for assigned in self._assigned:
            assigned.struck = assigned.struck or (assigned.placed == placed and assigned.number == number)
        self._on_strike(placed, game_id)

    def never_struck(self) -> list[str]:
        """Return the assigned faults that have not struck, with their places if those were chosen."""
        assigned = {it.placed for it in self._assigned}
        struck = {it.placed for it in self._assigned if it.struck}
        never: list[str] = []
        for fault in Fault:
            planned = [placed for placed in placed_faults(fault) if placed in assigned]
            if len(planned) < len(fault.spec.places):
                never += [str(placed) for placed in planned if placed not in struck]
            elif struck.isdisjoint(planned):
                never.append(fault.label)
        return never

    def plans(self, placed: PlacedFault, number: int) -> bool:
        """Return whether `placed` is planned for game `number`, which has to be prepared for it."""
        if placed not in self.plan.placed_faults:
            return False
        if self.plan.chance is not None:
            return self._dice("arrange", placed, number).random() < self.plan.chance
        return any(it.placed == placed and it.number == number for it in self._assigned)

    def _choose(self, candidates: Sequence[PlacedFault], number: int | None, opportunity: int) -> PlacedFault | None:
        if self.plan.chance is None:
            return self._next_assigned(candidates, number, opportunity)
        dice = self._dice(candidates[0].fault.spec.layer.name, candidates[0].place.value, number, opportunity)
        if dice.random() >= self.plan.chance:
            return None
        placed = dice.choice(candidates)
        shares = self.plan.at_once if placed.fault.spec.stops_all and number is not None else 1
        return placed if dice.randrange(shares) == 0 else None

    def _next_assigned(
        self, candidates: Sequence[PlacedFault], number: int | None, opportunity: int
    ) -> PlacedFault | None:
        for it in self._assigned:
            if not it.struck and it.number == number and it.due <= opportunity and it.placed in candidates:
                it.struck = True
                return it.placed
        return None

    def _dice(self, *what: object) -> random.Random:
        return random.Random("/".join(map(str, (self.plan.seed, *what))))


def _assign(plan: FaultPlan) -> list[_Assigned]:
    """Assign the faults of each place to the games in turn; those of requests without a game to none."""
    assigned: list[_Assigned] = []
    assigned_at: Counter[tuple[Layer, Place]] = Counter()
    for placed in plan.placed_faults:
        spot = placed.fault.spec.layer, placed.place
        is_without_game = placed.place in WITHOUT_GAME
        rounds, turn = divmod(assigned_at[spot], 1 if is_without_game else plan.games)
        number = None if is_without_game else 1 + (turn + plan.seed) % plan.games
        late = random.Random(f"{plan.seed}/{placed}").randrange(SPACING) if spot in _FREQUENT else 0
        assigned.append(_Assigned(placed, number, 1 + late + SPACING * rounds))
        assigned_at[spot] += 1
    return sorted(assigned, key=lambda it: it.due)
