"""All fault injectors for one bot, and the accounting of their faults."""

from functools import partial

from lichessbot.rehearsal.faults.accounting import FaultAccounting
from lichessbot.rehearsal.faults.event_faults import EventFaults
from lichessbot.rehearsal.faults.http_faults import HttpFaults
from lichessbot.rehearsal.faults.line_faults import faulty_writing
from lichessbot.rehearsal.faults.schedule import FaultPlan, FaultSchedule
from lichessbot.rehearsal.rules.accounts import Grant
from lichessbot.rehearsal.server.site import Site


class FaultInjector:
    """Injects the planned faults for the bot with this grant; an empty plan only checks the client."""

    def __init__(self, site: Site, grant: Grant, plan: FaultPlan) -> None:
        bot = grant.account
        self.accounting = FaultAccounting(site, bot)
        self.schedule = FaultSchedule(plan, self.accounting.record)
        self.http_faults = HttpFaults(site, bot, self.schedule, self.accounting)
        self.event_faults = EventFaults(site, grant, self.schedule)
        site.write_with(partial(faulty_writing, self.schedule))

    @property
    def offences(self) -> list[str]:
        """The broken rules, in words."""
        return self.http_faults.checks.offences
