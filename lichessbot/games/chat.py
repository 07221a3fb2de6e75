"""What is said in the two chat rooms of a game: greetings, and answers to commands such as `!help`.

Pure. Text from the network is put in, never formatted, and no answer begins with `!`: a bot that talks to itself, or
to another bot, comes to an end. Answers are spaced and counted, so that nobody can make us talk without end.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from lichessbot.config import LONGEST_CHAT_LINE, PLACEHOLDERS, GreetingConfig
from lichessbot.games.actions import Action, GiveTime, RecordAction
from lichessbot.games.draw_resign import centipawns
from lichessbot.inbox import Report
from lichessbot.lichess.commands import Say
from lichessbot.lichess.enums import ChatRoom, GameStatus
from lichessbot.lichess.models import ChatLine, GameFull, GameState, Player
from lichessbot.lichess.streams import StreamEvent
from lichessbot.storage.records import LimitedAction
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import BestMove, SearchSummary

_SYSTEM: Final = "lichess"
_MOST_ANSWERS: Final = 50
_MOST_WAITS: Final = 3
_ABORTABLE_PLIES: Final = 2
_MATE_FROM_CP: Final = 90_000
_NOT_PLAYED: Final = (GameStatus.ABORTED, GameStatus.NO_START)
_PLACEHOLDER: Final = re.compile("|".join(f"{{({name})}}" for name in PLACEHOLDERS))


@dataclass(frozen=True, slots=True)
class _Players:
    me: Player
    opponent: Player


@dataclass(frozen=True, slots=True)
class Hearsay:
    """What is asked elsewhere when somebody wants to know."""

    engine_name: Callable[[], str]
    """Nothing before the engine has said so."""
    waiting: Callable[[], Sequence[str]]
    """Who waits for a game, who goes first first."""


class Chat:
    """The talk in one game."""

    def __init__(
        self,
        game_id: str,
        our_id: str,
        greeting: GreetingConfig,
        timeouts: Timeouts,
        done: Mapping[LimitedAction, int],
        hearsay: Hearsay,
    ) -> None:
        self._game_id = game_id
        self._our_id = our_id
        self._greeting = greeting
        self._spacing_s = timeouts.chat_spacing.total_seconds()
        self._more_time_s = timeouts.more_time.total_seconds()
        self._done = {deed for deed in LimitedAction if done[deed]}
        self._hearsay = hearsay
        self._players: _Players | None = None
        self._plies = 0
        self._thought = SearchSummary()
        self._answers_left = _MOST_ANSWERS
        self._waits_left = _MOST_WAITS
        self._quiet_until: dict[ChatRoom, float] = {}

    def hear(self, report: Report, now: float) -> Iterator[Action]:
        """What to say about a report that concerns this game."""
        match report:
            case StreamEvent(event=GameFull() as full):
                self._meet(full)
                if not full.state.status.is_over:
                    yield from self._say_once(
                        LimitedAction.GREETING, self._greeting.hello, self._greeting.hello_spectators
                    )
            case StreamEvent(event=GameState(moves=moves)):
                self._plies = len(moves.split())
            case StreamEvent(event=ChatLine() as line) if self._players is not None:
                yield from self._listen(line, self._players, now)
            case BestMove(summary=summary) if summary.depth:
                self._thought = summary

    def part(self, status: GameStatus) -> Iterator[Action]:
        """The game has ended like this."""
        if status not in _NOT_PLAYED:
            yield from self._say_once(LimitedAction.GOODBYE, self._greeting.goodbye, self._greeting.goodbye_spectators)

    def _meet(self, full: GameFull) -> None:
        white_is_me = full.white.id == self._our_id
        pair = (full.white, full.black) if white_is_me else (full.black, full.white)
        self._players = _Players(*pair)
        self._plies = len(full.state.moves.split())

    def _say_once(
        self, deed: LimitedAction, to_the_opponent: str | None, to_spectators: str | None
    ) -> Iterator[Action]:
        """Noted before it is said: rather not at all than twice."""
        if deed in self._done or self._players is None:
            return
        self._done.add(deed)
        if self._players.opponent.ai_level is not None:
            to_the_opponent = None
        lines = {ChatRoom.PLAYER: to_the_opponent, ChatRoom.SPECTATOR: to_spectators}
        if any(lines.values()):
            yield RecordAction(deed)
        for room, text in lines.items():
            if text:
                yield self._say(room, _filled(text, self._players))

    # Commands

    def _listen(self, line: ChatLine, players: _Players, now: float) -> Iterator[Action]:
        words = line.text.split()
        if not words or not words[0].startswith("!") or line.username == _SYSTEM:
            return
        try:
            room = ChatRoom(line.room)
        except ValueError:
            return
        if now < self._quiet_until.get(room, now) or self._answers_left == 0:
            return
        for action in self._obey(words[0][1:].lower(), room, _id(line.username), players):
            if isinstance(action, Say):
                self._answers_left -= 1
                self._quiet_until[room] = now + self._spacing_s
            yield action

    def _obey(self, command: str, room: ChatRoom, author: str, players: _Players) -> Iterator[Action]:
        match command:
            case "help" | "commands":
                yield self._say(room, "I know !name, !queue, !eval (for spectators) and !wait (for the first move).")
            case "name":
                engine = self._hearsay.engine_name() or "an engine that is still starting"
                yield self._say(room, f"{players.me} runs lichessbot {version('lichessbot')} with {engine}.")
            case "queue":
                names = ", ".join(self._hearsay.waiting())
                yield self._say(room, f"Waiting for a game: {names}" if names else "Nobody is waiting for a game.")
            case "eval":
                is_told = author == self._our_id or (room is ChatRoom.SPECTATOR and author != players.opponent.id)
                yield self._say(room, _thought(self._thought) if is_told else "I do not tell my opponent.")
            case "wait" if room is ChatRoom.PLAYER and self._plies < _ABORTABLE_PLIES and self._waits_left:
                self._waits_left -= 1
                yield GiveTime()
                yield self._say(room, f"I wait {self._more_time_s:.0f} seconds longer for the first move.")

    def _say(self, room: ChatRoom, text: str) -> Say:
        return Say(self._game_id, room, _cut(text))


def _filled(text: str, players: _Players) -> str:
    """One pass: a player named `{me}` stays one."""
    return _PLACEHOLDER.sub(lambda found: str(getattr(players, found[0][1:-1])), text)


def _cut(text: str) -> str:
    """What Lichess takes, on one line; as many whole words as fit."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_CHAT_LINE:
        return line
    return line[: LONGEST_CHAT_LINE + 1].rpartition(" ")[0] or line[:LONGEST_CHAT_LINE]


def _thought(summary: SearchSummary) -> str:
    score_cp = centipawns(summary.score)
    if score_cp is None:
        return "I have not thought yet."
    mate = abs(score_cp) >= _MATE_FROM_CP
    verdict = summary.score if mate else f"{score_cp / 100:+.2f}"
    return f"{verdict} for me at depth {summary.depth}, {summary.nodes} positions: {summary.pv}"


def _id(username: str) -> str:
    """A name may carry a title before it."""
    return username.split()[-1].lower() if username.split() else ""
