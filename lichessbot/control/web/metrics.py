"""The status as metrics for Prometheus, named by its conventions: base units, `_total` for what only grows."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from lichessbot.control.status import Activity, RunningGame, Status, StreamStatus

METRICS_TYPE: Final = CONTENT_TYPE_LATEST


def metrics(status: Status, pages: int) -> bytes:
    """Return a status as text for Prometheus; `pages`: how many pages follow the events."""
    return bytes(generate_latest(_Status(status, pages)))


class _Status(Collector):
    def __init__(self, status: Status, pages: int) -> None:
        self._status = status
        self._pages = pages

    def collect(self) -> Iterable[Metric]:
        it = self._status
        daemon = {"version": it.version, "account": it.connection.account or ""}
        yield InfoMetricFamily("lichessbot", "The running daemon.", daemon)
        yield _gauge("start_time_seconds", "When the daemon started, since 1970.", it.began_epoch_s)
        text = "1 for what the daemon does about new games, 0 for the rest."
        yield _labelled("activity", text, "activity", {name: float(name is it.activity) for name in Activity})
        yield _gauge("pages_open", "Pages that follow the status.", self._pages)
        yield from _connection(it)
        yield from _games(it)
        yield from _lobby(it)
        yield from _engine(it)
        text = "Seconds for which the records could not be written; 0 while they can be."
        yield _gauge("records_unwritten_seconds", text, it.records.unwritten_for_s or 0.0)
        faults = CounterMetricFamily("lichessbot_faults", "Faults since the start, all survived.", labels=["kind"])
        for name in type(it.faults).__slots__:
            faults.add_metric([name], getattr(it.faults, name))
        yield faults


def _connection(it: Status) -> Iterator[Metric]:
    events, requests = it.connection.events, it.connection.requests
    yield _gauge("event_stream_open", "1 while the event stream is open.", float(_is_open(events)))
    silence_s = None if events is None else events.silent_for_s
    yield _gauge("event_stream_silence_seconds", "Since its last line; 7 s are usual.", silence_s)
    yield _labelled("requests_waiting", "Requests to Lichess without an answer.", "kind", requests.waiting)
    text = "For so long only moves are sent, after a 429."
    yield _gauge("rate_limit_pause_seconds", text, it.connection.held_back_s)
    held_back = {each.what: max(0.0, each.until_epoch_s - it.at_epoch_s) for each in requests.held_back}
    yield _labelled("requests_held_back_seconds", "For so long these are not sent.", "what", held_back)


def _games(it: Status) -> Iterator[Metric]:
    speeds = dict.fromkeys(("bullet", "blitz", "rapid", "classical", "correspondence"), 0.0)
    for game in it.games:
        speeds[game.speed] = speeds.get(game.speed, 0.0) + 1
    yield _labelled("games_running", "Games with an open session.", "speed", speeds)
    yield _gauge("correspondence_games", "All correspondence games in progress.", it.correspondence_games)
    streams = sum(_is_open(game.stream) for game in it.games)
    yield _gauge("game_streams_open", "Running games whose stream is open.", streams)
    longest_s = max((game.round_trip_s for game in it.games if game.round_trip_s is not None), default=None)
    yield _gauge("round_trip_seconds", "The longest of the games' latest round trips of a move.", longest_s)
    shortest_s = min(_our_clocks(it.games), default=None)
    yield _gauge("shortest_clock_seconds", "Our shortest clock in the running games.", shortest_s)


def _our_clocks(games: Iterable[RunningGame]) -> Iterator[float]:
    for game in games:
        clock_s = {"white": game.white, "black": game.black}[game.our_colour].clock_s if game.our_colour else None
        if clock_s is not None and game.speed != "correspondence":
            yield clock_s


def _lobby(it: Status) -> Iterator[Metric]:
    lobby = it.lobby
    yield _gauge("slots", "Games with a clock that may run at a time.", lobby.slots)
    yield _gauge("games_starting", "Games about to start.", lobby.starting)
    yield _gauge("challenges_waiting", "Challenges that wait for a slot.", len(lobby.queue))
    yield _gauge("matchmaking_on", "1 while the bot challenges others.", float(lobby.matchmaking.is_on))
    names = {limit.name: limit for limit in lobby.limits}
    used = {name: float(limit.used) for name, limit in names.items()}
    yield _labelled("limit_used", "Used of a limit for 24 hours.", "limit", used)
    yield _labelled("limit_most", "The limit for 24 hours.", "limit", {name: it.most for name, it in names.items()})


def _engine(it: Status) -> Iterator[Metric]:
    yield _gauge("engine_processes", "Engines that run.", it.engine.processes)
    yield _gauge("memory_bytes", "Resident memory of the daemon and its engines.", it.engine.memory_bytes)
    yield _gauge("engine_nodes_per_second", "The speed of the latest searches.", it.engine.nodes_per_s)


def _is_open(stream: StreamStatus | None) -> bool:
    return stream is not None and stream.is_open


def _gauge(name: str, text: str, value: float | None) -> Metric:
    """Return a gauge; without a value, only its name and text."""
    return GaugeMetricFamily(f"lichessbot_{name}", text, value)


def _labelled(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"lichessbot_{name}", text, labels=[label])
    for key, value in values.items():
        family.add_metric([str(key)], value)
    return family
