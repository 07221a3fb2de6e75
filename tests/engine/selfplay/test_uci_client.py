"""Foreign engines: how a faulty one is noticed, and that nothing of it stays behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.selfplay import uci_client
from engine.selfplay.uci_client import EngineFailed, UciClient
from tests.patience import until
from tests.processes import is_alive
from tests.scripts import script

GREETING = "read uci; echo uciok; read ucinewgame; read isready; echo readyok"


def engine(folder: Path, search: str) -> str:
    """The command of an engine that does this in the shell once it is asked to search."""
    return script(folder / "engine", f"#!/bin/sh\n{GREETING}; read position; read go\n{search}\n")


def test_an_engine_that_talks_without_end_does_not_answer_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci_client, "ANSWER_S", 1.0)
    client = UciClient(engine(tmp_path, "exec yes info depth 1"), {})
    with pytest.raises(EngineFailed, match="did not answer 'bestmove' in time"):
        client.go((), "nodes 1")


def test_a_value_that_an_engine_would_ignore_is_refused(tmp_path: Path) -> None:
    """Stockfish ignores a UCI_Elo below its lowest, and plays at another strength than the anchor is rated for."""
    offers = ("UCI_Elo type spin default 1320 min 1320 max 3190", "Contempt type spin default 0 min -100 max 100")
    offers += ("Side type combo default max var min var max",)
    offer = "; ".join(f"echo option name {offer}" for offer in offers)
    command = script(
        tmp_path / "bounded",
        f"#!/bin/sh\nread uci; {offer}; echo uciok\nread set; read ucinewgame; read isready; echo readyok\n",
    )
    for name, value in (("UCI_Elo", "1320"), ("Contempt", "-100"), ("Side", "min")):
        UciClient(command, {name: value}).close()
    with pytest.raises(EngineFailed, match="bounded: expected UCI_Elo from 1320 to 3190, found 1000"):
        UciClient(command, {"UCI_Elo": "1000"})
    with pytest.raises(EngineFailed, match="bounded: expected Contempt from -100 to 100, found -101"):
        UciClient(command, {"Contempt": "-101"})


needs_proc = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")


@needs_proc
def test_what_an_engine_has_started_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script waits for the engine proper, which has the script's output open: waiting for its end would last."""
    monkeypatch.setattr(uci_client, "ANSWER_S", 1.0)
    client = UciClient(engine(tmp_path, f"sleep 600 & echo $! >{tmp_path}/proper; wait"), {})
    with pytest.raises(EngineFailed, match="did not answer"):
        client.go((), "nodes 1")
    started = time.monotonic()
    client.close()
    assert time.monotonic() - started < 300
    proper = int((tmp_path / "proper").read_text())
    until(lambda: not is_alive(proper))


@needs_proc
@pytest.mark.skipif(not uci_client._dies_with_us(), reason="needs setpriv of util-linux")
def test_an_engine_that_hangs_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    command = engine(tmp_path, f"echo $$ >{tmp_path}/hangs; exec sleep 600")
    program = f"from engine.selfplay.uci_client import UciClient; UciClient({command!r}, {{}}).go((), 'nodes 1')"
    noted = tmp_path / "hangs"
    with subprocess.Popen([sys.executable, "-c", program]) as parent:
        until(lambda: noted.exists() and noted.read_text())
        parent.send_signal(signal.SIGTERM)
    hangs = int(noted.read_text())
    try:
        until(lambda: not is_alive(hangs))
    except AssertionError:
        os.kill(hangs, signal.SIGKILL)
        raise
