"""How lines of the chat are read: the command in a line, and who wrote it."""

import re
from collections.abc import Sequence
from typing import Final

_COMMAND: Final = re.compile(r"!\s*([a-z]+)\s*[:=]?\s*(.*)", re.DOTALL)


def command_in(text: str) -> tuple[str, Sequence[str]] | None:
    """Return the command and its arguments in a line; spellings such as `!level900` and `! level: 900!` count."""
    found = _COMMAND.fullmatch(text.strip().lower())
    if found is None:
        return None
    words = (word.strip(".,!?") for word in found[2].split())
    return found[1], [word for word in words if word]


def user_id(username: str) -> str:
    """Return the user id; a title may stand before the name."""
    return username.split()[-1].lower() if username.split() else ""
