"""Rematches, the clocks of house players, and the quotas of challenges."""

from collections.abc import Callable

import pytest

from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import Variant
from lichessbot.rehearsal.rules.quotas import REQUESTS_PER_WINDOW
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client, account_of, start_game
from tests.lichessbot.rehearsal.conftest import joining
from tests.lichessbot.rehearsal.rules.creation import create


def test_house_bots_may_use_clocks_that_lichess_does_not_offer(
    ada: Client, hal: Client, lichess: RehearsalServer
) -> None:
    events = ada.events()
    site = lichess.site
    terms = Terms(Variant.STANDARD, RealTime(5, 0, hurried=True))
    lichess.call(lambda: site.invite(account_of(lichess, hal), account_of(lichess, ada), terms))
    challenge = events.next("challenge")["challenge"]
    assert (challenge["speed"], challenge["timeControl"]["limit"]) == ("bullet", 5)


def test_a_rematch_is_offered_with_the_other_colours_and_names_its_game(
    ada: Client, hal: Client, lichess: RehearsalServer
) -> None:
    game_id = start_game(hal, ada, color="white")
    ada.post(f"/api/bot/game/{game_id}/abort")
    events = ada.events()
    site = lichess.site
    lichess.call(lambda: site.offer_rematch(site.session(game_id).game, account_of(lichess, hal)))
    challenge = events.next("challenge")["challenge"]
    assert (challenge["rematchOf"], challenge["finalColor"]) == (game_id, "black")
    ada.post(f"/api/challenge/{challenge['id']}/accept")
    assert events.next("gameStart")["game"]["color"] == "white"


def test_too_many_games_at_once_create_no_challenge(
    ada: Client, join: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lichessbot.rehearsal.server.site.MAX_REAL_TIME_GAMES", 2)
    for number in range(2):
        start_game(join(f"Guest{number}"), ada)
    status, body = create(join("Last"), ada, **{"clock.limit": 60, "clock.increment": 0})
    assert (status, body) == (400, {"error": "Challenge not created"})


# Quotas.


def test_games_between_bots_are_counted_for_both_and_refused_with_the_seconds(
    own_lichess: RehearsalServer, timing: Timing
) -> None:
    join = joining(own_lichess)
    ada, bob, eve, hal = join("Ada", "BOT"), join("Bob", "BOT"), join("Eve", "BOT"), join("Hal")
    own_lichess.site.quotas.bot_games_per_day = 1
    late = ada.challenge(eve)
    start_game(ada, bob)
    used_up = ada.post(f"/api/challenge/{eve.name}", data={"clock.limit": 60, "clock.increment": 0})
    assert used_up.status_code == 429
    assert used_up.json()["error"].startswith("You played 1 games against other bots today")
    limit = used_up.json()["ratelimit"]
    assert limit["key"] == "bot.vsBot.day"
    assert 0 < limit["seconds"] <= timing.day_s
    capped = eve.post(f"/api/challenge/{ada.name}", data={"clock.limit": 60, "clock.increment": 0})
    assert capped.status_code == 400
    assert capped.json()["error"].startswith(f"{ada.name} played 1 games against other bots today")
    assert capped.json()["ratelimit"]["key"] == "bot.vsBot.day"
    assert eve.post(f"/api/challenge/{late['id']}/accept").status_code == 400
    start_game(hal, ada)


def test_a_used_up_quota_does_not_hide_that_a_challenge_is_gone(own_lichess: RehearsalServer) -> None:
    join = joining(own_lichess)
    ada, bob, eve = join("Ada", "BOT"), join("Bob", "BOT"), join("Eve", "BOT")
    own_lichess.site.quotas.bot_games_per_day = 1
    gone = ada.challenge(eve)
    assert ada.post(f"/api/challenge/{gone['id']}/cancel").status_code == 200
    game_id = start_game(ada, bob)
    assert bob.post(f"/api/challenge/{game_id}/accept").status_code == 404
    canceled = eve.post(f"/api/challenge/{gone['id']}/accept")
    assert (canceled.status_code, canceled.json()) == (400, {"error": "The challenge has been canceled."})


def test_the_credits_of_a_minute_are_spent_five_by_five_on_humans(own_lichess: RehearsalServer) -> None:
    join = joining(own_lichess)
    ada, hal, bob = join("Ada", "BOT"), join("Hal"), join("Bob", "BOT")
    for _ in range(4):
        ada.challenge(hal)
    for _ in range(5):
        ada.challenge(bob)
    refused = ada.post(f"/api/challenge/{bob.name}", data={"clock.limit": 60, "clock.increment": 0})
    assert (refused.status_code, refused.json()) == (429, {"error": "Too many requests. Try again later."})
    bob.challenge(ada)


def test_an_event_stream_that_is_polled_is_refused_with_advice(own_lichess: RehearsalServer) -> None:
    ada, hal = (joining(own_lichess)(name) for name in ("Ada", "Hal"))
    for _ in range(REQUESTS_PER_WINDOW):
        ada.events().drop()
    refused = ada.get("/api/stream/event")
    assert refused.status_code == 429
    assert refused.json()["error"].startswith("Please don't poll this endpoint, it is intended to be streamed.")
    assert hal.events().response.status_code == 200


def test_requests_for_the_account_are_limited_by_user(own_lichess: RehearsalServer) -> None:
    ada, hal = (joining(own_lichess)(name) for name in ("Ada", "Hal"))
    assert {ada.get("/api/account").status_code for _ in range(REQUESTS_PER_WINDOW)} == {200}
    refused = ada.get("/api/account")
    assert (refused.status_code, refused.json()) == (429, {"error": "Too many requests. Try again later."})
    assert hal.get("/api/account").status_code == 200
