"""Secrets: the token and the page's password in files, what may not be shown, and what other programs may not get."""

import os
import re
import stat
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Final

TOKEN_VARIABLE: Final = "LICHESS_BOT_TOKEN"
HIDDEN: Final = "[hidden]"
SECRET_KEYS: Final = re.compile(r"(.*\.)?(token|password)|notify(\.command.*)?")  # a command has them in its arguments
_NEW_TOKEN: Final = (  # with the scopes that the bot needs
    "https://lichess.org/account/oauth/token/create?scopes[]=bot:play&scopes[]=challenge:read&scopes[]=challenge:write"
)
# A program that talks to systemd or Lichess in our name could end the service or leak the token.
_NOT_INHERITED: Final = (TOKEN_VARIABLE, "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
_TOKEN_SYNTAX: Final = re.compile(r"[A-Za-z0-9_]{1,1024}")
# What examples show in the place of a token, lichess-bot's among them: a real one is a random text.
_PLACEHOLDER: Final = re.compile(
    r"(lip_)?(x{3,}|\.{3,}|\*{3,}|(your|my_?token|token|insert|enter)\w*"
    r"|none|not_?here|hidden|removed|redacted|placeholder|change_?me)", re.IGNORECASE
)  # fmt: skip
# A user name and password in an address, which need no scheme; the password may contain / and @.
_USER: Final = re.compile(r"(?<=://)[^\s/]*@|(?<![^\s/:@'\"])[^\s/:@'\"]+:(?!//)\S*@")
# The words in which they are searched. A search that began at each letter of a long word would take hours.
_BEFORE_AT: Final = re.compile(r"(?<!\S)\S*@")
# The query of an address, which may contain a key.
_QUERY: Final = re.compile(r"""(?<=\?)[^\s?'"]*=[^\s'"]*""")
_SHORTEST_PASSWORD: Final = 8              # characters: shorter ones can be guessed
_CREDENTIALS: Final = Path("/run/credentials")
# A token file holds one short line; a huge file given by mistake is not read to its end.
_LONGEST_FILE: Final = 1 << 16


def read_token(path: Path) -> str:
    """Return the first line of a file. Raises OSError or ValueError."""
    with path.open(encoding="utf-8-sig") as file:  # editors on Windows begin it with a mark
        return file.read(_LONGEST_FILE).partition("\n")[0].strip()


def without_password(text: str) -> str:
    """Return a text with the user names and passwords of addresses hidden."""
    return _BEFORE_AT.sub(lambda it: _USER.sub(f"{HIDDEN}@", it[0]), text)


def without_queries(text: str) -> str:
    """Return a text with the queries of addresses hidden."""
    return _QUERY.sub(HIDDEN, text)


def without_arguments(command: Sequence[str]) -> Sequence[str]:
    """Return a command with its arguments hidden."""
    return [*command[:1], *(HIDDEN for _ in command[1:])]


def inherited_environment() -> dict[str, str]:
    """Return our environment for another program, without what could do harm.

    It keeps the token from leaking by accident: a program of the same user can find it elsewhere.
    """
    return {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}


def token_problem(text: str) -> str | None:
    """Return what is wrong with a token, without showing it; None if nothing is."""
    if _PLACEHOLDER.fullmatch(text):
        return f"is a placeholder; make a token, signed in as the bot: {_NEW_TOKEN}"
    if _TOKEN_SYNTAX.fullmatch(text):
        return None
    if not text:
        return f"no token: set {TOKEN_VARIABLE}, token_file or token; make one, signed in as the bot: {_NEW_TOKEN}"
    strange = {mark for mark in text if not (mark.isascii() and (mark.isalnum() or mark == "_"))}
    names = ", ".join(sorted(unicodedata.name(mark, "an unnamed character").lower() for mark in strange))
    return f"expected up to 1024 letters, digits and _, found {names or 'more'}"


def exposure(path: Path) -> str | None:
    """Return a warning, with the command that helps, if other users can read the file with the token."""
    remedy = _remedy(path)
    return None if remedy is None else f"{path} holds the token, and others can read it: {remedy}"


def password_problem(path: Path, password: str) -> str | None:
    """Return what is wrong with a file and the password in it, without showing that; None if nothing is."""
    if not password:
        return f"expected a password in the first line of {path}, found nothing"
    if len(password) < _SHORTEST_PASSWORD:
        expected = f"{_SHORTEST_PASSWORD} characters or more, such as from `openssl rand -hex 16`"
        return f"expected {expected}, in the first line of {path}, found {len(password)}"
    remedy = _remedy(path)
    return None if remedy is None else f"{path} holds a password, and others can read it: {remedy}"


def file_problem(path: Path, error: Exception) -> str:
    """Return why a file with a token or password cannot be read; perhaps its name is the token itself."""
    if isinstance(error, FileNotFoundError) and path.name.startswith("lip_"):  # as Lichess's tokens do
        return "expected the name of a file, found what looks like the token itself"
    if isinstance(error, UnicodeDecodeError):
        return f"{path} is not UTF-8 text"
    return f"cannot be read: {path}: {error.strerror if isinstance(error, OSError) else error}"


def is_of_the_service(path: Path) -> bool:
    """Return whether systemd makes the file for a service: it exists only while that runs."""
    return path.is_relative_to(_CREDENTIALS)


def _remedy(path: Path) -> str | None:
    """Return the command that hides a file from other users; None if they cannot read it."""
    try:
        facts = path.stat()
    except OSError:
        return None  # Reading it reports that.
    # If the file is not ours, we may need its group to read it, as with systemd's credentials.
    others = stat.S_IRWXG | stat.S_IRWXO if facts.st_uid == os.geteuid() else stat.S_IRWXO
    if not facts.st_mode & others:
        return None
    return f"chmod {'600' if others & stat.S_IRWXG else 'o='} {path}"
