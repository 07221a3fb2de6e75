"""One game at the site: its streams, its timers, and the commands of its players.

Lives on the event loop. Knows which stream gets which line; `payloads` knows the JSON, `game` the effects of commands.
"""

import asyncio
import math
from collections.abc import Callable
from typing import Any

from lichessbot.rehearsal.rules.enums import ChatRoom, Color
from lichessbot.rehearsal.rules.errors import Refused
from lichessbot.rehearsal.rules.game import NO_WIN, ChatLine, Game, Line
from lichessbot.rehearsal.rules.presence import OpponentGone, Presence
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms
from lichessbot.rehearsal.server import payloads
from lichessbot.rehearsal.server.streams import LineStream, StreamBook, Writing


class GameSession:
    """A game and its streams. Calls `on_change` after every change, also after the end."""

    def __init__(
        self, game: Game, timing: Timing, writing: Writing, on_change: Callable[["GameSession"], None]
    ) -> None:
        self.game = game
        self.threefold_shown_after_s = 0.0
        self._threefold_settle_s = timing.threefold_settle_s
        self._timing = timing
        self._writing = writing
        self._on_change = on_change
        self._streams: StreamBook[tuple[Color, str]] = StreamBook()
        self._presence = Presence(timing)
        self._flag_timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        for color in Color:
            if not game.setup.account(color).is_house:      # a house bot needs no stream to be present
                self._presence.leave(color, monotonic_ms())
        self._look_later()

    # Streams.

    def open_stream(self, color: Color, user_agent: str) -> LineStream:
        """Open a stream for a player; an older one of the same player and program ends."""
        now_ms = monotonic_ms()
        stream = LineStream(self._timing.tick_s, [payloads.game_full(self.game, now_ms)], self._writing)
        if self.game.is_over:
            stream.end()
            return stream
        self._streams.open((color, user_agent), stream)
        self._publish(self._presence.arrive(color, self.game, now_ms))
        return stream

    def close_stream(self, color: Color, user_agent: str, stream: LineStream) -> None:
        """Forget a stream whose connection ended; a player without a stream becomes absent."""
        self._streams.close((color, user_agent), stream)
        if all(key[0] is not color for key, _ in self._streams):
            self._presence.leave(color, monotonic_ms())

    def end_streams(self) -> None:
        self._streams.end_all()

    def leave(self, color: Color) -> None:
        """Make a house bot, which needs no stream, absent for good."""
        if not self.is_left_by(color):
            self._presence.leave(color, monotonic_ms())

    def is_left_by(self, color: Color) -> bool:
        return self._presence.is_away(color)

    def claim_in_s(self, color: Color) -> int | None:
        """Return the seconds until `color` can claim the win, as last told; None if told of no absence."""
        return self._presence.told_claim_in_s(color.other)

    def show_threefold_late(self) -> None:
        """Draw the game at once if a position repeats a third time, but show it late."""
        self._threefold_settle_s, self.threefold_shown_after_s = 0.0, self._timing.threefold_late_s

    def outlive_restart(self) -> None:
        """Survive a restart of the site."""
        if not self.game.is_over:
            self.game.outlive_restart(self._timing, monotonic_ms())

    # Commands of the players.

    def play(self, color: Color, uci: str, *, offering_draw: bool | None = None) -> None:
        """Play a move, after the draw offer or decline that comes with it."""
        if offering_draw is not None and not self.game.is_over:
            self.answer_draw(color, accept=offering_draw)
            if self.game.is_over:
                return
        self._commit(self.game.play(color, uci, monotonic_ms()))

    def answer_draw(self, color: Color, *, accept: bool) -> None:
        if accept:
            self._commit(self.game.offer_draw(color, monotonic_ms()))
        else:
            self._commit(self.game.decline_draw(color))

    def answer_takeback(self, color: Color, *, accept: bool) -> None:
        command = self.game.offer_takeback if accept else self.game.decline_takeback
        self._commit(command(color, monotonic_ms()))

    def take_back_last(self) -> None:
        """Take back the last move, as by a granted request."""
        self._commit(self.game.take_back(self.game.turn, 1, monotonic_ms()))

    def check_start(self, ply: int) -> None:
        """End a tournament game whose first move is late."""
        self._commit(self.game.check_start(ply, monotonic_ms()))

    def abort(self) -> None:
        self._commit(self.game.abort(monotonic_ms()))

    def resign(self, color: Color) -> None:
        self._commit(self.game.resign(color, monotonic_ms()))

    def claim_victory(self, color: Color) -> None:
        """Claim a win. Raises Refused also if the claim draws the game, as that side cannot win."""
        now_ms = monotonic_ms()
        gone = self._presence.is_claimable(color.other, self.game, now_ms)
        lines = self.game.claim_victory(color, now_ms, opponent_gone=gone)
        self._commit(lines)
        if lines and self.game.winner is not color:
            raise Refused(NO_WIN)

    def claim_draw(self, color: Color) -> None:
        now_ms = monotonic_ms()
        gone = self._presence.is_claimable(color.other, self.game, now_ms)
        self._commit(self.game.claim_draw(color, now_ms, opponent_gone=gone))

    def say(self, color: Color, room: ChatRoom, text: str) -> None:
        self._publish(self.game.say(color, room, text))

    # Parts.

    def _commit(self, lines: list[Line]) -> None:
        """Write the lines of a command to the streams, and set the timers."""
        self._publish(lines)
        if not lines:
            return
        if self.game.is_over:
            self._cancel_flag_timer()
            self.end_streams()
        else:
            self._arm_flag_timer()
            if self.game.threefold_pending:
                self._loop.call_later(self._threefold_settle_s, self._settle_threefold)
        self._on_change(self)

    def _publish(self, lines: list[Line] | list[OpponentGone]) -> None:
        for line in lines:
            payload = _payload(line)
            for (color, _), stream in self._streams:
                if not isinstance(line, OpponentGone) or line.to is color:
                    stream.write(payload)

    def _settle_threefold(self) -> None:
        lines = self.game.settle_threefold(monotonic_ms())
        self._loop.call_later(self.threefold_shown_after_s, self._commit, lines)

    def _arm_flag_timer(self) -> None:
        """Set the timer of the flag: people's pages claim it at once, for programs it is checked at each tick (6.1)."""
        self._cancel_flag_timer()
        color = self.game.clock.running
        if color is None:
            return
        delay_s = self.game.clock.remaining_ms(color, monotonic_ms()) / 1000
        if all(self.game.setup.account(side).is_bot for side in Color):
            delay_s = self._timing.tick_s * math.ceil(delay_s / self._timing.tick_s)
        self._flag_timer = self._loop.call_later(delay_s, self._check_flag)

    def _cancel_flag_timer(self) -> None:
        if self._flag_timer is not None:
            self._flag_timer.cancel()

    def _check_flag(self) -> None:
        lines = self.game.check_flag(monotonic_ms())
        if lines:
            self._commit(lines)
        elif not self.game.is_over:
            self._arm_flag_timer()      # a timer may fire early, and a restart adds time

    def _look_later(self) -> None:
        self._loop.call_later(self._timing.absence_check_s, self._look)

    def _look(self) -> None:
        if not self.game.is_over:
            self._publish(self._presence.look(self.game, monotonic_ms()))
            self._look_later()


def _payload(line: Line | OpponentGone) -> dict[str, Any]:
    match line:
        case ChatLine():
            return payloads.chat_line(line)
        case OpponentGone():
            return payloads.opponent_gone(line)
        case _:
            return payloads.game_state(line)
