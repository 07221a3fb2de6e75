"""The page in front of an embedded Lichess, with an account of the house in the bot's place."""

import threading
from collections.abc import Callable

from lichessbot.rehearsal.browser.page import Page, is_page
from lichessbot.rehearsal.browser.person import CannotSetStrength, Person
from lichessbot.rehearsal.players.house_bots import AnswerPolicy, HouseBots
from lichessbot.rehearsal.players.opponents import GreedyOpponent, Opponent
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import ColorChoice, Variant
from lichessbot.rehearsal.rules.timing import wall_ms
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.patience import PATIENCE_S

from .page_client import PageClient

NAME = "HouseBot"


class NotedLevels:
    """A bot that notes its levels, and can refuse them."""

    def __init__(self) -> None:
        self.levels: list[int | None] = []
        self.refuses = False
        self.is_free = threading.Event()        # while it is not, the bot takes no strength over
        self.is_free.set()

    def set_level(self, level: int | None) -> None:
        assert self.is_free.wait(PATIENCE_S)
        if self.refuses:
            raise CannotSetStrength("the bot refused its new configuration")
        self.levels.append(level)


class Scene:
    """An embedded Lichess with the page, and the bot that plays there."""

    def __init__(
        self, server: RehearsalServer, name: str = NAME, hiring: Callable[[str], Opponent] = GreedyOpponent
    ) -> None:
        self.server = server
        self.bot = NotedLevels()
        self.hiring = hiring
        self.house = server.call(lambda: HouseBots(server.site))
        self.account = Account(name, wall_ms(), title="BOT")
        server.call(lambda: self._set_up(server))
        self.clients: list[PageClient] = []

    def _set_up(self, server: RehearsalServer) -> None:
        server.site.accounts.add(self.account)
        self.hire()
        self.person = Person(server.site, self.account, self.bot.set_level, lambda _game_id: None)
        self.page = Page(self.person)
        server.serve_beside(is_page, self.page)

    def hire(self, policy: AnswerPolicy | None = None) -> None:
        self.house.add(self.account, self.hiring, policy or AnswerPolicy())

    def start_another(self, name: str = "Greedy", color: ColorChoice = ColorChoice.RANDOM) -> str:
        """Let an account of the house play the bot with a colour; return the id of the game."""
        site = self.server.site
        terms = Terms(Variant.STANDARD, RealTime(180, 0), color=color)

        def begin() -> str:
            other = self.house.add(site.accounts.add(Account(name, wall_ms())), self.hiring)
            return site.challenge(other, self.account.name, terms).id

        return self.server.call(begin)

    def open(self, shown: str | None = None) -> PageClient:
        client = PageClient(self.server.site.url, shown)
        self.clients.append(client)
        return client

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.server.call(self.page.close)
        self.server.call(self.house.close)
