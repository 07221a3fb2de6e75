"""The reviews that the daemon makes: which games, when, and what it says of them.

One game at a time, in a thread of its own that waits for our engine. It searches only while a core is free of running
games, at a lower priority than theirs. When a game needs the core, the review stops after the position it is at, gives
back its engine's memory, and waits. At shutdown it is dropped, and never resumed: `lichessbot review` makes it later.
"""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final

from engine.facade import InvalidFen, InvalidMove, InvalidVariant
from lichessbot.config import ReviewMode
from lichessbot.errors import EngineError
from lichessbot.games.chat.commands import command_in, user_id
from lichessbot.games.recording.archive import ArchivedGame
from lichessbot.games.review.analysis import analyse, review_engine
from lichessbot.games.review.review import review_of
from lichessbot.games.review.words import chat_lines
from lichessbot.games.session import GameContext
from lichessbot.inbox import Report, ReviewDone
from lichessbot.lichess.commands import CommandDone, CommandFailed, ReadChat, Say
from lichessbot.lichess.enums import ChatRoom, Colour
from lichessbot.lichess.models import BOT_TITLE, ChatLine
from lichessbot.log import EventLog, try_start
from lichessbot.storage.reviews import reviewed
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts, earliest, is_due

# After a game its chat is read at these multiples of `Timeouts.review_look`; at the last one we stop listening.
_LOOKS: Final = (1, 3, 9, 15)
_MAX_QUEUED: Final = 20
_LONGEST_S: Final = 300.0  # of searching, for one game
_SAID_WITHIN_S: Final = 600.0  # after the end; later, hardly anybody is there to read it


@dataclass(slots=True)
class _Listening:
    """A game that is over and whose opponent may still ask for its review."""

    game: ArchivedGame
    moments: list[float]
    """When to read its chat, and in the end, when to forget it; in monotonic seconds."""


class Reviewer:
    """The reviews of all games. For the main thread."""

    def __init__(self, emit: Callable[[ReviewDone], None]) -> None:
        self._emit = emit
        self._worker: _Worker | None = None
        self._context: GameContext | None = None
        self._listening: dict[str, _Listening] = {}
        self._core_is_free = False

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        return earliest(*(it.moments[0] for it in self._listening.values()))

    def game_over(self, game: ArchivedGame, context: GameContext, *, is_wanted: bool) -> None:
        """Review a game that is over if it is wanted, else listen for a while whether its opponent asks for it.

        Bots do not ask once a game is over. Lichess ends the stream with the game, so the chat has to be read.
        """
        self._context = context
        record = game.record
        if record.result is None or context.config.greeting.review is ReviewMode.NEVER:
            return
        if is_wanted:
            self._queue(game)
        elif record.opponent_id and record.opponent_title != BOT_TITLE:
            now, look_s = time.monotonic(), context.timeouts.review_look.total_seconds()
            self._listening[record.id] = _Listening(game, [now + number * look_s for number in _LOOKS])

    def handle(self, report: Report) -> None:
        """Handle a report about a game that is over."""
        match report:
            case CommandDone(command=ReadChat(game_id=game_id), answer=tuple() as lines):
                listening = self._listening.get(game_id)
                if listening is not None and any(_asks(it, listening.game) for it in lines):
                    del self._listening[game_id]
                    self._queue(listening.game)
            case CommandFailed(command=ReadChat() as command, error=error):
                EventLog(command.game_id).debug("command.failed", command=command.kind(), error=error)
            case ReviewDone(game_id=game_id, lines=lines):
                for line in lines:
                    self._shared.outbox.send(Say(game_id, ChatRoom.PLAYER, line))

    def tick(self, now: float) -> None:
        """Read the chats that are due to be read, and listen no longer where that was the last time."""
        for game_id, listening in list(self._listening.items()):
            if is_due(listening.moments[0], now):
                del listening.moments[0]
                if listening.moments:
                    self._shared.outbox.send(ReadChat(game_id))
                else:
                    del self._listening[game_id]

    def give_way(self, *, core_is_free: bool) -> None:
        """Search only while running games leave a core free."""
        self._core_is_free = core_is_free
        if self._worker is not None:
            self._worker.may_search(core_is_free)

    def close(self) -> None:
        """Drop all reviews; a later game is reviewed again, as after a change of the account."""
        self._listening.clear()
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    @property
    def _shared(self) -> GameContext:
        assert self._context is not None, "set with the first game that is over"
        return self._context

    def _queue(self, game: ArchivedGame) -> None:
        if self._worker is None:
            worker = _Worker(self._shared.store, self._shared.timeouts, self._emit)
            worker.may_search(self._core_is_free)
            if not try_start(worker, EventLog(game.record.id)):
                return  # the next game tries again
            self._worker = worker
        self._worker.put(game)


def _asks(line: object, game: ArchivedGame) -> bool:
    """Return whether a line of the chat is the opponent's request for a review."""
    if not isinstance(line, ChatLine) or user_id(line.username) != game.record.opponent_id:
        return False
    asked = command_in(line.text)
    return asked is not None and asked[0] == "review"


class _Stopped(Exception):
    """The daemon ends."""


class _Worker(threading.Thread):
    """Reviews one game after the other."""

    def __init__(self, store: Store, timeouts: Timeouts, emit: Callable[[ReviewDone], None]) -> None:
        super().__init__(name="review", daemon=True)
        self._store = store
        self._timeouts = timeouts
        self._emit = emit
        self._games: SimpleQueue[tuple[ArchivedGame, float] | None] = SimpleQueue()
        self._may_search = threading.Event()
        self._stopping = False

    # For the main thread

    def put(self, game: ArchivedGame) -> None:
        """Queue a game that has just ended."""
        if self._games.qsize() >= _MAX_QUEUED:
            EventLog(game.record.id).info("review.dropped", waiting=_MAX_QUEUED)
        else:
            self._games.put((game, time.monotonic()))

    def may_search(self, allowed: bool) -> None:
        """Go on, or pause after the position that is being searched."""
        if allowed:
            self._may_search.set()
        else:
            self._may_search.clear()

    def stop(self) -> None:
        """End after the position that is being searched; not waited for."""
        self._stopping = True
        self._may_search.set()
        self._games.put(None)

    # The thread

    def run(self) -> None:
        while (item := self._games.get()) is not None:
            game, ended_at = item
            log = EventLog(game.record.id)
            try:
                self._emit(self._review(game, ended_at, log))
            except _Stopped:
                return
            except (EngineError, InvalidFen, InvalidMove, InvalidVariant) as error:
                log.warning("review.failed", error=error)
            except Exception as error:
                log.crash("review.crashed", error)

    def _review(self, game: ArchivedGame, ended_at: float, log: EventLog) -> ReviewDone:
        """Review a game, record the review, and return what to say. Raises as `analyse` does."""
        self._await_core()
        game = game.completed(self._store.moves_of(game.record.id))
        record, until = game.record, time.monotonic() + _LONGEST_S
        with closing(review_engine(record.id, self._timeouts)) as engine:

            def before_each() -> None:
                nonlocal until
                if not self._may_search.is_set():
                    engine.close()
                    until += self._await_core()
                if self._stopping:
                    raise _Stopped
                if time.monotonic() > until:
                    raise EngineError(f"it took longer than {_LONGEST_S:.0f} s")

            made = analyse(record, game.moves, engine, before_each=before_each)
        self._store.record(*reviewed(made))
        review = review_of(record, game.moves, made)
        assert review is not None, "made of all moves"
        took_s = time.monotonic() - ended_at
        lines = chat_lines(review, Colour(record.colour)) if took_s <= _SAID_WITHIN_S else ()
        log.info("review.done", plies=len(game.moves), after_s=took_s, said=" ".join(lines) or None)
        return ReviewDone(record.id, tuple(lines))

    def _await_core(self) -> float:
        """Wait until a core is free, and return for how many seconds. Raises _Stopped."""
        began_at = time.monotonic()
        self._may_search.wait()
        if self._stopping:
            raise _Stopped
        return time.monotonic() - began_at
