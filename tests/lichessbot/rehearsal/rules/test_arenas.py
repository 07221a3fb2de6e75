"""Arena tournaments over real sockets: joining, being paired, leaving, the end."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.arenas import Application, Arena, ArenaTerms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import Color
from lichessbot.rehearsal.rules.errors import Refused, TooManyRequests
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client, account_of
from tests.lichessbot.rehearsal.conftest import Join
from tests.patience import PATIENCE_S

CLOCK = RealTime(60, 0)
Open = Callable[..., str]


@pytest.fixture
def open_arena(lichess: RehearsalServer) -> Open:
    def open_arena(starts_in_s: float = 0.0, lasts_s: float = 600.0, **terms: object) -> str:
        settled = ArenaTerms("Bots at Noon", CLOCK, **terms)  # type: ignore[arg-type]
        arena_runner = lichess.site.arena_runner
        return lichess.call(lambda: arena_runner.open(settled, starts_in_s=starts_in_s, lasts_s=lasts_s)).id

    return open_arena


def join(client: Client, arena: str, **form: object) -> tuple[int, dict[str, object]]:
    response = client.post(f"/api/tournament/{arena}/join", data=form)
    return response.status_code, response.json()


def test_two_that_ask_to_be_paired_play_and_the_game_names_its_tournament(
    ada: Client, bob: Client, open_arena: Open
) -> None:
    arena = open_arena()
    events = ada.events()
    assert join(ada, arena, pairMeAsap="true") == (200, {"ok": True})
    assert join(bob, arena, pairMeAsap="true")[0] == 200
    start = events.next("gameStart")["game"]
    assert (start["tournamentId"], start["source"]) == (arena, "arena")
    assert ada.game(start["id"]).next("gameFull")["tournamentId"] == arena
    assert ada.command(start["id"], "abort").status_code == 400
    exported = ada.get(f"/game/export/{start['id']}", headers={"Accept": "application/json"}).json()
    assert exported["arenaTour"] == {"id": arena, "name": "Bots at Noon"}


def test_bots_are_paired_without_asking_even_if_they_are_offline(
    lichess: RehearsalServer, ada: Client, bob: Client, open_arena: Open
) -> None:
    arena = open_arena()
    join(ada, arena)
    join(bob, arena)
    entries = lichess.site.arena_runner.arena(arena).entries
    events = ada.events()
    assert events.next("gameStart")["game"]["tournamentId"] == arena
    events.next("gameFinish")
    assert [entry.here for entry in entries.values()].count(False) == 1, "the one who did not move"


def test_bots_are_paired_from_the_start_on(
    lichess: RehearsalServer, ada: Client, bob: Client, open_arena: Open
) -> None:
    arena = open_arena(starts_in_s=60.0)
    events = ada.events()
    for player in (ada, bob):
        join(player, arena, pairMeAsap="true")
    shown = ada.get(f"/api/tournament/{arena}").json()
    assert shown["nbPlayers"] == 2
    assert 0 < shown["secondsToStart"] <= 60
    assert "isFinished" not in shown
    runner = lichess.site.arena_runner

    def start() -> None:
        opened = runner.arena(arena)
        opened.starts_ms -= 60_000
        runner._pair(opened)

    assert events.waiting(0.3) == []
    lichess.call(start)
    assert events.next("gameStart")["game"]["tournamentId"] == arena


def test_the_first_move_has_a_time_limit(ada: Client, bob: Client, open_arena: Open) -> None:
    arena = open_arena()
    events = ada.events()
    for player in (ada, bob):
        join(player, arena, pairMeAsap="true")
    game = events.next("gameStart")["game"]
    over = events.next("gameFinish")["game"]
    assert over["status"]["name"] == "noStart"
    assert over["winner"] == "black"
    players = ada.get(f"/api/tournament/{arena}").json()["standing"]["players"]
    winner = bob if game["color"] == "white" else ada
    assert (players[0]["name"], players[0]["score"]) == (winner.name, 2)


def test_a_player_late_with_the_first_move_is_out_until_joining_again(
    lichess: RehearsalServer, ada: Client, bob: Client, open_arena: Open
) -> None:
    arena = open_arena()
    events = ada.events()
    for player in (ada, bob):
        join(player, arena, pairMeAsap="true")
    white, black = (ada, bob) if events.next("gameStart")["game"]["color"] == "white" else (bob, ada)
    events.next("gameFinish")
    entries = lichess.site.arena_runner.arena(arena).entries
    assert not entries[account_of(lichess, white)].here
    assert entries[account_of(lichess, black)].here
    assert join(white, arena, pairMeAsap="true")[0] == 200
    assert entries[account_of(lichess, white)].here


def test_a_draw_gives_each_player_a_point_and_an_aborted_game_none(
    lichess: RehearsalServer,
    timing: Timing,
    ada: Client,
    bob: Client,
    open_arena: Open,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unhurried = replace(timing, arena_first_move_s=PATIENCE_S)
    monkeypatch.setattr(lichess.site.arena_runner, "_timing", unhurried)
    arena = open_arena()
    events = ada.events()
    entries = lichess.site.arena_runner.arena(arena).entries

    def started() -> GameSession:
        for player in (ada, bob):
            join(player, arena, pairMeAsap="true")
        session = lichess.site.session(events.next("gameStart")["game"]["id"])
        for color, move in zip(Color, ("e2e4", "e7e5"), strict=True):
            lichess.call(partial(session.play, color, move))
        return session

    aborted = started()
    restarted_ms = aborted.game.last_change_ms + 1
    lichess.call(lambda: aborted.game.outlive_restart(Timing(), restarted_ms))
    lichess.call(lambda: aborted._commit(aborted.game.check_flag(restarted_ms + 100_000)))
    assert [entry.score for entry in entries.values()] == [0, 0]
    drawn = started()
    for color in Color:
        lichess.call(partial(drawn.answer_draw, color, accept=True))
    assert [entry.score for entry in entries.values()] == [1, 1]


def test_the_number_of_arenas_to_join_is_limited(own_lichess: RehearsalServer) -> None:
    site = own_lichess.site
    ada = Account("Ada", 0)
    arenas = [
        own_lichess.call(lambda: site.arena_runner.open(ArenaTerms("Noon", CLOCK), starts_in_s=60.0, lasts_s=60.0)).id
        for _ in range(5)
    ]
    for arena in arenas[:4]:
        site.arena_runner.join(arena, ada, Application())
    with pytest.raises(Refused, match=r"^You are joining too many tournaments$"):
        site.arena_runner.join(arenas[4], ada, Application())
    for _ in range(25):
        site.arena_runner.join(arenas[0], ada, Application())
    with pytest.raises(TooManyRequests):
        site.arena_runner.join(arenas[0], ada, Application())


@pytest.mark.parametrize(
    ("terms", "form", "error"),
    [
        ({"password": "sesame"}, {"password": "open"}, "Wrong entry code"),
        ({"open_to_bots": False}, {}, "Tournament restrictions"),
        ({"teams": {"reds": ()}}, {"team": "blues"}, "Missing team"),
        ({"teams": {"reds": ()}}, {"team": "reds"}, "Missing team"),
    ],
)
def test_a_refused_join_says_why(
    ada: Client, open_arena: Open, terms: dict[str, object], form: dict[str, object], error: str
) -> None:
    assert join(ada, open_arena(**terms), **form) == (400, {"error": error})


@pytest.mark.parametrize("open_to_bots", [True, False])
def test_an_arena_says_whether_it_admits_the_account_of_the_token(
    lichess: RehearsalServer, ada: Client, join: Join, open_arena: Open, *, open_to_bots: bool
) -> None:
    path = f"/api/tournament/{open_arena(open_to_bots=open_to_bots)}"
    condition = f"Bot players are {'' if open_to_bots else 'not '}allowed"
    for player, is_met in ((ada, open_to_bots), (join("Person"), True)):
        verdict = {"condition": condition, "verdict": "ok" if is_met else condition}
        assert player.get(path).json()["verdicts"] == {"list": [verdict], "accepted": is_met}


def test_a_member_joins_for_a_team_with_the_password(
    lichess: RehearsalServer, ada: Client, open_arena: Open
) -> None:
    arena = open_arena(password="sesame", teams={"reds": [account_of(lichess, ada)]})
    assert join(ada, arena, password="sesame", team="reds")[0] == 200
    assert join(ada, arena, pairMeAsap="true")[0] == 200, "a player in the arena needs neither again"


def test_a_withdrawn_player_is_not_paired_and_may_return(ada: Client, bob: Client, open_arena: Open) -> None:
    arena = open_arena()
    events = ada.events()
    join(ada, arena, pairMeAsap="true")
    assert ada.post(f"/api/tournament/{arena}/withdraw").json() == {"ok": True}
    join(bob, arena, pairMeAsap="true")
    assert events.waiting(0.3) == []
    join(ada, arena, pairMeAsap="true")
    assert events.next("gameStart")["game"]["tournamentId"] == arena


def test_a_finished_tournament_cannot_be_joined(ada: Client, open_arena: Open) -> None:
    arena = open_arena(lasts_s=0.05)
    time.sleep(0.1)
    assert ada.get(f"/api/tournament/{arena}").json()["isFinished"] is True
    assert join(ada, arena) == (400, {"error": "This tournament no longer exists"})


def test_there_is_no_other_tournament(ada: Client) -> None:
    for response in (ada.get("/api/tournament/nothing1"), ada.post("/api/tournament/nothing1/join")):
        assert (response.status_code, response.json()) == (404, {"error": "No such tournament"})


def test_a_player_leaves_before_the_start_and_pauses_after_it() -> None:
    ada = Account("Ada", 0)
    arena = Arena("id", ArenaTerms("Quick", CLOCK), 10.0, 1e9)
    arena.withdraw(ada, 0)
    arena.join(ada, Application(), 0, 60.0)
    arena.withdraw(ada, 9)
    assert not arena.entries
    arena.join(ada, Application(), 9, 60.0)
    arena.withdraw(ada, 10)
    assert not arena.entries[ada].here


def test_the_waiting_of_people_ends_after_a_minute() -> None:
    arena = Arena("id", ArenaTerms("Quick", CLOCK), 0.0, 1e9)
    ada, bob = Account("Ada", 0), Account("Bob", 0)
    for account in (ada, bob):
        arena.join(account, Application(), 0, 60.0)
    assert list(arena.pairs((), 1)) == [], "they did not ask"
    for account in (ada, bob):
        arena.join(account, Application(pair_me=True), 0, 60.0)
    assert list(arena.pairs((), 60_000)) == []
    assert list(arena.pairs((ada,), 59_999)) == []
    assert list(arena.pairs((), 59_999)) == [(ada, bob)]
    assert list(arena.pairs((), 59_999)) == [], "each request is for one game"
    for account in (ada, bob):
        arena.join(account, Application(pair_me=True), 999_999_990, 60.0)
    assert list(arena.pairs((), 1_000_000_000)) == [], "nor is anybody paired after the end"
    with pytest.raises(Refused):
        arena.join(ada, Application(), 1_000_000_001, 60.0)


def test_of_three_players_the_one_who_played_last_waits() -> None:
    ada, bob, cyd = Account("Ada", 0), Account("Bob", 0), Account("Cyd", 0)
    arena = Arena("id", ArenaTerms("Quick", CLOCK), 1.0, 1e9)
    for account in (ada, bob, cyd):
        account.is_house = True
        arena.join(account, Application(), 0, 60.0)
    assert list(arena.pairs((), 0)) == [], "before the start"
    assert set(*arena.pairs((), 1)) == {ada, bob}
    played = [ada, bob]
    for now_ms in range(10, 50, 10):
        for points, account in enumerate(played):
            arena.end_game(account, points, now_ms + points)
        played = list(*arena.pairs((), now_ms + 5))
        assert cyd in played, "no player waits twice in a row"
        cyd = next(account for account in arena.entries if account not in played)


def test_the_leaders_play_each_other() -> None:
    ada, bob, cyd, dan = players = [Account(name, 0, is_house=True) for name in ("Ada", "Bob", "Cyd", "Dan")]
    arena = Arena("id", ArenaTerms("Quick", CLOCK), 0.0, 1e9)
    for account, points in zip(players, (0, 3, 1, 2), strict=True):
        arena.join(account, Application(), 0, 60.0)
        arena.end_game(account, points, 0)
    assert list(arena.pairs((), 1)) == [(bob, dan), (cyd, ada)]
