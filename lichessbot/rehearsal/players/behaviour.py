"""What opponents do besides moving: chat, draw offers, takeback requests, and leaving.

Lives on the event loop as an observer of the site, and acts for the house bots like any caller. Lichess allows all of
it: a bot answers as it is configured, and must lose no game to it.
"""

import asyncio
import math
import random
from collections.abc import Callable
from functools import partial
from typing import Final

from lichessbot.rehearsal.faults.schedule import FaultSchedule
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.enums import ChatRoom, Color
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.site import GameChanged, GameEnded, GameStarted, Site, SiteEvent

LINES: Final = ("!help", "!name", "!eval", "!wait", "!queue", "!", "hello", "{me} {0}", "x" * 140)
LEAVING: Final = 0.1                 # of the games are left by the opponent, whatever the chance of actions
LEAVING_PLIES: Final = (4, 40)
SHORT_SEARCH_S: Final = 0.05


class Behaviour:
    """The behaviour of the house bots in games against `bot`."""

    def __init__(self, site: Site, bot: Account, schedule: FaultSchedule, chance: float, seed: int) -> None:
        """`chance`: the probability of an action after every move and at the start of a game."""
        self._bot = bot
        self._schedule = schedule
        self._chance = chance
        self._seed = seed
        self._dice: dict[str, random.Random] = {}
        self._leaving_ply: dict[str, int] = {}
        site.observe(self._on)

    def _on(self, happening: SiteEvent) -> None:
        """Act in a later turn of the event loop, so that other observers come first."""
        match happening:
            case GameStarted(session) if (number := self._schedule.number(session.game.id)) is not None:
                dice = self._dice[session.game.id] = random.Random(f"{self._seed}/behaviour/{number}")
                if dice.random() < LEAVING:
                    self._leaving_ply[session.game.id] = dice.randrange(*LEAVING_PLIES)
                self._perhaps_act(session)
            case GameChanged(session):
                if session.game.ply >= self._leaving_ply.get(session.game.id, math.inf):
                    session.leave(self._color(session))
                self._perhaps_act(session)
            case GameEnded(session):
                self._dice.pop(session.game.id, None)
                self._leaving_ply.pop(session.game.id, None)

    def _perhaps_act(self, session: GameSession) -> None:
        dice = self._dice.get(session.game.id)
        if dice is not None and dice.random() < self._chance:
            # At any moment of a short search, or when its move arrives.
            asyncio.get_running_loop().call_later(dice.random() * SHORT_SEARCH_S, self._act, session, dice)

    def _act(self, session: GameSession, dice: random.Random) -> None:
        if session.game.is_over:
            return
        color = self._color(session)
        actions: list[Callable[[], None]] = [
            lambda: session.say(color, dice.choice(tuple(ChatRoom)), dice.choice(LINES)),
            partial(session.answer_draw, color, accept=True),
            partial(session.answer_draw, color, accept=False),
            partial(session.answer_takeback, color, accept=True),
            partial(session.answer_takeback, color, accept=False),
        ]
        dice.choice(actions)()

    def _color(self, session: GameSession) -> Color:
        return session.game.setup.player_color(self._bot).other
