"""The Lichess API: one method per endpoint, with the daemon's own errors.

Uses berserk; what berserk lacks goes through its requestor, and a comment `Gap:` says why. Retries nothing.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, TypeVar

import berserk
import requests
from berserk.formats import FormatHandler
from pydantic import BaseModel, SecretStr
from requests.structures import CaseInsensitiveDict

from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable, UnreadableLine
from lichessbot.lichess.answers import Account, ArenaInfo, BotUser, ExportedGame, TokenInfo, UserStatus
from lichessbot.lichess.challenge_terms import Days, Terms
from lichessbot.lichess.connecting import AnyAddressAdapter
from lichessbot.lichess.enums import ChatRoom, DeclineReason, ExactClock
from lichessbot.lichess.http import PROGRAM, configured, interrupt, network_error, read_body, read_some
from lichessbot.lichess.models import Challenge, ChatLine, GameInfo
from lichessbot.lichess.parsing import (
    parse_bots,
    parse_chat,
    parse_error,
    parse_outgoing,
    parse_playing,
    parse_statuses,
    parse_token_test,
    validated,
)
from lichessbot.log import inert
from lichessbot.timeouts import Timeouts

# The longest line or body, a long game with its players, has some kilobytes; more cannot come from Lichess.
LONGEST_LINE_BYTES = 1 << 20
LONGEST_BODY_BYTES = 1 << 20
_LONGEST_ERROR_TEXT = 200  # characters of an error text, for the log
_NO_SUCH_OWNER = "No such user"  # of the token, which is good: Lichess lets it be when it closes an account
# After a 429 that names a pause of zero: not at once, but sooner than after one that names none.
_PAUSE_INSTEAD_OF_NONE = timedelta(seconds=1)
MOST_PLAYING = 50
"""A list of games in progress with this many may be incomplete."""
_MOST_BOTS = 512
_LONGEST_LIST_BYTES = 8 << 20  # some kilobytes for each bot

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Access:
    """The address of Lichess and our account there; `user_name` is None until the account is known."""

    url: str
    token: SecretStr
    timeouts: Timeouts
    user_name: str | None = None
    proxy: str | None = None

    @property
    def user_agent(self) -> str:
        """Lichess answers 401 if `user:` is not the owner of the token."""
        name = f" user:{self.user_name}" if self.user_name else ""
        return f"{PROGRAM}{name}"


class LichessClient:
    """A session with Lichess, for one thread: `requests` sessions are not thread-safe."""

    def __init__(self, access: Access, read_timeout: timedelta) -> None:
        """After `read_timeout` without an answer, or without a byte of a stream, Lichess counts as unreachable."""
        self._access = access
        self._adapter = _Adapter(access.timeouts.connect, read_timeout)
        self._session = _session(access, self._adapter)
        self._client = berserk.Client(self._session, base_url=access.url)
        # The requestor is private in berserk 0.14.
        self._requestor = self._client.bots._r

    def close(self) -> None:
        """Close the kept connections; another request opens a new one."""
        self._session.close()

    @property
    def sent_at(self) -> float:
        """When the latest request was sent, in monotonic seconds."""
        return self._adapter.sent_at

    def account(self) -> Account:
        return self._read(self._client.account.get, Account)

    def token_info(self) -> TokenInfo | None:
        """Return the owner and scopes of our token; None if Lichess does not know it."""
        token = self._access.token.get_secret_value()
        return self._ask(lambda: self._client.oauth.test_tokens(token), lambda body: parse_token_test(body, token))

    def upgrade_to_bot(self) -> None:
        self._tell(self._client.account.upgrade_to_bot)

    def join_team(self, team_id: str, password: str | None, message: str | None) -> None:
        """Join a team, or with `message` ask its leaders."""
        self._tell(lambda: self._client.teams.join(team_id, message, password))

    def playing(self) -> tuple[GameInfo, ...]:
        """Return the games in progress, most urgent first.

        On a new connection: they are asked for when a stream is in doubt, and a kept one may be as dead.
        """
        self.close()
        return self._ask(lambda: self._client.games.get_ongoing(MOST_PLAYING), parse_playing)

    def game_record(self, game_id: str) -> ExportedGame:
        """Return the status and result of a game."""
        export = self._client.games.export
        return self._read(lambda: export(game_id, as_pgn=False, moves=False, evals=False), ExportedGame)

    def accept_challenge(self, challenge_id: str) -> None:
        self._tell(lambda: self._client.bots.accept_challenge(challenge_id))

    def decline_challenge(self, challenge_id: str, reason: DeclineReason) -> None:
        self._tell(lambda: self._client.bots.decline_challenge(challenge_id, reason.value))

    def create_challenge(self, opponent: str, terms: Terms) -> Challenge:
        """Create a challenge; it silently replaces an older one to the same player."""
        clock: dict[str, Any]
        match terms.time_control:
            case ExactClock(base_s, increment_s):
                clock = {"clock_limit": base_s, "clock_increment": increment_s}
            case Days(days):
                clock = {"days": days}
        create = self._client.challenges.create
        colour: Any = terms.colour.value if terms.colour else None
        return self._read(
            lambda: create(opponent, terms.rated, color=colour, variant=terms.variant.value, **clock), Challenge
        )

    def cancel_challenge(self, challenge_id: str) -> None:
        """Cancel our challenge, or abort the game that it has become, while that is possible."""
        self._tell(lambda: self._client.challenges.cancel(challenge_id))

    def outgoing_challenges(self) -> tuple[Challenge, ...]:
        return self._ask(self._client.challenges.get_mine, parse_outgoing)

    def user_statuses(self, ids: Sequence[str]) -> tuple[UserStatus, ...]:
        """Return the statuses of at most 100 users."""
        return self._ask(lambda: self._client.users.get_realtime_statuses(*ids), parse_statuses)

    def challenge(self, challenge_id: str) -> Challenge:
        """Return the current state of a challenge."""
        # Gap: berserk does not show an answered challenge.
        return self._read(lambda: self._requestor.get(f"/api/challenge/{challenge_id}/show"), Challenge)

    def online_bots(self) -> tuple[BotUser, ...]:
        """Return the bots that are online, as far as they arrive in time."""
        # Gap: berserk's list of bots has no limit of size or time.
        until = time.monotonic() + self._access.timeouts.request_answer.total_seconds()
        stream = self._stream(f"/api/bot/online?nb={_MOST_BOTS}")
        try:
            return parse_bots(stream.read(_LONGEST_LIST_BYTES, until))
        finally:
            stream.close()

    def tournament(self, tournament_id: str) -> ArenaInfo:
        # Gap: berserk requires undocumented fields of a tournament.
        return self._read(lambda: self._requestor.get(f"/api/tournament/{tournament_id}"), ArenaInfo)

    def join_tournament(self, tournament_id: str, team: str | None, password: str | None, *, pair: bool) -> None:
        """Join, also after a withdrawal; `pair` asks for the next game."""
        # Gap: berserk sends the password in the address, which logs keep.
        form = {"team": team, "password": password, "pairMeAsap": "true" if pair else None}
        data = {key: value for key, value in form.items() if value is not None}
        self._tell(lambda: self._requestor.post(f"/api/tournament/{tournament_id}/join", data=data))

    def leave_tournament(self, tournament_id: str) -> None:
        """Withdraw; the points are kept."""
        # Gap: berserk cannot withdraw.
        self._tell(lambda: self._requestor.post(f"/api/tournament/{tournament_id}/withdraw"))

    def move(self, game_id: str, move: str, *, offering_draw: bool = False, answer_s: float = math.inf) -> None:
        """Play a move; it counts as unanswered after `answer_s`, if that is less than for other requests."""
        # Gap: berserk's move can neither offer a draw nor limit how long it waits.
        path = f"/api/bot/game/{game_id}/move/{move}"
        query = {"offeringDraw": "true"} if offering_draw else None
        timeout = self._adapter.within(answer_s)
        self._tell(lambda: self._requestor.post(path, params=query, timeout=timeout))

    def abort(self, game_id: str) -> None:
        self._tell(lambda: self._client.bots.abort_game(game_id))

    def resign(self, game_id: str) -> None:
        self._tell(lambda: self._client.bots.resign_game(game_id))

    def say(self, game_id: str, room: ChatRoom, text: str) -> None:
        """Post a chat line of up to 140 characters."""
        spectator = room is ChatRoom.SPECTATOR
        self._tell(lambda: self._client.bots.post_message(game_id, text, spectator=spectator))

    def chat(self, game_id: str) -> tuple[ChatLine, ...]:
        """Return the lines of the players' room."""
        # Gap: berserk does not read the chat.
        path, raw = f"/api/bot/game/{game_id}/chat", _RawResponse()
        return self._ask(lambda: self._requestor.get(path, fmt=raw).content, parse_chat)

    def answer_takeback(self, game_id: str, *, granted: bool) -> None:
        self._command(game_id, f"takeback/{'yes' if granted else 'no'}")

    def claim_victory(self, game_id: str) -> None:
        self._command(game_id, "claim-victory")

    def claim_draw(self, game_id: str) -> None:
        self._command(game_id, "claim-draw")

    def _command(self, game_id: str, command: str) -> None:
        # Gap: berserk has these commands for the Board API only, which refuses bots.
        self._tell(lambda: self._requestor.post(f"/api/bot/game/{game_id}/{command}"))

    def event_stream(self) -> "LineStream":
        return self._stream("/api/stream/event")

    def game_stream(self, game_id: str) -> "LineStream":
        return self._stream(f"/api/bot/game/stream/{game_id}")

    def _stream(self, path: str) -> "LineStream":
        # Gap: berserk's streams drop keep-alive lines, end at one unreadable line, cannot be stopped from another
        # thread, and delay the lines of servers that do not chunk. Only the request is berserk's.
        with self._translated_errors():
            response: Any = self._requestor.get(path, stream=True, fmt=_RawResponse())
            if (substitute := _not_a_stream(response)) is not None:
                response.close()
                raise Unreachable(substitute)
            return LineStream(response, self._access.timeouts.liveness)

    def _read(self, request: Callable[[], Any], model: type[Model]) -> Model:
        return self._ask(request, lambda body: validated(model, body))

    def _tell(self, request: Callable[[], Any]) -> None:
        """Send a command, whose answer says no more than its status."""
        with self._translated_errors():
            request()

    def _ask(self, request: Callable[[], Any], parse: Callable[[Any], T]) -> T:
        with self._translated_errors():
            return parse(request())

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Translate the errors of berserk, requests and parsing into ours."""
        try:
            yield
        except berserk.exceptions.ResponseError as error:
            content: bytes = error.response.content  # which the adapter has read
            raise answer_error(error.response, content, self._access.timeouts.rate_limit) from error
        except (berserk.exceptions.ApiError, requests.RequestException) as error:
            raise Unreachable(network_error(error)) from error
        except UnreadableLine as error:
            # A success with HTML or with other JSON comes from something between us and Lichess.
            raise Unreachable(f"unexpected reply: {error}") from error
        except (KeyError, OSError, OverflowError, RecursionError, TypeError, ValueError) as error:  # of berserk
            raise Unreachable("unexpected reply: not the documented JSON") from error


class LineStream:
    """The lines of one open stream, as bytes without line ends; keep-alives are empty lines."""

    def __init__(self, response: requests.Response, longest_line: timedelta) -> None:
        """A line may take `longest_line` from its first byte to its end; one that takes longer ends the stream."""
        self._response = response
        self._longest_line = longest_line

    def __iter__(self) -> Iterator[bytes]:
        """Yield lines until the server ends the stream. Raises Unreachable if it breaks off, also within a line."""
        rest = b""
        begun_at = time.monotonic()
        while data := read_some(self._response, decode=True):
            now = time.monotonic()
            *lines, tail = (rest + data).split(b"\n")
            if lines or not rest:
                begun_at = now
            yield from lines
            rest = tail
            if len(rest) > LONGEST_LINE_BYTES:
                raise Unreachable(f"a line of more than {LONGEST_LINE_BYTES} bytes")
            if now - begun_at > self._longest_line.total_seconds():
                raise Unreachable("a line that does not end")
        if rest.lstrip().startswith(b"<"):
            yield rest  # a web page in one line
        elif rest.strip():
            raise Unreachable("the stream ended in the middle of a line")

    def read(self, most_bytes: int, until: float) -> bytes:
        """Return the whole body, or what arrived before it got too long or too late. Raises Unreachable."""
        return read_body(self._response, most_bytes, until, decode=True, partial=True)

    def interrupt(self) -> None:
        """End the stream for the thread that reads it; callable from any other thread."""
        interrupt(self._response)

    def close(self) -> None:
        """Close the connection; only for the thread that reads."""
        self._response.close()


class _RawResponse(FormatHandler[Any]):
    """A format for berserk's requestor that returns the response unread."""

    def __init__(self) -> None:
        super().__init__("application/x-ndjson")

    def handle(self, response: requests.Response, is_stream: bool, converter: Any = None) -> Any:
        return response


class _Adapter(AnyAddressAdapter):
    """Gives every request a timeout and every body a size limit, which requests and berserk lack."""

    def __init__(self, connect: timedelta, read: timedelta) -> None:
        super().__init__()
        self._timeout = (connect.total_seconds(), read.total_seconds())
        self.sent_at = 0.0

    def within(self, answer_s: float) -> tuple[float, float]:
        """Return the usual timeouts, none of them longer than `answer_s`."""
        connect_s, read_s = self._timeout
        return min(connect_s, answer_s), min(read_s, answer_s)

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        kwargs["timeout"] = kwargs.get("timeout") or self._timeout
        self.sent_at = time.monotonic()
        response = super().send(request, *args, **kwargs)
        if not kwargs.get("stream"):
            _load_body(response)
        elif response.status_code >= 300:  # no stream, but a page, which berserk would read for as long as it lasts
            _load_body(response, time.monotonic() + self._timeout[1])
        return response


def _load_body(response: requests.Response, until: float | None = None) -> None:
    """Read the body into `content`. Raises Unreachable if it breaks off, is too long or too late."""
    response._content = read_body(response, LONGEST_BODY_BYTES, until, decode=True)


def _session(access: Access, adapter: _Adapter) -> requests.Session:
    session = berserk.TokenSession(access.token.get_secret_value())
    # TokenSession leaves a plain dict, in which header names are case-sensitive.
    session.headers = CaseInsensitiveDict(session.headers)
    configured(session, access.proxy, adapter, **{"User-Agent": access.user_agent})
    # Lichess does not redirect our requests, and another host must never see the token.
    session.max_redirects = 0
    return session


def answer_error(response: requests.Response, content: bytes, default_pause: timedelta) -> ApiError:
    """Return the error for a status of 400 or more; `content` is the body, as far as it could be read."""
    body = parse_error(content)
    text = inert(((body.text if body else "") or response.reason or "no reason given")[:_LONGEST_ERROR_TEXT])
    if response.status_code == 429:
        named = (body.pause if body else None, _retry_after(response))
        pause = next((it or _PAUSE_INSTEAD_OF_NONE for it in named if it is not None), default_pause)
        return RateLimited(pause, text, body.quota if body else "")
    if response.status_code == HTTPStatus.UNAUTHORIZED and text == _NO_SUCH_OWNER:
        text = f"{text}: the account is closed"
    if 400 <= response.status_code < 500:
        return Refused(response.status_code, text, certain=body is not None, pause=body.pause if body else None)
    return Unreachable(f"{response.status_code}: {text}")


def _not_a_stream(response: requests.Response) -> str | None:
    """Return what something between us and Lichess sent instead of a stream; None if it is one."""
    if "html" in response.headers.get("Content-Type", "").lower():
        return "a web page came instead of the stream"
    if response.status_code != HTTPStatus.OK or response.headers.get("Content-Length") == "0":
        return f"an empty answer came instead of the stream (status {response.status_code})"
    return None


def _retry_after(response: requests.Response) -> timedelta | None:
    """Return the header's seconds; its date form is ignored, as it needs two correct clocks."""
    value = response.headers.get("Retry-After", "").strip()
    return timedelta(seconds=int(value)) if value.isascii() and value.isdigit() and len(value) < 9 else None
