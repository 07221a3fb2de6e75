"""Runs the arena tournaments: pairs waiting players, limits their first moves, counts points.

Lives on the event loop. The site starts the games; `arenas` decides about joining and pairing.
"""

import asyncio
from collections.abc import Callable

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.arenas import DRAW_POINTS, WIN_POINTS, Application, Arena, ArenaTerms
from lichessbot.rehearsal.rules.enums import Color, Status
from lichessbot.rehearsal.rules.errors import NotFound
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.ids import new_id
from lichessbot.rehearsal.rules.quotas import Quotas
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms
from lichessbot.rehearsal.server.game_session import GameSession

StartGame = Callable[[Arena, Account, Account], GameSession]      # the white player first


class ArenaRunner:
    """All tournaments of the site."""

    def __init__(self, timing: Timing, quotas: Quotas, start: StartGame) -> None:
        self._timing = timing
        self._quotas = quotas
        self._start = start
        self._arenas: dict[str, Arena] = {}
        self._running: dict[GameSession, Arena] = {}

    def open(self, terms: ArenaTerms, *, starts_in_s: float, lasts_s: float) -> Arena:
        """Create a tournament; from its start on, waiting players are paired."""
        starts_ms = monotonic_ms() + 1000 * starts_in_s
        arena = Arena(new_id(), terms, starts_ms, starts_ms + 1000 * lasts_s)
        self._arenas[arena.id] = arena
        asyncio.get_running_loop().call_later(starts_in_s, self._pair, arena)
        return arena

    def arena(self, arena_id: str) -> Arena:
        if arena_id not in self._arenas:
            raise NotFound("No such tournament")
        return self._arenas[arena_id]

    def join(self, arena_id: str, account: Account, application: Application) -> None:
        """Add a player to an arena. Raises Refused or TooManyRequests."""
        arena, now_ms = self.arena(arena_id), monotonic_ms()
        self._quotas.join_arena(account, now_ms, is_new=account not in arena.entries)
        arena.join(account, application, now_ms, self._timing.arena_waits_s)

    def follow(self, session: GameSession) -> None:
        """Handle a change or the end of a game."""
        arena = self._running.get(session)
        if arena is None:
            return
        game, now_ms = session.game, monotonic_ms()
        if not game.is_over:
            self._limit_first_move(session)
            return
        del self._running[session]
        for color in Color:
            account = game.setup.account(color)
            arena.end_game(account, _points(game, color), now_ms)
            if game.status is Status.NO_START and color is not game.winner:
                arena.withdraw(account, now_ms)

    def _pair(self, arena: Arena) -> None:
        busy = {session.game.setup.account(color) for session in self._running for color in Color}
        for white, black in list(arena.pairs(busy, monotonic_ms())):
            session = self._start(arena, white, black)
            if not session.game.is_over:
                self._running[session] = arena
                self._limit_first_move(session)
        if not arena.is_finished(monotonic_ms()):
            asyncio.get_running_loop().call_later(self._timing.arena_pairs_s, self._pair, arena)

    def _limit_first_move(self, session: GameSession) -> None:
        """Limit the time for the first move of each side."""
        if not session.game.both_have_moved:
            loop = asyncio.get_running_loop()
            loop.call_later(self._timing.arena_first_move_s, session.check_start, session.game.ply)


def _points(game: Game, color: Color) -> int:
    """Return what a finished game is worth for one side."""
    if game.status is Status.ABORTED:
        return 0
    return DRAW_POINTS if game.winner is None else WIN_POINTS * (game.winner is color)
