"""Faults of the embedded Lichess."""

from lichessbot.rehearsal.faults.fault_injector import FaultInjector
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.server.server import RehearsalServer


def inject(server: RehearsalServer, token: str, plan: FaultPlan) -> FaultInjector:
    """Inject the faults of `plan` into what the account of `token` asks for and hears from now on."""

    def begin() -> FaultInjector:
        return FaultInjector(server.site, server.site.accounts.grant(token), plan)

    injector = server.call(begin)
    server.guard_with(injector.http_faults.serve)
    return injector
