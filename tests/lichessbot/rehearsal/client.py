"""A small hand-written Bot API client: plain requests, raw streams with their ticks."""

import json
import queue
import threading
import time
from dataclasses import dataclass
from typing import Any

import requests

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import ColorChoice, Variant
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.patience import PATIENCE_S

Json = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A line of a stream and when it came; no payload is a tick."""

    payload: Json | None
    at_s: float


class Stream:
    """One open ndjson response, read in a thread as lines arrive."""

    def __init__(self, response: requests.Response) -> None:
        self.response = response
        self.ended_cleanly: bool | None = None
        self._lines: queue.Queue[Line | None] = queue.Queue()
        if response.status_code == 200:
            threading.Thread(target=self._read, daemon=True).start()

    def next_line(self, patience_s: float = PATIENCE_S) -> Line | None:
        """The next line, ticks included; None at the end of the stream."""
        return self._lines.get(timeout=patience_s)

    def next(self, *kinds: str, patience_s: float = PATIENCE_S) -> Json:
        """The next payload, of one of these types if any is named; others are skipped."""
        deadline = time.monotonic() + patience_s
        while (left := deadline - time.monotonic()) > 0:
            try:
                line = self.next_line(left)
            except queue.Empty:
                break
            assert line is not None, f"the stream ended before {kinds or 'a line'}"
            if line.payload is not None and (not kinds or line.payload["type"] in kinds):
                return line.payload
        raise AssertionError(f"no {kinds or 'line'} within {patience_s} s")

    def rest(self, patience_s: float = PATIENCE_S) -> list[Json]:
        """All payloads up to the end of the stream, which must come."""
        payloads = []
        while (line := self.next_line(patience_s)) is not None:
            if line.payload is not None:
                payloads.append(line.payload)
        return payloads

    def waiting(self, silence_s: float) -> list[Json]:
        """All payloads that come before `silence_s` have passed."""
        payloads, deadline = [], time.monotonic() + silence_s
        while (left := deadline - time.monotonic()) > 0:
            try:
                line = self.next_line(left)
            except queue.Empty:
                break
            if line is None:
                break
            if line.payload is not None:
                payloads.append(line.payload)
        return payloads

    def only(self, count: int, *kinds: str, silence_s: float = 0.2) -> list[Json]:
        """The next `count` payloads, of these types if any are named, after which no such come for `silence_s`."""
        payloads = [self.next(*kinds) for _ in range(count)]
        assert not [line for line in self.waiting(silence_s) if not kinds or line["type"] in kinds]
        return payloads

    def drop(self) -> None:
        """Break the connection without a word."""
        self.response.raw.shutdown()
        self.response.close()

    def _read(self) -> None:
        try:
            for text in self.response.iter_lines():
                payload = json.loads(text) if text else None
                self._lines.put(Line(payload, time.monotonic()))
            self.ended_cleanly = True
        except (requests.RequestException, OSError, AttributeError):
            self.ended_cleanly = False
        self._lines.put(None)


class Client:
    """One account at the embedded Lichess."""

    def __init__(self, url: str, token: str | None, name: str = "") -> None:
        self.url = url
        self.name = name
        self.id = name.lower()
        self.token = token
        self.headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._session = requests.Session()
        self._session.trust_env = False

    def get(self, path: str, **parameters: Any) -> requests.Response:
        headers = {**self.headers, **parameters.pop("headers", {})}
        return self._session.get(self.url + path, headers=headers, timeout=PATIENCE_S, **parameters)

    def post(self, path: str, **parameters: Any) -> requests.Response:
        headers = {**self.headers, **parameters.pop("headers", {})}
        return self._session.post(self.url + path, headers=headers, timeout=PATIENCE_S, **parameters)

    def stream(self, path: str, user_agent: str = "test") -> Stream:
        headers = {**self.headers, "User-Agent": user_agent}
        session = requests.Session()
        session.trust_env = False
        return Stream(session.get(self.url + path, headers=headers, stream=True, timeout=PATIENCE_S))

    def events(self) -> Stream:
        return self.stream("/api/stream/event")

    def game(self, game_id: str, user_agent: str = "test") -> Stream:
        return self.stream(f"/api/bot/game/stream/{game_id}", user_agent)

    def command(self, game_id: str, command: str, **parameters: Any) -> requests.Response:
        return self.post(f"/api/bot/game/{game_id}/{command}", **parameters)

    def do(self, game_id: str, command: str, **parameters: Any) -> None:
        """A command that must be answered with the plain success body."""
        response = self.command(game_id, command, **parameters)
        assert (response.status_code, response.text) == (200, '{"ok":true}'), response.text

    def challenge(self, target: "Client", **parameters: Any) -> Json:
        """Challenge `target` to a minute's game, unless `parameters` say otherwise."""
        form = {"clock.limit": 60, "clock.increment": 0, "color": "white", **parameters}
        response = self.post(f"/api/challenge/{target.name}", data=form)
        assert response.status_code == 200, response.text
        shape: Json = response.json()
        return shape


def start_game(white: Client, black: Client, **parameters: Any) -> str:
    """A game between two accounts, from challenge to the first move."""
    challenge = white.challenge(black, **parameters)
    response = black.post(f"/api/challenge/{challenge['id']}/accept")
    assert response.status_code == 200, response.text
    return str(challenge["id"])


def play(game_id: str, moves: str, mover: Client, other: Client) -> None:
    """Moves by turns, `mover` first."""
    for move in moves.split():
        mover.do(game_id, f"move/{move}")
        mover, other = other, mover


def start_hurried_game(lichess: RehearsalServer, white: Client, black: Client) -> str:
    """A game with one second a side, which only the house can ask for."""
    site = lichess.site

    def invite() -> str:
        challenger, target = account_of(lichess, white), account_of(lichess, black)
        clock = RealTime(1, 0, hurried=True)
        return site.invite(challenger, target, Terms(Variant.STANDARD, clock, color=ColorChoice.WHITE)).id

    game_id = lichess.call(invite)
    assert black.post(f"/api/challenge/{game_id}/accept").status_code == 200
    return game_id


def account_of(lichess: RehearsalServer, client: Client) -> Account:
    return lichess.site.accounts.get(client.id)
