"""Levels in the chat: which one plays, the opponent's choice, and our proposal."""

import pytest

from lichessbot.config import EngineConfig
from lichessbot.games.actions import ChooseLevel, RecordAction
from lichessbot.lichess.commands import CommandDone, ReadChat, Say
from lichessbot.lichess.models import ChatLine
from lichessbot.storage.game_records import Result
from lichessbot.storage.store import LimitedAction
from lichessbot.uci.search import EngineReady
from lichessbot.uci.strength import at_level
from tests.lichessbot.games.chat.bench import GAME, PLAYER, ChatBench

WON, DRAWN, LOST = Result.WON, Result.DRAWN, Result.LOST
LEVEL_1500 = EngineConfig(strength=1500)
HOW = "My opponent can type !level and a number from 600 to 2850, or !level full."
RATED = "A rated game has one strength for everybody: levels can be chosen in casual games."


def bench(engine: EngineConfig = LEVEL_1500, *, rated: bool = False) -> ChatBench:
    chat = ChatBench()
    chat.engine = engine
    chat.meet(rated=rated)
    return chat


def test_everybody_hears_which_level_plays() -> None:
    assert bench().answer("!level") == bench().answer("!level ?") == f"I play at level 1500. {HOW}"
    assert bench(EngineConfig()).answer("!level", "spectator", "Karl") == f"I play at full strength. {HOW}"
    assert bench(rated=True).answer("!levels") == f"I play at level 1500. {RATED}"


@pytest.mark.parametrize(
    "weakened",
    [
        {"depth": 4},
        {"nodes": 100},
        {"style": "gambler"},
        {"command": ["other"], "uci_options": {"Skill Level": 3}},
    ],
)
def test_an_engine_weakened_otherwise_is_not_called_full_strength(weakened: dict[str, object]) -> None:
    chat = bench(EngineConfig.model_validate(weakened).normalized())
    assert chat.answer("!level") == f"I play at my usual strength. {HOW}"
    assert chat.line("!level full")[1:] == [Say(GAME, PLAYER, "From my next move on I play at my usual strength.")]


@pytest.mark.parametrize(
    "engine",
    [
        LEVEL_1500,
        at_level(EngineConfig(strength=1500, own_book=False), 1500),
        EngineConfig(uci_options={"UCI_LimitStrength": True, "UCI_Elo": 1700}),
    ],
)
def test_full_strength_is_what_is_left_without_the_level(engine: EngineConfig) -> None:
    assert bench(engine).line("!level full")[1:] == [Say(GAME, PLAYER, "From my next move on I play at full strength.")]


def test_options_with_keys_of_their_own_weaken_nothing() -> None:
    engine = EngineConfig(command=("other",), uci_options={"Hash": 128, "Threads": 2})
    assert bench(engine.normalized()).answer("!level") == f"I play at full strength. {HOW}"


@pytest.mark.parametrize(
    ("text", "level", "answer"),
    [
        ("!level 1650", 1650, "From my next move on I play at level 1650."),
        ("!LEVEL 600", 600, "From my next move on I play at level 600."),
        ("!level full", 0, "From my next move on I play at full strength."),
        ("!level Full please", 0, "From my next move on I play at full strength."),
        ("!level900", 900, "From my next move on I play at level 900."),
        ("!level: 900", 900, "From my next move on I play at level 900."),
        ("!level = 900", 900, "From my next move on I play at level 900."),
        ("! Level 900", 900, "From my next move on I play at level 900."),
        ("!levels 900", 900, "From my next move on I play at level 900."),
        ("!lvl 900", 900, "From my next move on I play at level 900."),
        ("!level 900, please!", 900, "From my next move on I play at level 900."),
        ("!level 900.", 900, "From my next move on I play at level 900."),
    ],
)
def test_the_opponent_chooses_a_level(text: str, level: int, answer: str) -> None:
    assert bench().line(text) == [ChooseLevel(level), Say(GAME, PLAYER, answer)]


def test_a_level_chosen_on_our_turn_plays_after_this_move() -> None:
    chat = bench()
    chat.board.push("e2e4")
    assert chat.line("!level 2000") == [ChooseLevel(2000), Say(GAME, PLAYER, "After this move I play at level 2000.")]
    assert chat.line("!level full")[1:] == [Say(GAME, PLAYER, "After this move I play at full strength.")]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("!level 599", "My levels go from 600 to 2850; the nearest is 600."),
        ("!level 99999", "My levels go from 600 to 2850; the nearest is 2850."),
        ("!level 0", "My levels go from 600 to 2850; the nearest is 600."),
        ("!level 123456", HOW),
        ("!level -5", HOW),
        ("!level easy", HOW),
        ("!level \u0661\u0662\u0660\u0660", HOW),
    ],
)
def test_another_level_is_answered_with_what_is_possible(text: str, answer: str) -> None:
    assert bench().line(text) == [Say(GAME, PLAYER, answer)]


def test_only_the_opponent_chooses() -> None:
    only = "Only my opponent can choose my level, in the players' chat."
    assert bench().answer("!level 1200", "spectator", "Karl") == only
    assert bench().answer("!level 1200", "spectator", "Ferdinand") == only
    assert bench().answer("!level 1200", "player", "TestBot") == only


def test_where_no_level_can_be_chosen_the_answer_says_why() -> None:
    assert bench(rated=True).answer("!level 1200") == RATED
    assert bench(EngineConfig(level_in_chat=False)).answer("!level 1200") == "It cannot be chosen in the chat."
    without = bench()
    without.levels = None
    assert without.answer("!level 1200") == "My engine has no levels in this game."
    without.engine_name = ""
    assert without.answer("!level 1200") == "My engine still starts: ask again soon."


def test_no_answer_is_too_long_for_a_line() -> None:
    for chat in (bench(), bench(rated=True), bench(EngineConfig(level_in_chat=False))):
        for text in ("!level", "!level 1", "!level x", "!level 1200", "!help"):
            (said,) = (it for it in chat.line(text) if isinstance(it, Say))
            assert said.text.endswith("."), "or it was cut"


def test_a_level_chosen_too_soon_after_an_answer_plays_without_one() -> None:
    chat = bench()
    chat.answer("!help")
    line = ChatLine(room="player", username="Ferdinand", text="!level 900")
    assert chat.hear(line) == [ChooseLevel(900)]
    for _ in range(100):
        chat.hear(line)
    assert chat.line("!level 900") == [], "a flood of choices has an end"


# Correspondence games: between two visits nobody hears the chat


FERDINAND, KARL_BOT = ("Ferdinand", ""), ("Karl", "BOT")
BY_DAYS = {"clock": None, "daysPerTurn": 2}


def visited(*said: tuple[str, str], engine_name: str = "Aleph 1.0") -> tuple[ChatBench, list[object]]:
    """Return a bench at a visit during which the chat turns out to have these lines, and what the bot does then."""
    chat = ChatBench(engine_name=engine_name)
    chat.engine = LEVEL_1500
    assert chat.meet(**BY_DAYS) == [ReadChat(GAME)]
    lines = tuple(ChatLine(room="player", username=name, text=text) for name, text in said)
    return chat, list(chat.chat.handle(CommandDone(ReadChat(GAME), lines), chat.now))


@pytest.mark.parametrize("last", [("Ferdinand", "please"), ("lichess", "White proposes takeback (1.e4)")])
def test_what_the_opponent_chose_while_we_were_away_plays(last: tuple[str, str]) -> None:
    ours = ("BOT TestBot", "From my next move on I play at level 800.")
    choices = [("Ferdinand", f"!level {level}") for level in (800, 1200, 900)]
    _, actions = visited(choices[0], ours, *choices[1:], last)
    assert actions == [ChooseLevel(900), Say(GAME, PLAYER, "From my next move on I play at level 900.")]


def test_what_was_answered_is_not_answered_again() -> None:
    answered = ("Ferdinand", "!level 900"), ("TestBot", "From my next move on I play at level 900.")
    for times in (1, 2):
        _, actions = visited(*answered * times)
        assert actions == []
    _, actions = visited(*answered, ("Ferdinand", "!level 800"))
    assert ChooseLevel(800) in actions


def test_a_choice_waits_for_the_engine_and_is_read_again_at_the_next_visit() -> None:
    chat, actions = visited(("Ferdinand", "!level 900"), engine_name="")
    assert actions == []
    assert chat.meet(**BY_DAYS) == [ReadChat(GAME)]
    chat.engine_name = "Aleph 1.0"
    assert list(chat.chat.handle(EngineReady(GAME), chat.now)) == []
    chat, _ = visited(("Ferdinand", "!level 900"), engine_name="")
    chat.engine_name = "Aleph 1.0"
    assert len(list(chat.chat.handle(EngineReady(GAME), chat.now))) == 2
    assert list(chat.chat.handle(EngineReady(GAME), chat.now)) == []


def test_the_chat_is_read_only_where_a_human_may_have_been_missed() -> None:
    assert ChatBench().meet() == [], "a game with a clock"
    assert ChatBench().meet(status="resign", **BY_DAYS) == []
    assert ChatBench().meet({"id": "karl", "name": "Karl", "title": "BOT"}, **BY_DAYS) == []


# Proposals


def proposing(*results: Result, level: int = 1500, **engine: object) -> ChatBench:
    chat = ChatBench()
    chat.engine = EngineConfig.model_validate({"strength": level, **engine})
    chat.level_results = [(1500, result) for result in results]
    return chat


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ([LOST] * 3, "Your last 3 games against level 1500 were 3 wins. Type !level 1650 for more."),
        ([DRAWN, LOST, LOST, LOST],
         "Your last 4 games against level 1500 were 3 wins and 1 draw. Type !level 1600 for more."),
        ([WON] * 3, "Your last 3 games against level 1500 were 3 losses. Type !level 1350 for an easier game."),
    ],
)  # fmt: skip
def test_lopsided_results_are_followed_by_a_proposal(results: list[Result], text: str) -> None:
    assert proposing(*results).meet() == [RecordAction(LimitedAction.LEVEL_PROPOSAL), Say(GAME, PLAYER, text)]


def test_the_proposal_waits_for_the_engine_and_comes_once() -> None:
    chat = proposing(LOST, LOST, LOST)
    chat.levels = None
    assert chat.meet() == []
    chat.levels = (600, 2850)
    assert len(list(chat.chat.handle(EngineReady(GAME), chat.now))) == 2
    assert list(chat.chat.handle(EngineReady(GAME), chat.now)) == []
    assert chat.meet() == []


def test_results_of_games_that_end_later_propose_nothing_in_a_running_game() -> None:
    chat = proposing()
    assert chat.meet() == []
    chat.level_results = [(1500, LOST)] * 3
    assert list(chat.chat.handle(EngineReady(GAME), chat.now)) == []


def test_nothing_is_proposed_without_reason() -> None:
    lopsided = (LOST, LOST, LOST)
    assert proposing(LOST, WON, LOST).meet() == []
    assert proposing(*lopsided).meet(rated=True) == []
    assert proposing(*lopsided).meet(moves="e2e4 e7e5") == []
    assert proposing(*lopsided).meet(status="aborted") == []
    assert proposing(*lopsided).meet({"id": "ferdinand", "name": "Ferdinand", "title": "BOT"}) == []
    assert proposing(*lopsided).meet({"id": "karl", "name": "Karl"}) == []
    assert proposing(*lopsided).meet(variant={"key": "atomic"}) == []
    assert proposing(*lopsided, propose_level=False).meet() == []
    assert proposing(*lopsided, level_in_chat=False).meet() == []
    assert proposing(*lopsided, strength="full").meet() == []
