"""A daemon killed in mid-game, and started again while Lichess does not say which games it has."""

import time
from collections.abc import Callable

import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.storage.database import read_only
from tests.fakes.arena import Arena, Ponderer, judge

ACCOUNT, PLAYING = "/api/account", "/api/account/playing"


def limited() -> Response:
    return HTMLResponse("<html>Too many requests</html>", 429)


def broken() -> Response:
    return HTMLResponse("<html>Bad gateway</html>", 502)


class Refusing:
    """Stands before the server; what it answers itself, it answers until told otherwise."""

    def __init__(self) -> None:
        self.answers: dict[str, Callable[[], Response]] = {}

    async def __call__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self.answers.get(scope["path"])
        await (app if answer is None else answer())(scope, receive, send)


@pytest.fixture
def refusing() -> Refusing:
    return Refusing()


@pytest.fixture
def arena(arena: Arena, refusing: Refusing) -> Arena:
    arena.server.guard_with(refusing)
    arena.configure(depth=2)
    return arena


def killed_in_mid_game(arena: Arena, games: int = 1) -> list[GameSession]:
    arena.start()
    for number in range(games):
        arena.challenge(arena.player(f"Slow{number}", Ponderer))
    arena.until(lambda: len(arena.started) == games and all(session.game.ply >= 4 for session in arena.started))
    noted = "SELECT 1 FROM games WHERE left_at IS NULL"
    arena.until(lambda: len(read_only(arena.folder / "state", noted)) == games)     # the disk may be slow
    arena.kill()
    assert arena.leftovers() == []
    return arena.started


@pytest.mark.parametrize(
    ("answer", "paths"), [(limited, (ACCOUNT, PLAYING)), (broken, (PLAYING,))], ids=["limited", "half broken"]
)
def test_games_go_on_from_memory_while_lichess_does_not_tell_of_them(
    arena: Arena, refusing: Refusing, paths: tuple[str, ...], answer: Callable[[], Response]
) -> None:
    arena.time_scale = 2.0
    sessions = killed_in_mid_game(arena, games=2)
    refusing.answers = dict.fromkeys(paths, answer)
    plies = [session.game.ply for session in sessions]
    started_at = time.monotonic()
    arena.spawn()
    for session, before in zip(sessions, plies, strict=True):
        arena.until_plies(session, before + 4)
    assert time.monotonic() - started_at < 110, "two minutes are what a 429 costs at this scale"
    assert arena.logged("games.remembered account=testbot games=2")


def test_the_account_is_confirmed_once_lichess_answers(arena: Arena, refusing: Refusing) -> None:
    over, session = killed_in_mid_game(arena, games=2)
    arena.server.call(lambda: over.resign(over.game.setup.color_of(arena.bot).other))  # type: ignore[union-attr]
    refusing.answers = {ACCOUNT: broken}
    arena.spawn()
    arena.until(lambda: f"game.over game={over.game.id}" in arena.log())
    arena.until_plies(session, session.game.ply + 2)
    refusing.answers = {}
    arena.until(lambda: arena.log().count("events.open") >= 2)
    arena.plays_on(session)
    arena.challenge(arena.player("Greedy"))
    arena.until_ended(2)
    judge(arena.ended[1])


def test_games_of_another_account_are_left_once_the_account_is_known(arena: Arena, refusing: Refusing) -> None:
    (session,) = killed_in_mid_game(arena)
    other = {"id": "other", "username": "Other", "title": "BOT"}
    refusing.answers = {ACCOUNT: broken}
    arena.spawn()
    arena.until(lambda: arena.log().count(f"game.state game={session.game.id}") >= 2)
    refusing.answers = {ACCOUNT: lambda: JSONResponse(other), PLAYING: lambda: JSONResponse({"nowPlaying": []})}
    arena.until(lambda: "account.changed was=testbot games_left=1" in arena.log())
    arena.until(lambda: "account name=Other" in arena.log())
    plies = session.game.ply
    time.sleep(1.0)
    assert session.game.ply <= plies + 2, "what was on its way, and no more"
