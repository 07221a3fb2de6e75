"""The three ways to a game side by side: what one of them knows counts for the others. A gate that sends nothing."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue

import pytest

from lichessbot.config import Config
from lichessbot.errors import Refused, Unreachable
from lichessbot.lichess.commands import (
    AcceptChallenge,
    Bots,
    CancelChallenge,
    Command,
    CommandDone,
    CommandFailed,
    CreateChallenge,
    JoinTournament,
    MatchCommand,
    ReadBots,
    ReadOutgoing,
    ReadRatings,
    ReadStatuses,
    ReadTournament,
    Statuses,
)
from lichessbot.lichess.models import Account, ArenaInfo, BotUser, Challenge, ChallengeReceived, GameInfo, UserStatus
from lichessbot.lobby import Lobby, View
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts

PATIENCE_S = 10.0
ARENA = "hL7vMrFQ"
CONFIG = Config.model_validate({"challenge": {"concurrency": 2}, "tournaments": [{"id": ARENA}]})
US = Account.model_validate({"id": "us", "username": "Us", "title": "BOT"})


class Outbox:
    """A gate that only keeps what it is told to send."""

    def __init__(self) -> None:
        self.sent: list[Command] = []

    def send(self, command: Command, after: timedelta = timedelta()) -> None:
        self.sent.append(command)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(Database(tmp_path))
    yield store
    store.close()


def view(*games: GameInfo) -> View:
    return View(CONFIG, "us", games, stopping=False)


def challenged(challenge_id: str, **challenger: str) -> ChallengeReceived:
    """To blitz, by whomever."""
    terms = {"speed": "blitz", "timeControl": {"type": "clock", "limit": 180, "increment": 2}}
    challenge = {"id": challenge_id, "challenger": challenger, "variant": {"key": "standard"}, **terms}
    return ChallengeReceived.model_validate({"challenge": challenge, "compat": {"bot": True}})


def test_a_game_that_only_a_look_tells_of_takes_no_second_slot(store: Store) -> None:
    outbox = Outbox()
    lobby = Lobby(outbox, SimpleQueue().put, store, Timeouts(), None)  # type: ignore[arg-type]
    lobby.open(US, CONFIG)
    lobby.tick(view())
    join = JoinTournament(ARENA, None, None, pair=True)
    assert outbox.sent == [join]
    lobby.hear_answer(join, CommandDone(join), view())
    look = ReadTournament(ARENA)
    lobby.hear_answer(look, CommandDone(look, ArenaInfo(id=ARENA, secondsToFinish=600)), view())
    facts = {"gameId": "abcd1234", "variant": {"key": "standard"}, "tournamentId": ARENA}
    game = GameInfo.model_validate({**facts, "opponent": {"id": "rival", "username": "Rival"}})
    lobby.compare([game], time.monotonic(), view())
    lobby.hear(challenged("wxyz9876", id="ann"), time.monotonic(), view(game))
    assert outbox.sent[-1] == AcceptChallenge("wxyz9876")


def test_of_two_bots_that_wait_one_gets_the_days_last_game(store: Store) -> None:
    outbox = Outbox()
    lobby = Lobby(outbox, SimpleQueue().put, store, Timeouts(), None)  # type: ignore[arg-type]
    config = Config.model_validate({"challenge": {"concurrency": 2}, "matchmaking": {"bot_games_per_day": 1}})
    facts = {"variant": {"key": "standard"}, "opponent": {"id": "ann", "username": "Ann"}}
    games = [GameInfo.model_validate({**facts, "gameId": game_id}) for game_id in ("abcd1234", "abcd5678")]
    lobby.open(US, config)
    for number in (1, 2):
        came = challenged(f"wxyz987{number}", id=f"rival{number}", title="BOT")
        lobby.hear(came, time.monotonic(), View(config, "us", games, stopping=False))
    assert outbox.sent == []
    lobby.tick(View(config, "us", [], stopping=False))
    assert sorted(type(it).__name__ for it in outbox.sent) == ["AcceptChallenge", "DeclineChallenge"]


# Challenges of our own

SEEKING = Config.model_validate({"challenge": {"concurrency": 2}, "matchmaking": {"allow_matchmaking": True}})
AT_ONCE = replace(Timeouts(), challenge_minute=timedelta(0), game_start=timedelta(0))


class Hall:
    """A lobby that looks for a game, and its view."""

    def __init__(self, store: Store) -> None:
        self.outbox = Outbox()
        self.lobby = Lobby(self.outbox, SimpleQueue(), store, AT_ONCE, None)  # type: ignore[arg-type]
        self.view = View(SEEKING, "us", [], stopping=False)
        self.lobby.open(US, SEEKING)
        deadline = time.monotonic() + PATIENCE_S
        while not self.outbox.sent:
            assert time.monotonic() < deadline, "nobody is looked for"
            self.lobby.tick(self.view)

    def hear(self, command: MatchCommand, answer: Account | Bots | Statuses) -> None:
        assert self.outbox.sent[-1] == command
        self.lobby.hear_answer(command, CommandDone(command, answer), self.view)

    def find_a_rival(self) -> None:
        self.hear(ReadRatings(), US)
        self.hear(ReadBots(), Bots((BotUser.model_validate({"id": "rival", "username": "Rival"}),)))
        self.hear(ReadStatuses(("rival",)), Statuses((UserStatus(id="rival", online=True),)))

    def goes_unanswered(self) -> None:
        command = self.outbox.sent[-1]
        assert isinstance(command, CreateChallenge | ReadOutgoing)
        self.lobby.hear_answer(command, CommandFailed(command, Unreachable("timed out")), self.view)
        self.lobby.tick(self.view)


def game_of_a_human() -> GameInfo:
    return GameInfo.model_validate({"gameId": "abcd1234", "variant": {"key": "standard"}, "opponent": {"id": "ann"}})


def test_nobody_is_challenged_when_a_game_began_while_one_was_chosen(store: Store) -> None:
    hall = Hall(store)
    hall.view = replace(hall.view, games=[game_of_a_human()])
    hall.find_a_rival()
    assert not any(isinstance(command, CreateChallenge) for command in hall.outbox.sent)


def test_who_stops_does_not_wait_for_what_became_of_a_challenge_while_lichess_is_out_of_reach(store: Store) -> None:
    hall = Hall(store)
    hall.find_a_rival()
    hall.goes_unanswered()
    hall.lobby.stop()
    hall.view = replace(hall.view, stopping=True)
    assert not hall.lobby.is_clear
    for _ in range(3):
        hall.goes_unanswered()
    assert hall.lobby.is_clear


def test_who_stops_looks_for_the_game_that_a_challenge_has_become(store: Store) -> None:
    """Lichess refuses to withdraw it: somebody may have accepted it just now."""
    hall = Hall(store)
    hall.find_a_rival()
    created = hall.outbox.sent[-1]
    assert isinstance(created, CreateChallenge)
    challenge = {"id": "wxyz9876", "destUser": {"id": "rival"}, "variant": {"key": "standard"}, "speed": "blitz"}
    told = Challenge.model_validate({**challenge, "timeControl": {"type": "clock", "limit": 180, "increment": 2}})
    hall.lobby.hear_answer(created, CommandDone(created, told), hall.view)
    hall.lobby.stop()
    canceled = CancelChallenge("wxyz9876")
    assert hall.outbox.sent[-1] == canceled
    hall.lobby.hear_answer(canceled, CommandFailed(canceled, Refused(404, "Not found")), hall.view)
    assert not hall.lobby.is_clear
    assert hall.lobby.has_doubt()
