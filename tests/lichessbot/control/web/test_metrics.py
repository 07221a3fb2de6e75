"""The metrics, as Prometheus reads them."""

from dataclasses import replace

from prometheus_client.parser import text_string_to_metric_families

from lichessbot.control.status import EngineStatus, HeldBack, RecordsStatus, RequestQueue, Status, StreamStatus
from lichessbot.control.web.metrics import METRICS_TYPE, metrics
from tests.lichessbot.control.status_of import GAME, NOW, STATUS


def samples(status: Status, pages: int = 0) -> dict[tuple[str, ...], float]:
    """Each sample by its name and the values of its labels."""
    families = list(text_string_to_metric_families(metrics(status, pages).decode()))
    assert all(family.documentation for family in families)
    return {(it.name, *it.labels.values()): it.value for family in families for it in family.samples}


def test_the_status_is_measured_in_base_units() -> None:
    """Values of neighbours differ, so that none can stand for another. A new metric needs a line here."""
    held_back = (HeldBack("challenges", NOW + 30), HeldBack("moves", NOW - 5))
    closed = StreamStatus(is_open=False, open_for_s=None, silent_for_s=4.0)
    as_black = STATUS.games[1]
    behind = replace(as_black, black=replace(GAME.white, clock_s=17.5), round_trip_s=0.5, stream=closed)
    by_days = replace(GAME, white=replace(GAME.white, clock_s=9.0), speed="correspondence", stream=None)
    it = replace(
        STATUS,
        connection=replace(STATUS.connection, requests=RequestQueue({"send move": 10}, held_back), held_back_s=61.0),
        games=(replace(GAME, round_trip_s=0.25), behind, by_days, as_black),
        correspondence_games=9,
        lobby=replace(STATUS.lobby, slots=14, starting=5, queue=STATUS.lobby.queue * 8),
        engine=EngineStatus("our engine", 1_250_000, 20, processes=6, memory_bytes=200_000_000),
        records=RecordsStatus(90.0, "disk is full"),
    )
    assert samples(it, pages=7) == {
        ("lichessbot_info", "TestBot", "0.1.0"): 1,
        ("lichessbot_start_time_seconds",): NOW - 7500,
        ("lichessbot_activity", "starting"): 0,
        ("lichessbot_activity", "playing"): 1,
        ("lichessbot_activity", "paused"): 0,
        ("lichessbot_activity", "without engine"): 0,
        ("lichessbot_activity", "finishing"): 0,
        ("lichessbot_pages_open",): 7,
        ("lichessbot_event_stream_open",): 1,
        ("lichessbot_event_stream_silence_seconds",): 4,
        ("lichessbot_requests_waiting", "send move"): 10,
        ("lichessbot_rate_limit_pause_seconds",): 61,
        ("lichessbot_requests_held_back_seconds", "challenges"): 30,
        ("lichessbot_requests_held_back_seconds", "moves"): 0,
        ("lichessbot_games_running", "bullet"): 0,
        ("lichessbot_games_running", "blitz"): 3,
        ("lichessbot_games_running", "rapid"): 0,
        ("lichessbot_games_running", "classical"): 0,
        ("lichessbot_games_running", "correspondence"): 1,
        ("lichessbot_correspondence_games",): 9,
        ("lichessbot_game_streams_open",): 2,
        ("lichessbot_round_trip_seconds",): 0.5,
        ("lichessbot_shortest_clock_seconds",): 17.5,
        ("lichessbot_slots",): 14,
        ("lichessbot_games_starting",): 5,
        ("lichessbot_challenges_waiting",): 8,
        ("lichessbot_matchmaking_on",): 1,
        ("lichessbot_limit_used", "bot games"): 100,
        ("lichessbot_limit_used", "challenges"): 12,
        ("lichessbot_limit_most", "bot games"): 100,
        ("lichessbot_limit_most", "challenges"): 180,
        ("lichessbot_engine_processes",): 6,
        ("lichessbot_memory_bytes",): 200_000_000,
        ("lichessbot_engine_nodes_per_second",): 1_250_000,
        ("lichessbot_records_unwritten_seconds",): 90,
        ("lichessbot_faults_total", "event_streams_lost"): 2,
        ("lichessbot_faults_total", "game_streams_lost"): 0,
        ("lichessbot_faults_total", "requests_failed"): 0,
        ("lichessbot_faults_total", "engines_died"): 1,
        ("lichessbot_faults_total", "engines_replaced"): 0,
        ("lichessbot_faults_total", "moves_without_engine"): 0,
        ("lichessbot_faults_total", "games_without_pgn"): 0,
        ("lichessbot_faults_total", "internal_errors"): 0,
    }
    assert "version=0.0.4" in METRICS_TYPE or "version=1.0.0" in METRICS_TYPE


def test_the_labels_have_the_names_that_queries_use() -> None:
    requests = RequestQueue({"send move": 10}, (HeldBack("challenges", NOW + 30),))
    it = replace(STATUS, connection=replace(STATUS.connection, requests=requests))
    families = text_string_to_metric_families(metrics(it, 0).decode())
    found = {each.name: sorted(each.labels) for family in families for each in family.samples if each.labels}
    assert found == {
        "lichessbot_info": ["account", "version"],
        "lichessbot_activity": ["activity"],
        "lichessbot_requests_waiting": ["kind"],
        "lichessbot_requests_held_back_seconds": ["what"],
        "lichessbot_games_running": ["speed"],
        "lichessbot_limit_used": ["limit"],
        "lichessbot_limit_most": ["limit"],
        "lichessbot_faults_total": ["kind"],
    }


def test_the_start_is_the_same_at_every_look_whatever_the_clocks_do() -> None:
    later = replace(STATUS, at_epoch_s=NOW + 30, up_for_s=7500 + 30.000001)
    assert samples(later)["lichessbot_start_time_seconds",] == samples(STATUS)["lichessbot_start_time_seconds",]


def test_what_is_unknown_is_left_out_and_names_from_the_network_are_only_labels() -> None:
    hostile = 'a"} 1\nlichessbot_faults_total 9\n\\'
    connection = replace(STATUS.connection, events=None, account=hostile)
    without_clock, of_others = replace(GAME, white=replace(GAME.white, clock_s=None)), replace(GAME, our_colour=None)
    found = samples(replace(STATUS, games=(without_clock, of_others), connection=connection))
    assert found["lichessbot_event_stream_open",] == 0
    assert ("lichessbot_event_stream_silence_seconds",) not in found
    assert ("lichessbot_round_trip_seconds",) not in found
    assert ("lichessbot_shortest_clock_seconds",) not in found
    assert found["lichessbot_records_unwritten_seconds",] == 0
    assert found["lichessbot_info", hostile, "0.1.0"] == 1
    unconnected = replace(STATUS, connection=replace(connection, account=None))
    assert samples(unconnected)["lichessbot_info", "", "0.1.0"] == 1
