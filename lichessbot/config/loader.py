"""Loads a config file into the typed model, finds the token, and reports every problem at once with its line."""

import difflib
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from operator import attrgetter
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails

from lichessbot.config.base import LOOPBACK, Section, keys_reset_to_default, merged, shown_value, way_to_write
from lichessbot.config.credentials import (
    SECRET_KEYS,
    TOKEN_VARIABLE,
    exposure,
    file_problem,
    is_of_the_service,
    password_problem,
    read_token,
    token_problem,
)
from lichessbot.config.engine import EngineConfig
from lichessbot.config.lichess_bot_keys import (
    BOOKS,
    GO_COMMANDS,
    NOT_OURS,
    ONCE_AMONG_THE_BOOKS,
    clocks_meant_as_none,
    engine_command,
    instead_of,
    limits_of_searches,
    meant_by_absence,
    protocol_problem,
)
from lichessbot.config.root import Config, hint_for_unknown
from lichessbot.config.yaml_file import KeyPath, Problem, YamlFile, dotted, path_of, section_at, value_at, without
from lichessbot.errors import ConfigError
from lichessbot.storage.database import state_folder

_USUAL_NAME = Path("config.yml")
# What a personality can set.
_PERSONAL = (
    "greeting", "engine.strength", "engine.style", "engine.polyglot", "engine.own_book", "engine.variety",
    "engine.draw_or_resign",
)  # fmt: skip
# pydantic's errors for values that cannot be an empty text: numbers, lists, and words of a fixed set.
_NEVER_EMPTY_TEXT = ("int_type", "float_type", "tuple_type", "enum", "literal_error")
# What was expected, by pydantic's type of error.
_EXPECTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "path_type": "text",
    "string_too_short": "text",
    "tuple_type": "a list",
    "model_type": "keys and values",
    "model_attributes_type": "keys and values",
    "dict_type": "keys and values",
    "too_short": "a list that is not empty",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
}
# Other words for some values, in lower case, and Lichess's words for them.
_SAME_WORDS = {"unrated": "casual", "giveaway": "antichess"}
BOTLIS_KEYS = {
    "engines", "gaviota", "opening_books", "offer_draw", "resign", "messages", "whitelist", "blacklist",
    "online_blacklists", "books", "move_overhead_multiplier",
    "challenge.bot_modes", "challenge.human_modes", "engine.opening_books", "matchmaking.initial_time",
}  # fmt: skip


@dataclass(frozen=True)
class LoadedConfig:
    """A valid configuration, its token, and warnings for the operator."""

    config: Config
    token: SecretStr
    state_dir: Path
    warnings: tuple[str, ...]
    lines: Mapping[KeyPath, int]
    """The line of each key in the file."""
    translated: Mapping[KeyPath, KeyPath]
    """The key of lichess-bot from which a key of ours has its value."""
    personal: Mapping[KeyPath, str]
    """The file and line of each key that the personality sets."""
    status_password: SecretStr | None
    """The password of the operator's page; None if it has none."""
    file: str
    """The name of the file; empty without one."""

    def location(self, key: str) -> str:
        """Return `file:line: key` for a dotted key, as far as known."""
        path = path_of(key)
        file = YamlFile(self.file, lines=dict(self.lines))
        return file.location(path) if self.file else key


def is_botlis(values: Mapping[str, Any]) -> bool:
    """Return whether two keys of a file are BotLi's alone; one may be a slip."""
    inner = {f"{name}.{key}" for name, section in values.items() if isinstance(section, dict) for key in section}
    return len(BOTLIS_KEYS & (values.keys() | inner)) > 1


def load_config(path: Path | None, environment: Mapping[str, str], *, needs_token: bool = True) -> LoadedConfig:
    """Load the configuration in `path` (None: the defaults) and its token, which is empty if none is needed.

    Raises ConfigError naming every problem, one line each, as `file:line: key: ...`.
    """
    source = _ConfigFile("defaults") if path is None else _ConfigFile.read(path)
    if path is None and os.path.exists(_USUAL_NAME):
        source.warnings.append(f"{_USUAL_NAME} in this folder is not read; to use it, add --config {_USUAL_NAME}")
    folder = path.parent if path else Path()
    config = source.validated(folder)
    if config is not None and config.personality is not None:
        config = _with_personality(source, config, config.personality, folder)
    token = _token(source, path, environment) if needs_token else SecretStr("")
    password = _status_password(source, config) if needs_token and config is not None else None
    if source.problems or config is None or token is None:
        raise ConfigError([it.text for it in sorted(source.problems, key=attrgetter("line"))])
    config = _with_engines_normalized(config)
    if urlsplit(config.url).scheme == "http" and urlsplit(config.url).hostname not in LOOPBACK:
        source.warnings.append(f"the token is sent to {config.url} unencrypted; use https://")
    state_dir = state_folder(config.state_dir, None, environment)  # already relative to the folder of the file
    return LoadedConfig(
        config, token, state_dir, tuple(source.warnings), source.lines, source.translated, source.personal, password,
        file=str(path or ""),
    )  # fmt: skip


def problems_of(values: dict[str, Any], folder: Path) -> list[Problem]:
    """Return what is wrong with the values of a file in `folder`, apart from its token."""
    source = _ConfigFile("", values)
    source.validated(folder)
    return source.problems


def personalities() -> dict[str, Path]:
    """Return the personalities that ship with the bot, by name."""
    return {file.stem: file for file in sorted(Path(__file__).with_name("personalities").glob("*.yml"))}


def _with_personality(source: "_ConfigFile", config: Config, personality: str, folder: Path) -> Config | None:
    """Return the personality's keys, changed key by key by `config`, or None after noting each problem."""
    file = personalities().get(personality)
    if file is None and not personality.endswith((".yml", ".yaml")):
        near = difflib.get_close_matches(personality, personalities(), n=1, cutoff=0.4)
        hint = f"; nearest: {near[0]}" if near else ""
        known = ", ".join(personalities())
        source.problem(("personality",), f"expected {known} or a file such as bot.yml, found {personality!r}{hint}")
        return None
    try:
        other = _ConfigFile.read(file or folder / Path(personality).expanduser())
    except (ConfigError, RuntimeError) as error:
        source.problem(("personality",), "; ".join(getattr(error, "problems", [str(error)])))
        return None
    for key in other.foreign():
        other.problem(key, f"does not belong to a personality, which has {', '.join(_PERSONAL)}")
    below = other.validated(Path(other.name).parent)
    source.problems += other.problems
    if below is None or other.problems:
        return None
    source.warnings += other.warnings
    source.personal = {key: f"{other.name}:{line}" for key, line in other.lines.items()}
    if defaults := [f"{dotted(key)} (line {source.line_of(key)})" for key in keys_reset_to_default(below, config)]:
        source.note(("personality",), f"remove the defaults that override {personality}'s {', '.join(defaults)}")
    both = merged(below, config)
    together = _ConfigFile(source.name, lines=source.lines)
    together.check(both)
    source.problems += [problem for problem in together.problems if problem not in source.problems]
    return both


def _with_engines_normalized(config: Config) -> Config:
    profiles = [it.model_copy(update={"engine": it.engine.normalized()}) for it in config.profiles]
    return config.model_copy(update={"engine": config.engine.normalized(), "profiles": tuple(profiles)})


@dataclass
class _ConfigFile(YamlFile):
    """Our file while it is read, with the keys of lichess-bot translated."""

    warnings: list[str] = field(default_factory=list)
    translated: dict[KeyPath, KeyPath] = field(default_factory=dict)
    """The key of lichess-bot from which a key of ours has its value."""
    personal: dict[KeyPath, str] = field(default_factory=dict)
    """The file and line of each key that the personality sets."""

    @classmethod
    def read(cls, path: Path) -> Self:
        source = super().read(path)
        if is_botlis(source.values):
            raise ConfigError([f"{path}: is a configuration of BotLi; translate it: lichessbot config migrate {path}"])
        source._translate()
        return source

    def _translate(self) -> None:
        """Put our keys in the place of those that lichess-bot alone has, and note those without an effect."""
        engine = section_at(self.values, "engine")
        instead = {path: text for path in self.lines if (text := instead_of(path, engine, self.name)) is not None}
        for path, text in instead.items():
            if text:
                self.note(path, text if text.startswith("the bot plays") else f"has no effect here: {text}")
            if dotted(path) in NOT_OURS:  # so its value need not be right
                self.problems = [it for it in self.problems if it.path[: len(path)] != path]
        self._translate_engine(engine)
        engines = {it: section_at(value_at(self.values, it)) for it in self.lines if it[-1:] == ("engine",)}
        for path, section in engines.items():
            if isinstance(section.get("style"), str):
                self.lines[(*path, "style", "name")] = self.lines[(*path, "style")]
            self._translate_books(section_at(section, "polyglot"), (*path, "polyglot"))
        matchmaking = section_at(self.values, "matchmaking")
        for key in clocks_meant_as_none(matchmaking):
            matchmaking[key] = []
            self.translated["matchmaking", key] = ("matchmaking", "challenge_days")
        for path in instead:
            self.values = without(self.values, path)
        if instead:
            self.warnings += meant_by_absence(self.values, self.lines)

    def _translate_engine(self, engine: dict[str, Any]) -> None:
        """Translate the keys with which lichess-bot starts and limits its engine."""
        if (command := engine_command(engine, self.name)) is not None:
            engine["command"] = command
            self._note_origin(("engine", "command"), ("engine", "name"))
        limits = limits_of_searches(engine)
        for theirs, ours in GO_COMMANDS.items():
            given = ("engine", "uci_options", "go_commands", theirs)
            if theirs in limits and ours in engine:
                self.problem(("engine", ours), f"expected it or {dotted(given)}, found both")
            elif theirs in limits:
                engine[ours] = limits[theirs]
                self._note_origin(("engine", ours), given)
        if (problem := protocol_problem(engine)) is not None:
            self.problem(("engine", "protocol"), problem)

    def _translate_books(self, polyglot: dict[str, Any], path: KeyPath) -> None:
        """Translate the keys of the section `polyglot`, which is at `path`."""
        books = section_at(polyglot, "book")
        for key in ONCE_AMONG_THE_BOOKS:
            if key in books and key not in polyglot:
                polyglot[key] = books.pop(key)
                self._note_origin((*path, key), (*path, "book", key))
        for theirs, ours in BOOKS.items():
            if theirs in books and ours not in books:
                books[ours] = books.pop(theirs)
                self._note_origin((*path, "book", ours), (*path, "book", theirs))

    def _note_origin(self, ours: KeyPath, theirs: KeyPath) -> None:
        """Note that a key of ours has its value, and so its line, from one of lichess-bot."""
        self.lines[ours], self.translated[ours] = self.lines[theirs], theirs

    def validated(self, folder: Path) -> Config | None:
        """Return the typed configuration with files relative to `folder`, or None after noting each problem.

        A key without a value has its default, unless null or an empty text means something there.
        """
        config = self._typed(self.values, folder)
        if config is not None:
            self.check(config)
        return config

    def _typed(self, values: dict[str, Any], folder: Path) -> Config | None:
        try:
            return Config.model_validate(values, context={"folder": folder})
        except ValidationError as error:
            found = error.errors(include_url=False)
        if empty := [tuple(it["loc"]) for it in found if _is_empty(it) and _may_be_empty(it)]:
            return self._typed(reduce(without, empty, values), folder)
        for details in found:
            self._report(details)
        return None

    def foreign(self) -> Iterator[KeyPath]:
        """Yield the keys of the configuration that a personality cannot have."""
        inner = section_at(self.values, "engine")
        known = [*(("engine", it) for it in EngineConfig.model_fields), *((it,) for it in Config.model_fields)]
        here = {*((it,) for it in self.values if it != "engine"), *(("engine", it) for it in inner)}
        yield from (key for key in known if key in here and dotted(key) not in _PERSONAL)

    def _report(self, details: ErrorDetails) -> None:
        """Note a value that the model does not accept, or an unknown key."""
        path = tuple(details["loc"])
        is_noted = any(it.path == path for it in self.problems)  # it has no value because of another problem
        has_wrong_entries = details["type"] == "too_short" and details["input"]  # each of which is noted
        if not (is_noted or has_wrong_entries):
            self.problem(path, self._complaint(path, details), nearest=_nearest_number(details))

    def _complaint(self, path: KeyPath, details: ErrorDetails) -> str:
        """Return what is wrong with the value of a key."""
        kind, found = details["type"], details["input"]
        is_secret = SECRET_KEYS.fullmatch(dotted(path))
        match kind, found:
            case "extra_forbidden", _:
                return f"unknown key{hint_for_unknown(path)}"
            case "missing", _:
                return "is missing"
            case "string_type" | "path_type", dict() | list():
                return "expected text: put it in quotes if it begins with { or ["
            case "string_type" | "path_type", int() | float() | date():
                if isinstance(found, bool):
                    shown = "what YAML reads as true or false" if is_secret else self._found(path, found)
                else:
                    sort = "date" if isinstance(found, date) else "number"
                    shown = f"a {sort}" if is_secret else f"the {sort} {self._found(path, found)}"
                return f"expected text, found {shown}: put it in quotes"
        if (expected := _EXPECTED.get(kind)) is not None:
            text = f"expected {expected.format_map(details.get('ctx', {}))}"
            if not is_secret:
                text += way_to_write(path, expected, found)
        else:
            text = details["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
        if not is_secret:
            text += f", found {self._found(path, found)}{_nearest_value(details)}"
        if kind == "model_type" and re.fullmatch(r"\w+:[^ ].*", str(found)):
            text += ": put a space after the colon"
        return text

    def _found(self, path: KeyPath, value: Any) -> str:
        """Return a value as in the file, with what YAML reads it as if that is something else."""
        word = self.words.get(path, self.words.get(path[:-1]) if path[-1] == 0 else None)
        if word is not None and isinstance(value, bool):
            return f"{word}, which YAML reads as {shown_value(value)}"
        return shown_value(value)

    def check(self, section: Section, path: KeyPath = ()) -> None:
        """Note contradictory and doubtful values in this section and its inner sections."""
        for key, problem in section.problems():
            self.problem((*path, *path_of(key)), problem)
        for key, note in section.notes():
            self.note((*path, *path_of(key)), note)
        for key, value in section:
            if isinstance(value, Section):
                self.check(value, (*path, key))
            elif isinstance(value, tuple):
                for index, item in enumerate(value):
                    if isinstance(item, Section):
                        self.check(item, (*path, key, index))

    def text(self, key: str) -> str:
        """Return the value of a top-level key if it is text, else nothing; `validated` reports that."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def note(self, path: KeyPath, text: str) -> None:
        """Warn of the key at `path`."""
        self.warnings.append(f"{self.location(path)}: {text}")


def _token(source: _ConfigFile, path: Path | None, environment: Mapping[str, str]) -> SecretStr | None:
    """Return the token from the environment, token_file or token, in this order; note the problem if there is none."""
    key: KeyPath = (TOKEN_VARIABLE,)
    holders = [path] if path is not None and source.text("token") else []
    text = environment.get(TOKEN_VARIABLE, "").strip()
    if not text and source.text("token_file"):
        key = ("token_file",)
        token_path = Path(source.text("token_file"))
        try:
            token_path = Path(source.name).parent / token_path.expanduser()
            text = read_token(token_path)
        except (OSError, ValueError, RuntimeError) as error:
            source.problem(key, file_problem(token_path, error))
            return None
        if not text:
            source.problem(key, f"the first line of {token_path} is empty; it must hold the token")
            return None
        holders.insert(0, token_path)
    elif not text:
        key, text = ("token",), source.text("token").strip()
        if not text and any(it.path in (("token",), ("token_file",)) for it in source.problems):
            return None  # it is no text, which is noted
    source.warnings += filter(None, map(exposure, holders))
    problem = token_problem(text)
    if problem is not None:
        source.problem(key, problem)
        return None
    return SecretStr(text)


def _status_password(source: _ConfigFile, config: Config) -> SecretStr | None:
    """Return the password in status.password_file; note the problem if there is none that only its owner can read."""
    path, key = config.status.password_file, ("status", "password_file")
    if path is None:
        return None
    try:
        password = read_token(path)
        problem = password_problem(path, password)
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and is_of_the_service(path):
            source.note(key, f"{path} exists only while the service runs")
            return None
        problem = file_problem(path, error)
    if problem is not None:
        source.problem(key, problem)
        return None
    return SecretStr(password)


def _is_empty(details: ErrorDetails) -> bool:
    """Return whether a key has no value: nothing, or as in lichess-bot an empty text where no text can stand."""
    # An empty command may be a variable that was not set.
    is_empty_text = details["input"] == "" and details["type"] in _NEVER_EMPTY_TEXT
    return details["input"] is None or (is_empty_text and details["loc"] != ("engine", "command"))


def _may_be_empty(details: ErrorDetails) -> bool:
    """Return whether a key without a value has its default: not in a list and in what overrides other keys."""
    path = details["loc"]
    overrides = len(path) > 2 and path[:2] in (("challenge", "human"), ("challenge", "bot"))
    return details["type"] != "extra_forbidden" and not overrides and not any(isinstance(it, int) for it in path)


def _nearest_value(details: ErrorDetails) -> str:
    """Return a hint for text that is not one of the known words, which the message has in quotes: the nearest one."""
    known = re.findall(r"'([^']+)'", details["msg"])
    if details["input"] is False:  # such as `off`
        return next((f"; nearest: {it}" for it in ("none", "never") if it in known), "")
    spelled = {it.lower(): it for it in known}
    found = str(details["input"]).lower()
    near = difflib.get_close_matches(_SAME_WORDS.get(found, found), spelled, n=1)
    return f"; nearest: {spelled[near[0]]}" if near else ""


def _nearest_number(details: ErrorDetails) -> float | None:
    """Return the bound that a number is beyond, or the whole number nearest to a fraction; None if there is none.

    For .inf it is beyond the bounds of every key that has some.
    """
    limits, value = details.get("ctx", {}), details["input"]
    is_fraction = details["type"] in ("int_type", "value_error") and isinstance(value, float) and not math.isnan(value)
    nearest: float | None = limits.get("ge", limits.get("le"))
    return round(max(-sys.maxsize, min(value, sys.maxsize))) if is_fraction else nearest
