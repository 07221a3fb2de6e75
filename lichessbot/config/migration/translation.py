"""Our values for an old file: where each one comes from, and which old keys have no counterpart."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lichessbot.config.root import LINKS_ARE_DROPPED, PLACEHOLDERS, has_link
from lichessbot.config.sources import BookFiles
from lichessbot.config.yaml_file import KeyPath, YamlFile, dotted, section_at

Key = str | KeyPath

TO_ACCEPT_SOME: Final = "set it, then accept_bot, and remove min_rating and max_rating of human"
"""How challenges are accepted again where a rule was left out."""
# Our keys that name files, from the folder of the file that names them.
_FILES: Final = (
    "working_dir", "lichess_bot_tbs.syzygy.paths", *(f"polyglot.book.{variant}" for variant in BookFiles.model_fields),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A key of the old file without a counterpart. It `matters` if it changed how the old bot played."""

    key: str
    line: int
    reason: str
    matters: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """A key of ours whose number in the old file is not accepted, with the nearest one that is."""

    key: str
    asked: Any
    now: Any


class Translation:
    """Takes the keys out of an old file one by one; what remains at the end is unknown.

    A key is dotted, or a path if an operator chose one of its names.
    """

    def __init__(self, old: YamlFile, program: str) -> None:
        self.program = program
        """The bot whose file it is."""
        self.values: dict[str, Any] = {}
        """Ours, as in a file."""
        self.origins: dict[KeyPath, KeyPath] = {}
        """The old key of a key of ours."""
        self.remarks: dict[KeyPath, str] = {}
        """What to say of a key of ours."""
        self.left_out: list[LeftOut] = []
        self.changed: list[Changed] = []
        self.folder = Path()
        """The folder from which our relative paths count, as the old bot was started there."""
        self.token = str(old.values.get("token") or "").strip()
        self._old = old
        self._rest: dict[str, Any] = deepcopy(old.values)
        self._written: dict[KeyPath, KeyPath] = {}  # the names in the file of the sections and keys that are renamed

    def names(self, key: Key = ()) -> list[str]:
        """Return the keys of an old section that are not yet taken; none if it is no section."""
        return list(section_at(self._rest, *_path(key)))

    def take(self, key: Key) -> Any:
        """Take a key out of the old file; None if it is missing or empty."""
        section, name = self._place(key)
        return section.pop(name, None)

    def peek(self, key: Key) -> Any:
        """Return an old value; None if it is missing or empty."""
        section, name = self._place(key)
        return section.get(name)

    def rename(self, old: Key, *new: Key) -> None:
        """Give an old key those of its names in newer files that have no value; without any, it stays."""
        free = [name for name in new if self.peek(name) is None]
        if not free or not self._has(old):
            return
        value = self.take(old)
        for name in free:
            self.add(name, deepcopy(value), written=old)

    def add(self, new: Key, value: Any, *, written: Key) -> None:
        """Add a key that newer files have, with the old key that it comes from."""
        _put(self._rest, _path(new), value)
        self._written[_path(new)] = self.as_written(written)

    def as_written(self, key: Key) -> KeyPath:
        """Return the path in the file of an old key, which may be renamed."""
        path = _path(key)
        known = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in self._written), ())
        return (*self._written[known], *path[len(known) :]) if known else path

    def set(self, key: Key, value: Any, *, old: Key = "", remark: str = "") -> None:
        """Set a key of ours; `old`: the key that it comes from."""
        path = _path(key)
        _put(self.values, path, value)
        if old:
            self.origins[path] = self.as_written(old)
        if remark:
            self.remarks[path] = remark

    def accept_no_challenge(self, remark: str, *, old: Key = "") -> None:
        """Accept no challenge: no bots, and no human has a rating of 0. `old`: the key that asks for it."""
        self.set("challenge.accept_bot", False, old=old, remark=remark)
        challenge = self.values["challenge"]
        challenge.pop("only_bot", None)  # it needs accept_bot
        human = challenge.get("human")
        closed = {**(human if isinstance(human, dict) else {}), "min_rating": 0, "max_rating": 0}
        self.set("challenge.human", closed, old=old, remark=remark)

    def move(
        self, old: Key, new: Key, convert: Callable[[Any], Any] = lambda value: value, *, remark: str = ""
    ) -> Any:
        """Take an old key and set ours; return our value, None if the old key is missing or empty.

        A value that cannot be converted is taken as it is: our models say what they expect.
        """
        value = self.take(old)
        if value is None:
            if self.as_written(old) in self._old.lines:
                self.note(old, "is empty", matters=False)
            return None
        with suppress(ArithmeticError, TypeError, ValueError):
            value = convert(value)
        self.set(new, value, old=old, remark=remark)
        return value

    def move_greeting(self, old: Key, new: Key) -> None:
        """Take a chat line and set ours; note the words in braces that are unknown here. Leave out one with a link."""
        text = self.peek(old)
        if isinstance(text, str) and has_link(text):
            self.leave(old, LINKS_ARE_DROPPED)
        elif isinstance(text, str) and (line := without_unknown_words(text)) != " ".join(text.split()):
            self.note(old, f"only {', '.join(f'{{{it}}}' for it in PLACEHOLDERS)} are filled in here")
            self.move(old, new, lambda _: line)
        else:
            self.move(old, new)

    def leave(self, old: Key, reason: str, *, matters: bool | None = None) -> None:
        """Take an old key and note why it is left out; nothing if it is missing."""
        if self._has(old):
            value = self.take(old)
            self.note(old, reason, matters=is_active(value) if matters is None else matters)

    def note(self, old: Key, reason: str, *, matters: bool = True) -> None:
        """Note that an old key or an entry of a list, already taken, is left out."""
        path = self.as_written(old)
        left_out = LeftOut(dotted(path), self._old.line_of(path), reason, matters)
        if left_out not in self.left_out:  # an old key may have two new names
            self.left_out.append(left_out)

    def leave_the_rest(self) -> None:
        """Note each old key that was not taken."""
        for path, value in _leaves(self._rest, ()):
            reason = "is empty" if value is None else f"no key of {self.program} that is known here"
            self.note(path, reason, matters=is_active(value))
        self._rest = {}

    def relocate(self, new: Path) -> None:
        """Write the relative paths as they count from `new`, the folder of the new file.

        An engine without a working_dir keeps the old bot's, for files in its arguments and options.
        """
        folder = self.folder.absolute()
        is_the_same = new.resolve() == folder.resolve()
        base = self.values.get("engine", {})
        engines = (base, *(it["engine"] for it in self.values.get("profiles", ())))
        for engine in engines:
            if engine.get("command") and not engine.get("working_dir"):
                engine["working_dir"] = os.curdir if is_the_same else str(folder)
                self.remarks["engine", "working_dir"] = "where the old bot is started"
        if is_the_same:
            return
        for engine in engines:
            for key in _FILES:
                _change(engine, key.split("."), folder)
            if command := engine.get("command"):
                command[0] = _below(folder, command[0]) if os.sep in command[0] else command[0]
            elif "command" not in base:
                for name, value in (options := engine.get("uci_options", {})).items():
                    if str(value).startswith(("./", "../")):
                        options[name] = _below(folder, value)
        for key in ("pgn_directory", "state_dir", "token_file"):
            _change(self.values, [key], folder)

    def _has(self, key: Key) -> bool:
        section, name = self._place(key)
        return name in section

    def _place(self, key: Key) -> tuple[dict[Any, Any], str | int]:
        """Return the old section of a key, an empty one if there is none, and the name of the key in it."""
        *sections, name = _path(key)
        return section_at(self._rest, *sections), name


def _path(key: Key) -> KeyPath:
    return tuple(key.split(".")) if isinstance(key, str) else key


def _put(section: dict[Any, Any], path: KeyPath, value: Any) -> None:
    *sections, name = path
    for it in sections:
        if not isinstance(section.get(it), dict):
            section[it] = {}
        section = section[it]
    section[name] = value


def is_active(value: Any) -> bool:
    """Return whether a value asks for something: not off, empty, or a section whose `enabled` is off."""
    if isinstance(value, Mapping):
        return value.get("enabled") is not False and any(map(is_active, value.values()))
    return bool(value) and value != "none"


def _leaves(values: Mapping[str, Any], path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name), value


def without_unknown_words(text: str) -> str:
    """Return a chat line without the words in braces that are unknown here, as both bots do. Doubled braces stay."""
    braces = r"\{\{|\}\}|\s*\{([^{}]*)\}"
    return " ".join(re.sub(braces, lambda it: it[0] if it[1] in (None, *PLACEHOLDERS) else "", text).split())


def number_of(option: Any) -> Any:
    """Return the value of a UCI option that is a number; it may be written as text."""
    return int(option) if isinstance(option, str) and re.fullmatch(r"\s*[0-9]{1,20}\s*", option) else option


def _change(values: Any, path: list[str], folder: Path) -> None:
    """Change the relative paths of the key at `path`, if it is set, to those from `folder`."""
    *sections, name = path
    section = section_at(values, *sections)
    if value := section.get(name):
        section[name] = [_below(folder, it) for it in value] if isinstance(value, list) else _below(folder, value)


def _below(folder: Path, name: Any) -> Any:
    return name if not isinstance(name, str) or name.startswith("~") else os.path.normpath(folder / name)
