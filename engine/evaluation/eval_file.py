"""The choice of the evaluation: the shipped network, a network from a file, or the hand-written terms.

The hand-written terms need no file, support styles, and are faster in plain mode.
"""

from functools import cache
from pathlib import Path

from engine.core import bitboard
from engine.evaluation import net_file
from engine.evaluation.net_file import InvalidNet
from engine.evaluation.network import Network

HAND_WRITTEN = "none"
SHIPPED = "<shipped>"
EMPTY = "<empty>"                  # UCI's word for an empty string
FOLDER = Path(__file__).parents[1] / "data"


def build_mode() -> str:
    """Return 'compiled', or 'plain' if the engine runs as ordinary Python."""
    return "plain" if bitboard.__file__.endswith(".py") else "compiled"


def shipped_file(folder: Path = FOLDER) -> Path | None:
    """Return the path of the shipped network, or None."""
    return max(folder.glob("*.net"), default=None)


def default_choice() -> str:
    """Return the evaluation used by default."""
    return SHIPPED if build_mode() == "compiled" and shipped_file() is not None else HAND_WRITTEN


def load(choice: str) -> Network | None:
    """Load the network that the UCI option EvalFile names: HAND_WRITTEN, SHIPPED, a path, or empty for the default.

    Raises InvalidNet with a message for the user.
    """
    choice = default_choice() if choice in ("", EMPTY) else choice
    if choice == HAND_WRITTEN:
        return None
    if choice != SHIPPED:
        return Network(net_file.read(Path(choice)))
    path = shipped_file()
    if path is None:
        raise InvalidNet(f"{SHIPPED}: no network ships with this version; expected a file or {HAND_WRITTEN}")
    return _shipped_network(path)


@cache
def _shipped_network(path: Path) -> Network:
    """Load the shipped network once for all engines."""
    return Network(net_file.read(path))


def describe(network: Network | None) -> str:
    """Describe the evaluation in words."""
    if network is None:
        return "hand-written"
    return f"network {network.name!r}, {network.hidden} hidden, {network.buckets} output buckets"
