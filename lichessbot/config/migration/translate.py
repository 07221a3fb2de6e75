"""Translates an old file: finds out whose it is, and drops what our configuration does not accept."""

from pathlib import Path
from typing import Any

from lichessbot.config.loader import is_botlis, problems_of
from lichessbot.config.migration import botli, lichess_bot
from lichessbot.config.migration.translation import Translation
from lichessbot.config.yaml_file import KeyPath, YamlFile
from lichessbot.errors import ConfigError

_MOST_ROUNDS = 100  # a value that is dropped may let another problem show


def translate_file(path: Path) -> Translation:
    """Translate the file of another bot. Raises ConfigError if it cannot be read."""
    old = YamlFile.read(path)
    if old.problems:
        raise ConfigError([problem.text for problem in old.problems])
    return translate(old, path.parent)


def translate(old: YamlFile, folder: Path) -> Translation:
    """Translate what was read from a file in `folder`; the token stays out of the values."""
    found = botli.translate(old) if is_botlis(old.values) else lichess_bot.translate(old)
    found.leave_the_rest()
    _drop_what_is_refused(found, folder)
    return found


def _drop_what_is_refused(found: Translation, folder: Path) -> None:
    """Take out each value that our configuration does not accept, and note why."""
    for _ in range(_MOST_ROUNDS):
        problems = problems_of(found.values, folder)
        if not problems:
            return
        # From the end, as numbers of entries count from the start of a list.
        for problem in sorted(problems, key=lambda it: [str(part).zfill(4) for part in it.path], reverse=True):
            place = _existing(found.values, problem.path)
            if place:
                _remove(found.values, place)
                ours = next((place[:end] for end in range(len(place), 0, -1) if place[:end] in found.origins), place)
                found.note(found.origins.get(ours, place), problem.message)


def _existing(values: Any, path: KeyPath) -> KeyPath:
    """Return the part of `path` that is in `values`."""
    for end, key in enumerate(path):
        known = key in values if isinstance(values, dict) else isinstance(values, list) and isinstance(key, int)
        if not known:
            return path[:end]
        values = values[key]
    return path


def _remove(values: Any, path: KeyPath) -> None:
    for key in path[:-1]:
        values = values[key]
    del values[path[-1]]
