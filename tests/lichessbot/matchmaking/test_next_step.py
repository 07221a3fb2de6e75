"""What the operator reads of matchmaking's next step."""

import math
from typing import Any

import pytest

from lichessbot.challenges.slots import SlotHolder
from lichessbot.challenges.snapshot import Snapshot
from lichessbot.config import Config
from lichessbot.control.status import OpenChallengeStatus
from lichessbot.matchmaking.next_step import Waits, next_step

NOW = 1000.0
FREE = Waits(quiet=-math.inf, failures=-math.inf, human=-math.inf, quota=NOW - 1)


def snapshot(*games: SlotHolder, our_id: str = "us", concurrency: int = 2, **more: Any) -> Snapshot:
    keys = {"allow_matchmaking": True, **more.pop("matchmaking", {})}
    config = Config.model_validate({"matchmaking": keys, "challenge": {"concurrency": concurrency}})
    return Snapshot(config, our_id, games, **more)


def said(moment: Snapshot, waits: Waits = FREE, *, is_choosing: bool = False) -> str:
    return next_step(moment, None, waits, NOW, is_choosing=is_choosing)


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        (snapshot(), "challenges a bot now"),
        (snapshot(matchmaking={"allow_matchmaking": False}), "matchmaking is off"),
        (snapshot(paused=True), "no new games are taken"),
        (snapshot(stopping=True), "no new games are taken"),
        (snapshot(our_id=""), "our account is not known yet, or the engines are not checked"),
        (snapshot(SlotHolder("x", True), concurrency=1), "no slot is free"),
        (
            snapshot(SlotHolder("x", True)),
            "games are running (matchmaking.allow_during_games = false)",
        ),
        (snapshot(SlotHolder("x", True), matchmaking={"allow_during_games": True}), "challenges a bot now"),
    ],
)
def test_what_must_happen_first_is_named(moment: Snapshot, told: str) -> None:
    assert said(moment) == told


@pytest.mark.parametrize(
    ("waits", "told"),
    [
        (Waits(NOW + 60, -math.inf, -math.inf, NOW), "challenges a bot"),
        (Waits(NOW + 60, NOW + 90, -math.inf, NOW), "tries again after a failed attempt"),
        (Waits(NOW, NOW, NOW + 60, NOW), "challenges a bot if no human comes back for the slot"),
        (Waits(NOW, NOW, math.inf, NOW), "keeps the slot for a waiting human"),
        (Waits(NOW, NOW, NOW, NOW + 60), "challenges a bot when the day's quota allows it"),
        (Waits(NOW, NOW, NOW, math.inf), "the quota allows no challenges of ours"),
    ],
)
def test_the_latest_moment_decides(waits: Waits, told: str) -> None:
    assert said(snapshot(), waits) == told


def test_an_attempt_under_way_comes_before_everything_else() -> None:
    off = snapshot(matchmaking={"allow_matchmaking": False})
    assert said(off, is_choosing=True) == "chooses an opponent among the bots that are online"
    it = OpenChallengeStatus("c1", "rival", "3+2 rated")
    assert next_step(off, it, FREE, NOW, is_choosing=False) == "waits for the answer of rival"
