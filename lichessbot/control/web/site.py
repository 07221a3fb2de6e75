"""What the web server serves, and to whom."""

from dataclasses import dataclass, field
from importlib.resources.abc import Traversable


@dataclass(frozen=True, slots=True)
class Site:
    """`host` is an address or `localhost`; with port 0 the system chooses one."""

    host: str
    port: int
    files: Traversable
    """The folder with the page's files."""
    password: str | None = field(default=None, repr=False)
    """What a client must know; None: everybody on this machine may look."""
