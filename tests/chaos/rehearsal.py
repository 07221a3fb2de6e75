"""One run of `lichessbot rehearse`, the real daemon in front of a server with faults, judged from outside."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from lichessbot.cli.rehearse import rehearse_command

REHEARSE = [sys.executable, "-P", "-m", "lichessbot", "rehearse"]
# A bot that moves at once: the games are about the faults.
CONFIG = """\
challenge: {concurrency: 32, variants: [standard, fromPosition, chess960], max_increment: 180, max_base: 10800}
engine: {nodes: 1500, hash_mb: 4, move_overhead_ms: 50}
"""


@dataclass(frozen=True)
class Rehearsal:
    """What came of a run."""

    code: int
    output: str
    fault_log: Sequence[dict[str, Any]]

    @property
    def struck(self) -> set[str]:
        """The faults that struck, by name."""
        return {entry["fault"] for entry in self.fault_log}

    @property
    def worst_delay_s(self) -> float:
        """The longest time that a game needed to go on after a fault, if it did."""
        delays_ms = [entry["delay_ms"] for entry in self.fault_log if entry["game"] and entry["delay_ms"] is not None]
        return max(delays_ms, default=0) / 1000

    @property
    def problems(self) -> list[str]:
        """What failed it beside its games, in words."""
        return re.findall(r"^problem: (?:the bot misbehaved: )?(.*)$", self.output, re.MULTILINE)


def rehearse(folder: Path, *words: str) -> Rehearsal:
    """Run to the end in this process; its files stay in `folder`."""
    config, fault_log = folder / "config.yml", folder / "faults.jsonl"
    config.write_text(CONFIG)
    command = ["--config", str(config), "--fault-log", str(fault_log), *words]
    done = CliRunner(catch_exceptions=False).invoke(rehearse_command, command, standalone_mode=False)
    entries = [json.loads(line) for line in fault_log.read_text().splitlines()] if fault_log.exists() else []
    return Rehearsal(done.return_value, done.output, entries)
