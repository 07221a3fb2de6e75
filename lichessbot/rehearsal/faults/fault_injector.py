"""Everything that makes the embedded Lichess cruel to one bot, put together, with the ledger of it."""

from functools import partial

from lichessbot.rehearsal.faults.accounting import Ledger
from lichessbot.rehearsal.faults.event_faults import Pranks
from lichessbot.rehearsal.faults.http_faults import Obstacles
from lichessbot.rehearsal.faults.line_faults import tampered_writing
from lichessbot.rehearsal.faults.schedule import FaultPlan, Mischief
from lichessbot.rehearsal.rules.accounts import Account, Grant
from lichessbot.rehearsal.server.site import Site


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
