"""Commands in the chat."""

import inspect
import re
from datetime import timedelta
from typing import Any

import pytest

from engine.facade import Board
from lichessbot.config import LONGEST_CHAT_LINE, DrawOrResignConfig, EngineConfig
from lichessbot.games.actions import PostponeAbort, RecordAction
from lichessbot.games.chat.chat import Chat
from lichessbot.lichess.commands import CommandDone, ReadChat, Say
from lichessbot.lichess.models import ChatLine
from lichessbot.storage.store import LimitedAction
from lichessbot.uci.search import BestMove, SearchInfo
from tests.lichessbot.games.chat.bench import FERDINAND, GAME, PLAYER, SPACING_S, ChatBench

COMMANDS = {*re.findall(r'case "(\w+)"', inspect.getsource(Chat))}    # without their other names
OF_PLAYERS, OF_SPECTATORS = {"review", "wait"}, {"eval", "pv"}


@pytest.fixture
def bench() -> ChatBench:
    """A chat after the greeting."""
    bench = ChatBench()
    bench.meet()
    return bench


@pytest.mark.parametrize("text", ["!help", "!commands", "  !HELP me"])
def test_help_names_the_commands(bench: ChatBench, text: str) -> None:
    assert {"help", "name"} < COMMANDS
    for answer, hidden in (bench.answer(text), OF_SPECTATORS), (bench.tell_a_spectator(text), OF_PLAYERS):
        assert {*re.findall(r"!(\w+)", answer)} == COMMANDS - hidden - {"help"}


@pytest.mark.parametrize("room", ["player", "spectator"])
def test_help_fits_into_a_line_of_lichess(bench: ChatBench, room: str) -> None:
    assert bench.answer("!help", room).endswith(".")    # a longer text would be cut


@pytest.mark.parametrize("room", ["player", "spectator"])
def test_motor_tells_the_engine(bench: ChatBench, room: str) -> None:
    assert bench.answer("!motor", room) == "I play with Aleph 1.0."
    bench.engine_name = ""
    assert bench.answer("!motor", room) == "I play with an engine that is still starting."


def test_ping_tells_the_round_trip_of_the_last_move(bench: ChatBench) -> None:
    assert bench.answer("!ping") == "I have not measured a move of this game yet."
    bench.round_trip_s = 0.0416
    assert bench.answer("!ping") == "My last move took 42 ms to Lichess and back."


def test_variants_are_those_open_to_the_opponent() -> None:
    rules = {"variants": ["standard", "atomic"], "human": {"variants": ["chess960"]}}
    bench = ChatBench(config={"challenge": rules})
    bench.meet()
    assert bench.answer("!variants") == "I play chess960."
    bench.meet({"id": "ferdinand", "name": "Ferdinand", "title": "BOT"})
    assert bench.answer("!variants") == "I play standard, atomic."


@pytest.mark.parametrize(
    ("rules", "answer"),
    [
        ({"offer_draw_enabled": False}, "I neither offer nor accept draws."),
        ({"offer_draw_enabled": False, "resign_enabled": True}, "I accept a draw only instead of resigning."),
        ({"offer_draw_against_humans": False}, "I do not agree to draws with humans."),
        ({"offer_draw_min_rating": 2000}, "I agree to draws only with opponents rated 2000 or higher."),
        (
            {"offer_draw_score": 15, "offer_draw_min_game_length": 30, "offer_draw_pieces": 12, "offer_draw_moves": 6},
            "I accept draws from move 30 on if my last 6 scores are at most 0.15 with up to 12 pieces, "
            "or at most -1.00 with more.",
        ),
    ],
)
def test_draw_tells_the_rules_and_nothing_of_the_game(rules: dict[str, Any], answer: str) -> None:
    bench = ChatBench()
    bench.meet(FERDINAND)
    draws = DrawOrResignConfig.model_validate({"offer_draw_enabled": True, **rules})
    bench.engine = EngineConfig(draw_or_resign=draws)
    assert bench.answer("!draw") == answer


def test_takeback_tells_how_many_are_left() -> None:
    bench = ChatBench(config={"max_takebacks_accepted": 2, "takebacks_from_bots": False})
    bench.meet()
    bench.takebacks = 1
    assert bench.answer("!takeback") == "I grant up to 2 takebacks in a game; used so far: 1."
    bench.meet({**FERDINAND, "title": "BOT"})
    assert bench.answer("!takeback") == "I do not grant takebacks."
    bench = ChatBench()
    bench.meet()
    assert bench.answer("!takeback") == "I do not grant takebacks."
    bench = ChatBench(config={"max_takebacks_accepted": 1, "takebacks_from_bots": True})
    bench.meet({**FERDINAND, "title": "BOT"})
    assert bench.answer("!takeback") == "I grant up to 1 takeback in a game; used so far: 0."


def test_name_answers_with_the_engine(bench: ChatBench) -> None:
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
        ("spectator", "TestBot", True),
        ("player", "TestBot", False),
    ],
)
def test_the_opponent_does_not_get_the_evaluation(bench: ChatBench, room: str, username: str, told: bool) -> None:
    bench.searched("e2e4 e7e5", "cp -31")
    answers = [bench.answer(command, room, username) for command in ("!eval", "!pv")]
    evaluation = "-0.31 for me at depth 12, 3456 positions: 1. e4 e5"
    assert answers == ([evaluation, "1. e4 e5"] if told else ["I do not tell my opponent."] * 2)


@pytest.mark.parametrize(
    ("moves", "shown"),
    [
        ("", "1. e4 e5 2. Nf3 Nc6 3. Bc4"),
        ("e2e4", "1... e5 2. Nf3 Nc6 3. Bc4"),
        ("e2e4 e7e5", "2. Nf3 Nc6 3. Bc4"),
        ("e2e4 c7c5", "1. e4 e5 2. Nf3 Nc6 3. Bc4"),  # the opponent played something else
        ("e2e4 e7e5 g1f3 b8c6 f1c4", "My latest variation has been played."),
    ],
)
def test_pv_shows_what_is_left_of_the_variation(bench: ChatBench, moves: str, shown: str) -> None:
    bench.searched("e2e4 e7e5 g1f3 b8c6 f1c4")
    bench.play(moves)
    assert bench.tell_a_spectator("!pv") == shown


@pytest.mark.parametrize(
    ("moves", "shown"),
    [
        ("e2e4 e7e5", "2. Nf3 Nc6"),
        ("d2d4 e7e5", "1... e5 2. Nf3 Nc6"),  # after a takeback
    ],
)
def test_pv_counts_from_the_position_that_was_searched(bench: ChatBench, moves: str, shown: str) -> None:
    bench.play("e2e4")
    bench.searched("e7e5 g1f3 b8c6")
    bench.board = Board()
    bench.play(moves)
    assert bench.tell_a_spectator("!pv") == shown


def test_queue_names_as_many_challengers_as_a_line_holds(bench: ChatBench) -> None:
    assert bench.answer("!queue") == "Nobody is waiting for a game."
    bench.queue = ["Karl", "Maia"]
    assert bench.answer("!queue") == "Waiting for a game: Karl, Maia"
    bench.queue = ["Karl"] * 100
    answer = bench.answer("!queue")
    assert len(answer) <= LONGEST_CHAT_LINE
    assert answer.endswith(", Karl")


def test_an_endless_variation_is_cut(bench: ChatBench) -> None:
    bench.searched("g1f3 g8f6 f3g1 f6g8 " * 25, "mate 9")
    answer = bench.tell_a_spectator("!eval")
    assert answer.startswith("Mate in 9 for me at depth 12, 3456 positions: 1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 ")
    assert len(answer) <= LONGEST_CHAT_LINE


@pytest.mark.parametrize(
    ("score", "pv", "told"),
    [
        ("mate -2", "e2e4 e7e5", "Mate in 2 for my opponent at depth 12, 3456 positions: 1. e4 e5"),
        ("cp 35", "e2e4 e2e4", "+0.35 for me at depth 12, 3456 positions: 1. e4"),  # from a careless engine
    ],
)
def test_an_evaluation_is_told_in_the_words_of_players(bench: ChatBench, score: str, pv: str, told: str) -> None:
    bench.searched(pv, score)
    bench.play("d2d4")
    assert bench.tell_a_spectator("!eval") == told


def test_a_move_without_a_search_leaves_the_evaluation_of_the_last_search(bench: ChatBench) -> None:
    bench.searched("e2e4 e7e5", "cp 35")
    list(bench.chat.handle(BestMove(GAME, 2, "e2e4", SearchInfo()), bench.now))
    assert bench.tell_a_spectator("!eval").startswith("+0.35 for me at depth 12")


@pytest.mark.parametrize("command", ["!eval", "!pv"])
def test_before_the_first_search_there_is_no_evaluation(bench: ChatBench, command: str) -> None:
    assert bench.tell_a_spectator(command) == "I have not searched yet."


def test_wait_gives_time_for_the_first_move_up_to_a_limit(bench: ChatBench) -> None:
    answers = [bench.line("!wait") for _ in range(5)]
    assert answers[0] == [PostponeAbort(), Say(GAME, PLAYER, "I wait 60 seconds longer for the first move.")]
    assert answers[3:] == [[Say(GAME, PLAYER, "I have waited long enough.")]] * 2


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


def test_wait_is_refused_to_spectators(bench: ChatBench) -> None:
    assert bench.line("!wait", "spectator") == []


@pytest.mark.parametrize(
    ("start", "moves", "waits"),
    [
        (Board(), "", True),
        (Board(), "e2e4", False),
        (Board(), "e2e4 e7e5", False),
        (Board("4k3/7p/8/8/8/8/P7/4K3 b - - 0 1"), "", True),
        (Board("4k3/7p/8/8/8/8/P7/4K3 b - - 0 1"), "h7h6", True),
        (Board("4k3/7p/8/8/8/8/P7/4K3 b - - 0 1"), "h7h6 a2a3", False),
    ],
)
def test_wait_is_refused_to_an_opponent_who_has_moved(bench: ChatBench, start: Board, moves: str, waits: bool) -> None:
    bench.board = start.copy()
    bench.play(moves)
    assert (PostponeAbort() in bench.line("!wait")) is waits


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
def test_other_lines_are_not_answered(bench: ChatBench, text: str, room: str, username: str) -> None:
    assert bench.line(text, room, username) == []


def test_commands_before_the_first_state_are_ignored() -> None:
    bench = ChatBench()
    assert bench.line("!help") == []
    asked = ChatLine(room="player", username="Ferdinand", text="!help")
    read = CommandDone(ReadChat(GAME), (asked,))  # requested before the game was joined again
    assert list(bench.chat.handle(read, bench.now)) == []


def test_answers_never_look_like_commands(bench: ChatBench) -> None:
    for command in sorted(COMMANDS):
        for action in bench.line(f"!{command}"):
            assert not isinstance(action, Say) or not action.text.startswith("!")


def test_a_command_too_soon_after_an_answer_takes_effect_without_one(bench: ChatBench) -> None:
    bench.answer("!help")
    wait, review = (ChatLine(room="player", username="Ferdinand", text=text) for text in ("!wait", "!review"))
    assert [bench.hear(wait), bench.hear(review)] == [[PostponeAbort()], [RecordAction(LimitedAction.REVIEW)]]


def test_spectators_take_no_answer_from_the_opponent(bench: ChatBench) -> None:
    assert sum(len(bench.line("!help", "spectator", f"Somebody{number}")) for number in range(60)) == 50
    assert len(bench.line("!wait")) == 2


def test_answers_are_spaced_and_limited_in_each_room(bench: ChatBench) -> None:
    line = ChatLine(room="player", username="Ferdinand", text="!name")
    bench.hear(ChatLine(room="player", username="Ferdinand", text="hello"))    # costs no answer
    assert [len(bench.hear(line)) for _ in range(5)] == [1, 0, 0, 0, 0]
    assert len(bench.hear(ChatLine(room="spectator", username="Somebody", text="!name"))) == 1
    bench.now += timedelta(seconds=SPACING_S).total_seconds()
    assert len(bench.hear(line)) == 1
    assert sum(len(bench.line("!name")) for _ in range(200)) == 48
