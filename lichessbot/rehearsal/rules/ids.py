"""Random ids of games, challenges, tournaments and players' places, as Lichess writes them.

An id starts with a letter: one of digits alone would be read as a number where YAML expects text.
"""

import secrets
import string
from typing import Final

ID_LENGTH: Final = 8
SECRET_LENGTH: Final = 4            # the end of a full id, known only to one of the two players

_CHARACTERS: Final = string.ascii_letters + string.digits


def new_id(length: int = ID_LENGTH) -> str:
    """Return `length` random characters of base 62, the first of them a letter."""
    return secrets.choice(string.ascii_letters) + "".join(secrets.choice(_CHARACTERS) for _ in range(length - 1))
