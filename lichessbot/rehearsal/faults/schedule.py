"""When a fault strikes: asked at every opportunity, answered from the seed alone.

Opportunities are counted for each game of the rehearsal, so that the same seed plans the same faults
however the games are woven together. What a fault does, and what it costs, is not known here.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lichessbot.rehearsal.faults.catalogue import Card, Fault, Layer
from lichessbot.rehearsal.faults.traffic import Place

SPACING = 3         # opportunities from one fault dealt to a game to the next at the same place

_Strike = Callable[[Card, str | None], None]
# These come before there is any game, or without one.
_HOUSE_REQUESTS = (
    Place.ACCOUNT, Place.PLAYING, Place.EVENT_STREAM, Place.CREATE, Place.CANCEL, Place.SHOW, Place.ONLINE,
    Place.STATUS, Place.TOURNAMENT, Place.CLOUD, Place.OTHER_REQUEST,
)
# These come many times in every game: a fault need not strike at the first.
_FREQUENT = (
    (Layer.LINES, Place.STATE_LINE),
    (Layer.REQUESTS, Place.MOVE),
    (Layer.PEOPLE, Place.MOVE),
    (Layer.PEOPLE, Place.TURN),
    (Layer.WIRE, Place.MOVE),
    (Layer.WIRE, Place.GAME_STREAM),
)


@dataclass(frozen=True)
class FaultPlan:
    """Which faults, how often, and the seed that settles everything else.

    Without a `chance` each card is dealt to one of the games and strikes once, early in it. With a
    `chance` every opportunity is taken with that probability; but what stops all games strikes as
    seldom as if each of those `at_once` had a share in it. Otherwise the more games there were, the
    less would Lichess be there at all.
    """

    cards: tuple[Card, ...] = ()
    chance: float | None = None
    seed: int = 0
    games: int = 1
    at_once: int = 1

    @property
    def needs_a_proxy(self) -> bool:
        """Whether faults on connections are planned, which need the proxy."""
        return any(card.fault.nature.layer is Layer.WIRE for card in self.cards)


@dataclass
class _Dealt:
    """A fault assigned to a game (None: to none), which strikes from opportunity `due` on."""

    card: Card
    number: int | None
    due: int
    played: bool = False


class FaultSchedule:
    """Decides at every opportunity whether a fault strikes; `on_strike` is called with each that does."""

    def __init__(self, plan: FaultPlan, on_strike: _Strike = lambda _card, _game_id: None) -> None:
        self.plan = plan
        self.on_strike = on_strike
        self._numbers: dict[str, int] = {}
        self._opportunities: Counter[tuple[Layer, Place, int | None]] = Counter()
        self._hands = [] if plan.chance is not None else _deal(plan)

    @property
    def is_on(self) -> bool:
        return bool(self.plan.cards)

    def enter(self, game_id: str, number: int) -> None:
        """The game or challenge `game_id` belongs to game `number` of the rehearsal."""
        self._numbers[game_id] = number

    def number(self, game_id: str | None) -> int | None:
        """The number of a game of the rehearsal; None for anything else."""
        return None if game_id is None else self._numbers.get(game_id)

    def strike(self, layer: Layer, place: Place, game_id: str | None = None) -> Fault | None:
        """The fault that strikes now, if any; it counts as done."""
        candidates = [card for card in self.plan.cards if card.place is place and card.fault.nature.layer is layer]
        if not candidates:
            return None
        number = self.number(game_id)
        self._opportunities[layer, place, number] += 1
        opportunity = self._opportunities[layer, place, number]
        card = self._choose(candidates, number, opportunity)
        if card is None:
            return None
        self.on_strike(card, game_id)
        return card.fault

    def carry_out(self, card: Card, game_id: str) -> None:
        """`card` strikes in the game that was arranged for it."""
        number = self.number(game_id)
        for dealt in self._hands:
            dealt.played = dealt.played or (dealt.card == card and dealt.number == number)
        self.on_strike(card, game_id)

    def plans(self, card: Card, number: int) -> bool:
        """Whether `card` is planned for game `number`, which has to be arranged for it; nothing counts as done."""
        if card not in self.plan.cards:
            return False
        if self.plan.chance is not None:
            return self._dice("arrange", card, number).random() < self.plan.chance
        return any(it.card == card and it.number == number for it in self._hands)

    def _choose(self, candidates: Sequence[Card], number: int | None, opportunity: int) -> Card | None:
        if self.plan.chance is None:
            return self._play(candidates, number, opportunity)
        dice = self._dice(candidates[0].fault.nature.layer.name, candidates[0].place.value, number, opportunity)
        if dice.random() >= self.plan.chance:
            return None
        card = dice.choice(candidates)
        shares = self.plan.at_once if card.fault.nature.stops_all and number is not None else 1
        return card if dice.randrange(shares) == 0 else None

    def _play(self, candidates: Sequence[Card], number: int | None, opportunity: int) -> Card | None:
        for dealt in self._hands:
            if not dealt.played and dealt.number == number and dealt.due <= opportunity and dealt.card in candidates:
                dealt.played = True
                return dealt.card
        return None

    def _dice(self, *what: object) -> random.Random:
        return random.Random("/".join(map(str, (self.plan.seed, *what))))


def _deal(plan: FaultPlan) -> list[_Dealt]:
    """Assign the cards of each place to the games in turn; general ones to no game."""
    dealt: list[_Dealt] = []
    dealt_at: Counter[tuple[Layer, Place]] = Counter()
    for card in plan.cards:
        spot = card.fault.nature.layer, card.place
        hands = 1 if _is_of_the_house(card) else plan.games
        rounds, seat = divmod(dealt_at[spot], hands)
        number = None if _is_of_the_house(card) else 1 + (seat + plan.seed) % plan.games
        late = random.Random(f"{plan.seed}/{card}").randrange(SPACING) if spot in _FREQUENT else 0
        dealt.append(_Dealt(card, number, 1 + late + SPACING * rounds))
        dealt_at[spot] += 1
    return sorted(dealt, key=lambda it: it.due)


def _is_of_the_house(card: Card) -> bool:
    return card.place in _HOUSE_REQUESTS
