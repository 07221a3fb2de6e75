"""The updates of one open page as server-sent events.

While the page is open, the person is present in the running game: it holds a game stream like any client.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import count
from typing import Final

from lichessbot.rehearsal.browser.person import ANALYSIS, BOARDS, GAME, LOBBY, TOPICS, Person
from lichessbot.rehearsal.rules.enums import Color
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.streams import LineStream

RECONNECT_MS: Final = 1000
PAUSE_S: Final = 0.03           # between two bursts, so that many games in a hurry do not flood the page
LOOK_S: Final = 1.0             # between looks at the chat, which the site does not report after the end of a game
COMMENT_S: Final = 10.0         # of silence at most

_numbers = count(1)


class Feed:
    """What one page is told. `shown`: the game that it shows; None: the person's latest."""

    def __init__(self, person: Person, shown: str | None) -> None:
        self._person = person
        self._shown = shown
        self._news = asyncio.Event()
        self._changed = set(TOPICS)
        self._user_agent = f"page {next(_numbers)}"
        self._seat: tuple[GameSession, Color, LineStream] | None = None
        self._reader: asyncio.Task[None] | None = None
        self._chat_lines = 0
        self.is_open = True
        self._stop_listening = person.listen(self._hear)

    def end(self) -> None:
        """End cleanly: the page reconnects by itself."""
        self.is_open = False
        self._news.set()

    def close(self) -> None:
        """Leave the game: the page is gone."""
        self.is_open = False
        self._stop_listening()
        self._stand_up()

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the present state, and then what changes."""
        yield f"retry: {RECONNECT_MS}\n\n".encode()
        clock = asyncio.get_running_loop().time
        spoken_s = clock()
        while self.is_open:
            self._sit_down()
            for topic, text in self._due():
                spoken_s = clock()
                yield f"event: {topic}\ndata: {text}\n\n".encode()
            await asyncio.sleep(PAUSE_S)
            try:
                async with asyncio.timeout(LOOK_S):
                    await self._news.wait()
            except TimeoutError:
                if self._chat_lines != self._count_chat():
                    self._changed.add(GAME)
            self._news.clear()
            if clock() - spoken_s > COMMENT_S:
                spoken_s = clock()
                yield b": open\n\n"

    def _due(self) -> list[tuple[str, str]]:
        changed, self._changed = self._changed, set()
        return [(topic, json.dumps(self._told(topic))) for topic in TOPICS if topic in changed]

    def _told(self, topic: str) -> object:
        views = {LOBBY: self._person.lobby, BOARDS: self._person.boards, ANALYSIS: self._person.analysis}
        if topic in views:
            return views[topic]()
        game_id = self._game_id()
        if game_id is None:
            return None
        self._chat_lines = self._count_chat()
        return self._person.game(game_id)

    def _game_id(self) -> str | None:
        latest = self._person.latest
        return self._shown or (None if latest is None else latest.game.id)

    def _count_chat(self) -> int:
        game_id = self._game_id()
        return 0 if game_id is None else len(self._person.session(game_id).game.chat)

    def _hear(self, topic: str, game_id: str | None) -> None:
        if game_id is None or game_id == self._game_id():
            self._changed.add(topic)
        self._news.set()

    def _sit_down(self) -> None:
        """Be present in the person's running game."""
        session = self._person.running
        is_reading = self._reader is not None and not self._reader.done()       # the site can end a stream
        if session is None or (is_reading and self._seat is not None and self._seat[0] is session):
            return
        self._stand_up()
        color = session.game.setup.player_color(self._person.account)
        stream = session.open_stream(color, self._user_agent)
        self._seat = (session, color, stream)
        self._reader = asyncio.get_running_loop().create_task(self._read(session, stream))

    def _stand_up(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
        if self._seat is not None:
            session, color, stream = self._seat
            session.close_stream(color, self._user_agent, stream)
        self._seat = self._reader = None

    async def _read(self, session: GameSession, stream: LineStream) -> None:
        """Take each line as news of the game."""
        async for line in stream.body():
            if line.strip():
                self._hear(GAME, session.game.id)
