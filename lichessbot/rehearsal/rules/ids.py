"""Random ids of games, challenges, tournaments and players' places, as Lichess writes them.

An id starts with a letter: YAML would read digits alone as a number.
"""

import secrets
import string
from typing import Final

ID_LENGTH: Final = 8
SECRET_LENGTH: Final = 4            # the end of a full id, known to its player only

_CHARACTERS: Final = string.ascii_letters + string.digits


def new_id(length: int = ID_LENGTH) -> str:
    """Return `length` random characters of base 62, the first of them a letter."""
    return secrets.choice(string.ascii_letters) + "".join(secrets.choice(_CHARACTERS) for _ in range(length - 1))
