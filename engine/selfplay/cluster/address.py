"""Where a cluster is, and what the failures of workers are called. Needs no Dask."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:\d+")


class ClusterFailed(Exception):
    """The cluster cannot be used, or no longer; the message says why."""


class WorkerKilled(Exception):
    """A worker process of this machine was killed from outside; the message says what helps."""


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster; `report` gets a line when workers are refused or missing."""

    address: str                   # of the scheduler, such as tcp://scheduler:8786
    report: Callable[[str], None] = field(default=_report, compare=False)


def parse_cluster(text: str) -> Cluster:
    """Return the cluster with this address. Raises ValueError."""
    if not ADDRESS.fullmatch(text):
        raise ValueError(f"expected the address of a Dask scheduler such as tcp://scheduler:8786, found {text[:60]!r}")
    return Cluster(text)
