"""Every fault by its name against the real daemon: no game is lost that could be saved, no rule is broken.

The faults of a group are dealt over games that run side by side, so that each game meets few of them.
"""

from pathlib import Path

import pytest

from lichessbot.rehearsal.cli import bot_process
from lichessbot.rehearsal.faults.catalogue import Fault
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.fakes.forked import AsCopies

from .rehearsal import rehearse
from .trips import Trips, trips_to

# A move is sent again after 0.3 s without an answer, which a busy machine can give in time.
TIME_SCALE = "0.1"
CLOCK_S = 18                    # three minutes at that scale
CLOCK = f"{CLOCK_S}+1"          # the increment is for the machine, which gets no faster

LINES = (
    "line-doubled", "line-unknown", "line-not-json", "line-nulls", "clocks-zero", "challenge-lost", "start-lost",
    "state-lost", "final-lost", "stall", "cut", "trickle@event-stream", "trickle@game-stream",
)
LIMITS = (
    "429-json@move", "429-ratelimit@move", "429-retry-after@move", "429-html@move", "429-text@move", "429-bare@move",
    "429-html@account", "429-retry-after@game-stream", "429-ratelimit@accept",
    # Here the event stream stays open: while it is closed a game ends without a `gameFinish` that could be lost.
    "finish-lost",
)
REFUSALS = (
    "403-scope", "400-json", "400-form", "400-ratelimit", "400-text", "400-bare", "500-json", "502-html", "503-text",
    "504-bare", "done-but-502", "answer-slow@move", "answer-slow@accept", "reset", "closed", "answer-lost",
    "trickle@move",
)
EVENTS = (
    "maintenance", "takeback", "challenge-canceled", "challenge-replaced", "challenge-expired", "flood", "eviction",
    "events-ended", "game-stream-ended", "threefold", "refused", "restart",
    "network-changed", "castling",
)
GROUPS = {"lines": LINES, "limits": LIMITS, "refusals": REFUSALS, "events": EVENTS}
GAMES = {"lines": 9, "limits": 6, "refusals": 11, "events": 6}      # enough that each fault named can strike


def label(name: str) -> str:
    return name.partition("@")[0]


def test_every_fault_is_in_a_group() -> None:
    grouped, known = {label(name) for names in GROUPS.values() for name in names}, {fault.label for fault in Fault}
    assert grouped == known, f"add to a group, or remove: {sorted(grouped ^ known)}"


def test_only_what_was_under_way_is_excused() -> None:
    trips = Trips("")
    trips.longest_ms = 100.0
    tardy = "game EZukgQia: e6d5 is late or doubled, {} ms into its position (e6d5 carried out 598 ms before)"
    asking = "a request (account) {} ms into the pause of 6 s that a 429 (accept) asks for"
    illegal = "game EZukgQia: e6d5 is illegal 369 ms into its position"
    assert trips.judge([tardy.format(500), asking.format(500)]) == []
    kept = [tardy.format(501), asking.format(501), illegal]
    assert trips.judge(kept) == kept


@pytest.mark.parametrize("group", GROUPS)
def test_no_fault_alone_loses_a_game_or_makes_the_bot_misbehave(
    group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_process, "subprocess", AsCopies)
    names, games = GROUPS[group], str(GAMES[group])
    words = ["--games", games, "--concurrency", games, "--clock", CLOCK, "--time-scale", TIME_SCALE]
    with RehearsalServer() as idle, trips_to(idle.site.url) as trips:
        run = rehearse(tmp_path, "--faults", ",".join(names), *words)
    if run.problems:        # of a busy machine only, perhaps
        assert trips.judge(run.problems) == [], run.output
        assert " 0 failed; " in run.output, run.output
    else:
        assert run.code == 0, run.output
    assert run.worst_delay_s < CLOCK_S, "a fault that costs more would lose a game without an increment"
    assert run.struck == {label(name) for name in names}, run.output
