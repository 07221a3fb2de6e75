"""What a page in a browser does, without one: requests as JSON, and the stream of updates in a thread."""

import json
import threading
from collections.abc import Callable
from typing import Any

import requests

from tests.patience import PATIENCE_S

Json = dict[str, Any]


class PageClient:
    """An open page at `url`. `told` is the last update of each topic."""

    def __init__(self, url: str, shown: str | None = None) -> None:
        self.url = url
        self.told: dict[str, Any] = {}
        self._session = requests.Session()
        self._session.trust_env = False
        self._changed = threading.Condition()
        query = "" if shown is None else f"?game={shown}"
        self._stream = self._session.get(f"{url}/play/events{query}", stream=True, timeout=PATIENCE_S)
        assert self._stream.status_code == 200, self._stream.text
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stream.raw.shutdown()     # the reader wakes and closes the stream, which two must not do at once
        self._thread.join()

    def get(self, path: str, **parameters: Any) -> requests.Response:
        return self._session.get(self.url + path, timeout=PATIENCE_S, **parameters)

    def ask(self, path: str, **form: Any) -> requests.Response:
        return self._session.post(f"{self.url}/play/{path}", json=form, timeout=PATIENCE_S)

    def do(self, path: str, **form: Any) -> None:
        """Ask for something that must be possible."""
        answer = self.ask(path, **form)
        assert answer.status_code == 200, answer.text

    def refusal(self, path: str, **form: Any) -> str:
        """Ask for something that must be refused; return the reason."""
        answer = self.ask(path, **form)
        assert answer.status_code in (400, 403, 404), answer.text
        return str(answer.json()["error"])

    def wait(self, topic: str, holds: Callable[[Any], object]) -> Any:
        """Return the first update of a topic for which something holds."""
        with self._changed:
            came = self._changed.wait_for(lambda: topic in self.told and holds(self.told[topic]), PATIENCE_S)
            assert came, f"no such {topic}: {self.told.get(topic)}"
            return self.told[topic]

    def start(self, **form: Any) -> Json:
        """Challenge the bot, and return the game that begins."""
        before = (self.told.get("game") or {}).get("id")
        self.do("challenge", **{"limit": 180, "increment": 0, "color": "white", **form})
        game: Json = self.wait("game", lambda it: it and it["id"] != before)
        return game

    def move(self, game_id: str, text: str) -> None:
        """Play a move once it is our turn."""
        game = self.wait("game", lambda it: it["id"] == game_id and it["legal"])
        self.do(f"game/{game_id}/move", move=text)
        self.wait("game", lambda it: len(it["moves"]) > len(game["moves"]))

    def _read(self) -> None:
        topic = ""
        try:
            for line in self._stream.iter_lines():
                text = line.decode()
                if text.startswith("event: "):
                    topic = text.removeprefix("event: ")
                elif text.startswith("data: "):
                    with self._changed:
                        self.told[topic] = json.loads(text.removeprefix("data: "))
                        self._changed.notify_all()
        except (requests.RequestException, OSError, AttributeError):
            pass        # the server or the test ended the stream
