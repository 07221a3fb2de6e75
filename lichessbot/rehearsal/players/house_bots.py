"""House bots: accounts that answer challenges and play their games by themselves.

They observe the site and act through it like any caller. They think in worker threads, so that the event loop never
waits for them.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from engine.facade import Limits
from lichessbot.rehearsal.players.opponents import Opponent
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.challenges import Challenge
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import Color, DeclineReason
from lichessbot.rehearsal.rules.errors import ApiError
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.timing import monotonic_ms
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.site import ChallengeMade, GameChanged, GameEnded, GameStarted, Site, SiteEvent

THINKING_THREADS = 4

OpponentFactory = Callable[[str], Opponent]      # from the id of a game to its opponent


@dataclass(frozen=True)
class AnswerPolicy:
    """How a house bot answers challenges. Default: accept."""

    declines: DeclineReason | None = None
    ignores: bool = False


OBLIGING = AnswerPolicy()


class HouseBots:
    """All accounts for which the rehearsal plays."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._factories: dict[Account, OpponentFactory] = {}
        self._policies: dict[Account, AnswerPolicy] = {}
        self._opponents: dict[tuple[str, Color], Opponent] = {}
        self._threads = ThreadPoolExecutor(THINKING_THREADS, thread_name_prefix="house")
        self._thinking: set[asyncio.Task[None]] = set()
        self._busy: set[Opponent] = set()
        site.observe(self._on)

    def add(self, account: Account, factory: OpponentFactory, policy: AnswerPolicy = OBLIGING) -> Account:
        """Play for `account` from now on; a second call replaces opponent and policy."""
        account.is_house = True
        self._factories[account] = factory
        self._policies[account] = policy
        return account

    def close(self) -> None:
        """Stop thinking; moves that are being computed are not played."""
        for task in self._thinking:
            task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _on(self, happening: SiteEvent) -> None:
        match happening:
            case ChallengeMade(challenge) if challenge.target in self._factories:
                asyncio.get_running_loop().call_soon(self._answer, challenge)
            case GameStarted(session) | GameChanged(session):
                self._move_if_on_turn(session)
            case GameEnded(session):
                for color in Color:
                    self._opponents.pop((session.game.id, color), None)

    def _answer(self, challenge: Challenge) -> None:
        """Answer a challenge: accept it unless the policy says otherwise."""
        if not challenge.is_active:
            return
        policy = self._policies[challenge.target]
        if policy.ignores:
            return
        reason = policy.declines
        if reason is None:
            try:
                self._site.accept(challenge.id, challenge.target)
            except ApiError:                # a quota was used up meanwhile
                reason = DeclineReason.LATER
        if reason is not None:
            self._site.decline(challenge.id, challenge.target, reason)

    def _move_if_on_turn(self, session: GameSession) -> None:
        if not _waits_for_move(session):
            return
        opponent = self._opponent(session.game, session.game.turn)
        if opponent is None or opponent in self._busy:
            return
        self._busy.add(opponent)
        task = asyncio.get_running_loop().create_task(self._move(session, opponent))
        self._thinking.add(task)
        task.add_done_callback(self._thinking.discard)

    def _opponent(self, game: Game, color: Color) -> Opponent | None:
        """Return the opponent of that side; None if no house bot plays it."""
        key = (game.id, color)
        if key not in self._opponents:
            factory = self._factories.get(game.setup.account(color))
            if factory is None:
                return None
            self._opponents[key] = factory(game.id)
        return self._opponents[key]

    async def _move(self, session: GameSession, opponent: Opponent) -> None:
        game = session.game
        color, moves = game.turn, list(game.moves)
        loop = asyncio.get_running_loop()
        try:
            move = await loop.run_in_executor(self._threads, opponent.choose, game.board(), _clocks(game))
        finally:
            self._busy.discard(opponent)
        if game.moves == moves and _waits_for_move(session):
            session.play(color, move)
        else:
            self._move_if_on_turn(session)        # a takeback or the end came meanwhile


def _waits_for_move(session: GameSession) -> bool:
    """Return whether the side to move may move, and has not left."""
    game = session.game
    return not (game.is_over or game.threefold_pending or session.is_left_by(game.turn))


def _clocks(game: Game) -> Limits:
    """Return the limits of both clocks; none in a game without clocks."""
    if not isinstance(game.setup.time_control, RealTime):
        return Limits()
    now_ms = monotonic_ms()
    return Limits(
        white_time_ms=game.clock.remaining_ms(Color.WHITE, now_ms),
        black_time_ms=game.clock.remaining_ms(Color.BLACK, now_ms),
        white_increment_ms=game.clock.increment_ms,
        black_increment_ms=game.clock.increment_ms,
    )
