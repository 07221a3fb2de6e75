"""The chat of a game: greetings and commands."""

from datetime import timedelta
from typing import Any

import pytest

from lichessbot.config import LONGEST_CHAT_LINE, GreetingConfig
from lichessbot.games.actions import Action, PostponeAbort, RecordAction
from lichessbot.games.chat import Chat
from lichessbot.games.game import NOTHING_DONE
from lichessbot.lichess.commands import Say
from lichessbot.lichess.enums import ChatRoom, GameStatus
from lichessbot.lichess.models import ChatLine, GameFull, GameState
from lichessbot.lichess.streams import StreamEvent
from lichessbot.storage.records import LimitedAction
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import BestMove, SearchSummary

GAME, US = "abcd1234", "testbot"
TIMEOUTS = Timeouts()
SPACING_S = TIMEOUTS.chat_spacing.total_seconds()
PLAYER, SPECTATOR = ChatRoom.PLAYER, ChatRoom.SPECTATOR
FULL_GREETING = {
    "hello": "Hi {opponent}, I am {me}.",
    "goodbye": "Bye {opponent}",
    "hello_spectators": "{me} plays {opponent}",
    "goodbye_spectators": "That was {me}",
}


class ChatBench:
    """A chat with Ferdinand."""

    def __init__(self, greeting: dict[str, str] | None = None, *done: LimitedAction) -> None:
        self.now = 1000.0
        self.queue: list[str] = []
        self.chat = Chat(
            GAME,
            US,
            GreetingConfig.model_validate(greeting or {}),
            TIMEOUTS,
            {**NOTHING_DONE, **dict.fromkeys(done, 1)},
            lambda: "Aleph 1.0",
            lambda: self.queue,
        )

    def hear(self, event: Any) -> list[Action]:
        return list(self.chat.handle(StreamEvent(GAME, event, self.now), self.now))

    def meet(self, them: dict[str, Any] | None = None, moves: str = "", status: str = "started") -> list[Action]:
        state = {"moves": moves, "wtime": 1, "btime": 1, "status": status}
        them = them if them is not None else {"id": "ferdinand", "name": "Ferdinand"}
        full = {"id": GAME, "variant": {"key": "standard"}, "white": them, "black": {"id": US, "name": "TestBot"}}
        return self.hear(GameFull.model_validate({**full, "state": state}))

    def line(self, text: str, room: str = "player", username: str = "Ferdinand") -> list[Action]:
        self.now += SPACING_S
        return self.hear(ChatLine(room=room, username=username, text=text))

    def answer(self, text: str, room: str = "player", username: str = "Ferdinand") -> str:
        (said,) = self.line(text, room, username)
        assert isinstance(said, Say)
        assert said.room == room
        return said.text


# Greetings


def test_both_rooms_are_greeted_once() -> None:
    bench = ChatBench(FULL_GREETING)
    assert bench.meet() == [
        RecordAction(LimitedAction.GREETING),
        Say(GAME, PLAYER, "Hi Ferdinand, I am TestBot."),
        Say(GAME, SPECTATOR, "TestBot plays Ferdinand"),
    ]
    assert bench.meet() == []
    assert list(bench.chat.say_goodbye(GameStatus.MATE)) == [
        RecordAction(LimitedAction.GOODBYE),
        Say(GAME, PLAYER, "Bye Ferdinand"),
        Say(GAME, SPECTATOR, "That was TestBot"),
    ]
    assert list(bench.chat.say_goodbye(GameStatus.MATE)) == []


def test_greetings_are_not_repeated_after_a_restart() -> None:
    bench = ChatBench(FULL_GREETING, LimitedAction.GREETING, LimitedAction.GOODBYE)
    assert bench.meet() == []
    assert list(bench.chat.say_goodbye(GameStatus.MATE)) == []


def test_without_greetings_nothing_is_sent_or_recorded() -> None:
    bench = ChatBench()
    assert bench.meet() == []
    assert list(bench.chat.say_goodbye(GameStatus.MATE)) == []
    assert ChatBench({"hello": " "}).meet() == []


def test_a_game_that_is_over_is_not_greeted_but_left_with_a_goodbye() -> None:
    bench = ChatBench(FULL_GREETING)
    assert bench.meet(status="resign") == []
    assert len(list(bench.chat.say_goodbye(GameStatus.RESIGN))) == 3


def test_an_aborted_game_ends_without_goodbye() -> None:
    bench = ChatBench(FULL_GREETING)
    bench.meet()
    assert list(bench.chat.say_goodbye(GameStatus.ABORTED)) == []


def test_the_built_in_ai_is_not_greeted() -> None:
    said = ChatBench(FULL_GREETING).meet({"aiLevel": 3})
    assert said == [RecordAction(LimitedAction.GREETING), Say(GAME, SPECTATOR, "TestBot plays AI-3")]


@pytest.mark.parametrize("name", ["{me}", "{opponent}", "{0.__class__}", "%s", "\\1", "{"])
def test_a_name_is_inserted_and_not_used_as_a_format(name: str) -> None:
    _, said, _ = ChatBench(FULL_GREETING).meet({"id": "x", "name": name})
    assert said == Say(GAME, PLAYER, f"Hi {name}, I am TestBot.")


def test_a_line_is_cut_after_the_names_were_put_in_at_a_whole_word() -> None:
    text = "word " * 24 + "{opponent}"
    _, said = ChatBench({"hello": text}).meet({"id": "x", "name": "N" * 30})
    assert isinstance(said, Say)
    assert said.text == ("word " * 24).strip()
    _, said = ChatBench({"hello": "{opponent}"}).meet({"id": "x", "name": "N" * 300})
    assert isinstance(said, Say)
    assert said.text == "N" * LONGEST_CHAT_LINE


# Commands


@pytest.mark.parametrize("text", ["!help", "!commands", "  !HELP me"])
def test_help_names_the_commands(text: str) -> None:
    bench = ChatBench()
    bench.meet()
    answer = bench.answer(text)
    assert all(word in answer for word in ("!name", "!queue", "!eval", "!wait"))


def test_name_tells_the_name_of_the_engine() -> None:
    bench = ChatBench()
    bench.meet()
    answer = bench.answer("!name")
    assert answer.startswith("TestBot runs lichessbot ")
    assert answer.endswith(" with Aleph 1.0.")


@pytest.mark.parametrize(
    ("room", "username", "told"),
    [
        ("player", "Ferdinand", False),
        ("spectator", "Ferdinand", False),
        ("spectator", "GM Ferdinand", False),
        ("spectator", "Somebody", True),
        ("player", "TestBot", True),
    ],
)
def test_the_opponent_does_not_get_the_evaluation(room: str, username: str, told: bool) -> None:
    bench = ChatBench()
    bench.meet()
    summary = SearchSummary(depth=12, nodes=3456, score="cp -31", pv="e2e4 e7e5")
    list(bench.chat.handle(BestMove(GAME, 1, "e2e4", summary), bench.now))
    answer = bench.answer("!eval", room, username)
    if told:
        assert answer == "-0.31 for me at depth 12, 3456 positions: e2e4 e7e5"
    else:
        assert not any(letter.isdigit() for letter in answer)


def test_queue_names_as_many_challengers_as_a_line_holds() -> None:
    bench = ChatBench()
    bench.meet()
    assert bench.answer("!queue") == "Nobody is waiting for a game."
    bench.queue = ["Karl", "Maia"]
    assert bench.answer("!queue") == "Waiting for a game: Karl, Maia"
    bench.queue = ["Karl"] * 100
    assert len(bench.answer("!queue")) <= LONGEST_CHAT_LINE


def test_an_endless_variation_is_cut() -> None:
    bench = ChatBench()
    bench.meet()
    summary = SearchSummary(depth=12, nodes=3456, score="mate 9", pv="e2e4 " * 100)
    list(bench.chat.handle(BestMove(GAME, 1, "e2e4", summary), bench.now))
    answer = bench.answer("!eval", "spectator", "Somebody")
    assert answer.startswith("mate 9 for me at depth 12")
    assert len(answer) <= LONGEST_CHAT_LINE
    assert answer.endswith("e2e4")


def test_before_the_first_search_there_is_no_evaluation() -> None:
    bench = ChatBench()
    bench.meet()
    assert bench.answer("!eval", "spectator", "Somebody") == "I have not searched yet."


def test_wait_gives_time_for_the_first_move_up_to_a_limit() -> None:
    bench = ChatBench()
    bench.meet()
    answers = [bench.line("!wait") for _ in range(5)]
    assert answers[0] == [PostponeAbort(), Say(GAME, PLAYER, "I wait 60 seconds longer for the first move.")]
    assert answers[3:] == [[], []]


def test_no_time_is_given_to_spectators_or_once_both_have_moved() -> None:
    bench = ChatBench()
    bench.meet()
    assert bench.line("!wait", "spectator") == []
    state = {"moves": "e2e4 e7e5", "wtime": 1, "btime": 1, "status": "started"}
    assert bench.hear(GameState.model_validate(state)) == []
    assert bench.line("!wait") == []


@pytest.mark.parametrize(
    ("text", "room", "username"),
    [
        ("hello", "player", "Ferdinand"),
        ("", "player", "Ferdinand"),
        ("!", "player", "Ferdinand"),
        ("!draw", "player", "Ferdinand"),
        ("say !help", "player", "Ferdinand"),
        ("!help", "team", "Ferdinand"),
        ("!help", "", "Ferdinand"),
        ("!help", "player", "lichess"),
    ],
)
def test_other_lines_are_not_answered(text: str, room: str, username: str) -> None:
    bench = ChatBench()
    bench.meet()
    assert bench.line(text, room, username) == []


def test_commands_before_the_first_state_are_ignored() -> None:
    assert ChatBench().line("!help") == []


def test_answers_never_look_like_commands() -> None:
    bench = ChatBench()
    bench.meet()
    for command in ("!help", "!name", "!queue", "!eval", "!wait"):
        for action in bench.line(command):
            assert not isinstance(action, Say) or not action.text.startswith("!")


def test_answers_are_spaced_and_limited_in_each_room() -> None:
    bench = ChatBench()
    bench.meet()
    line = ChatLine(room="player", username="Ferdinand", text="!name")
    assert [len(bench.hear(line)) for _ in range(5)] == [1, 0, 0, 0, 0]
    assert len(bench.hear(ChatLine(room="spectator", username="Somebody", text="!name"))) == 1
    bench.now += timedelta(seconds=SPACING_S).total_seconds()
    assert len(bench.hear(line)) == 1
    assert sum(len(bench.line("!name")) for _ in range(200)) == 47
