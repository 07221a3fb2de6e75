"""`lichessbot upgrade`: turn the account of the token into a BOT account, after asking."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import click

from lichessbot.cli.options import access_to, config_option, explained, load
from lichessbot.errors import ApiError, ExitCode, Unreachable
from lichessbot.lichess.client import LichessClient

_EXPLANATION: Final = """\
{name} on {url} is about to become a BOT account.
This cannot be undone. A BOT account plays only through the Bot API: it cannot play by hand or use
the lobby, pools or puzzles, and can join only arenas that allow bots. Lichess allows the upgrade
only for accounts that have not played a game. Add a biography to the account's profile: without
one, Lichess does not list the bot as online, and other bots do not find it."""
_LOOK_AGAIN: Final = "Run `lichessbot upgrade` again: it asks only if the account is no BOT account yet."
_CONSENT: Final = "yes"


@click.command("upgrade")
@config_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def upgrade_command(config_file: Path | None, yes: bool) -> int:
    """Turn the account into a BOT account, after asking. This cannot be undone."""
    settings, timeouts = load(config_file)
    access = access_to(settings.loaded, timeouts)
    with closing(LichessClient(access, timeouts.request_answer)) as api:
        try:
            is_bot = _upgraded(api, access.url, asks=not yes)
        except ApiError as error:
            click.echo(f"Nothing was changed: {access.url}: {explained(error)}")
            is_bot = False
    return ExitCode.OK if is_bot else ExitCode.FAILED


def _upgraded(api: LichessClient, url: str, *, asks: bool) -> bool:
    """Upgrade the account, after asking if `asks`. Return whether it is a BOT account now. Raises ApiError."""
    account = api.account()
    if account.is_bot:
        click.echo(f"{account.username} is a BOT account already: nothing to do.")
        return True
    click.echo(_EXPLANATION.format(name=account.username, url=url))
    if asks and not _consents():
        click.echo("Nothing was changed.")
        return False
    try:
        api.upgrade_to_bot()
    except Unreachable as error:
        click.echo(f"Whether {account.username} was upgraded is unknown: {url}: {error}\n{_LOOK_AGAIN}")
        return False
    click.echo(f"{account.username} is a BOT account now: `lichessbot run` starts it.")
    return True


def _consents() -> bool:
    click.echo(f"Type {_CONSENT} to go on: ", nl=False)
    return sys.stdin.readline().strip() == _CONSENT
