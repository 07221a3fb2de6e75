"""The unchanged bot daemon as a child process, in front of the embedded Lichess.

Knows how it is started, reconfigured, stopped and checked. Must not know: its games.
"""

import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from lichessbot.rehearsal.browser.person import RATING, CannotSetStrength
from lichessbot.rehearsal.rules.clock import MAX_INCREMENT_S, MAX_LIMIT_S

STOP_TIMEOUT_S = 15.0           # after the first signal: there are no games left to finish
LEAVE_TIMEOUT_S = 5.0           # after the second
BETWEEN_SIGNALS_S = 0.3         # two pending signals of one kind are delivered as one
LEFTOVER_GRACE_S = 2.0          # for children to notice that their parent is gone
RELOAD_TIMEOUT_S = 60.0         # it checks the engines first
RELOAD_LOOK_S = 0.02

_MARK = "LICHESSBOT_REHEARSAL"
_ENGINE: Mapping[str, object] = {"hash_mb": 16, "move_overhead_ms": 50}     # on loopback a round trip takes no time
_USUAL_VARIANTS = ("standard", "chess960", "fromPosition")
_OURS = ("url", "proxy", "token", "token_file", "state_dir", "log_format", "pgn_directory", "notify", "status")
_OF_THE_SERVICE = ("LICHESSBOT_HEARTBEAT_FILE", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC")   # of the real bot
_TIME_SCALE = "LICHESSBOT_TIME_SCALE"       # the daemon multiplies its waits by it
_ERROR = re.compile(r"\S+ \S+ (?:ERROR|CRITICAL) |Traceback ")     # at the start of a line
_REPLACED = re.compile(r"\S+ \S+ WARNING engine\.replaced .*?reason=(.*)")
_RELOADED = re.compile(r" reload changes=")
_IN_USE = re.compile(r" engine\.good | reload\.in_use$")
_REFUSED = re.compile(r" reload\.refused problem=(.*)")
# Becomes the command after it, which the kernel kills with its parent. No `preexec_fn`: the server's thread runs.
_ENDS_WITH_PARENT = (
    sys.executable, "-I", "-S", "-c",
    f"import ctypes, os, sys; ctypes.CDLL(None).prctl(1, {signal.SIGKILL:d}); os.execv(sys.argv[1], sys.argv[1:])",
)  # fmt: skip


@dataclass(frozen=True)
class BotTerms:
    """How the bot plays. `config`: the configuration of the operator, if one is rehearsed.

    Without a configuration, `variant` is what its engine has to play, and `meets_people` makes the bot as obliging to a
    person as bots at Lichess can be.
    """

    concurrency: int
    variant: str = "standard"
    time_scale: float = 1.0
    config: Mapping[str, object] | None = None
    meets_people: bool = False
    strength: str | None = None     # instead of the configuration's, in casual games


class Daemon:
    """A `lichessbot run` against `url`, with config and log in `folder`."""

    def __init__(self, url: str, token: str, terms: BotTerms, folder: Path) -> None:
        self.log_path = folder / "daemon.log"
        self._config_path = folder / "config.yml"
        self._settings = _settings(url, terms)
        self._write(level=None)
        self._mark = secrets.token_hex(8)
        self._environment = {
            **{name: value for name, value in os.environ.items() if name not in _OF_THE_SERVICE},
            "LICHESS_BOT_TOKEN": token,
            _TIME_SCALE: str(terms.time_scale),
            _MARK: self._mark,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the daemon, which on Linux does not outlive a rehearsal that is killed.

        `-P`: the working folder must not shadow the installed package.
        """
        command = [sys.executable, "-P", "-m", "lichessbot", "run", "--config", str(self._config_path)]
        if sys.platform == "linux":
            command[:0] = _ENDS_WITH_PARENT
        with self.log_path.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )

    def set_level(self, level: int | None) -> None:
        """Let new games against the person use this level, as an operator would: edit the file and send SIGHUP.

        Returns once the bot has logged that it goes by that. Raises CannotSetStrength.
        """
        process = self._process
        if process is None or process.poll() is not None:
            raise CannotSetStrength("the bot is not running")
        lines_before = len(self.log_lines())
        self._write(level)
        process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + RELOAD_TIMEOUT_S
        while time.monotonic() < deadline and process.poll() is None:
            reloaded = False
            for line in self.log_lines()[lines_before:]:
                if refused := _REFUSED.search(line):
                    raise CannotSetStrength(f"the bot refused its new configuration: {refused[1]}")
                reloaded = reloaded or _RELOADED.search(line) is not None
                if reloaded and _IN_USE.search(line):
                    return
            time.sleep(RELOAD_LOOK_S)
        raise CannotSetStrength(f"the bot did not take over its new configuration within {RELOAD_TIMEOUT_S:g} s")

    def exit_code(self) -> int | None:
        """Return the exit code; None before the start and while it runs."""
        return None if self._process is None else self._process.poll()

    def stop(self) -> str | None:
        """End the daemon, with stronger signals if necessary; return what was wrong, if anything."""
        process = self._process
        if process is None:
            return None
        if process.poll() is not None:
            return f"the daemon ended by itself with exit code {process.returncode}"
        for timeout_s in (STOP_TIMEOUT_S, LEAVE_TIMEOUT_S):
            process.send_signal(signal.SIGTERM)
            try:
                code = process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                continue
            return None if code == 0 else f"the daemon ended with exit code {code}"
        process.kill()
        process.wait()
        return "the daemon did not end when asked to and was killed"

    def leave_now(self) -> None:
        """Send two signals, so that the daemon leaves its games."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            time.sleep(BETWEEN_SIGNALS_S)
        self.stop()

    def leftovers(self) -> list[int]:
        """Return the processes that outlive the daemon; none if the system has no /proc."""
        deadline = time.monotonic() + LEFTOVER_GRACE_S
        while (left := self._marked_processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left

    def logged_errors(self) -> list[str]:
        """Return the lines of the log that report errors."""
        return [line for line in self.log_lines() if _ERROR.match(line)]

    def engine_failures(self) -> list[str]:
        """Return the reason for each time that the bot replaced its engine during a game."""
        return [found[1].strip('"') for line in self.log_lines() if (found := _REPLACED.match(line))]

    def tells_its_token(self) -> bool:
        """Return whether the log contains the token."""
        return any(self._environment["LICHESS_BOT_TOKEN"] in line for line in self.log_lines())

    def log_lines(self) -> list[str]:
        return self.log_path.read_text(errors="replace").splitlines() if self.log_path.exists() else []

    def _write(self, level: int | None) -> None:
        """Write the configuration, with this level in casual games against the person."""
        settings = self._settings
        if level is not None:
            when = {"opponent": "human", "rating": [RATING, RATING], "rated": False}
            settings = _with_profile(settings, when, {"strength": level})
        self._config_path.write_text(yaml.safe_dump(settings, sort_keys=False))

    def _marked_processes(self) -> list[int]:
        """Return the processes with the mark: children inherit the environment, whatever their session or parent."""
        mark = f"{_MARK}={self._mark}".encode()
        return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if mark in _environment(entry)]


def _environment(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []           # it ended meanwhile, or belongs to another user


def _settings(url: str, terms: BotTerms) -> dict[str, object]:
    """Return the operator's settings with the rehearsal's address and token, or settings that accept every game."""
    kept = terms.config
    if kept is None:
        kept = _obliging_settings() if terms.meets_people else {"engine": _ENGINE}
        kept = {**kept, "challenge": _open_rules(terms)}
    settings = {**{key: value for key, value in kept.items() if key not in _OURS}, "url": url, "state_dir": "state"}
    if terms.strength is not None:
        strength = int(terms.strength) if terms.strength.isdecimal() else terms.strength
        settings = _with_profile(settings, {"rated": False}, {"strength": strength})
    return settings


def _with_profile(
    settings: Mapping[str, object], when: Mapping[str, object], engine: Mapping[str, object]
) -> dict[str, object]:
    """Return the settings with one more profile at the end, which wins."""
    profiles = settings.get("profiles")
    profile = {"when": when, "engine": engine}
    return {**settings, "profiles": [*(profiles if isinstance(profiles, list) else ()), profile]}


def _open_rules(terms: BotTerms) -> dict[str, object]:
    """Return rules that accept every game; those without a clock only from people, as nobody else proposes any."""
    return {
        "concurrency": terms.concurrency,
        "variants": None if terms.meets_people else [*dict.fromkeys((*_USUAL_VARIANTS, terms.variant))],
        "time_controls": ["bullet", "blitz", "rapid", "classical", *["correspondence"] * terms.meets_people],
        "modes": ["casual", "rated"],
        "accept_bot": True,
        "min_increment": 0,
        "max_increment": MAX_INCREMENT_S,
        "min_base": 0,
        "max_base": MAX_LIMIT_S,
        "max_days": None,
    }


def _obliging_settings() -> dict[str, object]:
    """Return settings for a person: takebacks, draws in even positions, games without a clock, a word in the chat."""
    draws = {"offer_draw_enabled": True, "offer_draw_score": 20, "offer_draw_moves": 5, "offer_draw_pieces": 14}
    hello = "Hello {opponent}, I am {engine}. !help lists what I answer."
    return {
        "engine": {**_ENGINE, "draw_or_resign": draws},
        "max_takebacks_accepted": 1000,
        "greeting": {"hello": hello, "goodbye": "Good game!"},
        "correspondence": {"move_time": 5, "checkin_period": 10, "disconnect_time": 86400},
    }
