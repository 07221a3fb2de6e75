"""`lichessbot run`: start the daemon."""

import faulthandler
import gc
import importlib.resources
import os
import platform
import sys
from datetime import timedelta
from pathlib import Path
from typing import Final

import click

from engine.facade import build_mode
from lichessbot import __version__
from lichessbot.cli.options import Parsed, access_to, config_option, load
from lichessbot.config import LoadedConfig, host_and_port, is_loopback, listen_address
from lichessbot.control.web.server import WebServer
from lichessbot.control.web.site import Site
from lichessbot.daemon import Daemon
from lichessbot.errors import ConfigError, ExitCode, StateError, StateNewer
from lichessbot.log import EventLog, Verbosity, start_logging
from lichessbot.recorded_games import RecordedGames
from lichessbot.storage.database import Database
from lichessbot.storage.game_records import Retention
from lichessbot.storage.store import Store
from lichessbot.systemd import ServiceManager

_USUAL_ADDRESS: Final = "127.0.0.1:8080"


def _address(text: str) -> str:
    try:
        return listen_address(text)
    except ValueError:
        raise ValueError(f"expected an address and a port such as {_USUAL_ADDRESS}, found {text!r}") from None


@click.command("run")
@config_option
@click.option(
    "--status",
    "listen",
    type=Parsed(_address),
    is_flag=False,
    flag_value=_USUAL_ADDRESS,
    metavar="[ADDRESS]",
    help=f"Serve the operator's page, at {_USUAL_ADDRESS} or this address and port. As status.listen.",
)
@click.option("-v", "--verbose", is_flag=True, help="Log the search, requests and ignored events too.")
@click.option("-q", "--quiet", is_flag=True, help="Log only starts, results, warnings and errors.")
def run_command(config_file: Path | None, listen: str | None, verbose: bool, quiet: bool) -> int:
    """Play until stopped.

    The first SIGINT (Ctrl-C) or SIGTERM finishes the games in progress and accepts no new ones; the second leaves at
    once. SIGHUP reloads the configuration.
    """
    if verbose and quiet:
        raise click.UsageError("--verbose and --quiet exclude each other")
    settings, timeouts = load(config_file)
    loaded = settings.loaded
    web = _web_server(loaded, listen)
    verbosity = Verbosity.VERBOSE if verbose else Verbosity.QUIET if quiet else Verbosity.NORMAL
    secrets = [it.get_secret_value() for it in (loaded.token, loaded.status_password) if it is not None]
    start_logging(sys.stderr, secrets, loaded.config.log_format, verbosity)
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
    try:
        records = loaded.config.records
        retention = Retention(timedelta(days=records.keep_days), records.max_mb << 20)
        store = Store(Database(loaded.state_dir), retention=retention)
    except StateError as error:
        log.error("state", error=error)
        return ExitCode.USAGE if isinstance(error, StateNewer) else ExitCode.FAILED
    if web is not None:
        web.load()
    # What is loaded by now stays, so the garbage collector, which stops every thread, need not visit it again.
    gc.collect()
    gc.freeze()
    try:
        return Daemon(settings, access_to(loaded, timeouts), timeouts, store, ServiceManager(os.environ), web).run()
    finally:
        store.close()


def _web_server(loaded: LoadedConfig, listen: str | None) -> WebServer | None:
    """Return the server of the operator's page; None if none is wanted. Raises ConfigError if it would be unsafe."""
    listen, password = listen or loaded.config.status.listen, loaded.status_password
    if password is None and (file := loaded.config.status.password_file) is not None:
        raise ConfigError([f"{loaded.location('status.password_file')}: cannot be read: {file} is missing"])
    if listen is None:
        return None
    if password is None and not is_loopback(listen):
        raise ConfigError([f"--status: expected 127.0.0.1 or [::1], or status.password_file too, found {listen!r}"])
    host, port = host_and_port(listen)
    files = importlib.resources.files("lichessbot") / "static"
    history = RecordedGames(loaded.state_dir)
    return WebServer(Site(host, port, history, files, None if password is None else password.get_secret_value()))
