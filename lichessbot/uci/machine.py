"""The machine's cores and memory, read from /proc and /sys, and which engine configurations fit on it."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final, Self

from engine.facade import available_mb, usable_cores
from lichessbot.config import Config, EngineConfig
from lichessbot.lichess.enums import Speed
from lichessbot.uci.configured_engines import configured_engines

# Measured memory of an engine without its hash table, and the share of the machine's memory for all engines.
_WITHOUT_HASH_MB: Final = 40
_SHARE_FOR_ENGINES: Final = 3 / 4


@dataclass(frozen=True, slots=True)
class Machine:
    """The cores and memory that this process may use; None if unknown."""

    cores: int | None
    memory_mb: int | None

    @classmethod
    def detect(cls, root: Path = Path("/")) -> Self:
        """Return the machine that this process runs on. `root` is the folder that holds proc and sys."""
        allowed = min(_cpu_quotas(root), default=inf)
        return cls(int(max(1, min(usable_cores(), allowed))), available_mb(root))

    def max_hash_mb(self, engines: int) -> int | None:
        """Return the largest hash table that fits for this many engines."""
        if self.memory_mb is None:
            return None
        return max(1, int(self.memory_mb * _SHARE_FOR_ENGINES / engines) - _WITHOUT_HASH_MB)

    def can_ponder(self, engines: int, threads: int) -> bool:
        """Return whether there are cores for this many engines that search all the time."""
        return self.cores is None or engines * threads <= self.cores


def _cpu_quotas(root: Path) -> Iterator[float]:
    """Yield how many cores the control group of this process and its parents may use, where they are limited."""
    try:
        path = (root / "proc/self/cgroup").read_text().partition("0::")[2].partition("\n")[0]
    except OSError:
        return
    base = root / "sys/fs/cgroup"
    group = base / path.lstrip("/")
    for folder in (group, *group.parents):
        with suppress(OSError, ValueError):  # no file, or `max` for no limit
            quota, period = map(int, (folder / "cpu.max").read_text().split())
            yield quota / period
        if folder == base:
            break


def fitted(engine: EngineConfig, config: Config, machine: Machine, speed: str | None = None) -> EngineConfig:
    """Return `engine` limited by the machine's memory and cores, by default for a game with a clock.

    A pondering engine takes cores from engines that are to move, unless there are enough for all.
    """
    max_mb = machine.max_hash_mb(_most_engines(config))
    fits = {} if max_mb is None else {"hash_mb": min(engine.hash_mb, max_mb)}
    rivals = _most_engines(config) if speed == Speed.CORRESPONDENCE else config.challenge.concurrency
    ponder = engine.ponder and machine.can_ponder(rivals, engine.threads)
    return engine.model_copy(update={"ponder": ponder, **fits})


def memory_warnings(config: Config, machine: Machine) -> Iterator[str]:
    """Yield a text for each engine whose hash table does not fit into the machine's memory."""
    max_mb = machine.max_hash_mb(_most_engines(config))
    for it in configured_engines(config):
        hash_mb = it.engine.hash_mb
        if max_mb is not None and hash_mb > max_mb:
            yield f"{it.key}.hash_mb: {hash_mb} MiB for each game do not fit into memory, {max_mb} are used"


def _most_engines(config: Config) -> int:
    """Return how many engines run at most."""
    return config.challenge.concurrency + config.correspondence.concurrency
