"""`lichessbot rehearse`: play against the embedded Lichess."""

import os
from typing import Any

import click

from lichessbot.rehearsal.cli import rehearse
from lichessbot.rehearsal.cli.options import Options, rehearsal_options


@click.command("rehearse")
@rehearsal_options
def rehearse_command(**values: Any) -> int:
    """Play against an embedded Lichess, offline.

    The exit code is 0 if every game was played to its end by the rules.
    """
    options = Options(**values)
    if options.config is None:
        return rehearse.run(options)
    from lichessbot.config import load_config  # its import takes about as long as all else that starts here
    from lichessbot.config.effective import every_key, set_keys

    # Errors name the operator's own file and lines. The bot gets a copy in another folder, so paths must be absolute.
    loaded = load_config(options.config.absolute(), os.environ, needs_token=False)
    for note in loaded.warnings:
        click.echo(f"note: {note}")
    engines = loaded.config.engine, *(profile.engine for profile in loaded.config.profiles)
    may_resign = any(it.draw_or_resign.resign_enabled for it in engines)
    # Keys that are not set stay so, as an engine need not take their defaults. Those of the personality are set by now.
    # The opponents need every rule for challenges.
    config = set_keys(loaded.config) | {"personality": None, "challenge": every_key(loaded.config.challenge)}
    return rehearse.run(
        options,
        config=config,
        may_resign=may_resign,
        slots=loaded.config.challenge.concurrency,
        is_our_engine=not any(it.command for it in engines),
    )
