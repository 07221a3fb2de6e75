"""The shipped unit file, without starting it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lichessbot.config import Config
from lichessbot.errors import ExitCode
from lichessbot.timeouts import Timeouts

UNIT = Path(__file__).parents[2] / "deploy" / "lichessbot.service"
TEMPLATE = UNIT.with_name("lichessbot@.service")
HIGHEST_EXPOSURE = 1.5


def settings(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_the_unit_exposes_little() -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", str(UNIT)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    exposure = re.search(r"Overall exposure level for lichessbot\.service: ([\d.]+)", done.stdout)
    assert exposure is not None, done.stdout
    assert float(exposure[1]) <= HIGHEST_EXPOSURE, done.stdout


def test_systemd_waits_longer_than_the_daemon_does() -> None:
    assert settings("TimeoutStopSec") == ["2h 10min"]
    assert settings("TimeoutStartSec") == ["15min"]
    for_an_engine = Timeouts().engine_handshake + Timeouts().engine_first_move
    assert for_an_engine.total_seconds() * 10 < 15 * 60
    assert Config().stop_grace == 2 * 3600


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RestartSec", "1"),
        ("WatchdogSec", "60"),
        ("StartLimitIntervalSec", "0"),
        ("KillMode", "mixed"),
        ("OOMPolicy", "continue"),
    ],
)
def test_the_daemon_comes_back_and_keeps_its_games(name: str, value: str) -> None:
    """It starts a second after a crash or a minute of standing still, however often, and outlives its engines."""
    assert settings(name) == [value]


def test_what_only_a_person_can_mend_is_not_tried_again() -> None:
    (codes,) = settings("RestartPreventExitStatus")
    assert {int(code) for code in codes.split()} == {ExitCode.USAGE, ExitCode.REFUSED}
    assert settings("SuccessExitStatus") == [str(int(ExitCode.ABANDONED))]


def test_the_help_of_the_boot_installs_nothing(tmp_path: Path) -> None:
    called = tmp_path / "called"
    apt = tmp_path / "apt-get"
    apt.write_text(f"#!/bin/sh\n: >{called}\nexit 1\n")
    apt.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "tests.systemd.boot", "--help"],
        cwd=UNIT.parents[1], env={"PATH": str(tmp_path)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
    assert not called.exists()


def test_the_unit_of_several_bots_differs_by_their_names_only() -> None:
    template = TEMPLATE.read_text(encoding="utf-8").replace("/opt/lichessbot/bots/%i/", "/opt/lichessbot/")
    assert template.count("%i") == 5, "description, configuration, token twice, records"
    lines, expected = (
        text.splitlines()[1:] for text in (re.sub(r"[- ]%i", "", template), UNIT.read_text(encoding="utf-8"))
    )
    assert lines == expected
