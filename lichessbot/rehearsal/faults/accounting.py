"""The costs of faults: when each struck, which games it touched, and when the client had recovered.

Lives on the event loop as an observer of the site. Decides by the kinds of faults and the clocks whether a lost game
could have been saved: any client loses in an outage that is longer than its clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lichessbot.rehearsal.faults.catalogue import Fault, Notice, PlacedFault, Remedy
from lichessbot.rehearsal.faults.traffic import Place, Traffic
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.enums import Color, Status
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.timing import monotonic_ms
from lichessbot.rehearsal.server.site import GameChanged, Site, SiteEvent

MOVE_NEEDS_MS = 1000        # undisturbed time on the clock that suffices for a move


@dataclass
class Cost:
    """The cost of one strike in one game."""

    game: Game
    bot_color: Color
    at_ms: int
    clock_left_ms: int                  # of the bot when it struck
    moves_made: int                     # by the bot when it struck
    by_asking: bool                     # only a request shows the fault
    held_up_until_ms: float             # before this a correct client cannot move
    recovered_ms: int | None = None
    clock_lost_ms: int = 0              # time on the bot's clock until then, with thinking
    lost: bool = False                  # the game was lost before the client recovered
    own_fault: bool = False             # a correct client would have saved the game


@dataclass
class Strike:
    """One fault that struck."""

    placed: PlacedFault
    at_ms: int
    game_id: str | None
    costs: list[Cost] = field(default_factory=list)
    recovered_ms: int | None = None

    @property
    def fault(self) -> Fault:
        return self.placed.fault

    @property
    def delay_ms(self) -> int | None:
        """Time until the client had recovered; None if it never did."""
        return None if self.recovered_ms is None else self.recovered_ms - self.at_ms


@dataclass(frozen=True)
class FaultSummary:
    """A fault in the whole rehearsal."""

    fault: Fault
    struck: int
    games_touched: int
    games_lost: int
    own_fault: int
    worst_delay_ms: int | None      # of the strikes with recovery
    never_recovered: int


class FaultAccounting:
    """The faults that struck `bot` at `site`."""

    def __init__(self, site: Site, bot: Account) -> None:
        self.strikes: list[Strike] = []
        self._open: list[Strike] = []
        self._site = site
        self._bot = bot
        site.observe(self._on)

    def record(self, placed: PlacedFault, game_id: str | None) -> None:
        """Record that `placed` strikes now. `game_id`: the game concerned, or the challenge that may become one."""
        now_ms = monotonic_ms()
        strike = Strike(placed, now_ms, game_id)
        strike.costs = [self._cost(placed, game, now_ms) for game in self._touched(placed, game_id)]
        self.strikes.append(strike)
        self._open.append(strike)
        if placed.fault.spec.remedy is Remedy.NOTHING:
            _recover(strike, strike.costs, now_ms)

    def carried_out(self, traffic: Traffic) -> None:
        """Note a successful request, which may show that the client has recovered."""
        now_ms = monotonic_ms()
        for strike in self._pending():
            if _is_remedy(traffic, strike):
                costs = [cost for cost in strike.costs if traffic.game_id in (None, cost.game.id)]
                _recover(strike, costs, now_ms)

    def strikes_in(self, game_id: str) -> int:
        """Return how many faults have struck that game."""
        return sum(cost.game.id == game_id for strike in self.strikes for cost in strike.costs)

    def close(self, game: Game, *, lost: bool) -> bool:
        """Note that `game` is over, and whether it was `lost` otherwise than on the board.

        Returns whether a correct client would have saved it. No fault excuses a resignation.
        """
        now_ms = monotonic_ms()
        mine = [(strike, cost) for strike in self.strikes for cost in strike.costs if cost.game is game]
        costs = [cost for _, cost in mine]
        if not lost:
            for strike, cost in mine:
                _recover(strike, [cost], now_ms)
            return True
        savable = not costs or game.status is Status.RESIGN or self._could_move(costs, game, now_ms)
        not_recovered = [cost for cost in costs if cost.recovered_ms is None]
        for cost in not_recovered or costs[-1:]:
            cost.lost = True
            cost.own_fault = savable
        return savable

    def summary(self) -> list[FaultSummary]:
        """Return an entry for each fault that struck, in the order of the catalogue."""
        struck = {strike.fault for strike in self.strikes}
        return [_summed(fault, [s for s in self.strikes if s.fault is fault]) for fault in Fault if fault in struck]

    def entries(self) -> list[dict[str, object]]:
        """Return every strike as plain data, an entry for each game that it touched."""
        entries: list[dict[str, object]] = []
        for strike in self.strikes:
            entry: dict[str, object] = {
                "fault": strike.fault.label,
                "place": strike.placed.place.value,
                "at_ms": strike.at_ms - self.strikes[0].at_ms,
                "game": strike.game_id,
                "delay_ms": strike.delay_ms,
            }
            entries += [entry | _cost_entry(cost) for cost in strike.costs] or [entry]
        return entries

    def _touched(self, placed: PlacedFault, game_id: str | None) -> list[Game]:
        games = [session.game for session in self._site.games_of(self._bot)]
        return games if placed.fault.spec.is_general else [game for game in games if game.id == game_id]

    def _cost(self, placed: PlacedFault, game: Game, now_ms: int) -> Cost:
        color = game.setup.player_color(self._bot)
        left_ms = game.clock.remaining_ms(color, now_ms)
        by_asking = placed.fault.spec.notice is Notice.BY_ASKING
        held_up_ms = 1000 * placed.fault.holds_up_s(self._site.timing, left_ms / 1000)
        return Cost(game, color, now_ms, left_ms, _moves_made(game, color), by_asking, now_ms + held_up_ms)

    def _could_move(self, costs: Sequence[Cost], game: Game, now_ms: int) -> bool:
        """Return whether a correct client had the time to move in the bot's last turn."""
        if game.is_timed:
            left_ms = game.clock_history_ms[-2]         # on the bot's clock at the start of that turn
            if left_ms < MOVE_NEEDS_MS:
                taken_ms = sum(_most_taken_ms(cost, left_ms) for cost in costs)     # before it
                return left_ms + taken_ms < MOVE_NEEDS_MS
        began_ms = game.last_change_ms
        spans: list[tuple[float, float]] = [(cost.at_ms, cost.held_up_until_ms) for cost in costs]
        if not game.is_timed or any(cost.by_asking for cost in costs):
            spans += self._pauses()
        within = [(max(began_ms, start_ms), min(now_ms, end_ms)) for start_ms, end_ms in spans]
        return now_ms - began_ms - _covered_ms(within) >= MOVE_NEEDS_MS

    def _pauses(self) -> list[tuple[float, float]]:
        """Return the spans in which a 429 forbids requests."""
        limits = [strike for strike in self.strikes if strike.fault.spec.is_a_limit]
        return [(it.at_ms, it.at_ms + 1000 * it.fault.spec.lasts_s(self._site.timing)) for it in limits]

    def _pending(self) -> list[Strike]:
        """Return the strikes without recovery, and drop the others."""
        self._open = [strike for strike in self._open if strike.recovered_ms is None]
        return self._open

    def _on(self, happening: SiteEvent) -> None:
        """Note that the bot has recovered in a game in which it moved."""
        if not isinstance(happening, GameChanged):
            return
        game, now_ms = happening.session.game, monotonic_ms()
        for strike in self._pending():
            if strike.fault.spec.remedy is Remedy.MOVED:
                touched = [cost for cost in strike.costs if cost.game is game]
                moved = [cost for cost in touched if _moves_made(game, cost.bot_color) > cost.moves_made]
                _recover(strike, moved, now_ms)


def _is_remedy(traffic: Traffic, strike: Strike) -> bool:
    concerned = {cost.game.id for cost in strike.costs} | {strike.game_id}
    match strike.fault.spec.remedy:
        case Remedy.REPEATED:
            return traffic.place is strike.placed.place and traffic.game_id in concerned
        case Remedy.REOPENED:
            return traffic.place is Place.GAME_STREAM and traffic.game_id in concerned
        case Remedy.LISTENING:
            return traffic.place is Place.EVENT_STREAM
    return False


def _recover(strike: Strike, costs: Sequence[Cost], now_ms: int) -> None:
    """Note that the client has recovered from `strike` in these games; from all of it if none is left."""
    for cost in costs:
        if cost.recovered_ms is None:
            gained_ms = cost.game.clock.increment_ms * (_moves_made(cost.game, cost.bot_color) - cost.moves_made)
            left_ms = cost.game.clock.remaining_ms(cost.bot_color, now_ms)
            cost.recovered_ms = now_ms
            cost.clock_lost_ms = max(0, cost.clock_left_ms + gained_ms - left_ms)
    if strike.recovered_ms is None and all(cost.recovered_ms is not None for cost in strike.costs):
        strike.recovered_ms = now_ms


def _moves_made(game: Game, color: Color) -> int:
    """Return the number of moves of that side."""
    first = game.first_to_move is color
    return (game.ply + 1) // 2 if first else game.ply // 2


def _most_taken_ms(cost: Cost, left_ms: int) -> float:
    """Return the most time that a fault may have cost the bot, whose clock shows `left_ms`."""
    gone_ms = cost.clock_left_ms - left_ms if cost.recovered_ms is None else cost.clock_lost_ms
    return max(gone_ms, cost.held_up_until_ms - cost.at_ms)


def _covered_ms(spans: Sequence[tuple[float, float]]) -> float:
    """Return the length of the union of spans; a span whose end is before its start is empty."""
    covered = reached = 0.0
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return covered


def _summed(fault: Fault, strikes: Sequence[Strike]) -> FaultSummary:
    costs = [cost for strike in strikes for cost in strike.costs]
    delays = [strike.delay_ms for strike in strikes if strike.delay_ms is not None]
    return FaultSummary(
        fault,
        struck=len(strikes),
        games_touched=len({cost.game.id for cost in costs}),
        games_lost=len({cost.game.id for cost in costs if cost.lost}),
        own_fault=len({cost.game.id for cost in costs if cost.own_fault}),
        worst_delay_ms=max(delays, default=None),
        never_recovered=len(strikes) - len(delays),
    )


def _cost_entry(cost: Cost) -> dict[str, object]:
    return {
        "game": cost.game.id,
        "delay_ms": None if cost.recovered_ms is None else cost.recovered_ms - cost.at_ms,
        "clock_left_ms": cost.clock_left_ms,
        "clock_lost_ms": cost.clock_lost_ms,
        "lost": cost.lost,
        "own_fault": cost.own_fault,
    }
