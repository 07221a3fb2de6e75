"""The configuration: YAML text to typed, frozen models, with every problem reported at once.

Knows the keys, their ranges and defaults, and in which order a token is looked for; knows nothing
of what they are used for. Keys shared with lichess-bot keep their names and meaning. With no file at all
the defaults and the environment are enough to run.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, Strict, ValidationError
from pydantic_core import ErrorDetails

from lichessbot.credentials import TOKEN_VARIABLE, exposure, read_token, token_complaint
from lichessbot.errors import ConfigError
from lichessbot.vocabulary import Mode, Speed, Variant

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_DEEPEST = 8  # levels of nesting; an alias that contains itself would have no end

# Keys of lichess-bot that have no counterpart here (yet), and what to do instead.
_NOT_OURS = {
    "pgn_directory": "download the games from the account's page on Lichess",
    "pgn_file_grouping": "download the games from the account's page on Lichess",
    "fake_think_time": "the engine always uses its clock; remove the key",
    "rate_limiting_delay": "requests are paced by what Lichess asks for; remove the key",
    "move_overhead": "set engine.move_overhead_ms",
    "max_takebacks_accepted": "a BOT account gets no takeback requests by default; remove the key",
    "quit_after_all_games_finish": "the first SIGINT or SIGTERM always finishes the games; remove the key",
    "log": "logs go to standard error; redirect them or use the journal of systemd",
    "correspondence": "correspondence games are declined; remove the section",
    "greeting": "the bot does not chat; remove the section",
    "matchmaking": "the bot does not challenge others; remove the section",
    "challenge.sort_by": "challenges are answered as they come; remove the key",
    "challenge.preference": "challenges are answered as they come; remove the key",
    "challenge.min_days": "correspondence games are declined; remove the key",
    "challenge.max_days": "correspondence games are declined; remove the key",
    "challenge.block_list": "block the player on Lichess, with the bot's account",
    "challenge.online_block_list": "block the players on Lichess, with the bot's account",
    "challenge.allow_list": "in the account's preferences on Lichess, let only friends challenge it",
    "challenge.recent_bot_challenge_age": "set challenge.accept_bot to false to keep bots out",
    "challenge.max_recent_bot_challenges": "set challenge.accept_bot to false to keep bots out",
    "challenge.bullet_requires_increment": "set challenge.min_increment",
    "challenge.games_reserved_for_humans": "set challenge.accept_bot to false to keep every slot for humans",
    "challenge.max_simultaneous_games_per_user": "set challenge.concurrency",
    "challenge.min_rating": "in the account's preferences on Lichess, set who may challenge it",
    "challenge.max_rating": "in the account's preferences on Lichess, set who may challenge it",
    "challenge.rating_difference": "in the account's preferences on Lichess, set who may challenge it",
    "engine.dir": "the bot brings its own engine; remove the key",
    "engine.name": "the bot brings its own engine; remove the key",
    "engine.protocol": "the bot brings its own engine; remove the key",
    "engine.interpreter": "the bot brings its own engine; remove the key",
    "engine.interpreter_options": "the bot brings its own engine; remove the key",
    "engine.working_dir": "the bot brings its own engine; remove the key",
    "engine.engine_options": "the bot brings its own engine; remove the key",
    "engine.homemade_options": "the bot brings its own engine; remove the key",
    "engine.xboard_options": "the bot brings its own engine; remove the key",
    "engine.uci_options": "set engine.hash_mb, engine.threads and engine.move_overhead_ms",
    "engine.debug": "run with --verbose",
    "engine.silence_stderr": "the engine's error output goes to the log; remove the key",
    "engine.ponder": "the engine does not think on the opponent's time; remove the key",
    "engine.polyglot": "the engine plays without a book; remove the section",
    "engine.draw_or_resign": "games are played to their end; remove the section",
    "engine.online_moves": "every move is the engine's own; remove the section",
    "engine.lichess_bot_tbs": "every move is the engine's own; remove the section",
}


# Keys of which the first must not be above the second.
_BOUNDS = (
    ("challenge", "min_increment", "max_increment"),
    ("challenge", "min_base", "max_base"),
    ("engine", "min_move_overhead_ms", "max_move_overhead_ms"),
)


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) != len(values):
        raise ValueError("Input should be a list without repeated entries")
    return values


def _server_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
    if not good or parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("Input should be an address such as https://lichess.org, without a path")
    return text.rstrip("/")


def _folder(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError("Input should be a folder below the home of a user who exists") from error


Number = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]
Text = Annotated[str, Strict()]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class ChallengeConfig(_Section):
    """Which challenges are accepted. Increments and bases in seconds."""

    concurrency: Annotated[Number, Field(ge=1, le=64)] = 1
    variants: Annotated[tuple[Variant, ...], Field(min_length=1), AfterValidator(_distinct)] = tuple(Variant)
    time_controls: Annotated[tuple[Speed, ...], Field(min_length=1), AfterValidator(_distinct)] = tuple(Speed)
    modes: Annotated[tuple[Mode, ...], Field(min_length=1), AfterValidator(_distinct)] = tuple(Mode)
    accept_bot: Flag = True
    only_bot: Flag = False
    min_increment: Annotated[Number, Field(ge=0, le=180)] = 0
    max_increment: Annotated[Number, Field(ge=0, le=180)] = 20
    min_base: Annotated[Number, Field(ge=0, le=10800)] = 0
    max_base: Annotated[Number, Field(ge=0, le=10800)] = 1800


class EngineConfig(_Section):
    """How strongly and how long the engine thinks; None leaves that limit out.

    What is kept back for the network is `move_overhead_ms` until enough round trips are known, then
    their percentile between the two bounds.
    """

    hash_mb: Annotated[Number, Field(ge=1, le=65536)] = 64
    threads: Annotated[Number, Field(ge=1, le=64)] = 1
    depth: Annotated[Number, Field(ge=1, le=100)] | None = None
    nodes: Annotated[Number, Field(ge=1)] | None = None
    move_time_ms: Annotated[Number, Field(ge=1, le=600_000)] | None = None
    move_overhead_ms: Annotated[Number, Field(ge=0, le=5000)] = 200
    move_overhead_percentile: Annotated[Number, Field(ge=50, le=100)] = 99
    min_move_overhead_ms: Annotated[Number, Field(ge=0, le=5000)] = 20
    max_move_overhead_ms: Annotated[Number, Field(ge=0, le=5000)] = 2000


class Config(_Section):
    """Everything an operator can set."""

    token: SecretStr | None = None
    token_file: Path | None = None
    url: Annotated[Text, AfterValidator(_server_address)] = "https://lichess.org"
    proxy: Annotated[Text, AfterValidator(_server_address)] | None = None
    state_dir: Annotated[Path, AfterValidator(_folder)] | None = None
    abort_time: Annotated[Number, Field(ge=1, le=600)] = 30
    stop_grace: Annotated[Number, Field(ge=0, le=86400)] = 7200
    challenge: ChallengeConfig = ChallengeConfig()
    engine: EngineConfig = EngineConfig()

    @property
    def abort_after(self) -> timedelta:
        """How long an opponent may leave the first move undone."""
        return timedelta(seconds=self.abort_time)

    @property
    def leave_after(self) -> timedelta:
        """How long games may go on after the first signal."""
        return timedelta(seconds=self.stop_grace)


@dataclass(frozen=True)
class LoadedConfig:
    """A valid configuration, its token, and what the operator should hear about it."""

    config: Config
    token: SecretStr
    state_dir: Path
    warnings: tuple[str, ...] = ()


def load_config(path: Path | None, environment: Mapping[str, str]) -> LoadedConfig:
    """The configuration in `path` (None: the defaults) with its token.

    Raises ConfigError naming every problem, one line each, as `file:line: key: ...`.
    """
    source = _Source("defaults") if path is None else _Source.read(path)
    config = source.validated()
    token = _token(source, path, environment)
    if source.problems or config is None or token is None:
        raise ConfigError([text for _, text in sorted(source.problems, key=itemgetter(0))])
    if urlsplit(config.url).scheme == "http" and urlsplit(config.url).hostname not in _LOOPBACK:
        source.warnings.append(f"everybody on the way to {config.url} can read the token: use https://")
    return LoadedConfig(config, token, _state_dir(config, path, environment), tuple(source.warnings))


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


def dotted_values(config: Config) -> dict[str, object]:
    """Every key with its value, sections dotted."""
    values: dict[str, object] = {}
    for name, value in config:
        if isinstance(value, _Section):
            values.update({f"{name}.{key}": default for key, default in value})
        else:
            values[name] = value
    return values


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
            instead = _NOT_OURS.get(_dotted(here))
            if instead is None:
                values[key] = self.build(value_node, here)
            else:
                self.warnings.append(f"{self._place(here, self.line_of(here))}: has no effect here: {instead}")
        return values

    def validated(self) -> Config | None:
        """The typed configuration, or None after noting each problem."""
        present = {key: value for key, value in self.values.items() if value is not None}
        try:
            config = Config.model_validate(present)
        except ValidationError as error:
            for details in error.errors(include_url=False):
                self._note(details)
            return None
        self._check_bounds(config)
        return config

    def _note(self, details: ErrorDetails) -> None:
        path = tuple(details["loc"])
        if details["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(path[-1]), _valid_keys(path), n=1, cutoff=0.4)
            hint = f"; nearest valid key: {near[0]}" if near else ""
            self.problem(path, f"unknown key{hint}")
            return
        expected = details["msg"].removeprefix("Value error, ").replace("Input should", "it should")
        expected = expected.replace("it should be", "expected").replace("Tuple should have", "expected")
        shown = "" if path[0] == "token" else f", found {details['input']!r}"
        self.problem(path, expected + shown)

    def _check_bounds(self, config: Config) -> None:
        for section, low, high in _BOUNDS:
            values = getattr(config, section)
            smallest, largest = getattr(values, low), getattr(values, high)
            if smallest > largest:
                limit = f"{section}.{high} = {largest}"
                self.problem((section, low), f"expected at most {limit}, found {smallest}")
        challenge = config.challenge
        if challenge.only_bot and not challenge.accept_bot:
            self.problem(("challenge", "only_bot"), "expected accept_bot to be true as well, found false")

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
            source.problem(key, f"cannot be read: {token_path}: {error.__class__.__name__}")
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


def _valid_keys(path: Sequence[str | int]) -> list[str]:
    """The keys that exist beside the last one of `path`."""
    section: BaseModel = Config()
    for key in path[:-1]:
        section = getattr(section, str(key))
    return list(type(section).model_fields)


def _dotted(path: Sequence[str | int]) -> str:
    return ".".join(str(part) for part in path)


def _yaml_complaint(error: yaml.YAMLError) -> str:
    """`line: what is wrong`, on one line."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        context = f" {error.context}" if error.context else ""
        return f"{mark.line + 1 if mark else 1}: not YAML: {error.problem}{context}"
    return f" not YAML: {str(error).splitlines()[0]}"
