"""The gate through which every command leaves: one lane per game, one for the house.

A lane is a thread with a session of its own, so that no slow request holds up another game's move.
Knows how to carry a command out and how long the house is patient; whether a game's command is
worth repeating only that game can tell.
"""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from queue import SimpleQueue

from lichessbot.api import Api
from lichessbot.backoff import Backoff
from lichessbot.errors import ApiError, RateLimited, Unreachable
from lichessbot.messages import (
    Abort,
    AcceptChallenge,
    Answer,
    Command,
    CommandDone,
    CommandFailed,
    DeclineChallenge,
    GameCommand,
    HouseCommand,
    Inbox,
    ReadAccount,
    ReadPlaying,
    Resign,
    SendMove,
)
from lichessbot.waits import Waits


class Gate:
    """Routes commands to their lanes; every command is answered by exactly one report."""

    def __init__(self, open_api: Callable[[timedelta], Api], inbox: Inbox, waits: Waits) -> None:
        """`open_api` makes a session with the given read time-out."""
        self._open_api = open_api
        self._inbox = inbox
        self._waits = waits
        self._house: _HouseLane | None = None
        self._games: dict[str, _Lane] = {}

    def send(self, command: Command) -> None:
        """Carry out `command` off this thread. A command for a game without a lane opens one."""
        if isinstance(command, GameCommand):
            self._game_lane(command.game_id).send(command)
        else:
            self._house_lane().send(command)

    def close_game(self, game_id: str) -> None:
        """Forget the game: commands not yet begun are dropped."""
        lane = self._games.pop(game_id, None)
        if lane is not None:
            lane.stop()

    def close(self) -> None:
        """Drop everything not yet begun."""
        for game_id in list(self._games):
            self.close_game(game_id)
        if self._house is not None:
            self._house.stop()
            self._house = None

    def _game_lane(self, game_id: str) -> "_Lane":
        if game_id not in self._games:
            lane = _Lane(f"lane-{game_id}", self._open_api(self._waits.game_answer), self._inbox)
            lane.start()
            self._games[game_id] = lane
        return self._games[game_id]

    def _house_lane(self) -> "_HouseLane":
        if self._house is None:
            self._house = _HouseLane(self._open_api(self._waits.house_answer), self._inbox, self._waits)
            self._house.start()
        return self._house


class _Lane(threading.Thread):
    """Carries out one command after the other, each once."""

    def __init__(self, name: str, api: Api, inbox: Inbox) -> None:
        super().__init__(name=name, daemon=True)
        self._api = api
        self._inbox = inbox
        self._commands: SimpleQueue[Command | None] = SimpleQueue()
        self._stopping = threading.Event()

    def send(self, command: GameCommand | HouseCommand) -> None:
        self._commands.put(command)

    def stop(self) -> None:
        """End after the request under way, if any."""
        self._stopping.set()
        self._commands.put(None)

    def run(self) -> None:
        while (command := self._commands.get()) is not None and not self._stopping.is_set():
            report = self._carry_out(command)
            if not self._stopping.is_set():
                self._inbox.put(report)
        self._api.close()

    def _carry_out(self, command: Command) -> CommandDone | CommandFailed:
        try:
            return CommandDone(command, _execute(self._api, command))
        except ApiError as error:
            return CommandFailed(command, error)


class _HouseLane(_Lane):
    """Repeats what got no answer while that has a chance, and keeps the pauses Lichess asks for."""

    def __init__(self, api: Api, inbox: Inbox, waits: Waits) -> None:
        super().__init__("lane-house", api, inbox)
        self._waits = waits
        self._not_before = time.monotonic()

    def _carry_out(self, command: Command) -> CommandDone | CommandFailed:
        self._stopping.wait(max(0.0, self._not_before - time.monotonic()))
        backoff = Backoff(self._waits.backoff_first, self._waits.backoff_ceiling)
        give_up_at = time.monotonic() + self._waits.house_patience.total_seconds()
        while True:
            report = super()._carry_out(command)
            error = report.error if isinstance(report, CommandFailed) else None
            if isinstance(error, RateLimited):
                # A quota may ask for hours, but only of the one kind of command that used it up.
                pause = min(error.pause, self._waits.rate_limit)
                self._not_before = time.monotonic() + pause.total_seconds()
            if not isinstance(error, Unreachable):
                return report
            delay_s = backoff.next_delay().total_seconds()
            if time.monotonic() + delay_s > give_up_at or self._stopping.wait(delay_s):
                return report


def _execute(api: Api, command: Command) -> Answer:
    """One attempt. Raises ApiError."""
    match command:
        case SendMove(game_id, _, move):
            api.move(game_id, move)
        case Abort(game_id, _):
            api.abort(game_id)
        case Resign(game_id, _):
            api.resign(game_id)
        case AcceptChallenge(challenge_id):
            api.accept_challenge(challenge_id)
        case DeclineChallenge(challenge_id, reason):
            api.decline_challenge(challenge_id, reason)
        case ReadAccount():
            return api.account()
        case ReadPlaying():
            return api.playing()
    return None
