"""Creating, answering and losing challenges, over real sockets."""

import threading
import time

import pytest

from engine.facade import Board
from lichessbot.rehearsal.rules.challenges import Challenge, Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import ChallengeStatus, Variant
from lichessbot.rehearsal.rules.timing import monotonic_ms
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client, account_of, start_game
from tests.lichessbot.rehearsal.rules.creation import CHALLENGE_KEYS, create
from tests.patience import PATIENCE_S

ORDINARY_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
ENDGAME_FEN = "8/5pk1/1p4p1/p1r4p/P4R1P/1P4P1/5PK1/8 w - - 0 1"
EXPIRY_S = 1.0      # where a test waits for it


# Creation.


def test_created_challenge_is_flat_and_outgoing(ada: Client, hal: Client) -> None:
    challenge = hal.challenge(ada, **{"clock.limit": 300, "clock.increment": 3, "color": "black"})
    assert set(challenge) == CHALLENGE_KEYS | {"direction"}
    assert challenge["direction"] == "out"
    assert challenge["status"] == "created"
    assert challenge["timeControl"] == {"type": "clock", "limit": 300, "increment": 3, "show": "5+3"}
    assert (challenge["color"], challenge["finalColor"]) == ("black", "black")
    assert challenge["perf"]["name"] == "Blitz"
    assert challenge["destUser"]["title"] == "BOT"
    assert "title" not in challenge["challenger"]


def test_both_body_encodings_mean_the_same_and_null_is_absent(ada: Client, hal: Client) -> None:
    form_body = {"rated": "true", "clock.limit": 60, "clock.increment": 1}
    form = hal.post(f"/api/challenge/{ada.id}", data=form_body)
    json_body = {"rated": True, "clock.limit": 60, "clock.increment": 1, "days": None, "fen": None}
    json = hal.post(f"/api/challenge/{ada.id}", json=json_body)
    fields = ("rated", "timeControl", "variant", "speed", "color")
    assert [form.json()[field] for field in fields] == [json.json()[field] for field in fields]


@pytest.mark.parametrize(
    ("form", "control"),
    [
        ({"days": 3}, {"type": "correspondence", "daysPerTurn": 3}),
        ({}, {"type": "unlimited"}),
    ],
)
def test_days_or_nothing_instead_of_a_clock(
    ada: Client, hal: Client, form: dict[str, int], control: dict[str, object]
) -> None:
    status, challenge = create(hal, ada, **form)
    assert (status, challenge["timeControl"], challenge["speed"]) == (200, control, "correspondence")


@pytest.mark.parametrize(
    ("form", "field", "text"),
    [
        ({"clock.limit": 0, "clock.increment": 0}, "clock", "Invalid clock"),
        ({"clock.limit": 61, "clock.increment": 0}, "clock.limit", "Invalid clock"),
        ({"clock.limit": 60, "clock.increment": 181}, "clock.limit", "Invalid clock"),
        ({"clock.limit": 60}, "clock.increment", "This field is required"),
        ({"clock.limit": "soon", "clock.increment": 0}, "clock.limit", "Numeric value expected"),
        ({"days": 4}, "days", "Invalid number of days"),
        ({"variant": "bughouse"}, "variant", "Invalid variant"),
        ({"color": "green"}, "color", "Invalid value"),
        ({"rules": "noFun"}, "rules", "Invalid rules"),
        ({"variant": "fromPosition"}, "global", "Invalid FEN"),
        ({"variant": "fromPosition", "fen": "8/8/8"}, "global", "Invalid FEN"),
        ({"variant": "fromPosition", "fen": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"}, "global", "Invalid FEN"),
        ({"variant": "fromPosition", "fen": ENDGAME_FEN, "rated": "true"}, "global", "can't be rated"),
        ({"fen": ENDGAME_FEN, "rated": "true"}, "global", "can't be rated"),
        ({"variant": "chess960", "rated": "true"}, "global", "can't be rated"),
    ],
)
def test_form_errors_are_objects_and_repeat_their_fields_at_top_level(
    ada: Client, hal: Client, form: dict[str, object], field: str, text: str
) -> None:
    assert create(hal, ada, **form) == (400, {"error": {field: [text]}, field: [text]})


def test_bot_asking_faster_than_bullet_gets_a_form_error(ada: Client, hal: Client) -> None:
    status, body = create(ada, hal, **{"clock.limit": 15, "clock.increment": 0})
    assert (status, body["error"]) == (400, {"global": ["Invalid speed"]})


def test_human_asking_a_bot_for_ultrabullet_gets_a_text(ada: Client, hal: Client) -> None:
    status, body = create(hal, ada, **{"clock.limit": 15, "clock.increment": 0})
    assert status == 400
    assert body["error"] == "Bots cannot play UltraBullet. Choose a slower time control."


def test_refusals_are_plain_texts(hal: Client) -> None:
    nobody = Client(hal.url, None, "nobody")
    assert create(hal, nobody) == (400, {"error": "No such user: nobody"})
    assert create(hal, hal) == (400, {"error": "You cannot challenge yourself"})


def test_rules_are_refused_when_the_target_is_a_bot(ada: Client, hal: Client) -> None:
    assert create(hal, ada, rules="noAbort") == (400, {"error": "Rules not applicable for bots"})
    status, challenge = create(ada, hal, rules="noAbort,noRematch")
    assert (status, challenge["rules"]) == (200, ["noAbort", "noRematch"])


@pytest.mark.parametrize(("limit_s", "increment_s", "rated"), [(0, 1, False), (60, 0, True)])
def test_hasty_variant_games_are_silently_casual(
    ada: Client, hal: Client, limit_s: int, increment_s: int, rated: bool
) -> None:
    form = {"variant": "chess960", "rated": "true", "clock.limit": limit_s, "clock.increment": increment_s}
    assert create(hal, ada, **form)[1]["rated"] is rated


def test_standard_with_another_start_becomes_from_position(ada: Client, hal: Client) -> None:
    challenge = hal.challenge(ada, fen=ENDGAME_FEN)
    assert challenge["variant"] == {"key": "fromPosition", "name": "From Position", "short": "FEN"}
    assert challenge["initialFen"] == ENDGAME_FEN


def test_chess960_start_that_is_none_is_dropped(ada: Client, hal: Client) -> None:
    no_start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
    for fen in (ENDGAME_FEN, " ", no_start, f"{no_start} b KQkq - 0 1"):
        assert hal.challenge(ada, variant="chess960", fen=fen).get("initialFen") != fen
    start = "bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w KQkq - 0 1"
    assert hal.challenge(ada, variant="chess960", fen=start)["initialFen"] == start


def test_a_start_of_a_variant_that_has_but_one_is_dropped(ada: Client, hal: Client) -> None:
    challenge = hal.challenge(ada, variant="atomic", fen=ENDGAME_FEN)
    assert (challenge["variant"]["key"], challenge.get("initialFen")) == ("atomic", None)


def test_from_position_with_the_ordinary_start_is_played_as_standard(ada: Client, hal: Client) -> None:
    game_id = start_game(hal, ada, variant="fromPosition", fen=ORDINARY_FEN)
    full = ada.game(game_id).next("gameFull")
    assert (full["variant"]["key"], full["initialFen"]) == ("standard", "startpos")


def test_every_variant_can_be_proposed(ada: Client, hal: Client) -> None:
    for variant in Variant:
        fen = {"fen": ENDGAME_FEN} if variant is Variant.FROM_POSITION else {}
        assert hal.challenge(ada, variant=variant.key, **fen)["variant"]["key"] == variant.key


# Events.


def test_challenge_reaches_the_target_with_compat_beside_it_and_without_direction(
    ada: Client, hal: Client
) -> None:
    events = ada.events()
    hal.challenge(ada)
    event = events.next("challenge")
    assert set(event) == {"type", "challenge", "compat"}
    assert event["compat"] == {"bot": True, "board": False}, "a bullet game"
    assert set(event["challenge"]) == CHALLENGE_KEYS


def test_own_challenge_comes_back_as_an_echo(ada: Client, hal: Client) -> None:
    events = ada.events()
    created = ada.challenge(hal)
    echo = events.next("challenge")["challenge"]
    assert echo["id"] == created["id"]
    assert echo["challenger"]["id"] == ada.id
    assert "direction" not in echo


def test_decline_reaches_both_with_the_reason_as_sentence_and_lowercase_key(ada: Client, hal: Client) -> None:
    streams = [ada.events(), hal.events()]
    challenge = hal.challenge(ada)
    response = ada.post(f"/api/challenge/{challenge['id']}/decline", data={"reason": "TooFast"})
    assert response.json() == {"ok": True}
    for events in streams:
        declined = events.next("challengeDeclined")["challenge"]
        assert declined["status"] == "declined"
        assert declined["declineReasonKey"] == "toofast"
        assert "too fast" in declined["declineReason"]


@pytest.mark.parametrize("body", [{"reason": "because"}, {}])
def test_unknown_or_missing_decline_reason_is_generic(ada: Client, hal: Client, body: dict[str, str]) -> None:
    events = hal.events()
    ada.post(f"/api/challenge/{hal.challenge(ada)['id']}/decline", json=body)
    assert events.next("challengeDeclined")["challenge"]["declineReasonKey"] == "generic"


def test_cancel_reaches_both(ada: Client, hal: Client) -> None:
    streams = [ada.events(), hal.events()]
    challenge = hal.challenge(ada)
    assert hal.post(f"/api/challenge/{challenge['id']}/cancel").json() == {"ok": True}
    for events in streams:
        event = events.next("challengeCanceled")
        assert event["challenge"]["status"] == "canceled"
        assert "compat" not in event


def test_cancelling_an_incoming_challenge_declines_it_as_generic(ada: Client, hal: Client) -> None:
    events = hal.events()
    ada.post(f"/api/challenge/{hal.challenge(ada)['id']}/cancel")
    assert events.next("challengeDeclined")["challenge"]["declineReasonKey"] == "generic"


def test_open_replays_incoming_challenges_without_compat_and_outgoing_ones_not_at_all(
    ada: Client, hal: Client, bob: Client
) -> None:
    waiting = hal.challenge(ada)
    ada.challenge(bob)
    events = ada.events().only(1)
    assert [(event["type"], event["challenge"]["id"]) for event in events] == [("challenge", waiting["id"])]
    assert "compat" not in events[0]


# Expiry and replacement.


@pytest.fixture
def _soon_expired(lichess: RehearsalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lichess.site.challenges, "_expiry_s", EXPIRY_S)


@pytest.mark.usefixtures("_soon_expired")
def test_unanswered_challenge_goes_offline_silently_and_can_still_be_accepted(
    ada: Client, hal: Client
) -> None:
    events = ada.events()
    challenge = hal.challenge(ada)
    events.next("challenge")
    assert events.waiting(1.1 * EXPIRY_S) == []
    shown = ada.get(f"/api/challenge/{challenge['id']}/show").json()
    assert shown["status"] == "offline"
    assert ada.events().waiting(0.1) == []      # no longer replayed
    assert [player.get("/api/challenge").json() for player in (ada, hal)] == [{"in": [], "out": []}] * 2
    assert hal.challenge(ada)["status"] == "created", "which does not replace it"
    assert ada.post(f"/api/challenge/{challenge['id']}/accept").status_code == 200


@pytest.mark.usefixtures("_soon_expired")
def test_correspondence_challenges_do_not_expire(ada: Client, hal: Client) -> None:
    _, challenge = create(hal, ada, days=2)
    time.sleep(1.1 * EXPIRY_S)
    assert ada.get(f"/api/challenge/{challenge['id']}/show").json()["status"] == "created"


def test_second_challenge_to_the_same_target_replaces_the_first_silently(ada: Client, hal: Client) -> None:
    events = ada.events()
    first, second = hal.challenge(ada), hal.challenge(ada)
    seen = events.only(2)
    assert [event["type"] for event in seen] == ["challenge", "challenge"]
    refused = ada.post(f"/api/challenge/{first['id']}/accept")
    assert (refused.status_code, refused.json()) == (400, {"error": "The challenge has been canceled."})
    assert ada.post(f"/api/challenge/{second['id']}/accept").status_code == 200


@pytest.mark.usefixtures("_soon_expired")
def test_a_keep_alive_stream_shows_the_outcome_and_prevents_expiry(ada: Client, hal: Client) -> None:
    form = {"clock.limit": 60, "clock.increment": 0, "keepAliveStream": "true"}
    lines: list[bytes] = []

    def hold() -> None:
        response = hal.post(f"/api/challenge/{ada.id}", data=form, stream=True)
        lines.extend(line for line in response.iter_lines() if line)

    holder = threading.Thread(target=hold)
    events = ada.events()
    holder.start()
    challenge_id = events.next("challenge")["challenge"]["id"]
    time.sleep(1.1 * EXPIRY_S)
    assert ada.get(f"/api/challenge/{challenge_id}/show").json()["status"] == "created"
    ada.post(f"/api/challenge/{challenge_id}/accept")
    holder.join(PATIENCE_S)
    assert len(lines) == 2
    assert lines[1] == b'{"done":"accepted"}'


def test_a_challenge_expires_again_once_its_keep_alive_stream_is_closed(
    lichess: RehearsalServer, ada: Client, hal: Client
) -> None:
    site = lichess.site

    def statuses() -> list[ChallengeStatus]:
        """Return the status long after the creation, as the stream is closed, and long after that."""
        terms = Terms(Variant.STANDARD, RealTime(60, 0))
        challenge = site.invite(account_of(lichess, hal), account_of(lichess, ada), terms)
        stream = site.open_challenge_stream(challenge)
        age(challenge)
        found = [site.challenges.status(challenge, monotonic_ms())]
        site.close_challenge_stream(challenge, stream)
        found.append(site.challenges.status(challenge, monotonic_ms()))
        age(challenge)
        return [*found, site.challenges.status(challenge, monotonic_ms())]

    def age(challenge: Challenge) -> None:
        challenge.seen_at_ms -= round(2000 * site.timing.challenge_expiry_s)

    assert lichess.call(statuses) == [ChallengeStatus.CREATED, ChallengeStatus.CREATED, ChallengeStatus.OFFLINE]


# Answers.


def test_acceptance_starts_a_game_with_the_id_of_the_challenge(ada: Client, hal: Client) -> None:
    streams = [ada.events(), hal.events()]
    game_id = start_game(hal, ada)
    starts = [events.next("gameStart")["game"] for events in streams]
    assert [start["id"] for start in starts] == [game_id, game_id]
    assert [start["color"] for start in starts] == ["black", "white"]
    assert starts[0]["source"] == "friend"


def test_only_one_of_two_accepts_wins(ada: Client, hal: Client) -> None:
    challenge = hal.challenge(ada)
    path = f"/api/challenge/{challenge['id']}/accept"
    assert ada.post(path).status_code == 200
    assert (ada.post(path).status_code, ada.post(path).json()) == (404, {"error": "Not found"})


@pytest.mark.parametrize(("command", "text"), [("cancel", "canceled"), ("decline", "declined")])
def test_accepting_a_settled_challenge_names_its_status(
    ada: Client, hal: Client, command: str, text: str
) -> None:
    challenge = hal.challenge(ada)
    (hal if command == "cancel" else ada).post(f"/api/challenge/{challenge['id']}/{command}")
    refused = ada.post(f"/api/challenge/{challenge['id']}/accept")
    assert (refused.status_code, refused.json()) == (400, {"error": f"The challenge has been {text}."})


@pytest.mark.parametrize("command", ["accept", "decline", "cancel"])
def test_a_challenge_is_hidden_from_others(ada: Client, hal: Client, bob: Client, command: str) -> None:
    for challenge_id in (hal.challenge(ada)["id"], "unknown1"):
        assert bob.post(f"/api/challenge/{challenge_id}/{command}").status_code == 404
        assert bob.get(f"/api/challenge/{challenge_id}/show").status_code == 404


def test_declining_twice_is_not_found(ada: Client, hal: Client) -> None:
    path = f"/api/challenge/{hal.challenge(ada)['id']}/decline"
    assert [ada.post(path).status_code for _ in range(2)] == [200, 404]


def test_cancel_aborts_the_young_game_a_challenge_became_but_not_an_older_one(
    ada: Client, hal: Client, bob: Client
) -> None:
    young = start_game(hal, ada)
    assert bob.post(f"/api/challenge/{young}/cancel").status_code == 404, "it is not his"
    assert hal.post(f"/api/challenge/{young}/cancel").status_code == 200
    assert ada.game(young).next("gameFull")["state"]["status"] == "aborted"
    older = start_game(bob, ada)
    bob.do(older, "move/e2e4")
    ada.do(older, "move/e7e5")
    refused = bob.post(f"/api/challenge/{older}/cancel")
    assert (refused.status_code, refused.json()) == (400, {"error": "Missing opponentToken"})


@pytest.mark.parametrize("variant", [it for it in Variant if it is not Variant.FROM_POSITION], ids=lambda it: it.key)
def test_every_variant_is_played_from_its_own_start(ada: Client, hal: Client, variant: Variant) -> None:
    challenge = hal.challenge(ada, variant=variant.key)
    assert ("initialFen" in challenge) == (variant in (Variant.HORDE, Variant.RACING_KINGS))
    assert ada.post(f"/api/challenge/{challenge['id']}/accept").status_code == 200
    (playing,) = ada.get("/api/account/playing").json()["nowPlaying"]
    assert playing["variant"] == {"key": variant.key, "name": variant.display_name}
    if variant is not Variant.CHESS960:
        assert playing["fen"] == Board(variant=variant.key).fen()


def test_what_is_not_served_says_so_instead_of_naming_a_user(ada: Client) -> None:
    for path in ("/api/challenge/ai", "/api/challenge/open"):
        answer = ada.post(path, data={"level": 1})
        error = f"The embedded Lichess does not serve POST {path}"
        assert (answer.status_code, answer.json()) == (404, {"error": error})


def test_users_are_listed_in_the_order_of_the_request(ada: Client, bob: Client) -> None:
    listed = ada.post("/api/users", data=f"{bob.name},nobody,{ada.name}").json()
    assert [it["username"] for it in listed] == [bob.name, ada.name]


def test_challenges_are_listed_by_direction(ada: Client, hal: Client, bob: Client) -> None:
    incoming, outgoing = [hal.challenge(ada), bob.challenge(ada)], [ada.challenge(bob), ada.challenge(hal)]
    listed = ada.get("/api/challenge").json()
    for direction, challenges in (("in", incoming), ("out", outgoing)):
        found = [(it["id"], it["direction"]) for it in listed[direction]]
        assert found == [(it["id"], direction) for it in challenges]


def test_show_adds_the_full_id_once_accepted(ada: Client, hal: Client) -> None:
    challenge = hal.challenge(ada)
    path = f"/api/challenge/{challenge['id']}"
    assert "fullId" not in ada.get(f"{path}/show").json()
    ada.post(f"{path}/accept")
    shown = ada.get(f"{path}/show").json()
    assert shown["status"] == "accepted"
    assert len(shown["fullId"]) == 12
    assert shown["fullId"].startswith(challenge["id"])
