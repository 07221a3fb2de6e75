"""Notifications to systemd by the sd_notify protocol: ready, reloading, stopping, status, watchdog.

Does nothing without a service manager. In a container, a health check can watch the age of a heartbeat file instead.
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

# systemd acts when a whole interval passes without a notification.
_FEEDS_PER_INTERVAL: Final = 3
_HEARTBEAT: Final = timedelta(seconds=60)


class Milestone(Enum):
    """What must happen, after the configuration was loaded, before the daemon is ready."""

    ENGINE_GOOD = auto()
    CONNECTION_TRIED = auto()


class ServiceManager:
    """The service manager that started us, if there is one."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._heartbeat_file = environment.get(HEARTBEAT_VARIABLE, "")
        heartbeat = _HEARTBEAT if self._heartbeat_file else timedelta()
        self._feed_every = (_watchdog(environment) or heartbeat) / _FEEDS_PER_INTERVAL
        self._ahead = set(Milestone)
        self._fed_at = time.monotonic()
        self._status = ""

    @property
    def feed_due_at(self) -> float | None:
        """When to call `feed` next, in monotonic seconds; None without a watchdog."""
        return self._fed_at + self._feed_every.total_seconds() if self._feed_every else None

    def feed(self, *, well: bool) -> None:
        """Report from the main loop that it runs and whether everything else is `well`."""
        if self.feed_due_at is not None and time.monotonic() >= self.feed_due_at:
            self._fed_at = time.monotonic()
            if well:
                self._tell("WATCHDOG=1")
                if self._heartbeat_file:
                    with suppress(OSError):  # then the health check fails, as it should
                        Path(self._heartbeat_file).touch()

    def reached(self, milestone: Milestone) -> None:
        """Note a milestone; after the last one the daemon is ready."""
        if milestone in self._ahead:
            self._ahead.remove(milestone)
            if not self._ahead:
                self._tell("READY=1")

    def reloading(self) -> None:
        """Report the start of a reload; `reloaded` must follow."""
        if not self._ahead:
            self._tell("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def reloaded(self) -> None:
        if not self._ahead:
            self._tell("READY=1")

    def stopping(self) -> None:
        self._tell("STOPPING=1")

    def status(self, text: str) -> None:
        """Set the line that `systemctl status` shows."""
        if text != self._status:
            self._status = text
            self._tell(f"STATUS={text}")

    def _tell(self, *lines: str) -> None:
        if not self._address:
            return
        # A service manager that does not listen must not stop the games.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender:
            sender.sendto("\n".join(lines).encode(), self._address)


def _watchdog(environment: Mapping[str, str]) -> timedelta:
    """Return the watchdog interval; zero if there is none or it is meant for another process."""
    interval, pid = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", str(os.getpid()))
    return timedelta(microseconds=int(interval)) if interval.isdecimal() and pid == str(os.getpid()) else timedelta()
