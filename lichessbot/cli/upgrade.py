"""`lichessbot upgrade`: turn the account of the token into a BOT account, after asking."""

import sys
from pathlib import Path
from typing import IO, Final

import click

from lichessbot.cli.options import access_to, config_option, explained, load
from lichessbot.errors import ApiError, ExitCode, Unreachable
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.timeouts import Timeouts

_EXPLANATION: Final = """\
{name} on {url} is about to become a BOT account.
This cannot be undone. A BOT account plays only through the Bot API: it cannot play by hand or use
the lobby, pools or puzzles, and can join only arenas that allow bots. Lichess allows the upgrade
only for accounts that have not played a game. Add a biography to the account's profile: without
one, Lichess does not list the bot as online, and other bots do not find it.
"""
_LOOK_AGAIN: Final = "Run `lichessbot upgrade` again: it asks only if the account is no BOT account yet.\n"
_CONSENT: Final = "yes"


@click.command("upgrade")
@config_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def upgrade_command(config_file: Path | None, yes: bool) -> int:
    """Turn the account into a BOT account, after asking. This cannot be undone."""
    settings, timeouts = load(config_file)
    done = upgrade(access_to(settings.loaded, timeouts), timeouts, None if yes else sys.stdin, sys.stdout)
    return ExitCode.OK if done else ExitCode.FAILED


def upgrade(access: Access, timeouts: Timeouts, answers: IO[str] | None, out: IO[str]) -> bool:
    """Explain, ask on `answers` (None: do not ask) and upgrade. Return whether the account is a BOT account now."""
    api = LichessClient(access, timeouts.request_answer)
    try:
        account = api.account()
        if account.is_bot:
            out.write(f"{account.username} is a BOT account already: nothing to do.\n")
            return True
        out.write(_EXPLANATION.format(name=account.username, url=access.url))
        if answers is not None and not _consents(answers, out):
            out.write("Nothing was changed.\n")
            return False
        try:
            api.upgrade_to_bot()
        except Unreachable as error:
            out.write(f"Whether {account.username} was upgraded is unknown: {access.url}: {error}\n{_LOOK_AGAIN}")
            return False
        out.write(f"{account.username} is a BOT account now: `lichessbot run` starts it.\n")
        return True
    except ApiError as error:
        out.write(f"Nothing was changed: {access.url}: {explained(error)}\n")
        return False
    finally:
        api.close()


def _consents(answers: IO[str], out: IO[str]) -> bool:
    out.write(f"Type {_CONSENT} to go on: ")
    out.flush()
    return answers.readline().strip() == _CONSENT
