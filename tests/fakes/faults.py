"""Faults of the embedded Lichess."""

from lichessbot.rehearsal.faults.fault_injector import FaultInjector
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.server.server import RehearsalServer


def inject(server: RehearsalServer, account: Account, token: str, plan: FaultPlan) -> FaultInjector:
    """Inject the faults of `plan` into what `account` asks for and hears from now on."""

    def begin() -> FaultInjector:
        grant = server.site.accounts.grant(token)
        assert grant is not None
        return FaultInjector(server.site, account, grant, plan)

    injector = server.call(begin)
    server.guard_with(injector.http_faults.serve)
    return injector
