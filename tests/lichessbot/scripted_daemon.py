"""The daemon as a process, in front of a scripted Lichess."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from lichessbot.games.recovery import GameRecovery
from lichessbot.lichess.answers import Account
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from tests.fakes import forked
from tests.fakes.rude_engine import POLITE_ENGINE
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess
from tests.patience import PATIENCE_S, is_logged, until

TOKEN = "lip_secret0123456789"
# The wait for a game to start becomes 1 s, and that for any byte on a stream 3 s, as is that for an answer to be sent.
TIME_SCALE = "0.2"
EVENTS = "/api/stream/event"
ACCOUNT = {"id": "testbot", "username": "TestBot", "title": "BOT"}
STANDARD = {"key": "standard", "name": "Standard"}


def line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode() + b"\n"


def challenge(challenge_id: str, **changes: Any) -> bytes:
    body = {
        "id": challenge_id,
        "status": "created",
        "challenger": {"id": "ferdinand", "name": "Ferdinand"},
        "variant": STANDARD,
        "rated": False,
        "speed": "blitz",
        "timeControl": {"type": "clock", "limit": 180, "increment": 2},
    }
    return line("challenge", challenge={**body, **changes}, compat={"bot": True})


def game(game_id: str, **changes: Any) -> dict[str, Any]:
    return {"gameId": game_id, "variant": STANDARD, "speed": "blitz", **changes}


def full(game_id: str, moves: str = "", *, status: str = "started", white: str = "testbot") -> bytes:
    """The first line of a game's stream."""
    state = {"moves": moves, "wtime": 60_000, "btime": 60_000, "winc": 0, "binc": 0, "status": status}
    players = {"white": {"id": white}, "black": {"id": "ferdinand" if white == "testbot" else "testbot"}}
    clock = {"initial": 60_000, "increment": 0}
    return line("gameFull", id=game_id, variant=STANDARD, clock=clock, state=state, **players)


def ticking(*lines: bytes | float | threading.Event, seconds: float = 60.0) -> Reply:
    """A stream with these lines that is then kept alive."""
    ticks: list[bytes | float | threading.Event] = [b"\n", 0.2] * int(seconds / 0.2)
    return Reply(lines=[*lines, *ticks], end=End.STALL)


class Daemon:
    def __init__(self, lichess: ScriptedLichess, folder: Path) -> None:
        self._lichess = lichess
        self._folder = folder
        self._process: forked.Forked | subprocess.Popen[bytes] | None = None
        self._log = folder / "log"
        self.engine = f"command: [{', '.join(POLITE_ENGINE)}], "
        self.state_dir = "state"
        self.settings = ""
        """More lines of the configuration."""
        self.time_scale = TIME_SCALE
        self.plant = ""
        """Code that it runs first."""
        lichess.answer("/api/account", Reply(body=ACCOUNT))
        lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}))
        lichess.answer(EVENTS, ticking())

    def start(self, log: IO[bytes] | None = None) -> None:
        """Start it; `log` is where it writes to, by default a file."""
        config = self._folder / "config.yml"
        config.write_text(
            f"url: {self._lichess.url}\nstate_dir: {self.state_dir}\n"
            f"challenge: {{concurrency: 1}}\nengine: {{{self.engine}depth: 1}}\n{self.settings}"
        )
        environment = {**os.environ, "LICHESS_BOT_TOKEN": TOKEN, "LICHESSBOT_TIME_SCALE": self.time_scale}
        with self._log.open("wb") as file:
            log = log or file
            words = ["run", "--verbose", "--config", str(config)]
            self._process = forked.start(words, environment, log, log, self.plant)

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    @property
    def processor_s(self) -> float:
        """Seconds of processor time that it has used, without its engines."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def until(self, fact: Callable[[], object]) -> None:
        until(fact, lambda: (self.log, self._lichess.paths()))

    def logged(self, text: str, times: int | None = None) -> bool:
        """Return whether the log says this, or soon will; this many times if given."""
        return is_logged(lambda: self.log, text, times)

    def until_asked(self, *paths: str) -> None:
        self.until(lambda: set(paths) <= set(self._lichess.paths()))

    def until_moved(self) -> None:
        """Wait for a move of ours."""
        self.until(lambda: any("/move/" in path for path in self._lichess.paths()))

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def exit_code(self) -> int:
        """Return the exit code, once it has ended."""
        return self._process.wait(PATIENCE_S)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()


def accept(challenge_id: str) -> str:
    return f"/api/challenge/{challenge_id}/accept"


def decline(challenge_id: str) -> str:
    return f"/api/challenge/{challenge_id}/decline"


def stream(game_id: str) -> str:
    return f"/api/bot/game/stream/{game_id}"


def playing(*games: dict[str, Any]) -> Reply:
    """The list of games in progress."""
    return Reply(body={"nowPlaying": list(games)})


def leave_over(folder: Path, url: str, *, has_clock: bool) -> None:
    """Have the records tell of the game abcd1234, which the last process was playing."""
    with closing(Store(Database(folder / "state"))) as store:
        GameRecovery(store, url, Timeouts()).introduce(Account(id="testbot", username="TestBot", title="BOT"))
        store.note_game("abcd1234", "Ferdinand", has_clock=has_clock)
