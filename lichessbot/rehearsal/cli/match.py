"""A series of games against one bot: its challenges, and the outcome of each game.

Lives on the event loop as an observer of the site. Judges only by the state of the games. Must not know: the bot's
process.
"""

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from engine.facade import chess960_fen
from lichessbot.rehearsal.faults.catalogue import LATE_THREEFOLD
from lichessbot.rehearsal.faults.fault_injector import FaultInjector
from lichessbot.rehearsal.players.house_bots import HouseBots
from lichessbot.rehearsal.players.opponents import Opponent, OpponentKind, ShufflingOpponent, make_opponent
from lichessbot.rehearsal.players.start_positions import FROM_POSITION_FENS, REPETITION_FEN, odds_fen
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.challenges import CHESS960_STARTS, Challenge, Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import (
    BOT_TITLE,
    ChallengeStatus,
    Color,
    ColorChoice,
    DeclineReason,
    Status,
    Variant,
)
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.quotas import BOT_GAMES_PER_DAY
from lichessbot.rehearsal.rules.timing import wall_ms
from lichessbot.rehearsal.server import export
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.site import ChallengeMade, ChallengeSettled, GameEnded, GameStarted, Site, SiteEvent

MAX_TRIES = 10                  # a bot may decline with "later" shortly after a game
MAX_TRIES_IN_TROUBLE = 300      # one fault after the other may prevent an answer
MAX_PAIRINGS_WITH_BOTS = BOT_GAMES_PER_DAY * 9 // 10      # a fault may turn one of them into two games


@dataclass(frozen=True)
class Plan:
    """The games to play."""

    games: int
    concurrency: int
    clock: RealTime
    variant: Variant
    opponent: OpponentKind
    depth: int
    seed: int
    opponent_actions: float = 0.0   # probability that opponents chat, offer or request something after a move
    may_resign: bool = False        # the bot's configuration allows it, or the client is another one
    rated_by_bots: bool = False     # the bot's configuration accepts no casual games from bots
    rated_by_humans: bool = False
    accepts_bots: bool = True       # the bot's configuration does
    accepts_humans: bool = True
    levels: tuple[int, ...] = ()    # of the opponents, which are people with these ratings
    odds: str | None = None         # the piece that the bot gives

    @property
    def opponents(self) -> int:
        """The number of opponents: one for each game at a time or each level, and without levels at least two."""
        return max(self.concurrency, len(self.levels) or 2)

    def is_bot(self, number: int) -> bool:
        """Return whether that opponent is a bot: every second one, unless there are levels or only one kind."""
        return not self.levels and self.accepts_bots and (number % 2 == 0 or not self.accepts_humans)

    def is_rated(self, *, against_bot: bool) -> bool:
        """Return whether games are rated: if the bot accepts no others, but never from a position."""
        rated = self.rated_by_bots if against_bot else self.rated_by_humans
        return rated and self.variant is not Variant.FROM_POSITION


class Outcome(StrEnum):
    """The outcome of a game for the bot."""

    WON = "won"
    DRAWN = "drawn"
    LOST = "lost"
    FAILED = "failed"           # not ended by the rules of chess, through the bot's fault
    EXCUSED = "excused"         # the same, but faults left no time for a move


@dataclass(eq=False)
class Pairing:
    """A game of the series, from its first challenge on."""

    number: int
    opponent: Account
    bot_color: Color
    tries: int = 0
    challenge: Challenge | None = None
    game: Game | None = None
    outcome: Outcome | None = None
    reason: str = ""
    late: Color | None = None           # the side that did not make its first move in time
    timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    @property
    def is_over(self) -> bool:
        return self.outcome is not None


class Match:
    """Keeps up to `concurrency` games running until all have ended; reports events to `say`."""

    def __init__(
        self,
        site: Site,
        house_bots: HouseBots,
        bot: Account,
        plan: Plan,
        injector: FaultInjector,
        say: Callable[[str], None],
    ) -> None:
        self.plan = plan
        self.pairings: list[Pairing] = []
        self.failed_beside: list[str] = []     # games that the bot began by challenges of its own
        self._site = site
        self._bot = bot
        self._schedule = injector.schedule
        self._accounting = injector.accounting
        self._say = say
        self._opponents = [self._hire(house_bots, number) for number in range(1, plan.opponents + 1)]
        site.observe(self._on)

    @property
    def opponent_names(self) -> list[str]:
        return [account.name for account in self._opponents]

    @property
    def is_over(self) -> bool:
        return len(self.pairings) == self.plan.games and all(pairing.is_over for pairing in self.pairings)

    @property
    def bot_is_playing(self) -> bool:
        """Whether the bot has a game, of the series or beside it."""
        return bool(self._site.games_of(self._bot))

    def fill(self) -> None:
        """Challenge the bot until enough games run; called again when a game ends."""
        while len(self.pairings) < self.plan.games and len(self._running()) < self.plan.concurrency:
            number = len(self.pairings) + 1
            free = self._free()
            if not free:
                return
            opponent = free[number % len(free)]
            if self.plan.levels:
                opponent = min(free, key=self._games_of)
            pairing = Pairing(number, opponent, self._bot_color(number, opponent))
            self.pairings.append(pairing)
            self._challenge(pairing)

    def count(self, outcome: Outcome) -> int:
        return sum(pairing.outcome is outcome for pairing in self.pairings)

    def counts_by_rating(self) -> Mapping[int, Mapping[Outcome, int]]:
        """Return how many games against opponents of each rating ended in which way."""
        ratings = sorted({pairing.opponent.rating for pairing in self.pairings})
        of_rating = {rating: [it.outcome for it in self.pairings if it.opponent.rating == rating] for rating in ratings}
        return {rating: {it: outcomes.count(it) for it in Outcome} for rating, outcomes in of_rating.items()}

    def pgns(self) -> Iterator[str]:
        """Yield all started games as PGN, in order."""
        for pairing in self.pairings:
            if pairing.game is not None:
                number = str(pairing.number)
                yield export.pgn(pairing.game, self._site.url, round_name=number, is_for_players=True)

    def number_of(self, game_id: str) -> int | None:
        """Return the number of a game in the series; None for other games."""
        return next((it.number for it in self.pairings if it.game is not None and it.game.id == game_id), None)

    def _running(self) -> list[Pairing]:
        return [pairing for pairing in self.pairings if not pairing.is_over]

    def _free(self) -> list[Account]:
        """Return the opponents without a game; no bots if the daily quota of games between bots is nearly used up.

        Those with levels play equally often, though games of strong players take longer.
        """
        busy = {pairing.opponent for pairing in self._running()}
        humans_only = sum(pairing.opponent.is_bot for pairing in self.pairings) >= MAX_PAIRINGS_WITH_BOTS
        free = [it for it in self._opponents if it not in busy and not (humans_only and it.is_bot)]
        fair_share = -(-self.plan.games // len(self._opponents)) if self.plan.levels else self.plan.games
        return [it for it in free if self._games_of(it) < fair_share]

    def _hire(self, house_bots: HouseBots, number: int) -> Account:
        """Add a house bot."""
        kind, levels, is_bot = self.plan.opponent, self.plan.levels, self.plan.is_bot(number)
        account = Account(
            f"{kind.capitalize()}{'Bot' if is_bot else 'Human'}{number}",
            created_at_ms=wall_ms(),
            title=BOT_TITLE if is_bot else None,
            bio=f"Plays {kind} moves in rehearsals.",
            allows_takebacks=not is_bot,
        )
        if levels:
            account.rating = levels[(number - 1) % len(levels)]
        self._site.accounts.add(account)
        return house_bots.add(account, lambda game_id: self._opponent_of(game_id, account.rating))

    def _games_of(self, opponent: Account) -> int:
        return sum(pairing.opponent is opponent for pairing in self.pairings)

    def _bot_color(self, number: int, opponent: Account) -> Color:
        """Return the bot's colour: White first, then in turns, with levels against each opponent."""
        is_second = (self._games_of(opponent) if self.plan.levels else number - 1) % 2 == 1
        return Color.BLACK if self._repeats(number) or is_second else Color.WHITE

    def _repeats(self, number: int) -> bool:
        """Return whether that game is to end by a threefold repetition."""
        return self._schedule.plans(LATE_THREEFOLD, number)

    def _opponent_of(self, game_id: str, level: int) -> Opponent:
        """Return the opponent of a game; the same seed gives the same opponent."""
        pairing = self._pairing_of(game_id)
        if pairing is not None and self._repeats(pairing.number):
            return ShufflingOpponent()
        seed = f"{self.plan.seed}/{pairing.number if pairing is not None else game_id}"
        return make_opponent(self.plan.opponent, seed=seed, depth=self.plan.depth, level=level)

    def _challenge(self, pairing: Pairing) -> None:
        pairing.tries += 1
        self._site.invite(pairing.opponent, self._bot, self._terms(pairing))

    def _on_challenge(self, pairing: Pairing, challenge: Challenge) -> None:
        """Follow the challenge of a pairing; a fault may have replaced it.

        One that is not answered is withdrawn: it could still be accepted after it expired.
        """
        self._cancel_timer(pairing)
        pairing.challenge = challenge
        self._schedule.enter(challenge.id, pairing.number)
        pairing.timer = asyncio.get_running_loop().call_later(
            self._site.timing.challenge_expiry_s, self._site.cancel, challenge.id, pairing.opponent
        )

    def _terms(self, pairing: Pairing) -> Terms:
        if self._repeats(pairing.number):
            return Terms(Variant.FROM_POSITION, self.plan.clock, color=ColorChoice.WHITE, fen=REPETITION_FEN)
        return Terms(
            variant=self.plan.variant,
            time_control=self.plan.clock,
            rated=self.plan.is_rated(against_bot=pairing.opponent.is_bot),
            color=ColorChoice(pairing.bot_color.other.value),
            fen=self._start((pairing.number - 1) // 2, pairing.bot_color),
        )

    def _start(self, pair: int, bot_color: Color) -> str | None:
        """Return the start position; each is played twice, once with each colour."""
        if self.plan.odds is not None:
            return odds_fen(self.plan.odds, bot_color)
        match self.plan.variant:
            case Variant.CHESS960:
                return chess960_fen(random.Random(f"{self.plan.seed}/{pair}").randrange(CHESS960_STARTS))
            case Variant.FROM_POSITION:
                return FROM_POSITION_FENS[pair % len(FROM_POSITION_FENS)]
            case _:
                return None

    def _on(self, happening: SiteEvent) -> None:
        match happening:
            case ChallengeMade(challenge) if pairing := self._pairing_against(challenge.challenger):
                self._on_challenge(pairing, challenge)
            case ChallengeSettled(challenge) if pairing := self._pairing_of(challenge.id):
                self._on_settled(pairing, challenge)
            case GameStarted(session) if pairing := self._pairing_of(session.game.id):
                self._on_start(pairing, session)
            case GameEnded(session) if pairing := self._pairing_of(session.game.id):
                self._on_end(pairing, session.game)
            case GameEnded(session) if color := session.game.setup.color_of(self._bot):
                self._on_end_beside(session.game, color)

    def _pairing_of(self, challenge_id: str) -> Pairing | None:
        """Return the running pairing of a challenge, or of the game with its id."""
        running = self._running()
        return next((it for it in running if it.challenge is not None and it.challenge.id == challenge_id), None)

    def _pairing_against(self, opponent: Account) -> Pairing | None:
        """Return the pairing with that opponent, if its game has not begun."""
        return next((it for it in self._running() if it.opponent is opponent and it.game is None), None)

    def _on_settled(self, pairing: Pairing, challenge: Challenge) -> None:
        self._cancel_timer(pairing)
        declined = challenge.settled is ChallengeStatus.DECLINED
        canceled = challenge.settled is ChallengeStatus.CANCELED
        later = declined and challenge.decline_reason is DeclineReason.LATER
        was_hidden = canceled and self._schedule.is_on      # perhaps, by a fault
        most_tries = MAX_TRIES_IN_TROUBLE if self._schedule.is_on else MAX_TRIES
        if (later or was_hidden) and pairing.tries < most_tries:
            pairing.timer = asyncio.get_running_loop().call_later(
                self._site.timing.later_retry_s, self._challenge, pairing
            )
        elif declined:
            reason = challenge.decline_reason or DeclineReason.GENERIC
            self._close(pairing, Outcome.FAILED, f"challenge declined: {reason.wire_key}")
        elif canceled:
            self._close(pairing, Outcome.FAILED, "challenge not answered")

    def _on_start(self, pairing: Pairing, session: GameSession) -> None:
        pairing.game = session.game
        timing = self._site.timing
        patience_s = timing.first_moves_s + (timing.first_moves_in_trouble_s if self._schedule.is_on else 0.0)
        pairing.timer = asyncio.get_running_loop().call_later(patience_s, self._abort_idle, pairing, session)
        setup = session.game.setup
        what = f"{setup.variant.display_name} {setup.time_control}"
        self._say(f"game {pairing.number} {setup.id}: started, {what}, {setup.white.name} - {setup.black.name}")

    def _abort_idle(self, pairing: Pairing, session: GameSession) -> None:
        """Abort a game without the first two moves: no clock runs yet, so it would never end."""
        if session.game.is_abortable:
            pairing.late = session.game.turn
            session.abort()

    def _judged(self, game: Game, bot_color: Color) -> tuple[Outcome, str]:
        """Return the outcome of a finished game and the reason, with regard to its faults."""
        outcome, reason = judge(game, bot_color, may_resign=self.plan.may_resign)
        savable = self._accounting.close(game, lost=outcome is Outcome.FAILED)
        return (outcome, reason) if savable else (Outcome.EXCUSED, f"{reason}, faults left no time for a move")

    def _on_end(self, pairing: Pairing, game: Game) -> None:
        outcome, reason = self._judged(game, pairing.bot_color)
        if pairing.late is pairing.bot_color.other:
            outcome, reason = Outcome.EXCUSED, "the opponent did not move in time"
        elif pairing.late is not None and outcome is Outcome.FAILED:
            reason = f"{reason}, the bot did not move in time"
        self._close(pairing, outcome, reason)

    def _on_end_beside(self, game: Game, bot_color: Color) -> None:
        """Judge a game outside the series, if both sides have moved."""
        if not game.both_have_moved:
            self._accounting.close(game, lost=False)
            return
        outcome, reason = self._judged(game, bot_color)
        opponent = game.setup.account(bot_color.other).name
        line = f"game {game.id} against {opponent}: {outcome}, {reason}, {game.ply} plies"
        self._say(line)
        if outcome is Outcome.FAILED:
            self.failed_beside.append(line)

    def _close(self, pairing: Pairing, outcome: Outcome, reason: str) -> None:
        self._cancel_timer(pairing)
        pairing.outcome = outcome
        pairing.reason = reason
        game_id = "" if pairing.challenge is None else f" {pairing.challenge.id}"
        ply = 0 if pairing.game is None else pairing.game.ply
        self._say(f"game {pairing.number}{game_id}: {outcome}, {reason}, {ply} {'ply' if ply == 1 else 'plies'}")
        self.fill()

    def _cancel_timer(self, pairing: Pairing) -> None:
        if pairing.timer is not None:
            pairing.timer.cancel()
            pairing.timer = None


def judge(game: Game, bot_color: Color, *, may_resign: bool = False) -> tuple[Outcome, str]:
    """Return the outcome of a finished game for the side `bot_color`, and the reason.

    A flag, absence and an abort are failures, and so is a resignation unless the bot `may_resign`. A game that the site
    aborts because the opponent's clock ran out after a restart is excused.
    """
    reason = game.status.wire_name
    if game.status is Status.ABORTED and game.both_have_moved and game.turn is not bot_color:
        return Outcome.EXCUSED, f"{reason} by the site"
    if game.flag_was_drawn:
        reason = f"{reason}, out of time"
    ran_out = game.status in (Status.OUT_OF_TIME, Status.TIMEOUT) or game.flag_was_drawn
    missed_its_turn = ran_out and game.turn is bot_color
    resigned = game.status is Status.RESIGN and game.winner is not bot_color and not may_resign
    if game.status is Status.ABORTED or missed_its_turn or resigned:
        return Outcome.FAILED, reason
    if game.winner is None:
        return Outcome.DRAWN, reason
    return (Outcome.WON if game.winner is bot_color else Outcome.LOST), reason
