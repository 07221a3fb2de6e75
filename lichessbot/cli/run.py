"""`lichessbot run`: start the daemon."""

import faulthandler
import gc
import os
import platform
import signal
import sys
from pathlib import Path

import click

from engine.facade import build_mode
from lichessbot import __version__
from lichessbot.cli.options import access_to, config_option, load
from lichessbot.daemon import Daemon
from lichessbot.errors import ExitCode, StateError, StateNewer
from lichessbot.log import EventLog, Verbosity, start_logging
from lichessbot.storage.database import Database
from lichessbot.storage.game_records import Retention
from lichessbot.storage.store import Store
from lichessbot.systemd import ServiceManager


@click.command("run")
@config_option
@click.option("-v", "--verbose", is_flag=True, help="Log the search, requests and ignored events too.")
@click.option("-q", "--quiet", is_flag=True, help="Log only starts, ends and troubles.")
def command(config_file: Path | None, verbose: bool, quiet: bool) -> int:
    """Play until a signal.

    The first SIGINT (Ctrl-C) or SIGTERM finishes the games in progress and accepts no new ones; the second leaves at
    once. SIGHUP reloads the configuration.
    """
    if verbose and quiet:
        raise click.UsageError("--verbose and --quiet exclude each other")
    settings, timeouts = load(config_file)
    loaded = settings.loaded
    verbosity = Verbosity.VERBOSE if verbose else Verbosity.QUIET if quiet else Verbosity.NORMAL
    start_logging(sys.stderr, [loaded.token.get_secret_value()], loaded.config.log_format, verbosity)
    log = EventLog()
    log.info(
        "start",
        version=__version__,
        python=platform.python_version(),
        engine=build_mode(),
        config=config_file or "defaults",
    )
    for warning in loaded.warnings:
        log.warning("config", note=warning)
    faulthandler.enable()  # so that a watchdog's SIGABRT logs where every thread was
    if os.geteuid() == 0:
        log.warning("root", note="running as root is unnecessary; use a separate user (deploy/README.md)")
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the state folder names this process; a SIGHUP must not end it
    try:
        records = loaded.config.records
        store = Store(Database(loaded.state_dir), retention=Retention(records.keep, records.max_bytes))
    except StateError as error:
        log.error("state", error=error)
        return ExitCode.USAGE if isinstance(error, StateNewer) else ExitCode.FAILED
    # What is loaded by now stays, so the garbage collector, which stops every thread, need not visit it again.
    gc.collect()
    gc.freeze()
    try:
        return Daemon(settings, access_to(loaded, timeouts), timeouts, store, ServiceManager(os.environ)).run()
    finally:
        store.close()
