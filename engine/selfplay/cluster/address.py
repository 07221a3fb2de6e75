"""Where a cluster is, and what the failures of workers are called. Needs no Dask."""

import re

ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:\d+")


class ClusterFailed(Exception):
    """The cluster cannot be used, or no longer; the message says why."""


class WorkerKilled(Exception):
    """A worker process of this machine was killed from outside; the message says what helps."""


def parse_address(text: str) -> str:
    """Return the address of a scheduler, such as tcp://scheduler:8786. Raises ValueError."""
    if not ADDRESS.fullmatch(text):
        raise ValueError(f"expected the address of a Dask scheduler such as tcp://scheduler:8786, found {text[:60]!r}")
    return text
