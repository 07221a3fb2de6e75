"""What the service manager is told, by sd_notify's protocol: ready, reloading, stopping, status, alive.

Knows the socket and the protocol (man 3 sd_notify), and does nothing where there is no manager.
Where a container's health check takes its place, a sign of life is the age of a file.
"""

import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from enum import Enum, auto
from pathlib import Path
from typing import Final

HEARTBEAT_VARIABLE: Final = "LICHESSBOT_HEARTBEAT_FILE"

# The manager acts when one whole interval has passed without a sign.
_FEEDS_PER_INTERVAL: Final = 3
_HEARTBEAT: Final = timedelta(seconds=60)


class Milestone(Enum):
    """What has to happen before we are ready; a valid configuration came before all of it."""

    ENGINE_GOOD = auto()
    CONNECTION_TRIED = auto()


class ServiceManager:
    """The process that started us, if it wants to be told."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "").replace("@", "\0", 1)
        self._heartbeat_file = environment.get(HEARTBEAT_VARIABLE, "")
        self._feed_every = (_watchdog(environment) or self._heartbeat_interval) / _FEEDS_PER_INTERVAL
        self._ahead = set(Milestone)
        self._fed_at = time.monotonic()
        self._status = ""

    @property
    def _heartbeat_interval(self) -> timedelta:
        return _HEARTBEAT if self._heartbeat_file else timedelta()

    @property
    def feed_due_at(self) -> float | None:
        """Monotonic; None if nobody watches."""
        return self._fed_at + self._feed_every.total_seconds() if self._feed_every else None

    def feed(self, *, well: bool) -> None:
        """To be called by the loop that must not stand still: it does not, and everything else is `well` or not."""
        if self.feed_due_at is not None and time.monotonic() >= self.feed_due_at:
            self._fed_at = time.monotonic()
            if well:
                self._tell("WATCHDOG=1")
                self._beat()

    def reached(self, milestone: Milestone) -> None:
        """After the last one of them we are ready."""
        if milestone in self._ahead:
            self._ahead.remove(milestone)
            if not self._ahead:
                self._tell("READY=1")

    def reloading(self) -> None:
        """To be followed by `reloaded`."""
        if not self._ahead:
            self._tell("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def reloaded(self) -> None:
        if not self._ahead:
            self._tell("READY=1")

    def stopping(self) -> None:
        self._tell("STOPPING=1")

    def status(self, text: str) -> None:
        """One line for `systemctl status`; said again, nothing happens."""
        if text != self._status:
            self._status = text
            self._tell(f"STATUS={text}")

    def _beat(self) -> None:
        if self._heartbeat_file:
            with suppress(OSError):  # A check that finds no sign of life will do what it is there for.
                Path(self._heartbeat_file).touch()

    def _tell(self, *lines: str) -> None:
        if not self._address:
            return
        # A manager that does not listen must not keep us from playing.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as way:
            way.sendto("\n".join(lines).encode(), self._address)


def _watchdog(environment: Mapping[str, str]) -> timedelta:
    """How long we may be silent; zero for any time, or if somebody else is meant."""
    interval, meant = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", str(os.getpid()))
    return timedelta(microseconds=int(interval)) if interval.isdecimal() and meant == str(os.getpid()) else timedelta()
