"""The choice of the evaluation: the shipped network, a network from a file, or the hand-written terms.

The hand-written terms need no file, support styles, and are faster in plain mode.
"""

from functools import cache
from pathlib import Path
from typing import TypeAlias

from engine.core import bitboard
from engine.evaluation import net_file
from engine.evaluation.net_file import InvalidNet, Net
from engine.evaluation.network import Network

Evaluation: TypeAlias = str | Net     # what EvalFile names, or a network that was read already
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


def read(choice: Evaluation) -> Evaluation:
    """Return the same evaluation so that it needs no file of the user: another machine gets what it names here.

    Raises InvalidNet.
    """
    if isinstance(choice, Net) or choice in ("", EMPTY, HAND_WRITTEN, SHIPPED):
        return choice
    return net_file.read(Path(choice))


def load(choice: Evaluation) -> Network | None:
    """Load the network that the UCI option EvalFile names: HAND_WRITTEN, SHIPPED, a path, or empty for the default.

    Raises InvalidNet with a message for the user.
    """
    choice = default_choice() if choice in ("", EMPTY) else read(choice)
    if isinstance(choice, Net):
        return Network(choice)
    if choice == HAND_WRITTEN:
        return None
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
