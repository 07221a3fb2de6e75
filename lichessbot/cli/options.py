"""What several commands share: `--config`, values as people type them, access to Lichess, refusals, and new files.

Imports the configuration's models and what runs engines only when they are needed, because that takes longer than a
command that only reads the records.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from lichessbot.errors import ApiError, ConfigError, StateFailed
from lichessbot.lichess.enums import PLAYER_NAME, ExactClock, Variant
from lichessbot.log import silenced
from lichessbot.storage.database import state_folder
from lichessbot.timeouts import Timeouts

if TYPE_CHECKING:
    from lichessbot.config import Config, LoadedConfig
    from lichessbot.config.reload import Settings
    from lichessbot.lichess.client import Access

TIME_SCALE_VARIABLE: Final = "LICHESSBOT_TIME_SCALE"
OWNER_ONLY: Final = 0o600

config_option = click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Configuration file. Without it, the defaults and LICHESS_BOT_TOKEN from the environment.",
)


class Parsed(click.ParamType):  # type: ignore[type-arg]
    """A value that `parse` reads; it raises ValueError with what is wrong."""

    name = "text"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def player_name(text: str) -> str:
    if not re.fullmatch(PLAYER_NAME, text):
        raise ValueError(f"expected a player's name on Lichess, found {text!r}")
    return text


def exact_clock(text: str) -> ExactClock:
    clock = ExactClock.parse(text)
    if clock is None:
        raise ValueError(f"expected MINUTES+SECONDS such as 3+2 or 0.5+1, found {text!r}")
    return clock


def load(config_file: Path | None) -> tuple["Settings", Timeouts]:
    """Read the configuration. Raises ConfigError."""
    from lichessbot.config.reload import Settings

    return Settings(config_file, os.environ), Timeouts().scaled(_time_scale(os.environ))


def access_to(loaded: "LoadedConfig", timeouts: Timeouts) -> "Access":
    from lichessbot.lichess.client import Access

    return Access(loaded.config.url, loaded.token, timeouts, proxy=loaded.config.proxy)


def explained(error: ApiError) -> str:
    """Return what went wrong, and what to do if the token lacks a scope."""
    scope = error.missing_scope
    return str(error) if scope is None else lacks_scope(scope)


def lacks_scope(scope: str) -> str:
    return f"the token lacks the scope {scope}: make a new one with it"


def refuse_unplayable(subject: str, variant: str, config: "Config", timeouts: Timeouts) -> None:
    """Raise ConfigError for a variant that the engine does not play, and for an engine with a fault.

    Any engine is asked but for standard chess.
    """
    if variant == Variant.STANDARD:
        return
    from lichessbot.uci.startup_check import playable_now

    with silenced():
        playable, faults = playable_now(config, timeouts)
    if faults:
        raise ConfigError([fault.text for fault in faults])
    if variant not in playable:
        known = ", ".join(it for it in playable if it.can_be_proposed)
        raise ConfigError([f"{subject}: expected a variant that the engine plays ({known}), found {variant}"])


def records_folder(config_file: Path | None) -> Path:
    """Return the state folder, of the configuration reading only that key. Raises ConfigError and StateFailed."""
    folder = _configured_folder(config_file)
    if os.path.isfile(folder):         # also if the name is too long to be asked for
        raise StateFailed(f"{folder}: expected a folder, found a file")
    return folder


def _configured_folder(config_file: Path | None) -> Path:
    if config_file is None:
        return state_folder(None, None, os.environ)
    import yaml

    try:
        values = yaml.load(config_file.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        configured = (values or {}).get("state_dir")
        folder = None if configured in (None, "") else Path(configured).expanduser()
        return state_folder(folder, config_file, os.environ)
    except (OSError, ValueError, TypeError, AttributeError, RuntimeError, yaml.YAMLError):
        # The complete reading says what is wrong with the file, and in which line.
        from lichessbot.config import load_config

        return load_config(config_file, os.environ, needs_token=False).state_dir


def write_whole(file: Path, content: bytes, mode: int) -> None:
    """Write a file whole or not at all; `mode`, less the umask, says who may read it. Raises ConfigError."""
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        try:
            unfinished.unlink(missing_ok=True)
            with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
                stream.write(content)
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError([f"{file}: cannot be written: {error.strerror}"]) from error


def _time_scale(environment: Mapping[str, str]) -> float:
    """Return the factor by which tests and rehearsals shorten every wait; operators do not need it."""
    text = environment.get(TIME_SCALE_VARIABLE, "1")
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 0.001 <= scale <= 1000:
        raise ConfigError([f"{TIME_SCALE_VARIABLE}: expected a number from 0.001 to 1000, found {text!r}"])
    return scale
