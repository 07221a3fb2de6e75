"""When faults strike: from the seed alone, however the games are woven together."""

import random
from collections import Counter

import pytest

from lichessbot.rehearsal.faults.catalogue import LATE_THREEFOLD, Fault, Layer, Notice, PlacedFault, placed_faults
from lichessbot.rehearsal.faults.schedule import FaultPlan, FaultSchedule
from lichessbot.rehearsal.faults.traffic import Place, Traffic, line_traffic, request_traffic
from lichessbot.rehearsal.rules.timing import Timing

EVERY_PLACED_FAULT = tuple(placed for fault in Fault for placed in placed_faults(fault))


def moves_struck(plan: FaultPlan, games: list[str], order: list[int]) -> list[tuple[int, Fault]]:
    """Which moves of which games are struck, if the games move in this order."""
    schedule = FaultSchedule(plan)
    for number, game_id in enumerate(games, 1):
        schedule.enter(game_id, number)
    struck = []
    for game in order:
        fault = schedule.strike(Layer.REQUESTS, Place.MOVE, games[game])
        if fault is not None:
            struck.append((game, fault))
    return sorted(struck, key=lambda it: (it[0], it[1].label))


def test_fault_names_are_unique_and_readable() -> None:
    labels = [fault.label for fault in Fault]
    assert len(labels) == len(set(labels))
    assert all(Fault.of_label(label) is not None for label in labels)
    assert all(fault.spec.places and fault.spec.description for fault in Fault)


def test_the_same_seed_plans_the_same_chaos_for_any_ids_and_order() -> None:
    plan = FaultPlan(EVERY_PLACED_FAULT, chance=0.3, seed=7, games=3)
    order = [0, 1, 2] * 20
    shuffled = random.Random(1).sample(order, len(order))
    assert moves_struck(plan, ["a", "b", "c"], order) == moves_struck(plan, ["x", "y", "z"], shuffled)
    other = FaultPlan(EVERY_PLACED_FAULT, chance=0.3, seed=8, games=3)
    assert moves_struck(plan, ["a", "b", "c"], order) != moves_struck(other, ["a", "b", "c"], order)


def test_chaos_takes_about_its_share_of_the_opportunities() -> None:
    plan = FaultPlan(EVERY_PLACED_FAULT, chance=0.2, seed=3)
    struck = moves_struck(plan, ["a"], [0] * 1000)
    assert len(struck) == pytest.approx(200, abs=50)


def test_faults_that_stop_all_games_do_not_strike_more_often_with_more_games() -> None:
    games, struck = [str(number) for number in range(10)], {}
    for at_once in (1, 10):
        plan = FaultPlan(EVERY_PLACED_FAULT, chance=0.2, seed=3, games=10, at_once=at_once)
        faults = [fault for _, fault in moves_struck(plan, games, list(range(10)) * 500)]
        struck[at_once] = Counter(fault.spec.stops_all for fault in faults)
    assert struck[10][False] == struck[1][False]
    assert struck[10][True] == pytest.approx(struck[1][True] / 10, rel=0.3)


def test_without_chaos_each_card_strikes_once_in_one_of_the_games() -> None:
    plan = FaultPlan(tuple(c for c in EVERY_PLACED_FAULT if c.place is Place.MOVE), seed=5, games=4)
    struck = moves_struck(plan, ["a", "b", "c", "d"], [0, 1, 2, 3] * 40)
    on_moves = [placed.fault for placed in plan.placed_faults if placed.fault.spec.layer is Layer.REQUESTS]
    assert sorted(fault.label for _, fault in struck) == sorted(fault.label for fault in on_moves)
    assert {game for game, _ in struck} == {0, 1, 2, 3}


def test_requests_of_no_game_are_struck_too() -> None:
    schedule = FaultSchedule(FaultPlan((PlacedFault(Fault.LIMIT_HTML, Place.ACCOUNT),), games=9))
    assert schedule.strike(Layer.REQUESTS, Place.ACCOUNT) is Fault.LIMIT_HTML
    assert schedule.strike(Layer.REQUESTS, Place.ACCOUNT) is None


@pytest.mark.parametrize(("chance", "games"), [(None, {2}), (1.0, {1, 2, 3}), (0.0, set())])
def test_a_fault_that_a_game_is_prepared_for_is_planned_by_the_games_number(
    chance: float | None, games: set[int]
) -> None:
    schedule = FaultSchedule(FaultPlan((LATE_THREEFOLD,), chance, seed=1, games=3))
    assert {number for number in (1, 2, 3) if schedule.plans(LATE_THREEFOLD, number)} == games
    assert not schedule.plans(PlacedFault(Fault.STALL, Place.GAME_STREAM), 2)


def test_only_faults_of_connections_need_a_proxy() -> None:
    reading, stall = PlacedFault(Fault.LIMIT_HTML, Place.ACCOUNT), PlacedFault(Fault.STALL, Place.GAME_STREAM)
    assert FaultPlan((reading, stall)).needs_a_proxy
    assert not FaultPlan((reading,)).needs_a_proxy


def test_nothing_strikes_without_a_plan() -> None:
    schedule = FaultSchedule(FaultPlan())
    assert not schedule.is_on
    assert all(schedule.strike(layer, place) is None for layer in Layer for place in Place)


@pytest.mark.parametrize(
    ("fault", "clock_left_s", "holds_up_s"),
    [
        (Fault.GATEWAY_HTML, 100, 0),           # at once again
        (Fault.LIMIT_BARE, 300, 60),            # the customary minute, where the clock allows
        (Fault.LIMIT_BARE, 20, 10),             # half of the clock, where it does not
        (Fault.LIMIT_RATELIMIT, 300, 30),       # what the body says
        (Fault.STALL, 300, 20),                 # nearly three ticks of silence
        (Fault.NETWORK_CHANGED, 300, 20),
        (Fault.STATE_LOST, 300, 30),
        (Fault.RESTART, 300, 20),
    ],
)
def test_faults_hold_up_a_correct_client_for(fault: Fault, clock_left_s: float, holds_up_s: float) -> None:
    assert fault.holds_up_s(Timing(), clock_left_s) == holds_up_s


def test_what_streams_do_not_show_is_noticed_by_asking_only() -> None:
    by_asking = {fault for fault in Fault if fault.spec.notice is Notice.BY_ASKING}
    assert by_asking == {Fault.START_LOST, Fault.STATE_LOST}


@pytest.mark.parametrize(
    ("method", "path", "traffic"),
    [
        ("GET", "/api/account", Traffic(Place.ACCOUNT)),
        ("GET", "/api/account/playing?nb=50", Traffic(Place.PLAYING)),
        ("GET", "/api/stream/event", Traffic(Place.EVENT_STREAM)),
        ("GET", "/api/bot/game/stream/abcdefgh", Traffic(Place.GAME_STREAM, "abcdefgh")),
        ("POST", "/api/bot/game/abcdefgh/move/e7e8q?offeringDraw=true", Traffic(Place.MOVE, "abcdefgh", "e7e8q")),
        ("POST", "/api/bot/game/abcdefgh/move/P@e4", Traffic(Place.MOVE, "abcdefgh", "P@e4")),
        ("POST", "/api/bot/game/abcdefgh/move/P%40e4", Traffic(Place.MOVE, "abcdefgh", "P@e4")),
        ("POST", "/api/bot/game/abcdefgh/move/(none)", Traffic(Place.MOVE, "abcdefgh", "(none)")),
        ("POST", "/api/bot/game/abcdefgh/abort", Traffic(Place.COMMAND, "abcdefgh")),
        ("POST", "/api/bot/game/abcdefgh/draw/no", Traffic(Place.COMMAND, "abcdefgh")),
        ("POST", "/api/bot/game/abcdefgh/takeback/yes", Traffic(Place.TAKEBACK, "abcdefgh")),
        ("POST", "/api/bot/game/abcdefgh/claim-victory", Traffic(Place.CLAIM, "abcdefgh")),
        ("POST", "/api/challenge/abcdefgh/accept", Traffic(Place.ACCEPT, "abcdefgh")),
        ("GET", "/api/challenge/a/accept", Traffic(Place.OTHER_REQUEST, request="GET /api/challenge/a/accept")),
        ("POST", "/api/challenge/somebody", Traffic(Place.CREATE)),
        ("POST", "/api/challenge/some-body_1", Traffic(Place.CREATE)),
        ("POST", "/api/challenge/abcdefgh/cancel", Traffic(Place.CANCEL)),
        ("GET", "/api/challenge/abcdefgh/show", Traffic(Place.SHOW)),
        ("GET", "/api/challenge", Traffic(Place.SHOW)),
        ("GET", "/api/bot/online?nb=512", Traffic(Place.ONLINE)),
        ("GET", "/api/users/status?ids=a,b", Traffic(Place.STATUS)),
        ("GET", "/api/tournament/abcdefgh", Traffic(Place.TOURNAMENT)),
        ("POST", "/api/tournament/abcdefgh/join", Traffic(Place.TOURNAMENT)),
        ("GET", "/api/cloud-eval?fen=x", Traffic(Place.CLOUD)),
        ("POST", "/api/token/test", Traffic(Place.OTHER_REQUEST, request="POST /api/token/test")),
    ],
)
def test_requests_are_known_by_method_and_path(method: str, path: str, traffic: Traffic) -> None:
    assert request_traffic(method, path) == traffic


def test_last_state_of_a_game_is_a_line_of_its_own_kind() -> None:
    assert line_traffic({"type": "gameState", "status": "started"}, "a").place is Place.STATE_LINE
    assert line_traffic({"type": "gameState", "status": "mate"}, "a").place is Place.FINAL_LINE
    assert line_traffic({"type": "gameStart", "game": {"id": "b"}}, None) == Traffic(Place.START_LINE, "b")


def test_what_never_struck_is_named_with_its_places_if_those_were_chosen() -> None:
    chosen = (PlacedFault(Fault.STALL, Place.GAME_STREAM), PlacedFault(Fault.BROKEN_JSON, Place.TOURNAMENT))
    everywhere = (*placed_faults(Fault.GATEWAY_HTML), *placed_faults(Fault.START_LOST))
    schedule = FaultSchedule(FaultPlan((*chosen, *everywhere)))
    schedule.enter("a", 1)
    assert schedule.never_struck() == ["start-lost", "500-json@tournament", "502-html", "stall@game-stream"]
    for _ in range(20):
        schedule.strike(Layer.REQUESTS, Place.MOVE, "a")
    assert schedule.never_struck() == ["start-lost", "500-json@tournament", "stall@game-stream"]
    schedule.strike(Layer.REQUESTS, Place.TOURNAMENT)
    assert schedule.never_struck() == ["start-lost", "stall@game-stream"]
    assert FaultSchedule(FaultPlan(chosen, chance=0.5)).never_struck() == []
