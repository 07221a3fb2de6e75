"""Chat in the two rooms of a game: greetings, and answers to commands such as `!help`.

Pure. Text from the network is inserted, never used as a format, and no answer begins with `!`, so that two bots do not
talk to each other for ever. In each room answers have a minimum spacing, and commands are limited in number.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.facade import Board
from lichessbot import __version__
from lichessbot.config import Config, EngineConfig, ReviewMode, fill_in
from lichessbot.games import draw_resign
from lichessbot.games.actions import Action, ChooseLevel, PostponeAbort, RecordAction
from lichessbot.games.chat import texts
from lichessbot.games.chat.commands import command_in, user_id
from lichessbot.inbox import Report
from lichessbot.lichess.commands import Abort, CommandDone, ReadChat, Say
from lichessbot.lichess.enums import ChatRoom, Colour, GameStatus, Variant
from lichessbot.lichess.models import SYSTEM_NAME, ChatLine, GameFull, Player
from lichessbot.lichess.streams import StreamEvent
from lichessbot.storage.game_records import Result, Scores
from lichessbot.storage.store import LimitedAction
from lichessbot.timeouts import Timeouts
from lichessbot.uci.restarting_engine import EngineIdentity
from lichessbot.uci.search import BestMove, SearchInfo
from lichessbot.uci.strength import FULL, nearest_level, suggested_level

_MAX_COMMANDS: Final = 50
_MAX_WAITS: Final = 3
_LEVEL: Final = re.compile(r"\d{1,5}|full", re.ASCII)
_IN_BOTH_ROOMS: Final = "!name !motor !level !ping !variants !draw !takeback !queue !stats"
_HELP: Final = {
    ChatRoom.PLAYER: f"I know {_IN_BOTH_ROOMS} !review, and before the first move !wait.",
    ChatRoom.SPECTATOR: f"I know {_IN_BOTH_ROOMS} !eval !pv.",
}
_NOT_FOR_THE_OPPONENT: Final = "I do not tell my opponent."


@dataclass(frozen=True, slots=True)
class ChatFacts:
    """What we tell of the game and the bot, as it is when somebody asks."""

    config: Config
    engine: Callable[[], EngineConfig]
    """As configured for this game, at its level."""
    identity: Callable[[], EngineIdentity]
    """What the engine has reported of itself so far."""
    board: Callable[[], Board]
    takebacks_granted: Callable[[], int]
    round_trip_s: Callable[[], float | None]
    """Of the latest move in this game; None if none was measured, as after a restart."""
    waiting: Callable[[], Sequence[str]]
    """The challengers that wait for a game, the next one first."""
    scores: Scores
    level_results: Callable[[str, str], Sequence[tuple[int, Result]]]
    """Our latest results in casual games at a level against the player with this id in this variant, oldest first."""


class Chat:
    """The chat of one game."""

    def __init__(
        self, game_id: str, our_id: str, facts: ChatFacts, done: Mapping[LimitedAction, int], timeouts: Timeouts
    ) -> None:
        """`done`: how often each limited action was done in this game by earlier processes."""
        self._game_id = game_id
        self._our_id = our_id
        self._facts = facts
        self._greeting = facts.config.greeting
        self._spacing_s = timeouts.chat_spacing.total_seconds()
        self._more_time_s = timeouts.more_time.total_seconds()
        self._done = {kind for kind in LimitedAction if done[kind]}
        self._hello_waits = False
        """Whether the greeting names the engine, which has not reported its name yet."""
        self._full: GameFull | None = None
        self._was_watched = False
        """Whether the game was seen while it went on; else it may have ended long ago."""
        self._proposal_waits = False
        """Whether another level may be proposed, once the engine has told which it has."""
        self._colour = Colour.WHITE
        self._last_search, self._searched = SearchInfo(), Board()
        self._commands_left = dict.fromkeys(ChatRoom, _MAX_COMMANDS)
        self._waits_left = _MAX_WAITS
        self._quiet_until: dict[ChatRoom, float] = {}
        self._missed: Sequence[ChatLine] = ()
        """What was said since our last line while the game's stream was closed; waits until the engine has started."""

    def handle(self, report: Report, now: float) -> Iterator[Action]:
        """Yield what to say after a report about this game."""
        match report:
            case StreamEvent(event=GameFull() as full):
                self._read_full(full)
                goes_on = not full.state.status.is_over
                self._hello_waits = goes_on and (self._hello_waits or self._begins)
                if goes_on and full.clock is None and self._is_against_human:
                    yield ReadChat(self._game_id)  # Lichess does not repeat what was said between two visits
            case StreamEvent(event=ChatLine() as line) if self._full is not None:
                yield from self._answer([line], now)
            case CommandDone(command=ReadChat(), answer=tuple() as lines):
                self._missed = self._since_our_last([line for line in lines if isinstance(line, ChatLine)])
            case BestMove(summary=summary) if summary.depth:
                self._last_search, self._searched = summary, self._facts.board().copy()
        if self._hello_waits:
            yield from self._say_hello()
        if self._missed and self._full is not None and self._facts.identity().name:
            missed, self._missed = self._missed, ()
            yield from self._answer(missed, now)
        if self._proposal_waits and (levels := self._facts.identity().levels) is not None:
            self._proposal_waits = False
            yield from self._propose_level(levels)

    def _say_hello(self) -> Iterator[Action]:
        """Greet both rooms, once the engine has a name if a greeting tells it."""
        lines = self._greeting.hello, self._greeting.hello_spectators
        if self._facts.identity().name or not any("{engine}" in line for line in lines if line):
            self._hello_waits = False
            yield from self._say_once(LimitedAction.GREETING, *lines)

    def say_goodbye(self, status: GameStatus, winner: Colour | None = None) -> Iterator[Action]:
        """Yield the goodbyes to a game that ended with `status`; without a winner it was drawn."""
        if status.was_played:
            line = texts.goodbye(self._greeting, None if winner is None else winner is self._colour)
            yield from self._say_once(LimitedAction.GOODBYE, line, self._greeting.goodbye_spectators)

    @property
    def review_wanted(self) -> bool:
        """Whether the opponent is to hear of the turning points of the game after its end."""
        mode = self._greeting.review
        asked = LimitedAction.REVIEW in self._done and mode is not ReviewMode.NEVER
        return asked or (self._was_watched and self._is_against_human and mode is ReviewMode.HUMANS)

    @property
    def _game(self) -> GameFull:
        assert self._full is not None, "nothing is said before the first full state"
        return self._full

    @property
    def _me(self) -> Player:
        return self._game.player(self._colour)

    @property
    def _opponent(self) -> Player:
        return self._game.player(self._colour.other)

    @property
    def _begins(self) -> bool:
        """Whether one side has yet to move. Later, a greeting without a record was probably sent before."""
        state = self._game.state
        return len(state.moves.split()) < Abort.before_plies and not state.status.is_over

    @property
    def _is_against_human(self) -> bool:
        return not self._opponent.is_bot

    def _read_full(self, full: GameFull) -> None:
        self._full, self._colour = full, full.colour_of(self._our_id) or Colour.BLACK
        self._missed = ()
        self._was_watched |= not full.state.status.is_over
        self._proposal_waits = self._begins and not (full.rated or self._opponent.is_bot)

    def _say_once(
        self, kind: LimitedAction, to_the_opponent: str | None, to_spectators: str | None
    ) -> Iterator[Action]:
        """Say something at most once in a game: it is recorded before it is sent."""
        if kind in self._done or self._full is None:
            return
        self._done.add(kind)
        if self._opponent.ai_level is not None:
            to_the_opponent = None
        lines = {ChatRoom.PLAYER: to_the_opponent, ChatRoom.SPECTATOR: to_spectators}
        if any(lines.values()):
            yield RecordAction(kind)
        for room, text in lines.items():
            if text:
                yield self._say(room, self._filled(text))

    # Commands

    def _since_our_last(self, lines: Sequence[ChatLine]) -> Sequence[ChatLine]:
        ours = (number for number, line in enumerate(lines, 1) if user_id(line.username) == self._our_id)
        return lines[max(ours, default=0) :]

    def _answer(self, lines: Sequence[ChatLine], now: float) -> Iterator[Action]:
        """Do what lines of one room ask for, and answer the last command.

        Too soon after another answer, a command takes effect without one.
        """
        try:
            room = ChatRoom(lines[0].room)
        except ValueError:
            return
        if not self._commands_left[room]:
            return
        # By kind of action: of several answers, or levels chosen, only the last one counts.
        latest = {type(action): action for line in lines for action in self._obey(line, room)}
        if now < self._quiet_until.get(room, now):
            latest.pop(Say, None)
        if Say in latest:
            self._quiet_until[room] = now + self._spacing_s
        self._commands_left[room] -= bool(latest)
        yield from latest.values()

    def _obey(self, line: ChatLine, room: ChatRoom) -> Iterator[Action]:
        """Yield what a line asks for, if it is a command."""
        asked = command_in(line.text)
        if asked is not None and line.username != SYSTEM_NAME:
            yield from self._run(*asked, room, user_id(line.username))

    def _run(self, command: str, arguments: Sequence[str], room: ChatRoom, author: str) -> Iterator[Action]:
        """Do what a command asks for, or tell what it asks; nothing for an unknown one."""
        is_opponent = author == self._opponent.id
        match command:
            case "level" | "levels" | "lvl" if arguments:
                yield from self._choose_level(arguments[0], room, may_choose=room is ChatRoom.PLAYER and is_opponent)
            case "review" if room is ChatRoom.PLAYER:
                yield from self._promise_review(room)
            case "wait" if room is ChatRoom.PLAYER and not self._opponent_has_moved:
                yield from self._wait_longer(room)
            case _:
                # The opponent reads the players' room as well.
                may_see_search = room is ChatRoom.SPECTATOR and not is_opponent
                text = self._answer_to(command, room, may_see_search=may_see_search)
                if text is not None:
                    yield self._say(room, text)

    def _answer_to(self, command: str, room: ChatRoom, *, may_see_search: bool) -> str | None:
        """Return the answer to a command that only asks; None for others."""
        facts, opponent = self._facts, self._opponent
        engine = facts.identity().name or "an engine that is still starting"
        match command:
            case "help" | "commands":
                return _HELP[room]
            case "name":
                return f"{self._me} runs lichessbot {__version__} with {engine}."
            case "motor":
                return f"I play with {engine}."
            case "level" | "levels" | "lvl":
                strength = texts.strength(facts.engine(), facts.engine().level)
                return f"I play at {strength}. {self._how_to_choose()}"
            case "ping":
                ping_s = facts.round_trip_s()
                trip = None if ping_s is None else f"My last move took {ping_s * 1000:.0f} ms to Lichess and back."
                return trip or "I have not measured a move of this game yet."
            case "variants":
                rules = facts.config.challenge.rules_for(is_bot=opponent.is_bot)
                return f"I play {', '.join(rules.variants or Variant)}."
            case "draw":
                return draw_resign.describe(facts.engine().draw_or_resign, opponent)
            case "takeback":
                return texts.takebacks(facts.config, opponent, facts.takebacks_granted())
            case "queue":
                names = ", ".join(facts.waiting())
                return f"Waiting for a game: {names}" if names else "Nobody is waiting for a game."
            case "stats":
                against = texts.results(facts.scores.against(opponent.id or ""))
                return f"My results: {texts.results(facts.scores.total)}; against {opponent}: {against}."
            case "eval" | "pv" if not may_see_search:
                return _NOT_FOR_THE_OPPONENT
            case "eval":
                return texts.evaluation(self._last_search, self._searched)
            case "pv":
                return texts.variation(self._last_search, self._searched, facts.board())
        return None

    def _promise_review(self, room: ChatRoom) -> Iterator[Action]:
        """Review the game after its end, also if a restart comes in between."""
        if self._greeting.review is ReviewMode.NEVER:
            yield self._say(room, "I do not review games.")
            return
        if LimitedAction.REVIEW not in self._done:
            self._done.add(LimitedAction.REVIEW)
            yield RecordAction(LimitedAction.REVIEW)
        yield self._say(room, "After the game I name its turning points, as soon as I have looked at it.")

    @property
    def _opponent_has_moved(self) -> bool:
        board = self._facts.board()
        return len(board.moves) > (board.turn != self._colour)  # either side may have begun

    def _wait_longer(self, room: ChatRoom) -> Iterator[Action]:
        """Give the opponent more time for the first move, or say why not."""
        if self._game.tournament_id is not None:
            yield self._say(room, "In an arena, Lichess decides how long it waits for the first move.")
        elif self._game.clock is None:
            yield self._say(room, "I abort no game without a clock: take your time.")
        elif not self._waits_left:
            yield self._say(room, "I have waited long enough.")
        else:
            self._waits_left -= 1
            yield PostponeAbort()
            yield self._say(room, f"I wait {self._more_time_s:.0f} seconds longer for the first move.")

    # Levels

    def _choose_level(self, wanted: str, room: ChatRoom, *, may_choose: bool) -> Iterator[Action]:
        """Play at the wanted level, or say why not."""
        engine, levels = self._facts.engine(), self._facts.identity().levels
        if not may_choose:
            yield self._say(room, "Only my opponent can choose my level, in the players' chat.")
        elif self._game.rated or levels is None or not engine.level_in_chat or not _LEVEL.fullmatch(wanted):
            yield self._say(room, self._how_to_choose())
        elif wanted != "full" and (nearest := nearest_level(int(wanted), levels)) != int(wanted):
            yield self._say(room, f"My levels go from {levels[0]} to {levels[1]}; the nearest is {nearest}.")
        else:
            level = FULL if wanted == "full" else int(wanted)
            yield ChooseLevel(level)
            # A search for our move goes on as it is.
            start = "After this move" if self._facts.board().turn == self._colour else "From my next move on"
            yield self._say(room, f"{start} I play at {texts.strength(engine, level)}.")

    def _how_to_choose(self) -> str:
        """Say how the opponent can choose a level, or why not."""
        levels = self._facts.identity().levels
        if self._game.rated:
            return "A rated game has one strength for everybody: levels can be chosen in casual games."
        if not self._facts.engine().level_in_chat:
            return "It cannot be chosen in the chat."
        if levels is None:
            has_started = bool(self._facts.identity().name)
            return "My engine has no levels in this game." if has_started else "My engine still starts: ask again soon."
        return f"My opponent can type !level and a number from {levels[0]} to {levels[1]}, or !level full."

    def _propose_level(self, levels: tuple[int, int]) -> Iterator[Action]:
        """Propose another level once in a game, if the latest results were lopsided."""
        engine = self._facts.engine()
        if not (engine.propose_level and engine.level_in_chat):
            return
        results = self._facts.level_results(self._opponent.id or "", self._game.variant.key)
        suggestion = suggested_level(results, engine.level, levels)
        if suggestion is not None:
            yield from self._say_once(LimitedAction.LEVEL_PROPOSAL, texts.proposal(suggestion), None)

    def _say(self, room: ChatRoom, text: str) -> Say:
        return Say(self._game_id, room, texts.cut(text))

    def _filled(self, text: str) -> str:
        me, opponent = self._me, self._opponent
        values = {
            "me": str(me),
            "opponent": str(opponent),
            "engine": self._facts.identity().name,
            "rating": "" if me.rating is None else str(me.rating),
            "crosstable": texts.crosstable(self._facts.scores.against(opponent.id or "")),
            "name": self._greeting.name or str(me),
        }
        return fill_in(text, values)
