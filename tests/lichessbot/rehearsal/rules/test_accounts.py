"""Account, users, tokens, authorisation and error shapes, over real sockets."""

import json

import pytest

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.enums import Color, Scope
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client, account_of, start_game
from tests.lichessbot.rehearsal.conftest import Join

USER_KEYS = {"id", "username", "perfs", "createdAt", "seenAt", "playTime", "url"}
EXTENDED_KEYS = USER_KEYS | {"count", "followable", "following", "blocking"}
PERF_KEYS = {
    "ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence", "chess960", "crazyhouse",
    "antichess", "atomic", "horde", "kingOfTheHill", "racingKings", "threeCheck",
}



# Authorisation.


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (None, "Missing authorization header"),
        ("Basic YTpi", "Missing authorization header"),
        ("Bearer lip_unknown", "No such token"),
    ],
)
def test_unauthorised_requests_are_401_with_the_reason(
    lichess: RehearsalServer, header: str | None, text: str
) -> None:
    headers = {} if header is None else {"Authorization": header}
    response = Client(lichess.site.url, None).get("/api/account", headers=headers)
    assert (response.status_code, response.json()) == (401, {"error": text})


@pytest.mark.parametrize("word", ["user", "as"])
def test_a_user_agent_that_names_another_user_is_401(ada: Client, word: str) -> None:
    response = ada.get("/api/account", headers={"User-Agent": f"client/1.0 {word}:somebody"})
    assert response.status_code == 401
    assert response.json() == {"error": "The user in the user-agent doesn't match the token bearer"}


def test_user_agent_may_name_the_bearer_in_any_case(ada: Client) -> None:
    agent = f"client/1.0 user:{ada.name.upper()}"
    assert ada.get("/api/account", headers={"User-Agent": agent}).status_code == 200


def test_a_missing_scope_is_403_and_named_in_text_and_headers(join: Join) -> None:
    player = join("Narrow", "BOT", frozenset({Scope.BOT_PLAY}))
    response = player.get("/api/challenge")
    assert (response.status_code, response.json()) == (403, {"error": "Missing scope: challenge:read || web:mobile"})
    assert response.headers["X-OAuth-Scopes"] == "bot:play"
    assert response.headers["X-Accepted-OAuth-Scopes"] == "challenge:read,web:mobile"


def test_all_scopes_that_would_do_are_named(join: Join) -> None:
    response = join("Reader", "BOT", frozenset({Scope.CHALLENGE_READ})).post("/api/challenge/hal")
    assert response.json() == {"error": "Missing scope: challenge:write || bot:play || board:play || web:mobile"}
    assert response.headers["X-Accepted-OAuth-Scopes"] == "challenge:write,bot:play,board:play,web:mobile"


def test_bot_play_alone_can_stream_and_challenge(join: Join, hal: Client) -> None:
    player = join("Narrow", "BOT", frozenset({Scope.BOT_PLAY}))
    assert player.events().response.status_code == 200
    assert player.challenge(hal)["status"] == "created"


def test_challenge_read_alone_can_stream_events_but_not_play(join: Join) -> None:
    reader = join("Reader", "BOT", frozenset({Scope.CHALLENGE_READ}))
    assert reader.events().response.status_code == 200
    assert reader.command("whatever", "abort").status_code == 403


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_endpoints_for_peoples_boards_refuse_bots(join: Join, ada: Client, method: str) -> None:
    path = "/api/board/game/whatever/move/e2e4"
    send = {"GET": Client.get, "POST": Client.post}[method]
    bot, human = (join("Player", title, frozenset({Scope.BOARD_PLAY})) for title in ("BOT", None))
    assert send(ada, path).json() == {"error": "Missing scope: board:play"}
    refused = send(bot, path)
    assert (refused.status_code, refused.json()) == (403, {"error": "This API endpoint is not for Bot accounts."})
    assert send(human, path).json() == {"error": f"The embedded Lichess does not serve {method} {path}"}


@pytest.mark.parametrize("path", ["/api/nothing", "/api/games/user/ada", "/api/challenge/xxxxxxxx/accept", "/"])
def test_paths_and_methods_that_are_not_served_say_so(ada: Client, path: str) -> None:
    response = ada.get(path)
    error = f"The embedded Lichess does not serve GET {path}"
    assert (response.status_code, response.json()) == (404, {"error": error})


def test_body_that_is_no_json_object_is_a_form_error(ada: Client, hal: Client) -> None:
    headers = {"Content-Type": "application/json"}
    for body in ("{", "[]", "[" * 100_000):
        response = ada.post(f"/api/challenge/{hal.id}", data=body, headers=headers)
        assert response.status_code == 400
        assert set(response.json()["error"]) == {"global"}


def test_a_body_that_is_neither_form_nor_json_is_a_form_error(ada: Client, hal: Client) -> None:
    parts = {"clock.limit": (None, "60"), "clock.increment": (None, "0")}
    response = ada.post(f"/api/challenge/{hal.id}", files=parts)
    assert response.status_code == 400
    assert response.json()["error"] == {"global": ["Expected a form or JSON"]}
    accepted = ada.post(
        f"/api/challenge/{hal.id}",
        data="clock.limit=60&clock.increment=0",
        headers={"Content-Type": "Application/X-WWW-Form-Urlencoded; charset=utf-8"},
    )
    assert accepted.json()["timeControl"]["limit"] == 60


# Tokens.


def test_the_token_test_shows_owner_scopes_and_expiry_or_null(ada: Client) -> None:
    body = f"{ada.token},lip_bad"
    headers = {"Content-Type": "text/plain"}
    response = Client(ada.url, None).post("/api/token/test", data=body, headers=headers)
    assert response.json() == {
        ada.token: {"userId": ada.id, "scopes": "bot:play,challenge:read,challenge:write", "expires": None},
        "lip_bad": None,
    }


# Users.


def test_account_of_a_bot_has_the_title_and_all_perfs(ada: Client) -> None:
    account = ada.get("/api/account").json()
    assert set(account) == EXTENDED_KEYS | {"title", "profile"}
    assert (account["title"], account["id"], account["username"]) == ("BOT", ada.id, ada.name)
    assert set(account["perfs"]) == PERF_KEYS


def test_the_account_of_a_human_has_no_title(hal: Client) -> None:
    assert "title" not in hal.get("/api/account").json()


def test_public_user_needs_no_token_and_ignores_case(ada: Client) -> None:
    anybody = Client(ada.url, None)
    assert set(anybody.get(f"/api/user/{ada.name.upper()}").json()) == EXTENDED_KEYS | {"title", "profile"}
    assert anybody.get("/api/user/nobody").status_code == 404


def test_user_who_plays_has_a_playing_address(ada: Client, hal: Client) -> None:
    game_id = start_game(ada, hal)
    user = ada.get(f"/api/user/{ada.id}").json()
    assert (user["playing"], user["count"]["playing"]) == (f"{ada.url}/{game_id}", 1)


def test_the_status_omits_false_flags(ada: Client, hal: Client) -> None:
    query = {"ids": f"{ada.id},{hal.id},nobody", "withGameIds": "true"}
    assert ada.get("/api/users/status", params=query).json() == [
        {"id": ada.id, "name": ada.name, "title": "BOT"},
        {"id": hal.id, "name": hal.name},
    ]
    events = ada.events()
    events.waiting(0.05)
    game_id = start_game(ada, hal)
    first, second = ada.get("/api/users/status", params=query).json()
    assert first == {
        "id": ada.id, "name": ada.name, "title": "BOT", "online": True, "playing": True, "playingId": game_id,
    }
    assert "online" not in second
    first, _ = ada.get("/api/users/status", params={"ids": query["ids"]}).json()
    assert "playingId" not in first


def test_online_bots_are_those_with_a_bio_and_an_event_stream(join: Join, ada: Client, bob: Client) -> None:
    silent = join("Silent", "BOT")
    streams = [ada.events(), silent.events()]
    response = Client(ada.url, None).get("/api/bot/online")
    assert response.headers["Content-Type"].startswith("application/x-ndjson")
    assert not response.text.endswith("\n")
    names = {json.loads(line)["id"] for line in response.text.splitlines()}
    assert ada.id in names
    assert bob.id not in names
    assert silent.id not in names
    assert all(stream.response.status_code == 200 for stream in streams)


@pytest.mark.parametrize(
    ("winner", "won", "lost", "drawn"),
    [(Color.WHITE, 1, 0, 0), (Color.BLACK, 0, 1, 0), (None, 0, 0, 1)],
)
def test_a_game_counts_as_won_lost_or_drawn(winner: Color | None, won: int, lost: int, drawn: int) -> None:
    account = Account("Ada", 0)
    account.count_game(Color.WHITE, winner)
    assert (account.wins, account.losses, account.draws, account.games_played) == (won, lost, drawn, 1)


# Upgrade.


def test_upgrade_makes_a_bot_of_an_account_without_games(hal: Client) -> None:
    assert hal.post("/api/bot/account/upgrade").json() == {"ok": True}
    assert hal.get("/api/account").json()["title"] == "BOT"


def test_upgrade_is_refused_after_the_first_game(lichess: RehearsalServer, hal: Client) -> None:
    account_of(lichess, hal).count_game(Color.WHITE, None)
    response = hal.post("/api/bot/account/upgrade")
    assert response.status_code == 400
    assert response.json() == {"error": "You already have games played. Make a new account."}


# Games in progress.


def test_playing_lists_games_most_urgent_first(ada: Client, hal: Client, bob: Client) -> None:
    waiting, slow, fast = start_game(bob, ada), start_game(ada, bob, **{"clock.limit": 300}), start_game(ada, hal)
    playing = ada.get("/api/account/playing").json()
    assert [game["gameId"] for game in playing["nowPlaying"]] == [fast, slow, waiting]
    assert playing["nbMyTurn"] == 2
    assert set(playing["nowPlaying"][0]) == {
        "fullId", "gameId", "fen", "color", "lastMove", "source", "status", "variant", "speed", "perf",
        "rated", "hasMoved", "opponent", "isMyTurn", "secondsLeft", "rating",
    }
    assert len(ada.get("/api/account/playing", params={"nb": 1}).json()["nowPlaying"]) == 1
