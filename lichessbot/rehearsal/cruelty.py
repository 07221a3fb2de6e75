"""Everything that makes the embedded Lichess cruel to one bot, put together, with the ledger of it."""

from functools import partial

from lichessbot.rehearsal.accounts import Account, Grant
from lichessbot.rehearsal.ledger import Ledger
from lichessbot.rehearsal.mischief import FaultPlan, Mischief
from lichessbot.rehearsal.obstacles import Obstacles
from lichessbot.rehearsal.pranks import Pranks
from lichessbot.rehearsal.site import Site
from lichessbot.rehearsal.tampering import tampered_writing


class Cruelty:
    """What is planned for `bot`, at every layer; an empty plan only watches its conduct."""

    def __init__(self, site: Site, bot: Account, grant: Grant, plan: FaultPlan) -> None:
        self.ledger = Ledger(site, bot)
        self.mischief = Mischief(plan, self.ledger.book)
        self.obstacles = Obstacles(site, bot, self.mischief, self.ledger)
        self.pranks = Pranks(site, bot, grant, self.mischief)
        site.write_with(partial(tampered_writing, self.mischief))

    @property
    def offences(self) -> list[str]:
        """What the client did wrong, in words."""
        return self.obstacles.conduct.offences
