"""The metrics, as Prometheus reads them."""

from dataclasses import replace

from prometheus_client.parser import text_string_to_metric_families

from lichessbot.control.status import HeldBack, RecordsStatus, RequestQueue, Status
from lichessbot.control.web.metrics import METRICS_TYPE, metrics
from tests.lichessbot.control.status_of import GAME, NOW, STATUS


def samples(status: Status, pages: int = 0) -> dict[tuple[str, ...], float]:
    """Each sample by its name and the values of its labels."""
    families = list(text_string_to_metric_families(metrics(status, pages).decode()))
    assert all(family.documentation for family in families)
    return {(it.name, *it.labels.values()): it.value for family in families for it in family.samples}


def test_the_status_is_measured_in_base_units() -> None:
    queue = RequestQueue({"send move": 2}, (HeldBack("challenges", NOW + 30),))
    games = (replace(GAME, round_trip_s=0.25), *STATUS.games[1:])
    it = replace(STATUS, connection=replace(STATUS.connection, requests=queue), games=games)
    found = samples(it, pages=3)
    assert found["lichessbot_info", "TestBot", "0.1.0"] == 1
    assert found["lichessbot_start_time_seconds",] == NOW - 7500
    assert found["lichessbot_activity", "playing"] == 1
    assert found["lichessbot_activity", "paused"] == 0
    assert found["lichessbot_pages_open",] == 3
    assert found["lichessbot_event_stream_open",] == 1
    assert found["lichessbot_event_stream_silence_seconds",] == 4
    assert found["lichessbot_requests_waiting", "send move"] == 2
    assert found["lichessbot_requests_held_back_seconds", "challenges"] == 30
    assert found["lichessbot_games_running", "blitz"] == 2
    assert found["lichessbot_games_running", "bullet"] == 0
    assert found["lichessbot_game_streams_open",] == 2
    assert found["lichessbot_round_trip_seconds",] == 0.25
    assert found["lichessbot_shortest_clock_seconds",] == 61.9
    assert found["lichessbot_limit_used", "bot games"] == found["lichessbot_limit_most", "bot games"] == 100
    assert found["lichessbot_faults_total", "event_streams_lost"] == 2
    assert found["lichessbot_faults_total", "internal_errors"] == 0
    assert found["lichessbot_records_unwritten_seconds",] == 0
    unwritten = samples(replace(STATUS, records=RecordsStatus(90.0, "disk is full")))
    assert unwritten["lichessbot_records_unwritten_seconds",] == 90
    assert "version=0.0.4" in METRICS_TYPE or "version=1.0.0" in METRICS_TYPE


def test_the_start_is_the_same_at_every_look_whatever_the_clocks_do() -> None:
    later = replace(STATUS, at_epoch_s=NOW + 30, up_for_s=7500 + 30.000001)
    assert samples(later)["lichessbot_start_time_seconds",] == samples(STATUS)["lichessbot_start_time_seconds",]


def test_what_is_unknown_is_left_out_and_names_from_the_network_are_only_labels() -> None:
    hostile = 'a"} 1\nlichessbot_faults_total 9\n\\'
    connection = replace(STATUS.connection, events=None, account=hostile)
    found = samples(replace(STATUS, games=(), connection=connection))
    assert found["lichessbot_event_stream_open",] == 0
    assert ("lichessbot_event_stream_silence_seconds",) not in found
    assert ("lichessbot_round_trip_seconds",) not in found
    assert found["lichessbot_info", hostile, "0.1.0"] == 1
