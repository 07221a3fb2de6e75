"""Variants: which ones an engine announces, and how it is told of them."""

import random
import sys
from dataclasses import replace

import chess
import chess.variant
import pytest

from engine.facade import STARTING_FEN, Board, Limits
from lichessbot.inbox import Inbox
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.positions import start_board
from lichessbot.storage.store import Store
from lichessbot.uci.opening_variety import OpeningVariety
from lichessbot.uci.options import Options
from lichessbot.uci.restarting_engine import fallback_move
from lichessbot.uci.search import BestMove, Search
from lichessbot.uci.startup_check import StartupCheck, playable_now
from lichessbot.uci.variants import announced_variants, engine_fen, position_command, uci_name
from tests.fakes import variant_engine
from tests.lichessbot.uci.helpers import TIMEOUTS, Start, best_move, config, death, heard, heard_by
from tests.patience import until

RULES = [variant for variant in Variant if not variant.has_standard_rules]
STANDARD_RULES = tuple(variant for variant in Variant if variant.has_standard_rules)
CHESS960 = "name UCI_Chess960 type check default false"


def options(*lines: str) -> Options:
    found = Options()
    for line in lines:
        found.note(line.split())
    return found


def combo(*names: str, default: str = "chess") -> str:
    return f"name UCI_Variant type combo default {default} var " + " var ".join(names)


def command(manner: str) -> list[str]:
    return [sys.executable, str(variant_engine.__file__), manner]


# What an engine announces


@pytest.mark.parametrize(
    ("lines", "variants"),
    [
        ((), ("standard",)),
        ((CHESS960,), STANDARD_RULES),
        ((CHESS960, combo(*variant_engine.FAIRY)), tuple(Variant)),
        ((combo("chess", "horde"),), ("standard", "horde")),
        ((combo("atomic", "suicide", "losers"),), ("standard", "atomic")),
        ((CHESS960, combo("atomic", default="atomic")), ("atomic",)),
        (("name UCI_Variant type string default <empty>",), ("standard",)),
    ],
)
def test_the_options_say_which_variants_an_engine_plays(lines: tuple[str, ...], variants: tuple[str, ...]) -> None:
    assert announced_variants(options(*lines)) == variants


def test_an_engine_is_told_the_variant_in_its_own_spelling() -> None:
    synonyms = options(combo(*variant_engine.NAMES["synonyms"], default="Standard"))
    assert {variant: uci_name(synonyms, variant) for variant in (Variant.STANDARD, *RULES)} == {
        "standard": "Standard", "crazyhouse": "Crazyhouse", "kingOfTheHill": "KOTH", "threeCheck": "Three-Check",
        "antichess": "Giveaway", "atomic": "Atomic", "horde": "Horde", "racingKings": "Race",
    }  # fmt: skip
    assert uci_name(options(combo(*variant_engine.FAIRY)), Variant.ANTICHESS) == "antichess"


# What an engine is told


def search(board: Board, number: int = 1) -> Search:
    return Search.of(number, board, Limits(depth=1))


@pytest.mark.parametrize("variant", [Variant.STANDARD, *RULES])
def test_from_its_own_start_no_engine_needs_a_fen(variant: Variant) -> None:
    board = start_board(variant, "startpos")
    assert position_command(search(board)) == "position startpos"
    first = board.push(board.legal_moves()[0])
    assert position_command(search(board)) == f"position startpos moves {first}"


@pytest.mark.parametrize("variant", [Variant.CHESS960, Variant.FROM_POSITION])
def test_an_engine_that_plays_from_anywhere_gets_the_fen(variant: Variant) -> None:
    for fen in (STARTING_FEN, "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1"):
        board = start_board(variant, fen)
        assert position_command(search(board)) == f"position fen {board.initial_fen}"


def test_pockets_and_checks_are_written_as_engines_write_them() -> None:
    crazyhouse = "rnbqkbnr/ppp1pppp/8/8/8/8/PPP1PPPP/RNBQKBNR/Pp w KQkq - 0 3"
    three_check = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2 +2+0"
    assert engine_fen(crazyhouse) == "rnbqkbnr/ppp1pppp/8/8/8/8/PPP1PPPP/RNBQKBNR[Pp] w KQkq - 0 3"
    assert engine_fen(three_check) == "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1+3 0 2"
    house = chess.variant.CrazyhouseBoard(engine_fen(crazyhouse))
    assert (str(house.pockets[chess.WHITE]), str(house.pockets[chess.BLACK])) == ("p", "p")
    checks = chess.variant.ThreeCheckBoard(engine_fen(three_check))
    assert (checks.remaining_checks[chess.WHITE], checks.remaining_checks[chess.BLACK]) == (1, 3)
    board = start_board(Variant.THREE_CHECK, three_check)
    assert position_command(search(board)) == f"position fen {engine_fen(three_check)}"


def test_an_engine_plays_one_variant_after_the_other(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    engine = start(command=tuple(command("synonyms")))
    boards = [start_board(variant, "startpos") for variant in (*RULES, Variant.STANDARD, Variant.CHESS960)]
    for number, board in enumerate(boards, 1):
        engine.search(search(board, number))
        answer = heard(inbox)
        assert isinstance(answer, BestMove), answer
        assert board.normalise(answer.move or "") in board.legal_moves()
    told = ["Crazyhouse", "KOTH", "Three-Check", "Giveaway", "Atomic", "Horde", "Race", "Standard"]
    until(lambda: len(heard_by(caplog)) >= len(told))   # read by a thread of its own
    assert heard_by(caplog)[: len(told)] == [f"plays {name}" for name in told]


def test_an_engine_is_not_asked_for_what_it_does_not_announce(start: Start, inbox: Inbox) -> None:
    engine = start("polite")
    engine.search(search(start_board(Variant.HORDE, "startpos")))
    died = death(inbox)
    assert died.reason.startswith("it does not play horde")


# The engines of a configuration


def test_every_key_that_names_a_variant_is_compared_with_its_engine(inbox: Inbox) -> None:
    settings = config(
        ({"variant": ["antichess", "atomic"]}, {"depth": 2}),
        engine={"command": command("few"), "hash_mb": 1},
        challenge={"variants": ["standard", "crazyhouse"], "bot": {"variants": ["horde", "threeCheck"]}},
        matchmaking={"challenge_variant": "racingKings", "overrides": {"a": {"challenge_variant": "kingOfTheHill"}}},
    )
    check = StartupCheck(settings, inbox.put, TIMEOUTS, Limits(depth=1), "file.yml: {}".format)
    report = best_move(inbox)
    known = "standard, chess960, fromPosition, atomic, horde"
    expected = f"expected variants that Variants (few) (engine) announces ({known})"
    assert [fault.text for fault in check.judge(report)] == [
        f"file.yml: challenge.variants: {expected}, found crazyhouse",
        f"file.yml: challenge.bot.variants: {expected}, found threeCheck",
        f"file.yml: matchmaking.challenge_variant: {expected}, found racingKings",
        f"file.yml: matchmaking.overrides.a.challenge_variant: {expected}, found kingOfTheHill",
        f"file.yml: profiles #1.when.variant: {expected}, found antichess",
    ]


def test_engines_say_what_they_play_to_commands_too() -> None:
    settings = config(
        ({"variant": "crazyhouse"}, {"command": command("synonyms")}), engine={"command": command("few"), "hash_mb": 1}
    )
    few = ("standard", "chess960", "fromPosition", "crazyhouse", "atomic", "horde")
    assert playable_now(settings, TIMEOUTS) == (few, [])


# Without an engine, and variety


@pytest.mark.parametrize("variant", RULES)
def test_the_fallback_is_legal_in_every_variant(variant: Variant) -> None:
    chance, drops = random.Random(variant), 0
    for _ in range(6):
        board = start_board(variant, "startpos")
        while board.outcome() is None and len(board.moves) < 120:
            move = fallback_move(board, 0.001) if len(board.moves) % 4 == 0 else chance.choice(board.legal_moves())
            assert move in board.legal_moves()
            drops += "@" in move
            board.push(move)
    assert bool(drops) is (variant is Variant.CRAZYHOUSE)


@pytest.mark.parametrize(
    ("variant", "fen", "move"),
    [
        (Variant.KING_OF_THE_HILL, "7k/8/8/8/8/3K4/p7/8 w - - 0 1", None),
        (Variant.THREE_CHECK, "7k/8/8/8/8/8/8/R5K1 w - - 0 1 +2+0", None),
        (Variant.ATOMIC, "rnbqkbnr/pppp1ppp/8/4p1N1/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 3", "g5f7"),
        (Variant.CRAZYHOUSE, "7k/6pp/8/8/8/8/8/6K1/R w - - 0 1", None),
    ],
)
def test_the_fallback_wins_if_it_can(variant: Variant, fen: str, move: str | None) -> None:
    board = start_board(variant, fen)
    found = fallback_move(board, 1.0)
    assert move in (None, found)
    board.push(found)
    assert board.outcome().winner == "white"


def test_variety_tells_variants_pockets_and_checks_apart(store: Store) -> None:
    variety = OpeningVariety(store)
    starts = [start_board(variant, "startpos") for variant in Variant if variant is not Variant.CHESS960]
    starts += [
        start_board(Variant.THREE_CHECK, f"{chess.STARTING_FEN} +1+0"),
        start_board(Variant.CRAZYHOUSE, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1/r w Qkq - 0 1"),
        start_board(Variant.CRAZYHOUSE, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1/R w Qkq - 0 1"),
    ]
    new = [variety.prepare(f"game {number}", search(board)).multipv == 1 for number, board in enumerate(starts)]
    assert new == [True, False, *[True] * (len(starts) - 2)], "only From Position has a start of another variant"
    known = replace(search(starts[2]), search_id=9)
    assert variety.prepare("another", known).multipv > 1
