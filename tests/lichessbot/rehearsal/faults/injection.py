"""Faults of the embedded Lichess for a hand-written client: named faults, one game, a seed."""

from lichessbot.rehearsal.faults.catalogue import Fault, PlacedFault, placed_faults
from lichessbot.rehearsal.faults.fault_injector import FaultInjector
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.faults.traffic import Place
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.fakes.faults import inject
from tests.lichessbot.rehearsal.client import Client

CERTAIN = 1.0
E4_E5 = "e2e4 e7e5"


def placed(fault: Fault, *places: Place) -> tuple[PlacedFault, ...]:
    """Return a fault at all its places, unless some are named."""
    return tuple(it for it in placed_faults(fault) if not places or it.place in places)


def inject_for(
    lichess: RehearsalServer, client: Client, *faults: PlacedFault, chance: float | None = CERTAIN, seed: int = 0
) -> FaultInjector:
    """Inject faults into what `client` asks for and hears, by default at every opportunity."""
    return inject(lichess, client.token or "", FaultPlan(faults, chance, seed))


def start_numbered_game(lichess: RehearsalServer, it: FaultInjector, white: Client, black: Client) -> str:
    """A game that counts as number 1 of the rehearsal."""
    challenge_id = str(white.challenge(black)["id"])
    lichess.call(lambda: it.schedule.enter(challenge_id, 1))
    assert black.post(f"/api/challenge/{challenge_id}/accept").status_code == 200
    return challenge_id
