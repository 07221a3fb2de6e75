"""The base class of every section of the configuration, and the kinds of values in them."""

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from enum import Enum
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, TypeVar
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SecretStr,
    Strict,
    ValidationInfo,
    field_validator,
)
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

from lichessbot.config.credentials import HIDDEN, without_password
from lichessbot.config.yaml_file import KeyPath, in_one_line
from lichessbot.lichess.enums import HIGHEST_RATING, PLAYER_NAME

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
T = TypeVar("T")
Number = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]
Text = Annotated[str, Strict()]
Rating = Annotated[Number, Field(ge=0, le=HIGHEST_RATING)]


class Section(BaseModel):
    """A frozen group of keys; unknown keys are errors. `bounds` are pairs of keys in ascending order."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    bounds: ClassVar[tuple[tuple[str, str], ...]] = ()
    as_one: ClassVar[bool] = False
    """Whether listings of all keys show the section as one value, `set_keys`."""

    @field_validator("*", mode="before")
    @classmethod
    def _as_whole_numbers(cls, value: Any) -> Any:
        """Return numbers such as 3.0, alone or in a list, as whole ones."""
        if isinstance(value, list):
            return [cls._as_whole_numbers(it) for it in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @property
    def set_keys(self) -> dict[str, Any]:
        """The keys that are set in the file, with their values."""
        return {name: value for name, value in self if name in self.model_fields_set}

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each key (dotted if inside a section) whose value contradicts another, with what was expected."""
        for low, high in self.bounds:
            smallest, largest = getattr(self, low), getattr(self, high)
            if smallest > largest:
                yield low, f"expected at most {high} = {largest}, found {smallest}"

    def notes(self) -> Iterator[tuple[str, str]]:
        """Yield each key (dotted if inside a section) with what the operator should know, though the value is valid."""
        return iter(())


Layer = TypeVar("Layer", bound=Section)


def merged(below: Layer, above: Section) -> Layer:
    """Return `below` with each key that `above` sets; inner sections and mappings key by key as well."""
    changes: dict[str, Any] = {}
    for name in above.model_fields_set:
        old, new = getattr(below, name), getattr(above, name)
        if isinstance(new, Section):
            changes[name] = merged(old, new)
        elif isinstance(new, dict):
            changes[name] = {**old, **new}
        else:
            changes[name] = new
    return below.model_copy(update=changes)


def keys_reset_to_default(below: Section, above: Section) -> Iterator[tuple[str, ...]]:
    """Yield the path of each key that both set, `above` to its default and `below` to something else."""
    for name, field in type(above).model_fields.items():
        if name not in above.model_fields_set & below.model_fields_set:
            continue
        old, new = getattr(below, name), getattr(above, name)
        if isinstance(new, Section):
            yield from ((name, *inner) for inner in keys_reset_to_default(old, new))
        elif new != old and new == field.get_default(call_default_factory=True):
            yield (name,)


def dotted_values(section: Section) -> dict[str, object]:
    """Return every key with its value; keys in sections are dotted."""
    values: dict[str, object] = {}
    for name, value in section:
        if isinstance(value, Section) and value.as_one:
            values[name] = value.set_keys
        elif isinstance(value, Section):
            values.update({f"{name}.{key}": inner for key, inner in dotted_values(value).items()})
        else:
            values[name] = value
    return values


def in_yaml(value: Any) -> str:
    """Return a value of the configuration as YAML in one line."""
    return in_one_line(plain(value))


def plain(value: Any) -> Any:
    """Return a value as YAML holds it; of a section the keys that are set. Secrets are hidden."""
    if isinstance(value, SecretStr):
        return HIDDEN
    if isinstance(value, Section):
        return plain(value.set_keys)
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, Enum):
        return value.value
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def shown_value(value: Any) -> str:
    """Return a value as in the file, but no inner keys and values: one may be a password."""
    if isinstance(value, dict):
        return "keys and values"
    if isinstance(value, list):
        return f"[{', '.join(map(shown_value, value))}]"
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    if isinstance(value, date):
        return str(value)
    return without_password(re.sub("^(-?)(inf|nan)$", r"\1.\2", repr(value)))


def way_to_write(path: KeyPath, expected: str, value: Any) -> str:
    """Return how to write a value of another kind than was expected."""
    if expected == "a list" and isinstance(value, dict):
        return " whose entries begin with -"
    if expected == "keys and values" and isinstance(value, list) and any(isinstance(it, dict) for it in value):
        return " without a - in front"
    if path[-1] == "rating" and isinstance(value, int) and not isinstance(value, bool):
        return f" such as [0, {value}]"
    if not isinstance(value, str) or not value.split():
        return ""
    if expected in ("a whole number", "a number") and (number := re.fullmatch(r"\d+( ?[A-Za-z]+)?", value)):
        return " without a unit" if number[1] else " without quotes"
    meant: Any = ""
    if path[-1] == "command":
        meant = value.split()
    elif path[:-1] == ("tournaments",):
        meant = {"id": value}
    elif path == ("tournaments",):
        meant = [{"id": value}]
    elif path == ("engine",) and ":" not in value:
        meant = {"command": value.split()}
    elif path == ("status",):
        meant = {"listen": value}
    return f" such as {without_password(in_one_line(meant))}" if meant else ""


class Before:
    """A function that makes an accepted value of what is in the file, and what a JSON schema says of such input."""

    def __init__(self, function: Callable[[Any], Any], described: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._function = function
        self._described = described

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_before_validator_function(self._function, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return self._described(handler(schema))


def or_null(described: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [described, {"type": "null"}]}


def infinity_as(no_limit: int | None) -> Before:
    """Return a validator that reads .inf as no limit, which is `no_limit`."""
    return Before(lambda value: no_limit if value == math.inf else value, lambda described: described)


OrNoLimit = Annotated[T | None, infinity_as(None)]


def _none_if_empty(value: Any) -> Any:
    """Return None for an empty text, as in lichess-bot."""
    return None if value == "" else value


def _one_or_many(value: Any) -> Any:
    """Return a single word or number as a list of one; an empty text is neither."""
    return [value] if isinstance(value, str | int | float) and value != "" else value


ONE_OR_MANY: Final = Before(_one_or_many, lambda described: {"anyOf": [described["items"], described]})


def _as_text(value: Any) -> Any:
    """Return a number, such as a port alone, as text, so that the text is judged and not its quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


A_NUMBER_AS_TEXT: Final = Before(_as_text, lambda described: described)


def player_name(name: str) -> str:
    """Return a player's name. Raises ValueError if nobody on Lichess can have it."""
    if not re.fullmatch(PLAYER_NAME, name):
        raise ValueError("Input should be a name of 2 to 30 letters, digits, _ and -")
    return name


def beside_the_config(path: Path, info: ValidationInfo) -> Path:
    """Return the path relative to the folder of the config file."""
    folder: Path = (info.context or {}).get("folder", Path())
    try:
        return folder / path.expanduser()
    except RuntimeError as error:
        raise ValueError("Input should be a path below the home of a user who exists") from error


def _program_beside_the_config(command: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    """Return the command with an absolute path; a program without a folder is found on PATH."""
    if os.sep not in command[0]:
        return command
    return (str(beside_the_config(Path(command[0]), info).absolute()), *command[1:])


Command = Annotated[tuple[Text, ...], Field(min_length=1), AfterValidator(_program_beside_the_config)]
Folder = Annotated[Annotated[Path, AfterValidator(beside_the_config)] | None, BeforeValidator(_none_if_empty)]
Paths = Annotated[tuple[Annotated[Path, AfterValidator(beside_the_config)], ...], ONE_OR_MANY]


def distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) != len(values):
        raise ValueError("Input should be a list without repeated entries")
    return values


def without_repeats(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


def _no_list(value: Any) -> Any:
    """Return an empty list for a key whose entries are all commented out."""
    return () if value is None else value


LIST_OR_NULL: Final = Before(_no_list, or_null)


def host_and_port(listen: str) -> tuple[str, int]:
    """Return the parts of an address to listen at, without brackets. Raises ValueError if it is not one."""
    host, _, port = listen.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if is_bracketed else host
    if host != "localhost" and (ip_address(host).version == 6) is not is_bracketed:
        raise ValueError("only IPv6 addresses have brackets")
    if not (port.isascii() and port.isdecimal() and int(port) < 1 << 16):
        raise ValueError("no port")
    return host, int(port)


def listen_address(text: str) -> str:
    """Return an address to listen at. Raises ValueError if it is not one."""
    try:
        host_and_port(text)
    except ValueError:
        raise ValueError("Input should be an address and a port such as 127.0.0.1:8080 or [::1]:8080") from None
    return text


def is_loopback(listen: str) -> bool:
    """Return whether only this machine can reach an address to listen at."""
    host, _ = host_and_port(listen)
    return host == "localhost" or ip_address(host).is_loopback


def address_parts(text: str) -> SplitResult | None:
    """Return the parts of an address with a host; None if it is not one. Raises ValueError if it names a user."""
    try:
        parts = urlsplit(text)
        if not parts.hostname or parts.port == 0:
            return None
    except ValueError:
        return None
    if "@" in parts.netloc:
        raise ValueError("Input should be an address without a user name and password")
    return parts


def server_address(text: str) -> str:
    """Return the address of a server without a trailing slash. Raises ValueError if it is not one."""
    parts = address_parts(text)
    if (
        parts is None
        or parts.scheme not in ("http", "https")
        or parts.path not in ("", "/")
        or parts.query
        or parts.fragment
    ):
        raise ValueError("Input should be an address with https:// or http:// and without a path")
    return text.rstrip("/")
