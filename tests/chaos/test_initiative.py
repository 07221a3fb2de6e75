"""What the bot begins by itself, under every refusal of every request for it: nothing breaks, and it gets there.

Each fault strikes once at each place, at one of the first requests of its kind.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lichessbot.rehearsal.faults.catalogue import Fault, PlacedFault
from lichessbot.rehearsal.faults.fault_injector import FaultInjector
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.faults.traffic import Place
from lichessbot.rehearsal.rules.arenas import Application, ArenaTerms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.chaos.trips import trips_to
from tests.fakes.arena import Arena, inspected
from tests.fakes.faults import inject

SCALE = 0.02                # a minute of pause is 1.2 s
PATIENCE_S = 150.0
CONFIG = """\
url: {url}
state_dir: state
challenge: {{concurrency: 1, variants: [standard]}}
engine: {{hash_mb: 1, depth: 1, move_overhead_ms: 30, online_moves: {{lichess_cloud_analysis: {{enabled: true}}}}}}
matchmaking: {{allow_matchmaking: {seeks}, challenge_timeout: 1, challenge_initial_time: [60]}}
tournaments: [{tournaments}]
"""
LIMITS = (Fault.LIMIT_HTML, Fault.LIMIT_RETRY_AFTER)
BREAKDOWNS = (Fault.BROKEN_JSON, Fault.GATEWAY_BARE)


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    with RehearsalServer(timing=Timing(tick_s=0.3).scaled(SCALE)) as server:
        arena = Arena(server, tmp_path)
        arena.time_scale = SCALE
        with inspected(arena):
            yield arena
        assert " ERROR " not in arena.log()


def configure(arena: Arena, *, seeks: bool, tournaments: str = "") -> None:
    text = CONFIG.format(url=arena.site.url, seeks=str(seeks).lower(), tournaments=tournaments)
    (arena.folder / "config.yml").write_text(text)


def struck_places(injector: FaultInjector) -> set[Place]:
    return {strike.placed.place for strike in injector.accounting.strikes}


def test_a_challenge_is_made_in_spite_of_refusals(arena: Arena) -> None:
    places = (Place.ACCOUNT, Place.ONLINE, Place.STATUS, Place.CREATE, Place.CLOUD)
    shapes = (Fault.REFUSED_BARE, *LIMITS, *BREAKDOWNS, Fault.REFUSED_FORM)
    plan = FaultPlan(tuple(PlacedFault(shape, place) for shape in shapes for place in places))
    injector = inject(arena.server, arena.token, plan)
    for number in range(3):
        arena.hire(arena.player(f"Rival{number}", title="BOT"))
    configure(arena, seeks=True)
    with trips_to(arena.site.url) as trips:
        arena.start()
        arena.until_ended(1, PATIENCE_S)
    assert struck_places(injector) == set(places)
    assert not (offences := trips.judge(injector.offences)), (offences, trips.longest_ms)


def test_a_tournament_is_played_in_spite_of_faults_at_joining(arena: Arena) -> None:
    plan = FaultPlan(tuple(PlacedFault(shape, Place.TOURNAMENT) for shape in (*LIMITS, *BREAKDOWNS)))
    injector = inject(arena.server, arena.token, plan)
    arena_runner, terms = arena.site.arena_runner, ArenaTerms("Bots at Noon", RealTime(60, 0))
    arena_id = arena.server.call(lambda: arena_runner.open(terms, starts_in_s=0.0, lasts_s=PATIENCE_S)).id
    rival = arena.hire(arena.player("Rival", title="BOT"))
    configure(arena, seeks=False, tournaments=f"{{id: '{arena_id}'}}")
    with trips_to(arena.site.url) as trips:
        arena.start()
        arena.until(lambda: "tournament.joined" in arena.log())
        arena.server.call(lambda: arena_runner.join(arena_id, rival, Application()))
        arena.until_ended(1, PATIENCE_S)
    assert struck_places(injector) == {Place.TOURNAMENT}
    assert not (offences := trips.judge(injector.offences)), (offences, trips.longest_ms)
