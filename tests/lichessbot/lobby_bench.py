"""A lobby whose outbox sends nothing, and the challenges that its event stream shows."""

import time
from datetime import timedelta
from queue import SimpleQueue
from typing import Any

from lichessbot.config import Config
from lichessbot.lichess.answers import Account, BotUser, UserStatus
from lichessbot.lichess.commands import (
    Command,
    CommandDone,
    CommandResult,
    CreateChallenge,
    MatchCommand,
    ReadBots,
    ReadRatings,
    ReadStatuses,
)
from lichessbot.lichess.models import Challenge, ChallengeReceived, GameInfo
from lichessbot.lobby import Lobby
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from tests.patience import until

ARENA = "hL7vMrFQ"
CONFIG = Config.model_validate({"challenge": {"concurrency": 2}, "tournaments": [{"id": ARENA}]})
SEEKING = Config.model_validate({"challenge": {"concurrency": 2}, "matchmaking": {"allow_matchmaking": True}})
AT_ONCE = Timeouts(challenge_minute=timedelta(0), game_start=timedelta(0))
US = Account.model_validate({"id": "us", "username": "Us", "title": "BOT"})
_BLITZ = {"speed": "blitz", "timeControl": {"type": "clock", "limit": 180, "increment": 2}}


class Outbox:
    """An outbox that only keeps what it is told to send."""

    pause_s = 0.0

    def __init__(self) -> None:
        self.sent: list[Command] = []
        self.withdrawn: list[Command] = []

    def send(self, command: Command, after: timedelta = timedelta()) -> None:
        self.sent.append(command)

    def withdraw(self, command: Command) -> bool:
        self.withdrawn.append(command)
        return False

    def settle(self, command: Command) -> None:
        pass


def lobby_of(
    store: Store, outbox: Outbox, games: list[GameInfo], config: Config = CONFIG, timeouts: Timeouts | None = None
) -> Lobby:
    """An open lobby; what happens to `games` happens to the games in progress."""
    lobby = Lobby(config, outbox, SimpleQueue().put, store, timeouts or Timeouts(), None, lambda: games)  # type: ignore[arg-type]
    lobby.open(US, config)
    return lobby


def challenged(challenge_id: str, **challenger: str) -> ChallengeReceived:
    """A challenge to us, to blitz."""
    challenge = {"id": challenge_id, "challenger": challenger, "variant": {"key": "standard"}, **_BLITZ}
    return ChallengeReceived.model_validate({"challenge": challenge, "compat": {"bot": True}})


def echoed(opponent: str, **changes: Any) -> ChallengeReceived:
    """A challenge of our account to this player, as the event stream shows it."""
    users = {"challenger": {"id": US.id}, "destUser": {"id": opponent, "title": changes.pop("title", None)}}
    terms = {"rated": True, "variant": {"key": "standard"}, **_BLITZ}
    challenge = {"id": f"to-{opponent}", **terms, **users, **changes}
    return ChallengeReceived.model_validate({"challenge": challenge, "compat": {"bot": True}})


def game_with(opponent: str, game_id: str = "abcd1234", **facts: Any) -> GameInfo:
    """A game in progress; the name of a bot follows its title."""
    user = {"id": opponent.split()[-1].lower(), "username": opponent}
    return GameInfo.model_validate({"gameId": game_id, "variant": {"key": "standard"}, "opponent": user, **facts})


class Hall:
    """A lobby that looks for a game."""

    def __init__(self, store: Store, config: Config = SEEKING, timeouts: Timeouts = AT_ONCE) -> None:
        self.outbox, self.games = Outbox(), list[GameInfo]()
        self.lobby = lobby_of(store, self.outbox, self.games, config, timeouts)
        until(lambda: self.lobby.tick() or self.outbox.sent, "no bot is looked for")

    def hear(self, command: MatchCommand, answer: CommandResult) -> None:
        assert self.outbox.sent[-1] == command
        self.lobby.command_answered(CommandDone(command, answer))

    def find_a_rival(self) -> None:
        self.hear(ReadRatings(), US)
        self.hear(ReadBots(), (BotUser.model_validate({"id": "rival", "username": "Rival"}),))
        self.hear(ReadStatuses(("rival",)), (UserStatus(id="rival", online=True),))

    def challenge_a_rival(self) -> Challenge:
        """Return the open challenge, which Lichess has acknowledged and shown."""
        self.find_a_rival()
        created = self.outbox.sent[-1]
        assert isinstance(created, CreateChallenge)
        ours = echoed("rival")
        self.lobby.command_answered(CommandDone(created, ours.challenge))
        self.lobby.challenge_event(ours, time.monotonic())
        return ours.challenge
