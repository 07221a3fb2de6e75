"""The sd_notify protocol on a real socket."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lichessbot.systemd import HEARTBEAT_VARIABLE, Milestone, ServiceManager


class Listener:
    """A socket that receives what a service manager would."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"\0{path[1:]}" if path.startswith("@") else path)
        self.environment = {"NOTIFY_SOCKET": path}

    def heard(self) -> list[str]:
        self.socket.setblocking(False)
        messages = []
        while True:
            try:
                messages.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return messages


@pytest.fixture(params=["notify", "bot@home", "abstract"])
def listener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Listener]:
    path = f"@lichessbot-test-{os.getpid()}" if request.param == "abstract" else str(tmp_path / request.param)
    listener = Listener(path)
    yield listener
    listener.socket.close()


def test_ready_is_sent_once_after_the_last_milestone(listener: Listener) -> None:
    manager = ServiceManager(listener.environment)
    manager.reached(Milestone.CONNECTION_TRIED)
    manager.reached(Milestone.CONNECTION_TRIED)
    assert listener.heard() == []
    manager.reached(Milestone.ENGINE_GOOD)
    manager.reached(Milestone.CONNECTION_TRIED)
    assert listener.heard() == ["READY=1"]


def test_a_reload_is_reported_at_start_and_end(listener: Listener) -> None:
    manager = ServiceManager(listener.environment)
    for milestone in Milestone:
        manager.reached(milestone)
    before_us = time.monotonic_ns() // 1000
    manager.reloading()
    manager.reloaded()
    _, reloading, ready = listener.heard()
    assert reloading.startswith("RELOADING=1\nMONOTONIC_USEC=")
    assert before_us <= int(reloading.rpartition("=")[2]) <= time.monotonic_ns() // 1000
    assert ready == "READY=1"


def test_a_reload_before_the_last_milestone_sends_nothing(listener: Listener) -> None:
    manager = ServiceManager(listener.environment)
    manager.reloading()
    manager.reloaded()
    assert listener.heard() == []


def test_status_and_stop_are_sent(listener: Listener) -> None:
    manager = ServiceManager(listener.environment)
    manager.status("listening; 0 games")
    manager.status("listening; 0 games")
    manager.status("listening; 1 game")
    manager.stopping()
    assert listener.heard() == ["STATUS=listening; 0 games", "STATUS=listening; 1 game", "STOPPING=1"]


def test_the_watchdog_is_fed_three_times_in_its_interval(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    manager = ServiceManager({**listener.environment, "WATCHDOG_USEC": "300000", "WATCHDOG_PID": str(os.getpid())})
    manager.feed(well=True)
    assert listener.heard() == []
    now = manager.feed_due_at
    manager.feed(well=True)
    assert listener.heard() == ["WATCHDOG=1"]
    assert manager.feed_due_at == pytest.approx(now + 0.1)


def test_a_watchdog_fed_before_it_is_due_is_not_fed_again(listener: Listener) -> None:
    manager = ServiceManager({**listener.environment, "WATCHDOG_USEC": "600000000"})
    manager.feed(well=True)
    manager.feed(well=True)
    assert listener.heard() == []


def test_a_daemon_that_is_not_well_sends_nothing(listener: Listener) -> None:
    manager = ServiceManager({**listener.environment, "WATCHDOG_USEC": "30000"})
    time.sleep(0.02)
    before = time.monotonic()
    manager.feed(well=False)
    assert listener.heard() == []
    assert manager.feed_due_at > before, "its loop would spin"


@pytest.mark.parametrize(
    "environment", [{}, {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "soon"}]
)
def test_without_a_watchdog_nothing_is_sent(environment: dict[str, str]) -> None:
    manager = ServiceManager(environment)
    assert manager.feed_due_at is None
    manager.feed(well=True)


def test_a_missing_or_deaf_service_manager_does_no_harm(tmp_path: Path) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "gone")})
    manager.stopping()
    listener = Listener(str(tmp_path / "deaf"))
    manager = ServiceManager(listener.environment)
    started_at = time.monotonic()
    for number in range(1000):
        manager.status(f"{number}")
    assert time.monotonic() - started_at < 20.0, "a full socket would have blocked"
    listener.socket.close()


# In a container

CONTAINERFILE = Path(__file__).parents[2] / "deploy" / "Containerfile"


def healthy(heartbeat: Path) -> bool:
    """Return whether the image's health check succeeds."""
    check = CONTAINERFILE.read_text().partition("HEALTHCHECK")[2].partition("CMD ")[2].partition("\n")[0]
    return subprocess.run(json.loads(check), env={**os.environ, HEARTBEAT_VARIABLE: str(heartbeat)}).returncode == 0


def test_a_container_is_healthy_while_the_heartbeat_file_is_fresh(tmp_path: Path) -> None:
    heartbeat = tmp_path / "heartbeat"
    manager = ServiceManager({HEARTBEAT_VARIABLE: str(heartbeat), "WATCHDOG_USEC": "30000"})
    assert not healthy(heartbeat)
    time.sleep(0.02)
    manager.feed(well=False)
    assert not healthy(heartbeat)
    time.sleep(0.02)
    manager.feed(well=True)
    assert healthy(heartbeat)
    three_minutes_ago = time.time() - 180
    os.utime(heartbeat, (three_minutes_ago, three_minutes_ago))
    assert not healthy(heartbeat)


def test_a_heartbeat_file_that_cannot_be_touched_does_no_harm(tmp_path: Path) -> None:
    manager = ServiceManager({HEARTBEAT_VARIABLE: str(tmp_path / "none" / "heartbeat"), "WATCHDOG_USEC": "30000"})
    time.sleep(0.02)
    manager.feed(well=True)


def test_the_heartbeat_file_is_touched_three_times_a_minute(tmp_path: Path) -> None:
    before = time.monotonic()
    manager = ServiceManager({HEARTBEAT_VARIABLE: str(tmp_path / "heartbeat")})
    assert before + 20 <= manager.feed_due_at <= time.monotonic() + 20
