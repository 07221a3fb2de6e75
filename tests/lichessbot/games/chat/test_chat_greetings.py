"""Greetings and goodbyes in both rooms."""

import re

import pytest

from lichessbot.config import LONGEST_CHAT_LINE, GreetingConfig
from lichessbot.config.root import PLACEHOLDERS
from lichessbot.games.actions import RecordAction
from lichessbot.lichess.commands import Say
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.storage.store import LimitedAction
from lichessbot.uci.search import EngineReady
from tests.lichessbot.games.chat.bench import FERDINAND, GAME, PLAYER, SPECTATOR, US, ChatBench

FULL_GREETING = {
    "hello": "Hi {opponent}, I am {me}.",
    "goodbye": "Bye {opponent}",
    "hello_spectators": "{me} plays {opponent}",
    "goodbye_spectators": "That was {me}",
}
GRIN = "\N{GRINNING FACE}"


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


def test_a_game_under_way_is_not_greeted_again_after_the_records_are_lost() -> None:
    bench = ChatBench(FULL_GREETING)
    assert bench.meet(moves="e2e4 e7e5") == []
    assert len(list(bench.chat.say_goodbye(GameStatus.MATE))) == 3


def test_a_game_in_which_only_one_side_has_moved_is_greeted_after_a_restart() -> None:
    assert len(ChatBench(FULL_GREETING).meet(moves="e2e4")) == 3


def test_a_greeting_that_waits_for_the_engine_outlasts_a_new_stream() -> None:
    bench = ChatBench({"hello": "I play with {engine}"}, engine_name="")
    assert bench.meet() == []
    bench.engine_name = "Aleph 1.0"
    assert bench.meet(moves="e2e4 e7e5")[1:] == [Say(GAME, PLAYER, "I play with Aleph 1.0")]


def test_without_greetings_nothing_is_sent_or_recorded() -> None:
    bench = ChatBench()
    assert bench.meet() == []
    assert list(bench.chat.say_goodbye(GameStatus.MATE)) == []
    assert ChatBench({"hello": " "}).meet() == []


def test_a_game_that_is_over_is_not_greeted_but_left_with_a_goodbye() -> None:
    bench = ChatBench(FULL_GREETING)
    assert bench.meet(status="resign") == []
    assert len(list(bench.chat.say_goodbye(GameStatus.RESIGN))) == 3


@pytest.mark.parametrize(
    ("winner", "line"), [(Colour.BLACK, "Won"), (Colour.WHITE, "Lost"), (None, "Bye Ferdinand")]
)
def test_a_goodbye_may_depend_on_the_result(winner: Colour | None, line: str) -> None:
    bench = ChatBench({"goodbye": "Bye {opponent}", "goodbye_won": "Won", "goodbye_lost": "Lost"})
    bench.meet()
    assert list(bench.chat.say_goodbye(GameStatus.MATE, winner))[1:] == [Say(GAME, PLAYER, line)]


@pytest.mark.parametrize(("name", "said"), [("Captain", "I am Captain."), (None, "I am TestBot.")])
def test_a_greeting_can_tell_a_name_of_its_own(name: str | None, said: str) -> None:
    bench = ChatBench({"name": name, "hello": "I am {name}."})
    assert bench.meet()[1:] == [Say(GAME, PLAYER, said)]


def test_a_game_that_ended_before_it_was_seen_gets_no_goodbye() -> None:
    assert list(ChatBench(FULL_GREETING).chat.say_goodbye(GameStatus.MATE, Colour.WHITE)) == []


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


@pytest.mark.parametrize("more", ["", " word"])
def test_a_line_keeps_a_last_word_that_just_fits(more: str) -> None:
    line = "word " * 27 + "fits!"
    assert len(line) == LONGEST_CHAT_LINE
    _, said = ChatBench({"hello": "{opponent}"}).meet({"id": "x", "name": line + more})
    assert said.text == line


def test_a_line_is_cut_after_the_names_were_put_in_at_a_whole_word() -> None:
    text = "word " * 24 + "{opponent} x"
    _, said = ChatBench({"hello": text}).meet({"id": "x", "name": "N" * (LONGEST_CHAT_LINE - 119)})  # one too long
    assert said.text == ("word " * 24).strip()
    _, said = ChatBench({"hello": "{opponent}"}).meet({"id": "x", "name": "N" * 300})
    assert said.text == "N" * LONGEST_CHAT_LINE


@pytest.mark.parametrize(("name", "said"), [(71 * GRIN, 70 * GRIN), ("x" + 70 * GRIN, "x" + 69 * GRIN)])
def test_an_emoji_counts_as_two_characters_because_lichess_counts_utf_16(name: str, said: str) -> None:
    _, line = ChatBench({"hello": "{opponent}"}).meet({"id": "x", "name": name})
    assert line.text == said
    GreetingConfig(hello=70 * GRIN)
    with pytest.raises(ValueError, match=r"a line of up to 140 characters \(an emoji counts as two\)"):
        GreetingConfig(hello=71 * GRIN)


def test_a_greeting_knows_our_rating_and_leaves_out_what_is_unknown() -> None:
    bench = ChatBench({"hello": "{me} ({rating}) {cpu}plays {opponent} with {engine}"})
    _, said = bench.meet(white={"id": US, "name": "TestBot", "rating": 2150}, black=FERDINAND)
    assert said == Say(GAME, PLAYER, "TestBot (2150) plays Ferdinand with Aleph 1.0")
    assert ChatBench({"hello": "{me} {rating}"}).meet()[1:] == [Say(GAME, PLAYER, "TestBot")]


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_each_placeholder_stands_for_something(name: str) -> None:
    _, said = ChatBench({"hello": f"<{{{name}}}>"}).meet(white={"id": US, "name": "TestBot", "rating": 2150})
    assert re.fullmatch("<.+>", said.text)


def test_doubled_braces_are_said_as_braces() -> None:
    assert ChatBench({"hello": "{{me}} is {me}"}).meet()[1:] == [Say(GAME, PLAYER, "{me} is TestBot")]


def test_a_greeting_with_the_engine_waits_until_the_engine_says_its_name() -> None:
    bench = ChatBench({"hello": "I play with {engine}", "hello_spectators": "Hi"}, engine_name="")
    assert bench.meet() == []
    bench.engine_name = "Aleph 1.0"
    said = list(bench.chat.handle(EngineReady(GAME), bench.now))
    assert said[1:] == [Say(GAME, PLAYER, "I play with Aleph 1.0"), Say(GAME, SPECTATOR, "Hi")]
    assert list(bench.chat.handle(EngineReady(GAME), bench.now)) == []
    others = ChatBench({"hello": "Hi"}, engine_name="").meet()[1:]
    assert others == [Say(GAME, PLAYER, "Hi")], "a greeting without the name waits for nothing"
