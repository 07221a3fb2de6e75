"""`lichessbot rehearse`: play against the embedded Lichess."""

import argparse
import os

import click

from lichessbot.config import load_config
from lichessbot.rehearsal.cli import rehearse


@click.command("rehearse", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(words: tuple[str, ...]) -> int:
    """Play against an embedded Lichess, offline."""
    parser = argparse.ArgumentParser(prog="lichessbot rehearse")
    rehearse.add_arguments(parser)
    options = parser.parse_args(words)
    if options.config is not None:
        # Report errors with the operator's own file and lines: the bot gets a copy of it.
        load_config(options.config, os.environ, needs_token=False)
    return rehearse.run(options)
