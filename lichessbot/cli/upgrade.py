"""`lichessbot upgrade`: turns the account of the token into a BOT account, after asking."""

from typing import IO, Final

from lichessbot.errors import ApiError
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.timeouts import Timeouts

_EXPLANATION: Final = """\
{name} on {url} is to become a BOT account.
This cannot be undone. A BOT account plays only through the Bot API: never again by hand, and no
tournaments, pools or puzzles like other accounts. Lichess allows it only for accounts that have
not played a single game.
"""
_CONSENT: Final = "yes"


def upgrade(access: Access, timeouts: Timeouts, answers: IO[str] | None, out: IO[str]) -> bool:
    """Explain, ask on `answers` (None: consent was given already), upgrade. True if it is a BOT now."""
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
        api.upgrade_to_bot()
        out.write(f"{account.username} is a BOT account now: `lichessbot run` starts it.\n")
        return True
    except ApiError as error:
        out.write(f"Nothing was changed: {access.url}: {error}\n")
        return False
    finally:
        api.close()


def _consents(answers: IO[str], out: IO[str]) -> bool:
    out.write(f"Type {_CONSENT} to go on: ")
    out.flush()
    return answers.readline().strip() == _CONSENT
