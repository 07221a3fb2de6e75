"""The JSON that the embedded Lichess writes, as in the documentation of the API (lichess.org/api).

Functions from state to dict. Lichess describes the same thing differently in different places, so code is shared only
where the documented form is the same.
"""

import math
from collections.abc import Iterable
from typing import Any

from engine.facade import Board
from lichessbot.rehearsal.rules.accounts import Account, Grant
from lichessbot.rehearsal.rules.arenas import Arena, ArenaTerms
from lichessbot.rehearsal.rules.challenges import Challenge, Terms
from lichessbot.rehearsal.rules.clock import Correspondence, RealTime, TimeControl, Unlimited
from lichessbot.rehearsal.rules.enums import ChallengeStatus, ChatRoom, Color, Speed, Variant
from lichessbot.rehearsal.rules.game import ChatLine, Game, GameState
from lichessbot.rehearsal.rules.presence import OpponentGone
from lichessbot.rehearsal.rules.ratings import told_rating_change

Json = dict[str, Any]

OK: Json = {"ok": True}
ORDINARY_START = "startpos"
NEW_RATING_DEVIATION = 150      # every rating is provisional: a rehearsal changes none

_SHORT_LIMITS = {15: "¼", 30: "½", 45: "¾"}


def perf_key(variant: Variant, speed: Speed) -> str:
    """Return the rating category: the speed in standard chess, else the variant."""
    return variant.key if variant.has_own_rating else speed.value


def perf_title(variant: Variant, speed: Speed) -> str:
    """Return the displayed name of the rating category."""
    return variant.display_name if variant.has_own_rating else speed.display_name


# Users and tokens.


def user(account: Account, site_url: str, playing_url: str | None = None) -> Json:
    """Return a user."""
    perf_keys = [*Speed, *(variant.key for variant in Variant if variant.has_own_rating)]
    perf = {"games": 0, "rating": account.rating, "rd": NEW_RATING_DEVIATION, "prog": 0, "prov": True}
    shape: Json = {
        "id": account.id,
        "username": account.name,
        "perfs": {str(key): dict(perf) for key in perf_keys},
        "createdAt": account.created_at_ms,
        "seenAt": account.created_at_ms,
        "playTime": {"total": 0, "tv": 0},
        "url": f"{site_url}/@/{account.name}",
    }
    if account.title is not None:
        shape["title"] = account.title
    if account.bio:
        shape["profile"] = {"bio": account.bio}
    if playing_url is not None:
        shape["playing"] = playing_url
    return shape


def extended_user(account: Account, site_url: str, games_playing: int, playing_url: str | None) -> Json:
    """Return a user with counts."""
    counts = {
        "all": account.games_played,
        "rated": 0,
        "draw": account.draws,
        "loss": account.losses,
        "win": account.wins,
        "bookmark": 0,
        "playing": games_playing,
        "import": 0,
        "me": 0,
    }
    return {
        **user(account, site_url, playing_url),
        "count": counts,
        "followable": True,
        "following": False,
        "blocking": False,
    }


def user_status(account: Account, *, online: bool, playing_id: str | None, with_game_id: bool) -> Json:
    """Return the status of a user, without flags that are false."""
    shape: Json = {"id": account.id, "name": account.name}
    if account.title is not None:
        shape["title"] = account.title
    if online:
        shape["online"] = True
    if playing_id is not None:
        shape["playing"] = True
        if with_game_id:
            shape["playingId"] = playing_id
    return shape


def token_test(grant: Grant | None) -> Json | None:
    """Return the answer to the test of a token."""
    if grant is None:
        return None
    return {"userId": grant.account.id, "scopes": ",".join(sorted(grant.scopes)), "expires": None}


# Challenges.


def challenge(it: Challenge, status: ChallengeStatus, site_url: str, direction: str | None = None) -> Json:
    """Return a challenge; `direction` is absent on streams."""
    terms = it.terms
    speed = terms.time_control.speed
    shape: Json = {
        "id": it.id,
        "url": f"{site_url}/{it.id}",
        "status": status.value,
        "challenger": _challenge_user(it.challenger),
        "destUser": _challenge_user(it.target),
        "variant": _variant_with_short(terms.variant),
        "rated": terms.rated,
        "speed": speed.value,
        "timeControl": _time_control(terms.time_control),
        "color": terms.color.value,
        "finalColor": it.final_color.value,
        "perf": {"icon": "", "name": perf_title(terms.variant, speed)},
    }
    if direction is not None:
        shape["direction"] = direction
    if terms.fen is not None:
        shape["initialFen"] = terms.fen
    elif terms.variant.has_unusual_start:          # the stream of the game says "startpos"
        shape["initialFen"] = Board(variant=terms.variant.key).fen()
    if it.rematch_of is not None:
        shape["rematchOf"] = it.rematch_of
    if it.decline_reason is not None:
        shape["declineReason"] = it.decline_reason.sentence
        shape["declineReasonKey"] = it.decline_reason.wire_key
    if terms.rules:
        shape["rules"] = sorted(terms.rules)
    return shape


def compat(speed: Speed) -> Json:
    """Return what stands inside a game of an event, and beside a challenge that is announced for the first time."""
    return {"bot": speed is not Speed.ULTRA_BULLET, "board": speed not in (Speed.ULTRA_BULLET, Speed.BULLET)}


def challenge_event(shape: Json, new_terms: Terms | None = None) -> Json:
    """Return the event of a challenge; one on `new_terms` is announced for the first time, others are replayed."""
    beside = {} if new_terms is None else {"compat": compat(new_terms.time_control.speed)}
    return {"type": "challenge", "challenge": shape, **beside}


def challenge_settled(shape: Json) -> Json:
    """Return the event `challengeCanceled` or `challengeDeclined`, by the status of the challenge."""
    return {"type": f"challenge{shape['status'].capitalize()}", "challenge": shape}


def challenge_done(shape: Json) -> Json:
    """Return the last line of a keepAliveStream."""
    return {"done": shape["status"]}


# The event stream.


def game_start(game: Game, color: Color, now_ms: int) -> Json:
    """Return the event of a game that starts, or runs when the stream is opened."""
    return {"type": "gameStart", "game": game_event(game, color, now_ms)}


def game_finish(game: Game, color: Color, now_ms: int) -> Json:
    """Return the event of a game that ended or was aborted; a missing `ratingDiff` means nothing."""
    shape = game_event(game, color, now_ms)
    for place, side in ((shape, color), (shape["opponent"], color.other)):
        change = told_rating_change(game, side)
        if change is not None:
            place["ratingDiff"] = change
    return {"type": "gameFinish", "game": shape}


def game_event(game: Game, color: Color, now_ms: int) -> Json:
    """Return the `game` of an event."""
    return {**playing(game, color, now_ms), "compat": compat(game.setup.time_control.speed), "id": game.id}


def playing(game: Game, color: Color, now_ms: int) -> Json:
    """Return an entry of `nowPlaying`: as in an event, without `compat` and `id`."""
    setup = game.setup
    speed = setup.time_control.speed
    shape: Json = {
        "fullId": setup.full_id(color),
        "gameId": game.id,
        "fen": game.fen(),
        "color": color.value,
        "lastMove": game.last_move_squares,
        "source": setup.source.value,
        "status": {"id": game.status.number, "name": game.status.wire_name},
        "variant": {"key": setup.variant.key, "name": setup.variant.display_name},
        "speed": speed.value,
        "perf": perf_key(setup.variant, speed),
        "rated": setup.rated,
        "hasMoved": game.has_moved(color),
        "opponent": _opponent(setup.account(color.other)),
        "isMyTurn": not game.is_over and game.turn is color,
        "rating": setup.account(color).rating,
    }
    if setup.tournament_id is not None:
        shape["tournamentId"] = setup.tournament_id
    if not isinstance(setup.time_control, Unlimited):
        shape["secondsLeft"] = game.clock.remaining_ms(color, now_ms) // 1000
    if game.winner is not None:
        shape["winner"] = game.winner.value
    return shape


# The game stream.


def game_full(game: Game, now_ms: int) -> Json:
    """Return the first line of a game stream."""
    setup = game.setup
    control = setup.time_control
    shape: Json = {
        "type": "gameFull",
        "id": game.id,
        "variant": _variant_with_short(setup.variant),
        "speed": control.speed.value,
        "perf": {"name": perf_title(setup.variant, control.speed)},
        "rated": setup.rated,
        "createdAt": setup.created_at_ms,
        "white": _game_player(setup.white),
        "black": _game_player(setup.black),
        "initialFen": setup.initial_fen if setup.variant.has_own_start else ORDINARY_START,
        "state": game_state(game.state(now_ms)),
    }
    if isinstance(control, RealTime):
        shape["clock"] = {"initial": 1000 * control.limit_s, "increment": 1000 * control.increment_s}
    if isinstance(control, Correspondence):
        shape["daysPerTurn"] = control.days
    if setup.tournament_id is not None:
        shape["tournamentId"] = setup.tournament_id
    return shape


def game_state(state: GameState) -> Json:
    """Return a state, without flags that are false."""
    shape: Json = {
        "type": "gameState",
        "moves": " ".join(state.moves),
        "wtime": state.white_ms,
        "btime": state.black_ms,
        "winc": state.increment_ms,
        "binc": state.increment_ms,
        "status": state.status.wire_name,
    }
    if state.winner is not None:
        shape["winner"] = state.winner.value
    for offer, color in (("draw", state.draw_offer), ("takeback", state.takeback_offer)):
        if color is not None:
            shape[f"{color[0]}{offer}"] = True
    return shape


def chat_line(line: ChatLine) -> Json:
    """Return a chat line."""
    return {"type": "chatLine", "room": line.room.value, "username": line.username, "text": line.text}


def opponent_gone(line: OpponentGone) -> Json:
    """Return the line about an opponent who left or is back."""
    shape: Json = {"type": "opponentGone", "gone": line.gone}
    if line.claim_win_in_s is not None:
        shape["claimWinInSeconds"] = line.claim_win_in_s
    return shape


def chat_history(lines: Iterable[ChatLine]) -> list[Json]:
    """Return the lines of the players' room."""
    return [{"text": line.text, "user": line.username} for line in lines if line.room is ChatRoom.PLAYER]


# Arena tournaments.


def arena(it: Arena, reader: Account | None, now_ms: int) -> Json:
    """Return the description of a tournament for `reader`; some keys depend on its start and end."""
    terms, speed = it.terms, it.terms.clock.speed
    ranked = sorted(it.entries.values(), key=lambda entry: -entry.score)
    shape: Json = {
        "id": it.id,
        "fullName": terms.name,
        "system": "arena",
        "createdBy": "lichess",
        "minutes": round((it.ends_ms - it.starts_ms) / 60_000),
        "clock": {"limit": terms.clock.limit_s, "increment": terms.clock.increment_s},
        "variant": terms.variant.key,
        "rated": terms.rated,
        "berserkable": False,
        "perf": {"key": perf_key(terms.variant, speed), "name": perf_title(terms.variant, speed), "icon": ""},
        "nbPlayers": len(ranked),
        "duels": [],
        "verdicts": _verdicts(terms, reader),
        "standing": {
            "page": 1,
            "players": [
                {"name": entry.account.name, "rank": rank, "rating": entry.account.rating, "score": entry.score}
                for rank, entry in enumerate(ranked, 1)
            ],
        },
    }
    if terms.open_to_bots:
        shape["botsAllowed"] = True
    if it.is_finished(now_ms):
        shape["isFinished"] = True
    elif it.is_started(now_ms):
        shape["secondsToFinish"] = math.ceil((it.ends_ms - now_ms) / 1000)
    else:
        shape["secondsToStart"] = math.ceil((it.starts_ms - now_ms) / 1000)
    return shape


# Parts.


def _verdicts(terms: ArenaTerms, reader: Account | None) -> Json:
    """Return whether a player meets the conditions of a tournament; the only one is about bots."""
    condition = "Bot players are allowed" if terms.open_to_bots else "Bot players are not allowed"
    is_met = terms.open_to_bots or reader is None or not reader.is_bot
    return {"list": [{"condition": condition, "verdict": "ok" if is_met else condition}], "accepted": is_met}


def _variant_with_short(variant: Variant) -> Json:
    return {"key": variant.key, "name": variant.display_name, "short": variant.short}


def _challenge_user(account: Account) -> Json:
    """Return a user of a challenge."""
    title = {} if account.title is None else {"title": account.title}
    return {"id": account.id, "name": account.name, **title, "rating": account.rating, "provisional": True}


def _opponent(account: Account) -> Json:
    """Return the opponent in an event. The name may start with the title."""
    title = f"{account.title} " if account.title else ""
    return {"id": account.id, "username": f"{title}{account.name}", "rating": account.rating}


def _game_player(account: Account) -> Json:
    """Return a player of the game stream."""
    return {
        "id": account.id,
        "name": account.name,
        "title": account.title,
        "rating": account.rating,
        "provisional": True,
    }


def _time_control(control: TimeControl) -> Json:
    match control:
        case RealTime(limit_s, increment_s):
            limit = _SHORT_LIMITS.get(limit_s, f"{limit_s / 60:g}")
            show = f"{limit}+{increment_s}"
            return {"type": "clock", "limit": limit_s, "increment": increment_s, "show": show}
        case Correspondence(days):
            return {"type": "correspondence", "daysPerTurn": days}
        case Unlimited():
            return {"type": "unlimited"}
