"""The operator's own configuration, as the rehearsed bot gets it: with absolute paths."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import yaml

_NO_BOOKS = ("selection", "min_weight")  # in older files of lichess-bot these stand among the books


def own_config(file: Path | None) -> Mapping[str, object] | None:
    """Return the configuration in a file, if one is given. Raises click.UsageError if it cannot be read."""
    if file is None:
        return None
    try:
        settings: dict[str, object] = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise click.UsageError(f"{file} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(settings, dict):
        raise click.UsageError(f"{file} is no configuration")
    folder = file.absolute().parent
    for engine in _engines(settings):
        _anchor(engine, folder)
    for section in map(settings.get, ("challenge", "matchmaking")):
        if isinstance(section, dict) and "block_list_files" in section:
            section["block_list_files"] = _anchored(section["block_list_files"], folder)
    if isinstance(name := settings.get("personality"), str) and name.endswith((".yml", ".yaml")):
        settings["personality"] = _anchored(name, folder)
    return settings


def inside(section: object, *keys: str) -> object:
    """Return the value below nested keys; None if there is none."""
    for key in keys:
        section = section.get(key) if isinstance(section, Mapping) else None
    return section


def _engines(config: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Yield the section `engine` and those of the profiles, if they are sections."""
    profiles = config.get("profiles")
    for holder in (config, *(profiles if isinstance(profiles, list) else ())):
        engine = inside(holder, "engine")
        if isinstance(engine, dict):
            yield engine


def _anchor(engine: dict[str, object], folder: Path) -> None:
    """Make paths of engines absolute: the bot gets a copy of the configuration in another folder."""
    match engine.get("command"):
        case [str(program), *arguments] if "/" in program:
            engine["command"] = [_absolute(program, folder), *arguments]
    if "dir" in engine:
        engine["dir"] = _anchored(engine["dir"], folder)
    if "/" in str(interpreter := engine.get("interpreter")):
        engine["interpreter"] = _anchored(interpreter, folder)
    if engine.get("working_dir"):
        engine["working_dir"] = _anchored(engine["working_dir"], folder)
    books, tables = inside(engine, "polyglot", "book"), inside(engine, "lichess_bot_tbs", "syzygy")
    if isinstance(books, dict):
        books |= {key: _anchored(files, folder) for key, files in books.items() if key not in _NO_BOOKS}
    if isinstance(tables, dict) and "paths" in tables:
        tables["paths"] = _anchored(tables["paths"], folder)


def _anchored(names: object, folder: Path) -> object:
    """Return one path or a list of paths made absolute; other values unchanged, for the bot to report."""
    if isinstance(names, list):
        return [_anchored(name, folder) for name in names]
    return _absolute(names, folder) if isinstance(names, str) else names


def _absolute(name: str, folder: Path) -> str:
    """Return a path below `folder` or a home; that of a user who does not exist stays as it is."""
    return os.path.join(folder, os.path.expanduser(name))
