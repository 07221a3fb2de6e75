"""Which evaluation plays: the network that ships with the package, one from another file, or the hand-written terms.

The hand-written terms need no file, follow a `style`, and are the quicker ones in plain mode.
"""

from functools import cache
from pathlib import Path

from engine.core import bitboard
from engine.nnue import net_file
from engine.nnue.net_file import InvalidNet
from engine.nnue.network import Network

HAND_WRITTEN = "none"
SHIPPED = "<shipped>"
EMPTY = "<empty>"                  # UCI's word for an empty string
FOLDER = Path(__file__).parents[1] / "data"


def build_mode() -> str:
    """'compiled', or 'plain' when the engine runs as ordinary Python."""
    return "plain" if bitboard.__file__.endswith(".py") else "compiled"


def shipped_file(folder: Path = FOLDER) -> Path | None:
    """The network of this version, if it has one."""
    return max(folder.glob("*.net"), default=None)


def default_choice() -> str:
    """What plays unless something else is asked for."""
    return SHIPPED if build_mode() == "compiled" and shipped_file() is not None else HAND_WRITTEN


def load(choice: str) -> Network | None:
    """The network of an EvalFile: HAND_WRITTEN for none, SHIPPED, a path, or nothing for the default.

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
    """Read once, however many engines there are."""
    return Network(net_file.read(path))


def describe(network: Network | None) -> str:
    """For people."""
    if network is None:
        return "hand-written"
    return f"network {network.name!r}, {network.hidden} hidden, {network.buckets} output buckets"
