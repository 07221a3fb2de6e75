"""The options of `lichessbot run`, and what a daemon without its page and without a rehearsal does not load."""

import importlib
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from lichessbot.cli.main import main
from lichessbot.cli.run import run_command

IMPORT = "import sys, lichessbot.cli.main, lichessbot.cli.run; print(*sys.modules)"
PAGES_ONLY = {"starlette", "uvicorn", "prometheus_client", "lichessbot.control.web.service"}


@pytest.mark.parametrize(
    ("words", "listen"),
    [
        ([], None),
        (["--status"], "127.0.0.1:8080"),
        (["--status", "--config", "x.yml"], "127.0.0.1:8080"),
        (["--status", "[::1]:9000", "-v"], "[::1]:9000"),
        (["--status=localhost:0"], "localhost:0"),
    ],
)
def test_the_page_has_a_usual_address(words: list[str], listen: str | None) -> None:
    assert run_command.make_context("run", words).params["listen"] == listen


def test_a_wrong_address_is_answered_with_a_right_one() -> None:
    with pytest.raises(click.BadParameter) as caught:
        run_command.make_context("run", ["--status", "8080"])
    assert caught.value.message == "expected an address and a port such as 127.0.0.1:8080, found '8080'"


def test_a_daemon_loads_neither_its_page_nor_the_rehearsal() -> None:
    done = subprocess.run([sys.executable, "-P", "-c", IMPORT], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "lichessbot.daemon" in loaded
    assert not loaded & PAGES_ONLY
    assert not [name for name in loaded if "rehearsal" in name]


def test_a_signal_to_reload_does_not_end_a_daemon_that_still_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> ModuleType:
        signal.raise_signal(signal.SIGHUP)
        return importlib.import_module(name)

    received: list[int] = []
    monkeypatch.setattr("lichessbot.cli.main.import_module", load)
    before = signal.signal(signal.SIGHUP, lambda number, frame: received.append(number))
    try:
        assert main(["run", "--help"]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)
    assert not received


def test_a_daemon_does_not_start_without_the_password_of_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = "/run/credentials/no-such.service/password"
    (tmp_path / "c.yml").write_text(f"state_dir: state\nstatus: {{password_file: {missing}}}\n")
    monkeypatch.setenv("LICHESS_BOT_TOKEN", "lip_a1")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--config", "c.yml"]) == 2
    assert capsys.readouterr().err == (
        f"c.yml:2: status.password_file: cannot be read: {missing} is missing\n"
    )
    assert not (tmp_path / "state").exists()
