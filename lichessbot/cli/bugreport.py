"""`lichessbot bugreport`: collect in one archive what a developer needs to find a bug, without secrets.

Changes nothing but that it writes the archive. Reads the account as `check` does, and the records also while the daemon
runs.
"""

import io
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import click

from engine.facade import describe_build
from lichessbot import __version__
from lichessbot.cli.check import Check
from lichessbot.cli.options import OWNER_ONLY, config_option, records_folder, write_whole
from lichessbot.config import Config, LoadedConfig, dumped, load_config
from lichessbot.config.credentials import (
    HIDDEN,
    TOKEN_VARIABLE,
    without_arguments,
    without_password,
    without_queries,
)
from lichessbot.config.effective import every_key
from lichessbot.errors import ConfigError, ExitCode, StateError
from lichessbot.log import inert, silenced, spellings
from lichessbot.storage.database import FILE_NAME, in_use
from lichessbot.storage.state_reader import StateReader
from lichessbot.timeouts import Timeouts
from lichessbot.uci.machine import Machine

_PACKAGES: Final = ("berserk", "requests", "urllib3", "pydantic", "PyYAML", "click", "rich", "Cython")
_LONGEST_LOG_BYTES: Final = 1 << 20
_JOURNAL_LINES: Final = 5000
_JOURNAL_ANSWERS_IN_S: Final = 20
_TOKEN: Final = re.compile(r"\blip_\w+")
# A line of chat in each format of the log.
_CHAT: Final = re.compile(r"""(?:^|\s)(?:spectators' )?chat, \S|\bINFO chat |\bDEBUG chat |"event": ?"chat\"""")
# What a reload of the configuration says of the program that is told, whose earlier arguments may be secrets too, and
# what earlier versions said of a wrong one.
_NOTIFY_COMMAND: Final = re.compile(
    r"(\bnotify(?:\.command(?: #\d+)?)?)(?: is now | old=|: expected [^,]*, found ).*"
)
_WORD: Final = re.compile(r"[\w-]{2,30}")
_PLAYERS_KEYS: Final = ("block_list", "block_list_exceptions", "allow_list")
_ABOUT: Final = """\
What `lichessbot bugreport` collected on {moment}. Look through it before you send it.

versions.txt  the versions of the bot, Python, its packages and the system
config.yml    every configuration key in force, but tokens, passwords, arguments of notify.command and queries of
              addresses are hidden
check.txt     what `lichessbot check` says
log.txt       the end of the log, without chat
records.txt   the sizes and the structure of the records, but none of their content

{names}
"""
_PSEUDONYMS: Final = "Other players are called player1, player2 and so on; `--names` shows their names."
_NAMES_SHOWN: Final = "The names of other players are shown, because `--names` was given."
_NAMES_UNKNOWN: Final = "Names of other players may be shown, because the records, which tell them, cannot be read."


@click.command("bugreport")
@config_option
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The archive to write. Default: lichessbot-bugreport-DATE-TIME.zip in the working folder.",
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@click.option(
    "--log",
    "log_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="The daemon's log. Default: the journal of --unit.",
)
@click.option("--unit", default="lichessbot", show_default=True, metavar="NAME", help="The systemd service of the bot.")
@click.option("--names", is_flag=True, help="Show the names of other players.")
@click.option("--offline", is_flag=True, help="Do not run `check`, which asks Lichess and starts the engines.")
def bugreport_command(
    config_file: Path | None,
    output: Path | None,
    force: bool,
    log_file: Path | None,
    unit: str,
    names: bool,
    offline: bool,
) -> int:
    """Collect what a bug report needs in one archive, without secrets.

    Only you can read the archive. Look through it before you send it.
    """
    if output is None:
        output = Path(time.strftime("lichessbot-bugreport-%Y%m%d-%H%M%S.zip"))
    if os.path.exists(output) and not force:
        raise ConfigError([f"{output} exists already; use --force to replace it"])
    loaded, problems = _load(config_file)
    players, all_known = _known_players(config_file, loaded)
    redact = Redactor(loaded, os.environ, set() if names else players)
    about_names = _NAMES_SHOWN if names else _PSEUDONYMS if all_known else _NAMES_UNKNOWN
    texts = {
        "README.txt": _ABOUT.format(moment=time.strftime("%Y-%m-%d %H:%M:%S %Z"), names=about_names),
        "versions.txt": "".join(_versions()),
        "config.yml": _config(loaded, problems, redact),
        "check.txt": "not run: --offline\n" if offline else redact.log(_check(loaded, problems)),
        "log.txt": redact.log(_log(log_file, unit)),
        "records.txt": _records(loaded),
    }
    archive = _archive(output.stem, {name: redact.text(text) for name, text in texts.items()})
    write_whole(output, archive, OWNER_ONLY)
    size = f"{len(archive) / 1024:.0f} KiB"
    sys.stdout.write(f"{output}: {', '.join(texts)}; {size}\nLook through it before you send it.\n")
    return ExitCode.OK


def _load(config_file: Path | None) -> tuple[LoadedConfig | None, Sequence[str]]:
    """Return the configuration as far as it can be loaded, and its problems: they may be what the report is about."""
    try:
        return load_config(config_file, os.environ), ()
    except ConfigError as error:
        problems = error.problems
    try:
        return load_config(config_file, os.environ, needs_token=False), problems
    except ConfigError:
        return None, problems


def _known_players(config_file: Path | None, loaded: LoadedConfig | None) -> tuple[set[str], bool]:
    """Return the ids of the other players as far as they are known, and whether the records told theirs."""
    players = set(_listed(loaded.config)) if loaded is not None else set()
    try:
        records = StateReader(records_folder(config_file))  # known even if the rest of the configuration is wrong
        players.update(records.players())
        return players, records.schema() is not None
    except (ConfigError, StateError):
        return players, False  # `config.yml` or `records.txt` says why


class Redactor:
    """Hides secrets, the user's home folder, chat and the names of these players."""

    def __init__(self, loaded: LoadedConfig | None, environment: Mapping[str, str], players: set[str]) -> None:
        secrets = [environment.get(TOKEN_VARIABLE, "").strip()]
        if loaded is not None:
            secrets += [it.get_secret_value() for it in (loaded.token, loaded.status_password) if it is not None]
            secrets += [it.password.get_secret_value() for it in loaded.config.tournaments if it.password is not None]
            secrets += (loaded.config.notify.command or ())[1:]
        self._replaced = dict.fromkeys(spellings(secret for secret in secrets if len(secret) > 3), HIDDEN)
        home = environment.get("HOME", "")
        if len(home) > 1:
            self._replaced |= dict.fromkeys(spellings([home]), "~")
        self._pseudonyms = {name: f"player{number}" for number, name in enumerate(sorted(players), 1)}

    def text(self, text: str) -> str:
        """Return a text that can be shown."""
        text = "\n".join(map(inert, text.split("\n")))
        for secret, shown in self._replaced.items():
            text = text.replace(secret, shown)
        return without_queries(_TOKEN.sub(HIDDEN, without_password(text)))

    def log(self, text: str) -> str:
        """Return a log that can be shown: without chat, and with pseudonyms."""
        lines = (_NOTIFY_COMMAND.sub(rf"\1 {HIDDEN}", line) for line in text.split("\n") if not _CHAT.search(line))
        text = self.text("\n".join(lines))
        return _WORD.sub(lambda it: self._pseudonyms.get(it[0].lower(), it[0]), text)

    def config(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values of a section with pseudonyms in its lists of players."""
        shown = dict(values)
        for key, value in values.items():
            if isinstance(value, dict):
                shown[key] = self.config(value)
            elif key in _PLAYERS_KEYS and value:
                shown[key] = [self._pseudonyms.get(name, name) for name in value]
        return shown


def _listed(config: Config) -> Iterator[str]:
    """Yield the ids of the players that the configuration names."""
    challenge = config.challenge
    for rules in (challenge, challenge.human, challenge.bot):
        yield from rules.allow_list or ()
    for lists in (challenge, config.matchmaking):
        yield from (*lists.block_list, *lists.block_list_exceptions)


def _versions() -> Iterator[str]:
    yield f"lichessbot {__version__}\n"
    yield f"engine: {describe_build()}\n"
    yield f"Python {platform.python_version()} ({platform.python_implementation()})\n"
    yield f"system: {platform.system()} {platform.release()} {platform.machine()}, {' '.join(platform.libc_ver())}\n"
    yield f"machine: {Machine.detect()}\n"
    yield f"service manager: {'yes' if os.environ.get('INVOCATION_ID') else 'no'}\n"
    for package in _PACKAGES:
        try:
            yield f"{package} {version(package)}\n"
        except PackageNotFoundError:
            yield f"{package} is not installed\n"


def _config(loaded: LoadedConfig | None, problems: Sequence[str], redact: Redactor) -> str:
    text = "".join(f"# problem: {problem}\n" for problem in problems)
    if loaded is None:
        return f"{text}# The configuration cannot be loaded, and is left out: it may hold secrets.\n"
    text += "".join(f"# warning: {warning}\n" for warning in loaded.warnings)
    values = every_key(loaded.config) | {"state_dir": str(loaded.state_dir)}
    if loaded.config.notify.command is not None:
        values["notify"]["command"] = without_arguments(loaded.config.notify.command)
    return text + dumped(redact.config(values), in_flow_style=False, width=80)


def _check(loaded: LoadedConfig | None, problems: Sequence[str]) -> str:
    if loaded is None or problems:
        return "not run: the configuration has problems; see config.yml\n"
    out = io.StringIO()
    with silenced():
        Check(loaded, Timeouts(), out, tells_notifier=False).run()
    return out.getvalue()


def _log(file: Path | None, unit: str) -> str:
    """Return the end of the log: of a file, or of the journal."""
    if file is not None:
        try:
            with file.open("rb") as log:
                log.seek(max(0, file.stat().st_size - _LONGEST_LOG_BYTES - 1))
                return _whole_lines(log.read(_LONGEST_LOG_BYTES + 1))
        except OSError as error:
            return f"{file} cannot be read: {error.strerror}\n"
    if shutil.which("journalctl") is None:
        return "there is no journal on this machine; name the log with --log\n"
    words = ["journalctl", "--unit", unit, "--lines", str(_JOURNAL_LINES), "--no-pager", "--no-hostname", "--output"]
    try:
        done = subprocess.run(
            [*words, "short-iso"], capture_output=True, timeout=_JOURNAL_ANSWERS_IN_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the journal cannot be read: {error}\n"
    return _whole_lines(done.stdout or done.stderr)


def _whole_lines(log: bytes) -> str:
    """Return the end of a log without a first line that is cut: its beginning would tell that it is chat."""
    if len(log) > _LONGEST_LOG_BYTES:
        log = log[-_LONGEST_LOG_BYTES:].partition(b"\n")[2]
    return log.decode(errors="replace")


def _records(loaded: LoadedConfig | None) -> str:
    """Describe the records without their content."""
    if loaded is None:
        return "unknown: the configuration cannot be loaded\n"
    folder = loaded.state_dir
    lines = [f"folder: {folder}", f"daemon: {'running' if in_use(folder) else 'not running'}"]
    try:
        files = sorted(os.scandir(folder), key=attrgetter("name"))
        lines += [f"file: {file.name}, {file.stat().st_size} bytes" for file in files if file.is_file()]
    except FileNotFoundError:
        pass  # there are no records yet, or a file is just being deleted
    except OSError as error:  # such as the folder of a service, which only root may see
        lines.append(f"problem: {folder}: {error.strerror}")
    try:
        records = StateReader(folder)
        lines.append(f"format: {records.schema() or 'none'}")
        lines += [f"table: {it.name}, {it.rows} rows: {' '.join(it.sql.split())}" for it in records.tables()]
    except StateError as error:
        lines.append(f"problem: {error}; expected {FILE_NAME} of this version")
    return "\n".join(lines) + "\n"


def _archive(folder: str, texts: Mapping[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(f"{folder}/{name}", text)
    return content.getvalue()
