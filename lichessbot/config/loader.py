"""A config file to the typed model, with every problem reported at once, and in which order a token is looked for.

Reads YAML keeping the line of each key, so that a complaint can name it; knows no key by name but the token's.
"""

import difflib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, Self, TypeVar, get_args
from urllib.parse import urlsplit

import yaml
from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails

from lichessbot.config.base import LOOPBACK, Section
from lichessbot.config.credentials import TOKEN_VARIABLE, exposure, looks_like_token, read_token, token_complaint
from lichessbot.config.engine import EngineKeys
from lichessbot.config.lichess_bot_keys import instead_of
from lichessbot.config.root import Config
from lichessbot.errors import ConfigError

Engine = TypeVar("Engine", bound=EngineKeys)

_USUAL_NAME = Path("config.yml")
_SECRETS = ("token", "password")
_NO_MAPPING = ("model_type", "model_attributes_type", "dict_type", "mapping_type")
_DEEPEST = 8  # levels of nesting; an alias that contains itself would have no end


@dataclass(frozen=True)
class LoadedConfig:
    """A valid configuration, its token, and what the operator should hear about it."""

    config: Config
    token: SecretStr
    state_dir: Path
    warnings: tuple[str, ...] = ()


def load_config(path: Path | None, environment: Mapping[str, str], *, needs_token: bool = True) -> LoadedConfig:
    """The configuration in `path` (None: the defaults) with its token, which is empty if none is needed.

    Raises ConfigError naming every problem, one line each, as `file:line: key: ...`.
    """
    source = _Source("defaults") if path is None else _Source.read(path)
    if path is None and _USUAL_NAME.exists():
        source.warnings.append(f"{_USUAL_NAME} in this folder is not read: say --config {_USUAL_NAME}")
    config = source.validated(path.parent if path else Path())
    token = _token(source, path, environment) if needs_token else SecretStr("")
    if source.problems or config is None or token is None:
        raise ConfigError([text for _, text in sorted(source.problems, key=itemgetter(0))])
    config = _settled(config, path)
    if urlsplit(config.url).scheme == "http" and urlsplit(config.url).hostname not in LOOPBACK:
        source.warnings.append(f"everybody on the way to {config.url} can read the token: use https://")
    state_dir = _state_dir(config, path, environment)
    if config.pgn_directory is not None:
        config = config.model_copy(update={"pgn_directory": _beside(path, config.pgn_directory)})
    return LoadedConfig(config, token, state_dir, tuple(source.warnings))


def _settled(config: Config, path: Path | None) -> Config:
    """`config` with each fact about engines in one place, and their files where they are."""
    profiles = [
        profile.model_copy(update={"engine": _at_home(profile.engine.settled(), path)}) for profile in config.profiles
    ]
    return config.model_copy(update={"engine": _at_home(config.engine.settled(), path), "profiles": tuple(profiles)})


def _at_home(engine: Engine, path: Path | None) -> Engine:
    """A program named without a folder is looked for where the system keeps programs."""
    update: dict[str, Any] = {}
    if engine.command is not None:
        program = os.path.expanduser(engine.command[0])
        if os.sep in program:
            program = str(_beside(path, Path(program)).absolute())
        update["command"] = (program, *engine.command[1:])
    if engine.working_dir is not None:
        update["working_dir"] = _beside(path, Path(os.path.expanduser(engine.working_dir))).absolute()
    return engine.model_copy(update=update)


def _state_dir(config: Config, path: Path | None, environment: Mapping[str, str]) -> Path:
    """Where records are kept: as configured, where systemd says, or where the user's programs keep theirs."""
    if config.state_dir is not None:
        return _beside(path, config.state_dir)
    if given := environment.get("STATE_DIRECTORY", "").partition(":")[0]:
        return Path(given)
    home = environment.get("XDG_STATE_HOME") or environment.get("HOME", "") + "/.local/state"
    return Path(home) / "lichessbot"


def _beside(path: Path | None, name: Path) -> Path:
    """A relative name is meant from where the config file stands, whatever the current folder."""
    return (path.parent if path else Path()) / name


KeyPath = tuple[str | int, ...]


@dataclass
class _Source:
    """One config file while it is read: its values, the line of each key, and what is wrong."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[KeyPath, int] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)
    """Line, 0 if unknown, and complaint."""
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Self:
        source = cls(str(path))
        try:
            text = path.read_text(encoding="utf-8")
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except OSError as error:
            raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from error
        except UnicodeDecodeError as error:
            raise ConfigError([f"{path}: is not UTF-8 text (byte {error.start})"]) from error
        except yaml.YAMLError as error:
            raise ConfigError([f"{path}:{_yaml_complaint(error)}"]) from error
        if isinstance(root, yaml.MappingNode):
            source.values = source.build(root, ())
        elif root is not None:
            source.problem((), "expected keys and values such as `abort_time: 30`", root.start_mark.line + 1)
        return source

    def build(self, node: yaml.Node, path: KeyPath) -> Any:
        """The value of a node; notes the line of each key and complains of repeated ones."""
        self.lines.setdefault(path, node.start_mark.line + 1)
        if len(path) > _DEEPEST:
            self.problem(path, "is nested too deeply")
            return None
        if isinstance(node, yaml.MappingNode):
            return self._build_mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        try:
            return yaml.SafeLoader("").construct_object(node, deep=True)
        except (yaml.YAMLError, ValueError) as error:
            self.problem(path, f"expected a plain value, found {node.value!r} ({error.__class__.__name__})")
            return None

    def _build_mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            here = (*path, key)
            if key in values:
                first = self.lines[here]
                self.problem(here, f"stands twice, first in line {first}", key_node.start_mark.line + 1)
                continue
            self.lines[here] = key_node.start_mark.line + 1
            instead = instead_of(here, node)
            if instead is None:
                values[key] = self.build(value_node, here)
            else:
                self.warnings.append(f"{self._place(here, self.line_of(here))}: has no effect here: {instead}")
        return values

    def validated(self, folder: Path) -> Config | None:
        """The typed configuration, its files meant from `folder`, or None after noting each problem."""
        present = {key: value for key, value in self.values.items() if value is not None}
        try:
            config = Config.model_validate(present, context={"folder": folder})
        except ValidationError as error:
            for details in error.errors(include_url=False):
                self._note(details)
            return None
        self._check(config, ())
        return config

    def _note(self, details: ErrorDetails) -> None:
        path = tuple(details["loc"])
        if details["type"] == "extra_forbidden":
            self.problem(path, f"unknown key{_nearest(path)}")
            return
        if details["type"] == "missing":
            self.problem(path, "is missing")
            return
        expected = details["msg"].removeprefix("Value error, ").replace("Input should", "it should")
        expected = expected.replace("it should be", "expected").replace("Tuple should have", "expected")
        expected = expected.replace("a valid tuple", "a list")
        if details["type"] in _NO_MAPPING:
            expected = "expected keys and values"
        shown = "" if path[-1] in _SECRETS else f", found {_shown(details['input'])}"
        self.problem(path, expected + shown)

    def _check(self, section: Section, path: KeyPath) -> None:
        """Note what does not go together, in this section and those inside it."""
        for key, complaint in section.complaints():
            inside = (int(part) if part.isdecimal() else part for part in key.split("."))
            self.problem((*path, *inside), complaint)
        for key, value in section:
            if isinstance(value, Section):
                self._check(value, (*path, key))
            elif isinstance(value, tuple):
                for index, item in enumerate(value):
                    if isinstance(item, Section):
                        self._check(item, (*path, key, index))

    def text(self, key: str) -> str:
        """The value of a top-level key if it is text, else nothing: `validated` complains of it."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def warn(self, text: str | None) -> None:
        if text is not None:
            self.warnings.append(text)

    def problem(self, path: KeyPath, text: str, line: int | None = None) -> None:
        line = line or self.line_of(path)
        self.problems.append((line, f"{self._place(path, line)}: {text}"))

    def line_of(self, path: KeyPath) -> int:
        """The line of the key, or of the nearest one around it that the file has; 0 if there is none."""
        around = (path[:end] for end in range(len(path), -1, -1))
        return next((self.lines[known] for known in around if known in self.lines), 0)

    def _place(self, path: KeyPath, line: int) -> str:
        """`file:line: key`, as far as known."""
        where = f"{self.name}:{line}" if line else self.name
        return f"{where}: {_dotted(path)}" if path else where


def _token(source: _Source, path: Path | None, environment: Mapping[str, str]) -> SecretStr | None:
    """The token by precedence: environment, token_file, token. Notes the problem if there is none."""
    key: KeyPath = (TOKEN_VARIABLE,)
    text = environment.get(TOKEN_VARIABLE, "").strip()
    if not text and source.text("token_file"):
        key = ("token_file",)
        token_path = Path(source.text("token_file"))
        try:
            token_path = _beside(path, token_path.expanduser())
            text = read_token(token_path)
        except (OSError, ValueError, RuntimeError) as error:
            source.problem(key, _token_file_complaint(token_path, error))
            return None
        source.warn(exposure(token_path))
    elif not text:
        key, text = ("token",), source.text("token").strip()
    if path is not None and source.text("token"):
        source.warn(exposure(path))
    complaint = token_complaint(text)
    if complaint is not None:
        source.problem(key, complaint)
        return None
    return SecretStr(text)


def _token_file_complaint(path: Path, error: Exception) -> str:
    """Somebody may have put the token itself there."""
    if isinstance(error, FileNotFoundError) and looks_like_token(path.name):
        return "expected the name of a file, found what looks like the token itself"
    if isinstance(error, UnicodeDecodeError):
        return f"{path} is not UTF-8 text"
    return f"cannot be read: {path}: {error.strerror if isinstance(error, OSError) else error}"


def _shown(value: Any) -> str:
    """A value as the file has it; of keys and values only that they are there, for one of them may be a password."""
    if isinstance(value, dict):
        return "keys and values"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return repr(value)


def _nearest(path: KeyPath) -> str:
    """What an unknown key was perhaps meant to be: one of a section above that is not indented, or another name."""
    key = str(path[-1])
    above = [name for name, field in Config.model_fields.items() if key in _keys_of(field.annotation)]
    if len(path) == 1 and above:
        return f"; it belongs to {' or '.join(above)}: indent it"
    near = difflib.get_close_matches(key, _valid_keys(path), n=1, cutoff=0.4)
    return f"; nearest valid key: {near[0]}" if near else ""


def _keys_of(kind: Any) -> Collection[str]:
    return kind.model_fields if isinstance(kind, type) and issubclass(kind, Section) else ()


def _valid_keys(path: Sequence[str | int]) -> list[str]:
    """The keys that exist beside the last one of `path`."""
    kind: Any = Config
    for key in path[:-1]:
        # In a list the key is a place, in a mapping a name that the operator chose.
        inner = [it for it in get_args(kind) if isinstance(it, type) and issubclass(it, Section)]
        kind = inner[0] if inner else kind.model_fields[str(key)].annotation
    return list(kind.model_fields)


def _dotted(path: Sequence[str | int]) -> str:
    return ".".join(str(part) for part in path)


def _yaml_complaint(error: yaml.YAMLError) -> str:
    """`line: what is wrong`, on one line."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        context = f" {error.context}" if error.context else ""
        return f"{mark.line + 1 if mark else 1}: not YAML: {error.problem}{context}"
    return f" not YAML: {str(error).splitlines()[0]}"
