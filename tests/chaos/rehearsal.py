"""One run of `lichessbot rehearse`, the real daemon in front of the cruel server, judged from outside."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    ledger: Sequence[dict[str, Any]]

    @property
    def struck(self) -> set[str]:
        """The faults that struck, by name."""
        return {entry["fault"] for entry in self.ledger}

    @property
    def struck_cards(self) -> set[str]:
        return {f"{entry['fault']}@{entry['place']}" for entry in self.ledger}


def rehearse(folder: Path, *words: str) -> Rehearsal:
    """Run to the end; its files stay in `folder`."""
    config, ledger = folder / "config.yml", folder / "ledger.jsonl"
    config.write_text(CONFIG)
    command = [*REHEARSE, "--config", str(config), "--ledger", str(ledger), *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    entries = [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []
    return Rehearsal(done.returncode, done.stdout, entries)
