"""YAML without its meaning: a file with the line of each key and the location of every problem, and values as text."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import yaml

from lichessbot.config.credentials import HIDDEN, SECRET_KEYS
from lichessbot.errors import ConfigError
from lichessbot.log import counted

KeyPath = tuple[str | int, ...]

REPEATED = "is repeated"
"""How the message about a repeated key begins."""

_YAMLS_TAGS = "tag:yaml.org,2002:"
_MERGE = _YAMLS_TAGS + "merge"
_NULL, _BOOL, _INT = (_YAMLS_TAGS + kind for kind in ("null", "bool", "int"))
_OCTAL = re.compile(r"[-+]?0[0-7_]+")
_NO_BREAK_SPACE = "\xa0"
_LINE_BREAKS = "\n\x85\u2028\u2029"
_SHOWN = 40  # characters of a value that cannot be read
_DEEPEST = 8  # levels of nesting, because an alias may contain itself
_MOST_VALUES = 100_000  # because lists of aliases of lists of aliases soon fill the memory


class Problem(NamedTuple):
    """A problem with the key at `path`. `line` is 0 if unknown, `location` names file, line and key as far as known.

    `nearest`: the number that is nearest to one out of range or to a fraction; of .inf, one beyond all ranges.
    """

    line: int
    location: str
    message: str
    path: KeyPath
    nearest: float | None = None

    @property
    def text(self) -> str:
        return f"{self.location}: {self.message}"


@dataclass
class YamlFile:
    """A file while it is read: its values, the line of each key, and problems."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[KeyPath, int] = field(default_factory=dict)
    words: dict[KeyPath, str] = field(default_factory=dict)
    """The words of the file, such as `no` and `On`, that YAML reads as true or false."""
    problems: list[Problem] = field(default_factory=list)
    _values_left: int = _MOST_VALUES

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file. Raises ConfigError if it cannot be read or is not YAML."""
        source = cls(str(path))
        text = _read_text(path)
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            found = f"found the character {chr(error.character)!r}"
            raise ConfigError([f"{path}:{line}: not YAML: expected printable text, {found}"]) from error
        except yaml.MarkedYAMLError as error:
            raise ConfigError([f"{path}:{_yaml_problem(error)}"]) from error
        except RecursionError as error:
            raise ConfigError([f"{path}: is nested too deeply"]) from error
        except (ValueError, OverflowError) as error:  # an escape that is no character
            raise ConfigError([f"{path}: cannot be read: {error}"]) from error
        if isinstance(root, yaml.MappingNode):
            source.values = source._build(root, ())
        elif root is not None and root.tag != _NULL:
            source.problem((), "expected keys and values such as `abort_time: 30`", root.start_mark.line + 1)
        return source

    def _build(self, node: yaml.Node, path: KeyPath) -> Any:
        """Return the value of a node; note the line of each key and each repeated key. Raises ConfigError."""
        self._values_left -= 1
        if self._values_left < 0:
            raise ConfigError([f"{self.name}: has more than {_MOST_VALUES} values, those of aliases (*name) included"])
        self.lines.setdefault(path, node.start_mark.line + 1)
        if len(path) > _DEEPEST:
            self.problem(path, "is nested too deeply")
            return None
        if isinstance(node, yaml.MappingNode):
            return self._build_mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self._build(item, (*path, index)) for index, item in enumerate(node.value)]
        if not node.tag.startswith(_YAMLS_TAGS):
            self.problem(path, "a text that begins with ! must be in quotes")
            return None
        if node.tag == _INT and _OCTAL.fullmatch(node.value):
            self.problem(path, "YAML reads a number that begins with 0 as octal: remove the 0, or put a text in quotes")
            return None
        if node.tag == _BOOL and node.value.lower() not in ("true", "false"):
            self.words[path] = node.value
        try:
            value = yaml.SafeLoader("").construct_object(node, deep=True)
            if isinstance(value, int):
                str(value)  # raises ValueError if it is too long to be shown, as one in hexadecimal digits may be
            if isinstance(value, str) and ("\0" in value or value.encode("utf-8", "replace").decode() != value):
                raise ValueError(value)        # no path and no argument can hold it
            return value
        except (yaml.YAMLError, ValueError, LookupError, AttributeError):  # what PyYAML raises depends on the tag
            kind = node.tag.removeprefix(_YAMLS_TAGS)
            why = "" if kind == "str" else f", which YAML cannot read as {kind}: put a text in quotes"
            found = HIDDEN if SECRET_KEYS.fullmatch(dotted(path)) else repr(node.value[:_SHOWN])
            self.problem(path, f"expected a plain value, found {found}{why}")
            return None

    def _build_mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        self._merge(node, path)
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self.problem(path, "expected a key: put a text that begins with { or [ in quotes", line)
                continue
            key = str(key_node.value)
            here = (*path, key)
            if _NO_BREAK_SPACE in key:
                here = (*path, key.replace(_NO_BREAK_SPACE, " ").strip())
                self.problem(here, "replace the no-break spaces of this line by ordinary ones", line)
                continue
            if key in values:
                first = self.lines[here]
                self.problem(here, f"{REPEATED}; first in line {first}", line)
                continue
            self.lines[here] = line
            values[key] = self._build(value_node, here)
        return values

    def _merge(self, node: yaml.MappingNode, path: KeyPath) -> None:
        """Replace each `<<: *base` by the keys of `base` that the section does not have itself."""
        bases = [value for key, value in node.value if key.tag == _MERGE]
        node.value = [(key, value) for key, value in node.value if key.tag != _MERGE]
        known = {str(key.value) for key, _ in node.value}
        for value in bases:
            for base in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(base, yaml.MappingNode):
                    self.problem((*path, "<<"), "expected a section such as *base", base.start_mark.line + 1)
                    continue
                self._merge(base, path)
                node.value += [(key, inner) for key, inner in base.value if str(key.value) not in known]
                known.update(str(key.value) for key, _ in base.value)

    def problem(self, path: KeyPath, text: str, line: int | None = None, nearest: float | None = None) -> None:
        line = line or self.line_of(path)
        self.problems.append(Problem(line, self.location(path, line), text, path, nearest))

    def line_of(self, path: KeyPath) -> int:
        """Return the line of the key, or of the nearest section around it in the file; 0 if there is none."""
        around = (path[:end] for end in range(len(path), -1, -1))
        return next((self.lines[known] for known in around if known in self.lines), 0)

    def location(self, path: KeyPath, line: int | None = None) -> str:
        """Return `file:line: key`, as far as known; without `line` with that of the key."""
        line = self.line_of(path) if line is None else line
        where = f"{self.name}:{line}" if line else self.name
        return f"{where}: {dotted(path)}" if path else where


def value_at(values: Any, path: KeyPath) -> Any:
    """Return the value at a path that exists."""
    for key in path:
        values = values[key]
    return values


def section_at(values: Any, *path: str | int) -> dict[str, Any]:
    """Return the section at `path`; an empty one if there is none."""
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return values if isinstance(values, dict) else {}


def without(values: dict[str, Any], path: KeyPath) -> dict[str, Any]:
    """Return a copy without the key at `path`, or without the last one on the way to it."""
    key, *rest = map(str, path)
    inner = {key: without(values[key], tuple(rest))} if rest and isinstance(values[key], dict) else {}
    return {name: value for name, value in values.items() if name != key} | inner


def dotted(path: KeyPath) -> str:
    """Return the key as people read it, such as `profiles #1.engine.depth` of the first profile."""
    return "".join(f" #{part + 1}" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def path_of(key: str) -> KeyPath:
    """Return the path of a dotted key."""
    parts = re.split(r"\.| (?=#\d+(?:\.|$))", key)
    return tuple(int(part[1:]) - 1 if part.startswith("#") else part for part in parts)


_NO_COLON = "could not find expected ':'"
_KEY_EXPECTED = "expected a key and a value such as `abort_time: 30`"
# What PyYAML says, and what it means; the first that fits.
_YAML_PROBLEMS = (
    (" escape ", "in double quotes a backslash needs another one before it: put the text in single quotes"),
    ("quoted scalar", "the quote opened in {begun} is never closed"),
    ("flow sequence", "the [ in {begun} is never closed, or a comma is missing"),
    ("flow mapping", "the {{ in {begun} is never closed, or a comma is missing"),
    ("flow node", "a [ or {{ above is never closed"),
    ("'\\t'", "found a tab: indent with spaces"),
    ("undefined alias", "no key has the anchor (&name) of this *name; put a text that begins with * in quotes"),
    ("alphabetic or numeric", "a text that begins with * or & must be in quotes"),
    ("block end", "expected another key or list entry, as in {begun}"),
    ("'<document start>'", "expected nothing after a section, list or text that has no key"),
    ("mapping values are not allowed", "found a second colon, or the line is indented differently from the one above"),
    (_NO_COLON, _KEY_EXPECTED),
    ("cannot start any token", "found a character that must be put in quotes"),
    ("expected a single document", "a second document begins here: remove the line ---, or what is above or below it"),
)


# A key without a space after its colon, which YAML reads as a text that goes on in the next line.
_NO_SPACE = re.compile(r"\s*(?:- )?\w+:[^\s/].*")
# A line that lacks the colon behind its key, and is read as a text too; an address may follow.
_BARE = re.compile(r"\s*[^\s:'\"\[{-](?:[^:\]}]|:(?=\S))*")
_COMMENT = re.compile(r"\s#.*")
_SAID_BEHIND = ("mapping values are not allowed", _NO_COLON, "'<block mapping start>'")
_TEXT_IN_BRACES = re.compile(r":\s*(\{[^}\n]*\}|\[[^\]\n]*\])[ \t]*[^\s,}\]#]")


def _read_text(path: Path) -> str:
    """Return the text of a file. Raises ConfigError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        line, found = error.object.count(b"\n", 0, error.start) + 1, error.object[error.start]
        raise ConfigError([f"{path}:{line}: is not UTF-8 text: found byte {found:#04x}"]) from error


def _yaml_problem(error: yaml.MarkedYAMLError) -> str:
    """Return `line: problem` on one line."""
    mark = error.problem_mark or error.context_mark
    begun = f"line {error.context_mark.line + 1}" if error.context_mark else "the lines above"
    said = f"{error.problem or ''} {error.context or ''}".strip()
    plain = next((text.format(begun=begun) for known, text in _YAML_PROBLEMS if known in said), said)
    if mark is not None and _TEXT_IN_BRACES.search(mark.get_snippet(indent=0, max_length=200) or ""):
        plain = "a text that begins with { or [ must be in quotes"
    if mark is not None and (slip := _slip_before(said, mark)) is not None:
        return slip
    if mark is not None and ("block end" in said or "'<document start>'" in said):
        plain = _indentation(mark) or plain
    if _NO_COLON in said and error.context_mark is not None:
        mark = error.context_mark  # where the key is that has none; PyYAML misses it in a later line
    return f"{mark.line + 1 if mark else 1}: not YAML: {plain}"


def _slip_before(said: str, mark: yaml.Mark) -> str | None:
    """Return `line: problem` of a mistake that PyYAML notices only behind it, at `mark`; None if it is another one."""
    before = (mark.buffer or "")[: mark.index]
    if "'<scalar>'" in said and (text := before.rstrip()).endswith(("'", '"')):
        begin = text.rfind(text[-1], 0, -1)
        if "\n" in text[begin:]:
            line = text.count("\n", 0, begin) + 1
            return f"{line}: not YAML: the quote opened in line {line} is never closed"
        return f"{mark.line + 1}: not YAML: text follows a closing quote; in '...', write '' for an apostrophe"
    if any(it in said for it in _SAID_BEHIND):
        lines = before.split("\n")
        ends = [number for number, line in enumerate(lines[:-1], 1) if line.strip() and line.strip()[0] != "#"]
        if ends and _NO_SPACE.fullmatch(lines[ends[-1] - 1]):
            return f"{ends[-1]}: not YAML: put a space after the colon"
        if ends and ":" not in lines[-1] and _BARE.fullmatch(_COMMENT.sub("", lines[ends[-1] - 1])):
            return f"{ends[-1]}: not YAML: {_KEY_EXPECTED}"
    return None


def _indentation(mark: yaml.Mark) -> str | None:
    """Return how many spaces the line that begins at `mark` has, and may have; None if that is not what is wrong."""
    *above, line = (mark.buffer or "").split("\n")[: mark.line + 1]
    spaces = len(line) - len(line.lstrip(" "))
    expected: dict[int, int] = {}  # the spaces of each section that is open, with the nearest line of it
    for number, text in reversed(list(enumerate(above, 1))):
        content = text.strip()
        if content and content[0] != "#":
            # A key may stand behind the dash of an entry.
            begins = [len(text) - len(text.lstrip(marks)) for marks in ((" -", " ") if ":" in text else (" ",))]
            expected |= {it: number for it in begins if it < min(expected, default=it + 1)}
    if mark.column != spaces or not expected or spaces in expected:
        return None
    choices = " or ".join(f"{it} as in line {number}" for it, number in expected.items())
    return f"this line begins with {counted(spaces, 'space')}, expected {choices}"


class _Dumper(yaml.SafeDumper):
    """Escapes every line break in texts: YAML would read some as spaces."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = '"' if any(it in text for it in _LINE_BREAKS) else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _Dumper.represent_text)


def dumped(value: Any, *, in_flow_style: bool | None, width: int) -> str:
    """Return plain values as YAML that is read as the same values; `None` is PyYAML's mixed style."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, default_flow_style=in_flow_style, allow_unicode=True, width=width, sort_keys=False
    )
    return text


def in_one_line(value: Any) -> str:
    """Return a plain value as YAML in one line."""
    return dumped(value, in_flow_style=True, width=1 << 20).removesuffix("...\n").removesuffix("\n")
