"""The chat of a game: greetings and commands."""

from datetime import timedelta
from typing import Any

import pytest

from engine.facade import Board
from lichessbot.config import LONGEST_CHAT_LINE, Config, DrawOrResignConfig, EngineConfig
from lichessbot.games.actions import Action, PostponeAbort, RecordAction
from lichessbot.games.chat import Chat, ChatFacts
from lichessbot.games.game import NOTHING_DONE
from lichessbot.lichess.commands import Say
from lichessbot.lichess.enums import ChatRoom, Colour, GameStatus
from lichessbot.lichess.models import ChatLine, GameFull, GameState
from lichessbot.lichess.streams import StreamEvent
from lichessbot.storage.game_records import Result, Scores
from lichessbot.storage.store import LimitedAction
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import BestMove, EngineReady, SearchSummary

GAME, US = "abcd1234", "testbot"
TIMEOUTS = Timeouts()
SPACING_S = TIMEOUTS.chat_spacing.total_seconds()
EVERYBODYS = ("name", "motor", "level", "ping", "variants", "draw", "takeback", "queue", "stats")
PLAYER, SPECTATOR = ChatRoom.PLAYER, ChatRoom.SPECTATOR
FULL_GREETING = {
    "hello": "Hi {opponent}, I am {me}.",
    "goodbye": "Bye {opponent}",
    "hello_spectators": "{me} plays {opponent}",
    "goodbye_spectators": "That was {me}",
}


class ChatBench:
    """A chat with Ferdinand."""

    def __init__(
        self,
        greeting: dict[str, str] | None = None,
        *done: LimitedAction,
        config: dict[str, Any] | None = None,
        engine_name: str = "Aleph 1.0",
    ) -> None:
        self.now = 1000.0
        self.queue: list[str] = []
        self.engine_name = engine_name
        self.takebacks = 0
        self.round_trip_ms: float | None = None
        self.board = Board()
        self.scores = Scores()
        self.engine = EngineConfig()
        self.levels: tuple[int, int] | None = (600, 2850)
        self.level_results: list[tuple[int, Result]] = []
        facts = ChatFacts(
            Config.model_validate({"greeting": greeting or {}, **(config or {})}),
            engine=lambda: self.engine,
            engine_name=lambda: self.engine_name,
            levels=lambda: self.levels,
            board=lambda: self.board,
            takebacks_granted=lambda: self.takebacks,
            round_trip_ms=lambda: self.round_trip_ms,
            waiting=lambda: self.queue,
            scores=self.scores,
            level_results=lambda *of: self.level_results if of == ("ferdinand", "standard") else [],
        )
        self.chat = Chat(GAME, US, facts, {**NOTHING_DONE, **dict.fromkeys(done, 1)}, TIMEOUTS)

    def hear(self, event: Any) -> list[Action]:
        return list(self.chat.handle(StreamEvent(GAME, event, self.now), self.now))

    def meet(
        self,
        them: dict[str, Any] | None = None,
        moves: str = "",
        status: str = "started",
        *,
        rated: bool = False,
        **facts: Any,
    ) -> list[Action]:
        state = {"moves": moves, "wtime": 1, "btime": 1, "status": status}
        them = them if them is not None else {"id": "ferdinand", "name": "Ferdinand"}
        full = {"id": GAME, "variant": {"key": "standard"}, "white": them, "black": {"id": US, "name": "TestBot"}}
        facts = {"clock": {"initial": 60_000, "increment": 0}, "rated": rated, **facts}
        return self.hear(GameFull.model_validate({**full, **facts, "state": state}))

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


def test_a_greeting_knows_our_rating_and_leaves_out_what_is_unknown() -> None:
    bench = ChatBench({"hello": "{me} ({rating}) {cpu}plays {opponent} with {engine}"})
    _, said = bench.meet(white={"id": US, "name": "TestBot", "rating": 2150}, black=FERDINAND)
    assert said == Say(GAME, PLAYER, "TestBot (2150) plays Ferdinand with Aleph 1.0")


def test_a_greeting_with_the_engine_waits_until_the_engine_says_its_name() -> None:
    bench = ChatBench({"hello": "I play with {engine}", "hello_spectators": "Hi"}, engine_name="")
    assert bench.meet() == []
    bench.engine_name = "Aleph 1.0"
    said = list(bench.chat.handle(EngineReady(GAME), bench.now))
    assert said[1:] == [Say(GAME, PLAYER, "I play with Aleph 1.0"), Say(GAME, SPECTATOR, "Hi")]
    assert list(bench.chat.handle(EngineReady(GAME), bench.now)) == []


# Commands


@pytest.mark.parametrize("text", ["!help", "!commands", "  !HELP me"])
def test_help_names_the_commands(text: str) -> None:
    bench = ChatBench()
    bench.meet()
    answer = bench.answer(text)
    assert all(f"!{word}" in answer for word in (*EVERYBODYS, "wait"))
    assert "!eval" not in answer
    answer = bench.answer(text, "spectator", "Somebody")
    assert all(f"!{word}" in answer for word in (*EVERYBODYS, "eval", "pv"))


@pytest.mark.parametrize("room", ["player", "spectator"])
def test_help_fits_into_a_line_of_lichess(room: str) -> None:
    bench = ChatBench()
    bench.meet()
    assert bench.answer("!help", room).endswith(".")    # a longer text would be cut


@pytest.mark.parametrize("room", ["player", "spectator"])
def test_motor_tells_the_engine(room: str) -> None:
    bench = ChatBench()
    bench.meet()
    assert bench.answer("!motor", room) == "I play with Aleph 1.0."
    bench.engine_name = ""
    assert bench.answer("!motor", room) == "I play with an engine that is still starting."


def test_ping_tells_the_round_trip_of_the_last_move() -> None:
    bench = ChatBench()
    bench.meet()
    assert bench.answer("!ping") == "I have not sent a move yet."
    bench.round_trip_ms = 41.6
    assert bench.answer("!ping") == "My last move took 42 ms to Lichess and back."


def test_variants_are_those_open_to_the_opponent() -> None:
    rules = {"variants": ["standard", "atomic"], "human": {"variants": ["chess960"]}}
    bench = ChatBench(config={"challenge": rules})
    bench.meet()
    assert bench.answer("!variants") == "I play chess960."
    bench.meet({"id": "ferdinand", "name": "Ferdinand", "title": "BOT"})
    assert bench.answer("!variants") == "I play standard, atomic."


FERDINAND = {"id": "ferdinand", "name": "Ferdinand", "rating": 1900}


@pytest.mark.parametrize(
    ("rules", "answer"),
    [
        ({}, "I neither offer nor accept draws."),
        ({"offer_draw_against_humans": False}, "I do not agree to draws with humans."),
        ({"offer_draw_min_rating": 2000}, "I agree to draws only with opponents rated 2000 or higher."),
        (
            {"offer_draw_score": 15, "offer_draw_min_game_length": 30, "offer_draw_pieces": 12, "offer_draw_moves": 6},
            "I agree to a draw from move 30 on with at most 12 pieces, if my scores of 6 moves are within 0.15.",
        ),
    ],
)
def test_draw_tells_the_rules_and_nothing_of_the_game(rules: dict[str, Any], answer: str) -> None:
    bench = ChatBench()
    bench.meet(FERDINAND)
    draws = DrawOrResignConfig.model_validate({"offer_draw_enabled": bool(rules), **rules})
    bench.engine = EngineConfig(draw_or_resign=draws)
    assert bench.answer("!draw") == answer


def test_takeback_tells_how_many_are_left() -> None:
    bench = ChatBench(config={"max_takebacks_accepted": 2, "takebacks_from_bots": False})
    bench.meet()
    bench.takebacks = 1
    assert bench.answer("!takeback") == "I grant up to 2 takebacks in a game; 1 of them used."
    bench.meet({**FERDINAND, "title": "BOT"})
    assert bench.answer("!takeback") == "I do not grant takebacks."
    bench = ChatBench()
    bench.meet()
    assert bench.answer("!takeback") == "I do not grant takebacks."


def test_name_answers_with_the_engine() -> None:
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
    bench.board = Board()
    summary = SearchSummary(depth=12, nodes=3456, score="cp -31", pv="e2e4 e7e5")
    list(bench.chat.handle(BestMove(GAME, 1, "e2e4", summary), bench.now))
    answer = bench.answer("!eval", room, username)
    if told:
        assert answer == "-0.31 for me at depth 12, 3456 positions: e2e4 e7e5"
    else:
        assert not any(letter.isdigit() for letter in answer)
    variation = bench.answer("!pv", room, username)
    assert variation == ("1. e4 e5" if told else "I do not tell my opponent.")


@pytest.mark.parametrize(
    ("moves", "shown"),
    [
        ("", "1. e4 e5 2. Nf3 Nc6 3. Bc4"),
        ("e2e4", "1... e5 2. Nf3 Nc6 3. Bc4"),
        ("e2e4 e7e5", "2. Nf3 Nc6 3. Bc4"),
        ("e2e4 c7c5", "e2e4 e7e5 g1f3 b8c6 f1c4"),  # the opponent played something else
        ("e2e4 e7e5 g1f3 b8c6 f1c4", "I have not searched yet."),
    ],
)
def test_pv_shows_what_is_left_of_the_variation(moves: str, shown: str) -> None:
    bench = ChatBench()
    bench.meet()
    summary = SearchSummary(depth=9, nodes=1, score="cp 1", pv="e2e4 e7e5 g1f3 b8c6 f1c4")
    list(bench.chat.handle(BestMove(GAME, 1, "e2e4", summary), bench.now))
    for move in moves.split():
        bench.board.push(move)
    assert bench.answer("!pv", "spectator", "Somebody") == shown


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


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        ({"tournamentId": "arena123"}, "In an arena, Lichess decides how long it waits for the first move."),
        ({"clock": None, "daysPerTurn": 2}, "I abort no game without a clock: take your time."),
        ({"clock": None}, "I abort no game without a clock: take your time."),
    ],
)
def test_wait_promises_nothing_where_we_abort_no_game(facts: dict[str, Any], answer: str) -> None:
    bench = ChatBench()
    bench.meet(**facts)
    assert bench.line("!wait") == [Say(GAME, PLAYER, answer)]


def test_wait_is_refused_to_spectators_and_after_the_first_moves() -> None:
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
        ("!cpu", "player", "Ferdinand"),
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
    for command in ("help", *EVERYBODYS, "eval", "pv", "wait"):
        for action in bench.line(f"!{command}"):
            assert not isinstance(action, Say) or not action.text.startswith("!")


def test_a_command_too_soon_after_an_answer_takes_effect_without_one() -> None:
    bench = ChatBench()
    bench.meet()
    bench.answer("!help")
    wait, review = (ChatLine(room="player", username="Ferdinand", text=text) for text in ("!wait", "!review"))
    assert [bench.hear(wait), bench.hear(review)] == [[PostponeAbort()], [RecordAction(LimitedAction.REVIEW)]]


def test_spectators_take_no_answer_from_the_opponent() -> None:
    bench = ChatBench()
    bench.meet()
    assert sum(len(bench.line("!help", "spectator", f"Somebody{number}")) for number in range(60)) == 50
    assert len(bench.line("!wait")) == 2


def test_answers_are_spaced_and_limited_in_each_room() -> None:
    bench = ChatBench()
    bench.meet()
    line = ChatLine(room="player", username="Ferdinand", text="!name")
    assert [len(bench.hear(line)) for _ in range(5)] == [1, 0, 0, 0, 0]
    assert len(bench.hear(ChatLine(room="spectator", username="Somebody", text="!name"))) == 1
    bench.now += timedelta(seconds=SPACING_S).total_seconds()
    assert len(bench.hear(line)) == 1
    assert sum(len(bench.line("!name")) for _ in range(200)) == 48
