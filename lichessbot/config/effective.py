"""The values in force and where each one comes from: the file, the environment, another key, or the default."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from lichessbot.config.base import Section, dotted_values, in_yaml, plain
from lichessbot.config.credentials import HIDDEN, TOKEN_VARIABLE
from lichessbot.config.engine import option_key
from lichessbot.config.loader import LoadedConfig
from lichessbot.config.yaml_file import KeyPath, dotted

_DEFAULT: Final = "default"


class Effective(NamedTuple):
    """A key, its value as YAML, and where the value comes from."""

    key: str
    value: str
    origin: str

    @property
    def is_default(self) -> bool:
        return self.origin == _DEFAULT


def effective(loaded: LoadedConfig, environment: Mapping[str, str]) -> Iterator[Effective]:
    """Yield every key with its value in force. The token is hidden."""
    settled = {"state_dir": loaded.state_dir, "engine.own_book": loaded.config.engine.has_own_book}
    values = dotted_values(loaded.config) | settled
    for key, value in values.items():
        origin = _origin(loaded, tuple(key.split(".")), environment)
        is_secret = key == "token" and origin != _DEFAULT
        yield Effective(key, in_yaml(HIDDEN if is_secret else value), origin)


def _origin(loaded: LoadedConfig, key: KeyPath, environment: Mapping[str, str]) -> str:
    if key == ("token",):
        return _origin_of_token(loaded, environment)
    if key == ("state_dir",) and loaded.config.state_dir is None:
        known = ("STATE_DIRECTORY", "XDG_STATE_HOME", "HOME")
        variable = next((name for name in known if environment.get(name)), None)
        return f"environment: {variable}" if variable else _DEFAULT
    # Hash among the UCI options means hash_mb, and comes before it.
    options = (it for it in loaded.lines if it[:-1] == ("engine", "uci_options"))
    option = next((it for it in options if ("engine", option_key(it[-1])) == key), None)
    if (source := option or loaded.translated.get(key)) is not None:
        return f"{loaded.file}:{loaded.lines[source]}, translated from {dotted(source)}"
    if key in loaded.lines:
        return f"{loaded.file}:{loaded.lines[key]}"
    if key in loaded.personal:
        return loaded.personal[key]
    return _DEFAULT


def _origin_of_token(loaded: LoadedConfig, environment: Mapping[str, str]) -> str:
    if environment.get(TOKEN_VARIABLE, "").strip():
        return f"environment: {TOKEN_VARIABLE}"
    for key in ("token_file", "token"):
        if getattr(loaded.config, key) is not None:
            return f"{loaded.file}:{loaded.lines[key,]}" + (", token_file" if key == "token_file" else "")
    return _DEFAULT


def every_key(section: Section) -> dict[str, Any]:
    """Return every key of a section with its value as a file holds it. Secrets are hidden.

    Profiles and overrides have only the keys that are set: naming another one there with its default sets it.
    """
    return {
        name: every_key(value) if isinstance(value, Section) and not value.as_one else plain(value)
        for name, value in section
    }


def set_keys(section: Section) -> dict[str, Any]:
    """Return the keys of a section that are set, as a file holds them. Secrets are hidden."""
    return {name: plain(value) for name, value in section.set_keys.items()}
