"""`lichessbot config`: explain, translate, show and describe configurations."""

import json
import os
from pathlib import Path
from typing import Final

import click

from lichessbot.cli.options import OWNER_ONLY, config_option, write_whole
from lichessbot.config import in_yaml, load_config, personalities
from lichessbot.config.credentials import TOKEN_VARIABLE, token_problem
from lichessbot.config.effective import effective
from lichessbot.config.explanations import example as example_text
from lichessbot.config.migration import Translation, translate_file, write
from lichessbot.config.schema import schema as json_schema
from lichessbot.errors import ConfigError
from lichessbot.log import counted, inert

_USUAL_OUTPUT: Final = Path("config.yml")
_TOKEN_ENDING: Final = ".token"
_READABLE: Final = 0o666


@click.group("config")
def config_command() -> None:
    """Explain, translate and show configurations."""


@config_command.command()
def example() -> None:
    """Print the example configuration, which explains every key.

    `lichessbot config example > config.yml` makes a file to edit.
    """
    click.echo(example_text(), nl=False)


@config_command.command()
@config_option
@click.option("--changed", is_flag=True, help="Show only the keys that a file or the environment sets.")
def show(config_file: Path | None, changed: bool) -> None:
    """Print each key's value in force and where it comes from. The token is hidden."""
    loaded = load_config(config_file, os.environ, needs_token=False)
    for it in effective(loaded, os.environ):
        if not (changed and it.is_default):
            click.echo(inert(f"{it.key}: {it.value}  # {it.origin}"))
    for warning in loaded.warnings:
        click.echo(f"note: {inert(warning)}", err=True)


@config_command.command()
def schema() -> None:
    """Print a JSON schema of the configuration. Editors check and complete YAML with it."""
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@config_command.command()
@click.argument("name", type=click.Choice(tuple(personalities())))
def personality(name: str) -> None:
    """Print a personality that ships with the bot.

    `lichessbot config personality captain > me.yml` makes one to edit; `personality: me.yml` uses it.
    """
    click.echo(personalities()[name].read_text(encoding="utf-8"), nl=False)


@config_command.command()
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD.yml")
@click.option(
    "--output", type=click.Path(path_type=Path), default=_USUAL_OUTPUT, show_default=True, metavar="FILE",
    help="Where to write the new file; a token goes beside it, into FILE with the ending .token.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
def migrate(old: Path, output: Path, force: bool) -> None:
    """Translate OLD.yml of lichess-bot or BotLi into a new file.

    The new file explains its keys, and lists the old keys that have no counterpart, with the reasons. A token goes into
    a file of its own. OLD.yml stays as it is.
    """
    if os.path.isdir(output) or output.suffix == _TOKEN_ENDING:
        expected = f"expected a file such as {_USUAL_OUTPUT}, which a token goes beside"
        raise ConfigError([f"--output: {expected}, found {output}"])
    found = translate_file(old)
    token_file = output.with_suffix(_TOKEN_ENDING)
    found.relocate(output.absolute().parent)
    problem = token_problem(found.token)
    if problem is None:
        found.set("token_file", token_file.name, old="token", remark="a file of its own, so that this one can be shown")
    elif found.token:
        found.note(("token",), problem)
    _refuse(old, [output, token_file] if problem is None else [output], force=force)
    write_whole(output, write(found, old.name).encode(), _READABLE)
    if problem is None:
        write_whole(token_file, f"{found.token}\n".encode(), OWNER_ONLY)
    _summarise(found, old, output, token_file if problem is None else None)


def _refuse(old: Path, files: list[Path], *, force: bool) -> None:
    """Refuse to write over the old file, and without `force` over any other. Raises ConfigError."""
    for file in files:
        if os.path.exists(file) and file.samefile(old):
            raise ConfigError([f"{file} is the file to translate; name another one with --output"])
        if os.path.exists(file) and not force:
            raise ConfigError([f"{file} exists; --force replaces it, --output writes elsewhere"])


def _summarise(found: Translation, old: Path, output: Path, token_file: Path | None) -> None:
    """Say on standard error what was done, which keys that had an effect are left out, and which numbers changed."""
    missed = [it for it in found.left_out if it.matters]
    others = len(found.left_out) - len(missed)
    lines = [f"{output}: {old}, a configuration of {found.program}, translated"]
    if not found.folder.samefile(old.parent):
        lines.append(f"relative paths: from {found.folder}, where {old} finds its engine")
    lines += [f"left out: {old}:{it.line}: {it.key}: {it.reason}" for it in sorted(missed, key=lambda it: it.line)]
    lines += [f"changed: {it.key}: {in_yaml(it.asked)} -> {in_yaml(it.now)}" for it in found.changed]
    if others:
        lines.append(f"left out without an effect: {counted(others, 'key')}, listed at the end of {output}")
    lines.append(
        f"token: in {token_file} (mode 600), so that {output} can be shown to others"
        if token_file is not None
        else f"token: none; set {TOKEN_VARIABLE}, or token_file in {output}"
    )
    lines.append(f"next: lichessbot check --config {output}")
    for line in lines:
        click.echo(inert(line), err=True)
