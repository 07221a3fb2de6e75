"""The endpoints of the API, each a few lines in front of the site.

Every authorised request passes through `_authorised`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.enums import Color, DeclineReason, Scope, Speed
from lichessbot.rehearsal.rules.errors import ApiError, Forbidden, NotFound, Refused
from lichessbot.rehearsal.rules.timing import monotonic_ms
from lichessbot.rehearsal.server import export, params, payloads
from lichessbot.rehearsal.server.auth import ANY_SCOPE, Call, authorise, read_list
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.payloads import Json
from lichessbot.rehearsal.server.site import Site
from lichessbot.rehearsal.server.streams import StreamedResponse

Handler = Callable[[Site, Call], Awaitable[Response | None]]
OpenHandler = Callable[[Site, Request], Awaitable[Response]]

EVENT_SCOPES = (Scope.BOT_PLAY, Scope.BOARD_PLAY, Scope.CHALLENGE_READ)
PLAY_SCOPES = (Scope.BOT_PLAY,)
BOARD_SCOPES = (Scope.BOARD_PLAY,)
READ_SCOPES = (Scope.CHALLENGE_READ, Scope.WEB_MOBILE)
CHALLENGE_SCOPES = (Scope.CHALLENGE_WRITE, Scope.BOT_PLAY, Scope.BOARD_PLAY, Scope.WEB_MOBILE)
ARENA_SCOPES = (Scope.TOURNAMENT_WRITE, Scope.BOT_PLAY, Scope.WEB_MOBILE)
TEAM_SCOPES = (Scope.TEAM_WRITE,)

MAX_PLAYING = 50
DEFAULT_PLAYING = 9
MAX_BOTS = 512
DEFAULT_BOTS = 100
MAX_USERS = 300
MAX_STATUS_IDS = 100
MAX_TOKENS = 1000

NDJSON = "application/x-ndjson"
PGN = "application/x-chess-pgn"


def application(site: Site) -> Starlette:
    """Return the API in front of `site`."""
    api = Starlette(
        routes=_routes(site),
        exception_handlers={ApiError: _refuse, HTTPException: _no_route},
    )
    api.router.redirect_slashes = False     # a path with one more slash is another path
    return api


def _routes(site: Site) -> list[BaseRoute]:
    def authorised(path: str, handler: Handler, accepted: tuple[Scope, ...], method: str = "GET") -> Route:
        return Route(path, partial(_authorised, site, handler, accepted), methods=[method])

    def public(path: str, handler: OpenHandler, method: str = "GET") -> Route:
        return Route(path, partial(handler, site), methods=[method])

    game = "/api/bot/game/{game_id}"
    return [
        authorised("/api/account", account, ANY_SCOPE),
        authorised("/api/account/playing", now_playing, ANY_SCOPE),
        authorised("/api/bot/account/upgrade", upgrade, PLAY_SCOPES, "POST"),
        public("/api/token/test", test_tokens, "POST"),
        public("/api/user/{name}", public_user),
        public("/api/users", users, "POST"),
        public("/api/users/status", users_status),
        public("/api/bot/online", online_bots),
        public("/game/export/{game_id}", export_game),
        public("/api/cloud-eval", cloud_evaluation),
        authorised("/api/stream/event", event_stream, EVENT_SCOPES),
        authorised("/api/bot/game/stream/{game_id}", game_stream, PLAY_SCOPES),
        authorised(f"{game}/move/{{uci}}", move, PLAY_SCOPES, "POST"),
        authorised(f"{game}/chat", read_chat, PLAY_SCOPES),
        authorised(f"{game}/chat", write_chat, PLAY_SCOPES, "POST"),
        authorised(f"{game}/abort", abort, PLAY_SCOPES, "POST"),
        authorised(f"{game}/resign", resign, PLAY_SCOPES, "POST"),
        authorised(f"{game}/draw/{{accept}}", draw, PLAY_SCOPES, "POST"),
        authorised(f"{game}/takeback/{{accept}}", takeback, PLAY_SCOPES, "POST"),
        authorised(f"{game}/claim-victory", claim_victory, PLAY_SCOPES, "POST"),
        authorised(f"{game}/claim-draw", claim_draw, PLAY_SCOPES, "POST"),
        authorised(f"{game}/{{command:path}}", unknown_command, PLAY_SCOPES, "POST"),
        authorised("/api/board/{path:path}", board_api, BOARD_SCOPES),
        authorised("/api/board/{path:path}", board_api, BOARD_SCOPES, "POST"),
        public("/api/tournament/{arena_id}", show_arena),
        authorised("/api/tournament/{arena_id}/join", join_arena, ARENA_SCOPES, "POST"),
        authorised("/api/tournament/{arena_id}/withdraw", leave_arena, ARENA_SCOPES, "POST"),
        authorised("/team/{team_id}/join", join_team, TEAM_SCOPES, "POST"),
        authorised("/api/challenge", list_challenges, READ_SCOPES),
        authorised("/api/challenge/{challenge_id}/show", show_challenge, READ_SCOPES),
        authorised("/api/challenge/{challenge_id}/accept", accept_challenge, CHALLENGE_SCOPES, "POST"),
        authorised("/api/challenge/{challenge_id}/decline", decline_challenge, CHALLENGE_SCOPES, "POST"),
        authorised("/api/challenge/{challenge_id}/cancel", cancel_challenge, CHALLENGE_SCOPES, "POST"),
        public("/api/challenge/ai", not_served, "POST"),
        public("/api/challenge/open", not_served, "POST"),
        authorised("/api/challenge/{name}", create_challenge, CHALLENGE_SCOPES, "POST"),
    ]


async def _authorised(site: Site, handler: Handler, accepted: tuple[Scope, ...], request: Request) -> Response:
    """Answer a request with a token; a handler that returns nothing has carried out a command."""
    answer = await handler(site, Call(request, authorise(request, site.accounts, accepted)))
    return JSONResponse(payloads.OK) if answer is None else answer


async def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return JSONResponse(error.body(), error.status, error.headers())


async def _no_route(request: Request, _error: Exception) -> Response:
    """Answer a path that is not served, or not with this method."""
    return await _refuse(request, _not_served(request))


# Account, users, token (3.1).


async def account(site: Site, call: Call) -> Response:
    site.quotas.read_account(call.account, monotonic_ms())
    return JSONResponse(_extended_user(site, call.account))


async def now_playing(site: Site, call: Call) -> Response:
    count = min(params.whole_number(call.request.query_params, "nb", DEFAULT_PLAYING), MAX_PLAYING)
    played = [(session.game, session.game.setup.player_color(call.account)) for session in site.games_of(call.account)]
    games = [payloads.playing(game, color, monotonic_ms()) for game, color in played]
    on_turn = sum(game["isMyTurn"] for game in games)
    return JSONResponse({"nowPlaying": games[:count], "nbMyTurn": on_turn})


async def upgrade(site: Site, call: Call) -> None:
    if call.account.games_played:
        raise Refused("You already have games played. Make a new account.")
    call.account.upgrade_to_bot()


async def test_tokens(site: Site, request: Request) -> Response:
    tokens = (await read_list(request))[:MAX_TOKENS]
    return JSONResponse({token: payloads.token_test(site.accounts.grant(token)) for token in tokens})


async def cloud_evaluation(site: Site, request: Request) -> Response:
    """Answer with the cloud evaluation of a position (3.5)."""
    fen = request.query_params.get("fen", "")
    known = site.cloud_evaluations.get(" ".join(fen.split()[:4]))
    if known is None:
        raise NotFound("No cloud evaluation available for that position")
    return JSONResponse({"fen": fen, **known})


async def public_user(site: Site, request: Request) -> Response:
    account = site.accounts.get(request.path_params["name"])
    if account is None:
        raise NotFound
    return JSONResponse(_extended_user(site, account))


async def users(site: Site, request: Request) -> Response:
    """Answer with the users of these names, in this order."""
    found = [account for name in (await read_list(request))[:MAX_USERS] if (account := site.accounts.get(name))]
    return JSONResponse([payloads.user(account, site.url, _playing_url(site, account)) for account in found])


async def users_status(site: Site, request: Request) -> Response:
    names = request.query_params.get("ids", "").split(",")[:MAX_STATUS_IDS]
    with_game_ids = params.is_true(request.query_params.get("withGameIds"))
    found = [account for name in names if (account := site.accounts.get(name.strip())) is not None]
    return JSONResponse([
        payloads.user_status(
            account,
            online=site.is_online(account),
            playing_id=_playing_id(site, account),
            with_game_id=with_game_ids,
        )
        for account in found
    ])


async def online_bots(site: Site, request: Request) -> Response:
    """Answer with the bots that are online and have a bio; without a newline after the last line."""
    count = min(params.whole_number(request.query_params, "nb", DEFAULT_BOTS), MAX_BOTS)
    bots = [bot for bot in site.accounts.all() if bot.is_bot and bot.bio and site.is_online(bot)]
    lines = [json.dumps(payloads.user(bot, site.url, _playing_url(site, bot))) for bot in bots[:count]]
    return Response("\n".join(lines), media_type=NDJSON)


# Streams (3.2).


async def event_stream(site: Site, call: Call) -> Response:
    site.quotas.open_event_stream(call.grant, monotonic_ms())
    stream = site.open_event_stream(call.grant)
    return StreamedResponse(stream.body(), NDJSON, lambda: site.close_event_stream(call.grant, stream))


async def game_stream(site: Site, call: Call) -> Response:
    session, color = _seat(site, call)
    stream = session.open_stream(color, call.user_agent)
    return StreamedResponse(stream.body(), NDJSON, lambda: session.close_stream(color, call.user_agent, stream))


# Game commands (3.3).


async def move(site: Site, call: Call) -> None:
    session, color = _seat(site, call)
    offering = call.request.query_params.get("offeringDraw")
    session.play(color, call.path("uci"), offering_draw=None if offering is None else params.is_true(offering))


async def read_chat(site: Site, call: Call) -> Response:
    session, _ = _seat(site, call)
    return JSONResponse(payloads.chat_history(session.game.chat))


async def write_chat(site: Site, call: Call) -> None:
    session, color = _seat(site, call)
    session.say(color, *params.chat_line(await call.form()))


async def abort(site: Site, call: Call) -> None:
    session, _ = _seat(site, call)
    session.abort()


async def resign(site: Site, call: Call) -> None:
    session, color = _seat(site, call)
    session.resign(color)


async def draw(site: Site, call: Call) -> None:
    session, color = _seat(site, call)
    session.answer_draw(color, accept=params.is_true(call.path("accept")))


async def takeback(site: Site, call: Call) -> None:
    session, color = _seat(site, call)
    session.answer_takeback(color, accept=params.is_true(call.path("accept")))


async def claim_victory(site: Site, call: Call) -> None:
    session, color = _seat(site, call)
    session.claim_victory(color)
    await asyncio.sleep(site.timing.claim_s)


async def claim_draw(site: Site, call: Call) -> None:
    session, color = _seat(site, call)
    session.claim_draw(color)
    await asyncio.sleep(site.timing.claim_s)


async def board_api(_site: Site, call: Call) -> Response:
    """Refuse bots the endpoints for boards that people play on."""
    if call.account.is_bot:
        raise Forbidden("This API endpoint is not for Bot accounts.")
    raise _not_served(call.request)


async def unknown_command(site: Site, call: Call) -> Response:
    if call.path("command") == "berserk":
        raise Refused("This command is not for bots")
    raise NotFound("No such command")


# Challenges (3.4).


async def list_challenges(site: Site, call: Call) -> Response:
    reader, now_ms = call.account, monotonic_ms()
    return JSONResponse({
        "in": [site.challenge_shape(it, reader) for it in site.challenges.incoming(reader, now_ms)],
        "out": [site.challenge_shape(it, reader) for it in site.challenges.outgoing(reader, now_ms)],
    })


async def create_challenge(site: Site, call: Call) -> Response:
    form = await call.form()
    challenge = site.challenge(call.account, call.path("name"), params.terms(form))
    if params.is_true(form.get("keepAliveStream")):
        stream = site.open_challenge_stream(challenge)
        return StreamedResponse(stream.body(), NDJSON, lambda: site.close_challenge_stream(challenge, stream))
    return JSONResponse(site.challenge_shape(challenge, call.account))


async def not_served(_site: Site, request: Request) -> Response:
    raise _not_served(request)


async def show_challenge(site: Site, call: Call) -> Response:
    return JSONResponse(site.shown_challenge(call.path("challenge_id"), call.account))


async def accept_challenge(site: Site, call: Call) -> None:
    site.accept(call.path("challenge_id"), call.account)


async def decline_challenge(site: Site, call: Call) -> None:
    reason = DeclineReason.of_key((await call.form()).get("reason", ""))
    site.decline(call.path("challenge_id"), call.account, reason)


async def cancel_challenge(site: Site, call: Call) -> None:
    site.cancel(call.path("challenge_id"), call.account)


# Arena tournaments.


async def show_arena(site: Site, request: Request) -> Response:
    """Answer with an arena; with a token, also whether the arena admits its account."""
    arena = site.arena_runner.arena(request.path_params["arena_id"])
    has_token = "authorization" in request.headers
    reader = authorise(request, site.accounts, ANY_SCOPE).account if has_token else None
    return JSONResponse(payloads.arena(arena, reader, monotonic_ms()))


async def join_arena(site: Site, call: Call) -> None:
    site.arena_runner.join(call.path("arena_id"), call.account, params.application(await call.form()))


async def leave_arena(site: Site, call: Call) -> None:
    site.arena_runner.arena(call.path("arena_id")).withdraw(call.account, monotonic_ms())


async def join_team(site: Site, call: Call) -> None:
    team = site.teams.get(call.path("team_id"))
    if team is None:
        raise NotFound()
    form = await call.form()
    team.join(call.account, form.get("password"), params.message(form))


# Games (3.5).


async def export_game(site: Site, request: Request) -> Response:
    game = site.session(request.path_params["game_id"]).game
    parts = params.exported_parts(request.query_params)
    if "json" in request.headers.get("accept", ""):
        arena_id = game.setup.tournament_id
        arena_name = None if arena_id is None else site.arena_runner.arena(arena_id).terms.name
        return JSONResponse(export.game_json(game, site.url, arena_name, parts))
    return Response(export.pgn(game, site.url, parts), media_type=PGN)


# Parts.


def _not_served(request: Request) -> NotFound:
    return NotFound(f"The embedded Lichess does not serve {request.method} {request.url.path}")


def _seat(site: Site, call: Call) -> tuple[GameSession, Color]:
    """Return the named game and the caller's side in it, with the checks of every game endpoint (3.2)."""
    if not call.account.is_bot:
        raise Refused(
            "This endpoint can only be used with a Bot account."
            " See https://lichess.org/api#operation/botAccountUpgrade"
        )
    session = site.session(call.path("game_id"))
    color = session.game.setup.player_color(call.account)
    if session.game.setup.time_control.speed is Speed.ULTRA_BULLET:
        raise Refused("This game cannot be played with the Bot API.")
    return session, color


def _playing_id(site: Site, account: Account) -> str | None:
    return next((session.game.id for session in site.games_of(account)), None)


def _playing_url(site: Site, account: Account) -> str | None:
    game_id = _playing_id(site, account)
    return None if game_id is None else f"{site.url}/{game_id}"


def _extended_user(site: Site, account: Account) -> Json:
    playing = len(site.games_of(account))
    return payloads.extended_user(account, site.url, playing, _playing_url(site, account))
