"""Payloads with something wrong in them: no parser fails otherwise than agreed, and no game is lost to one."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from engine.facade import Board, InvalidFen, InvalidMove
from lichessbot.config import LONGEST_CHAT_LINE, Config, EngineConfig, GreetingConfig
from lichessbot.errors import UnreadableLine
from lichessbot.games.actions import Fallback, GameOver, StartSearch
from lichessbot.games.chat.chat import Chat, ChatFacts
from lichessbot.games.game import Game
from lichessbot.games.recording.pgn import pgn_of
from lichessbot.games.recording.recorder import GameRecorder
from lichessbot.lichess import models as events
from lichessbot.lichess import parsing
from lichessbot.lichess.commands import Abort, Resign, Say, SendMove
from lichessbot.lichess.enums import GameStatus
from lichessbot.lichess.streams import StreamEvent, StreamOpened
from lichessbot.storage.database import Statement
from lichessbot.storage.game_records import Scores
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from lichessbot.uci.restarting_engine import EngineIdentity
from lichessbot.uci.search import BestMove
from tests.lichessbot.games.bench import NOTHING_DONE

DATA = Path(__file__).parents[2] / "data" / "lichess"
QUICK = 2_000
LONG = 1_000_000
TRUE_MOVES = "e2e4 e7e5"
OUR_MOVE = "g1f3"
GREETING = GreetingConfig(hello="{me} {opponent}", hello_spectators="{opponent}")

JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 7, 2**31, 2**63, 10**400, -0.5, 1e308, float("nan"), float("inf"), "", "a", "\0",
    "\ud800", "e2e4", "startpos", "standard", "mate", "../..", "x" * 5000, [], [[]], {}, {"id": {}}, {"name": None},
)


def payloads(prefix: str) -> list[Any]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob(f"{prefix}*.json"))]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with a key or an index in it."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


def mutated(payload: Any, chance: random.Random) -> bytes:
    """A copy with one to three things wrong: in its values, its keys or its bytes."""
    copy = deepcopy(payload)
    for _ in range(chance.randint(1, 3)):
        found = list(places(copy))
        if not found:
            break
        container, key = chance.choice(found)
        match chance.randrange(5):
            case 0:
                del container[key]
            case 1 if isinstance(container, dict):
                other = chance.choice(list(container))
                container[other] = container.pop(key)
            case _:
                container[key] = deepcopy(chance.choice(JUNK))
    line = json.dumps(copy).encode("utf-8", "surrogatepass")
    return bent(line, chance) if chance.random() < 0.2 else line


def bent(line: bytes, chance: random.Random) -> bytes:
    """Cut, doubled in part, or with a byte changed."""
    start, end = sorted(chance.randrange(len(line) + 1) for _ in range(2))
    match chance.randrange(3):
        case 0:
            return line[:start]
        case 1:
            return line[:end] + line[start:]
        case _:
            return line[:start] + bytes([chance.randrange(256)]) + line[start + 1 :]


@pytest.mark.parametrize("rounds", [QUICK, pytest.param(LONG, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("prefix", "parse"), [("event-", parsing.parse_account_event), ("game-", parsing.parse_game_event)]
)
def test_a_malformed_line_is_read_or_unreadable(
    prefix: str, parse: Callable[[bytes], events.StreamLine], rounds: int
) -> None:
    chance = random.Random(prefix)
    originals = payloads(prefix)
    unreadable = 0
    for _ in range(rounds):
        line = mutated(chance.choice(originals), chance)
        try:
            parse(line)
        except UnreadableLine:
            unreadable += 1
    assert 0 < unreadable < rounds


@pytest.mark.parametrize("rounds", [QUICK, pytest.param(LONG // 10, marks=pytest.mark.long)])
def test_a_malformed_list_of_games_is_read_or_unreadable(rounds: int) -> None:
    chance = random.Random(1)
    (original,) = payloads("playing")
    read = unreadable = 0
    for _ in range(rounds):
        try:
            body = json.loads(mutated(original["nowPlaying"], chance))
        except ValueError:
            continue
        try:
            parsing.parse_playing(body)
            read += 1
        except UnreadableLine:
            unreadable += 1
    assert read
    assert unreadable


@pytest.mark.parametrize("rounds", [QUICK, pytest.param(LONG // 10, marks=pytest.mark.long)])
def test_a_malformed_error_body_is_read_or_ignored(rounds: int) -> None:
    chance = random.Random(2)
    originals = payloads("error-")
    for _ in range(rounds):
        body = parsing.parse_error(mutated(chance.choice(originals), chance))
        if body is not None:
            assert isinstance(body.text, str)
            assert body.pause is None or body.pause.total_seconds() >= 0


class Unwritten(Store):
    """Keeps scores and no file."""

    def __init__(self) -> None:
        self.scores = Scores()

    def record(self, *statements: Statement) -> None:
        """Look at every value, as writing would."""
        for _, rows in statements:
            for value in chain.from_iterable(rows):
                assert isinstance(value, str | int | float | None)


class Victim:
    """A game in which it is our turn, and whose stream goes mad."""

    def __init__(self, chance: random.Random) -> None:
        config = Config(engine=EngineConfig(own_book=False))
        self.game = Game("abcd1234", "testbot", config, Timeouts(), None, NOTHING_DONE)
        facts = ChatFacts(
            Config(greeting=GREETING),
            engine=EngineConfig,
            identity=lambda: EngineIdentity("Aleph"),
            board=Board,
            takebacks_granted=lambda: 0,
            round_trip_s=lambda: None,
            waiting=list,
            scores=Scores(),
            level_results=lambda opponent_id, variant: [],
        )
        self.talk = Chat("abcd1234", "testbot", facts, NOTHING_DONE, Timeouts())
        self.record = GameRecorder("testbot", Unwritten())
        self.chance = chance
        self.now = 1000.0
        self.search_id = 0
        self.sent: list[str] = []
        self.over: GameOver | None = None

    def hear(self, report: Any) -> None:
        self.now += self.chance.random() / 100
        self.record.handle(report)
        self.note(report)
        for said in self.talk.handle(report, self.now):
            assert not isinstance(said, Say) or 0 < len(said.text) <= LONGEST_CHAT_LINE
        for action in [*self.game.handle(report, self.now), *self.game.tick(self.now)]:
            match action:
                case StartSearch(search):
                    self.search_id = search.search_id
                case Fallback(search_id=search_id):     # a line may say that our clock is nearly out
                    self.search_id = search_id
                case SendMove(move=move):
                    self.sent.append(move)
                case GameOver():
                    self.over = action
                case Resign() | Abort():
                    raise AssertionError(f"{action} because of what a stream said")

    def note(self, report: Any) -> None:
        """The record can be asked for at any time: it is there, or there is a reason why not."""
        if self.chance.random() < 0.1:
            with suppress(InvalidFen, InvalidMove):
                finished = self.record.finish(GameOver(GameStatus.DRAW, None, 0))
                if finished is not None:
                    whole = finished.completed(())
                    assert pgn_of(whole.record, whole.moves, "https://lichess.org").endswith("1/2-1/2\n\n")

    def hear_line(self, line: bytes) -> bool:
        """A line of the stream, as far as it can be read; True if it says that the game is over."""
        try:
            event = parsing.parse_game_event(line)
        except UnreadableLine:
            return False
        self.hear(StreamEvent("abcd1234", event, self.now))
        state = event.state if isinstance(event, events.GameFull) else event
        return isinstance(state, events.GameState) and state.status.is_over


def true_lines() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    state = {
        "type": "gameState", "moves": TRUE_MOVES, "wtime": 60_000, "btime": 60_000, "winc": 0, "binc": 0,
        "status": "started",
    }
    full = {
        "type": "gameFull", "id": "abcd1234", "variant": {"key": "standard", "name": "Standard"}, "rated": False,
        "white": {"id": "testbot", "name": "TestBot", "title": "BOT", "rating": 1500},
        "black": {"id": "ferdinand", "name": "Ferdinand", "rating": 1500}, "initialFen": "startpos",
        "clock": {"initial": 60_000, "increment": 0}, "state": state,
    }
    chat = {"type": "chatLine", "room": "player", "username": "ferdinand", "text": "!eval"}
    return full, [full, state, chat, {"type": "opponentGone", "gone": True, "claimWinInSeconds": 10}]


@pytest.mark.parametrize("rounds", [QUICK // 4, pytest.param(LONG // 10, marks=pytest.mark.long)])
def test_a_game_survives_a_malformed_stream(rounds: int) -> None:
    chance = random.Random(3)
    full, lines = true_lines()
    true_full = json.dumps(full).encode()
    survived = 0
    for _ in range(rounds):
        victim = Victim(chance)
        victim.hear(StreamOpened("abcd1234"))
        victim.hear_line(true_full)
        said_over = False
        for _ in range(chance.randint(1, 2)):
            said_over |= victim.hear_line(mutated(chance.choice(lines), chance))
        if victim.over is not None:
            assert said_over or not victim.over.told, "nobody reported an end"
            continue
        victim.hear(StreamOpened("abcd1234"))
        victim.hear_line(true_full)
        if OUR_MOVE not in victim.sent:
            victim.hear(BestMove("abcd1234", victim.search_id, OUR_MOVE))
        assert victim.sent == [OUR_MOVE]
        survived += 1
    assert survived > rounds * 0.8
