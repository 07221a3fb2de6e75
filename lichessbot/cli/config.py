"""`lichessbot config example`: print the example configuration, which explains every key."""

from importlib.resources import files

import click


@click.group("config")
def command() -> None:
    """Print the example configuration."""


@command.command()
def example() -> None:
    """Print the example configuration, which explains every key.

    `lichessbot config example > config.yml` makes a file to edit.
    """
    click.echo(files("lichessbot.config").joinpath("example.yml").read_text(encoding="utf-8"), nl=False)
