"""The choice of the evaluation: the shipped network, a network from a file, or the hand-written terms.

Each variant has a shipped network of its own, in a file with the variant's name. The hand-written terms need no file,
are faster in plain mode, and only their groups can be weighted (`style.py`).
"""

from functools import cache
from pathlib import Path
from typing import TypeAlias

from engine.core import bitboard
from engine.evaluation import net_file
from engine.evaluation.net_file import InvalidNet, Net
from engine.evaluation.network import Network

EvalChoice: TypeAlias = str | Net     # what EvalFile names, or a network that was read already
HAND_WRITTEN = "none"
SHIPPED = "<shipped>"
STANDARD = "standard"
KEYWORDS = ("", HAND_WRITTEN, SHIPPED)    # all other choices are paths
FOLDER = Path(__file__).parents[1] / "data"


def build_mode() -> str:
    """Return 'compiled', or 'plain' if the engine runs as ordinary Python."""
    return "plain" if bitboard.__file__.endswith(".py") else "compiled"


def shipped_file(folder: Path = FOLDER) -> Path | None:
    """Return the path of the shipped network of standard chess, or None."""
    return max(folder.glob("*.net"), default=None)


def default_choice() -> str:
    """Return the evaluation used by default."""
    return SHIPPED if build_mode() == "compiled" and shipped_file() is not None else HAND_WRITTEN


def read(choice: EvalChoice) -> EvalChoice:
    """Return the choice with the user's file already read, so that it can be sent to another machine.

    Raises InvalidNet.
    """
    if isinstance(choice, Net) or choice in KEYWORDS:
        return choice
    return net_file.read(Path(choice))


def load(choice: EvalChoice, variant: str = STANDARD) -> Network | None:
    """Load the network that the UCI option EvalFile names: HAND_WRITTEN, SHIPPED, a path, or empty for the default.

    `variant` is a name of Lichess's. Raises InvalidNet with a message for the user.
    """
    if choice == "":
        return shipped_network(variant) if default_choice() == SHIPPED else None
    choice = read(choice)
    if isinstance(choice, Net):
        if variant != STANDARD and choice.threats > 1:
            raise InvalidNet(f"{choice.name}: a network of standard chess, expected one of {variant}")
        return Network(choice)
    if choice == HAND_WRITTEN:
        return None
    network = shipped_network(variant)
    if network is None:
        rules = "" if variant == STANDARD else f" for {variant}"
        raise InvalidNet(f"{SHIPPED}: no network{rules} ships with this version; expected a file or {HAND_WRITTEN}")
    return network


def shipped_network(variant: str) -> Network | None:
    """Return the shipped network, or None; it is loaded once for all engines. Raises InvalidNet."""
    path = shipped_file() if variant == STANDARD else FOLDER / "variants" / f"{variant}.net"
    return _network_in(path) if path is not None and path.exists() else None


def usable_network(variant: str = STANDARD) -> tuple[Network | None, str]:
    """Return the shipped network, or None if there is none or it is damaged; then also what is wrong with the file."""
    try:
        return shipped_network(variant), ""
    except InvalidNet as error:
        return None, str(error)


@cache
def _network_in(path: Path) -> Network:
    return Network(net_file.read(path))


def describe(network: Network | None) -> str:
    """Describe the evaluation in words."""
    if network is None:
        return "hand-written"
    return f"network {network.name!r}, {network.hidden} hidden, {network.buckets} output buckets"
