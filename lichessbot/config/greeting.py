"""The section `greeting`: what is said at the start and at the end of a game, to whom."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator

from lichessbot.config.fields import Section, Text

LONGEST_CHAT_LINE: Final = 140
PLACEHOLDERS: Final = ("me", "opponent")


def _chat_text(text: str) -> str:
    """One line that Lichess takes, with no braces but those of the names that are put in."""
    line = " ".join(text.split())
    if len(line) > LONGEST_CHAT_LINE:
        raise ValueError(f"Input should be a line of up to {LONGEST_CHAT_LINE} characters, as Lichess takes no more")
    if re.search(r"[{}]", re.sub("|".join(f"{{{name}}}" for name in PLACEHOLDERS), "", line)):
        raise ValueError("Input should be a line without braces but {me} and {opponent}")
    return line


ChatText = Annotated[Text, AfterValidator(_chat_text)]


class GreetingConfig(Section):
    """Chat lines; None or nothing: not said."""

    hello: ChatText | None = None
    goodbye: ChatText | None = None
    hello_spectators: ChatText | None = None
    goodbye_spectators: ChatText | None = None
