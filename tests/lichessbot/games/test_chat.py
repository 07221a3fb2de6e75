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


class Talk:
    """A chat with Ferdinand."""

    def __init__(self, greeting: dict[str, str] | None = None, *done: LimitedAction) -> None:
        self.now = 1000.0
        self.queue: list[str] = []
        self.conversation = Chat(
            GAME,
            US,
            GreetingConfig.model_validate(greeting or {}),
            TIMEOUTS,
            {**NOTHING_DONE, **dict.fromkeys(done, 1)},
            lambda: "Aleph 1.0",
            lambda: self.queue,
        )

    def hear(self, event: Any) -> list[Action]:
        return list(self.conversation.handle(StreamEvent(GAME, event, self.now), self.now))

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
    talk = Talk(FULL_GREETING)
    assert talk.meet() == [
        RecordAction(LimitedAction.GREETING),
        Say(GAME, PLAYER, "Hi Ferdinand, I am TestBot."),
        Say(GAME, SPECTATOR, "TestBot plays Ferdinand"),
    ]
    assert talk.meet() == []
    assert list(talk.conversation.say_goodbye(GameStatus.MATE)) == [
        RecordAction(LimitedAction.GOODBYE),
        Say(GAME, PLAYER, "Bye Ferdinand"),
        Say(GAME, SPECTATOR, "That was TestBot"),
    ]
    assert list(talk.conversation.say_goodbye(GameStatus.MATE)) == []


def test_what_was_said_before_a_restart_is_not_said_again() -> None:
    talk = Talk(FULL_GREETING, LimitedAction.GREETING, LimitedAction.GOODBYE)
    assert talk.meet() == []
    assert list(talk.conversation.say_goodbye(GameStatus.MATE)) == []


def test_without_texts_nothing_is_said_or_noted() -> None:
    talk = Talk()
    assert talk.meet() == []
    assert list(talk.conversation.say_goodbye(GameStatus.MATE)) == []
    assert Talk({"hello": " "}).meet() == []


def test_a_game_that_is_over_is_not_greeted_but_left_with_a_goodbye() -> None:
    talk = Talk(FULL_GREETING)
    assert talk.meet(status="resign") == []
    assert len(list(talk.conversation.say_goodbye(GameStatus.RESIGN))) == 3


def test_an_aborted_game_ends_without_goodbye() -> None:
    talk = Talk(FULL_GREETING)
    talk.meet()
    assert list(talk.conversation.say_goodbye(GameStatus.ABORTED)) == []


def test_the_built_in_ai_is_not_greeted() -> None:
    said = Talk(FULL_GREETING).meet({"aiLevel": 3})
    assert said == [RecordAction(LimitedAction.GREETING), Say(GAME, SPECTATOR, "TestBot plays AI-3")]


@pytest.mark.parametrize("name", ["{me}", "{opponent}", "{0.__class__}", "%s", "\\1", "{"])
def test_a_name_is_inserted_and_not_used_as_a_format(name: str) -> None:
    _, said, _ = Talk(FULL_GREETING).meet({"id": "x", "name": name})
    assert said == Say(GAME, PLAYER, f"Hi {name}, I am TestBot.")


def test_a_line_is_cut_after_the_names_were_put_in_at_a_whole_word() -> None:
    text = "word " * 24 + "{opponent}"
    _, said = Talk({"hello": text}).meet({"id": "x", "name": "N" * 30})
    assert isinstance(said, Say)
    assert said.text == ("word " * 24).strip()
    _, said = Talk({"hello": "{opponent}"}).meet({"id": "x", "name": "N" * 300})
    assert isinstance(said, Say)
    assert said.text == "N" * LONGEST_CHAT_LINE


# Commands


@pytest.mark.parametrize("text", ["!help", "!commands", "  !HELP me"])
def test_help_names_the_commands(text: str) -> None:
    talk = Talk()
    talk.meet()
    answer = talk.answer(text)
    assert all(word in answer for word in ("!name", "!queue", "!eval", "!wait"))


def test_the_engine_is_named_as_it_names_itself() -> None:
    talk = Talk()
    talk.meet()
    answer = talk.answer("!name")
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
def test_the_opponent_is_not_told_what_we_think(room: str, username: str, told: bool) -> None:
    talk = Talk()
    talk.meet()
    summary = SearchSummary(depth=12, nodes=3456, score="cp -31", pv="e2e4 e7e5")
    list(talk.conversation.handle(BestMove(GAME, 1, "e2e4", summary), talk.now))
    answer = talk.answer("!eval", room, username)
    if told:
        assert answer == "-0.31 for me at depth 12, 3456 positions: e2e4 e7e5"
    else:
        assert not any(letter.isdigit() for letter in answer)


def test_whoever_waits_for_a_game_is_named_as_far_as_a_line_goes() -> None:
    talk = Talk()
    talk.meet()
    assert talk.answer("!queue") == "Nobody is waiting for a game."
    talk.queue = ["Karl", "Maia"]
    assert talk.answer("!queue") == "Waiting for a game: Karl, Maia"
    talk.queue = ["Karl"] * 100
    assert len(talk.answer("!queue")) <= LONGEST_CHAT_LINE


def test_an_endless_variation_is_cut() -> None:
    talk = Talk()
    talk.meet()
    summary = SearchSummary(depth=12, nodes=3456, score="mate 9", pv="e2e4 " * 100)
    list(talk.conversation.handle(BestMove(GAME, 1, "e2e4", summary), talk.now))
    answer = talk.answer("!eval", "spectator", "Somebody")
    assert answer.startswith("mate 9 for me at depth 12")
    assert len(answer) <= LONGEST_CHAT_LINE
    assert answer.endswith("e2e4")


def test_before_the_first_search_there_is_no_evaluation() -> None:
    talk = Talk()
    talk.meet()
    assert talk.answer("!eval", "spectator", "Somebody") == "I have not searched yet."


def test_more_time_is_given_for_the_first_move_and_not_without_end() -> None:
    talk = Talk()
    talk.meet()
    answers = [talk.line("!wait") for _ in range(5)]
    assert answers[0] == [PostponeAbort(), Say(GAME, PLAYER, "I wait 60 seconds longer for the first move.")]
    assert answers[3:] == [[], []]


def test_no_time_is_given_to_spectators_or_once_both_have_moved() -> None:
    talk = Talk()
    talk.meet()
    assert talk.line("!wait", "spectator") == []
    state = {"moves": "e2e4 e7e5", "wtime": 1, "btime": 1, "status": "started"}
    assert talk.hear(GameState.model_validate(state)) == []
    assert talk.line("!wait") == []


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
def test_everything_else_is_left_alone(text: str, room: str, username: str) -> None:
    talk = Talk()
    talk.meet()
    assert talk.line(text, room, username) == []


def test_before_the_game_is_known_nobody_is_answered() -> None:
    assert Talk().line("!help") == []


def test_answers_never_look_like_commands() -> None:
    talk = Talk()
    talk.meet()
    for command in ("!help", "!name", "!queue", "!eval", "!wait"):
        for action in talk.line(command):
            assert not isinstance(action, Say) or not action.text.startswith("!")


def test_a_flood_gets_one_answer_at_a_time_in_each_room_and_not_without_end() -> None:
    talk = Talk()
    talk.meet()
    line = ChatLine(room="player", username="Ferdinand", text="!name")
    assert [len(talk.hear(line)) for _ in range(5)] == [1, 0, 0, 0, 0]
    assert len(talk.hear(ChatLine(room="spectator", username="Somebody", text="!name"))) == 1
    talk.now += timedelta(seconds=SPACING_S).total_seconds()
    assert len(talk.hear(line)) == 1
    assert sum(len(talk.line("!name")) for _ in range(200)) == 47
