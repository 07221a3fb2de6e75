"""Games of variants: what is read, said and recorded of them."""

import logging

import chess
import pytest

from lichessbot.games.actions import GameOver, StartSearch
from lichessbot.games.draw_resign import PositionFacts
from lichessbot.games.game_log import GameLog
from lichessbot.games.time_budget import GameClock
from lichessbot.inbox import Report
from lichessbot.lichess.commands import SendMove
from lichessbot.lichess.enums import Colour, GameStatus, Variant
from lichessbot.lichess.models import GameFull, GameInfo, GameState
from lichessbot.lichess.positions import holdings, start_board
from lichessbot.lichess.streams import StreamEvent
from tests.lichessbot.games.bench import GAME, TIMEOUTS, US, Bench, only, state
from tests.lichessbot.games.recording.recorded import Recording

# Each with a move that only this variant has, or after which only this variant is over.
SHORT_GAMES = {
    Variant.STANDARD: "e2e4 e7e5",
    Variant.CHESS960: "e2e4 e7e5",
    Variant.CRAZYHOUSE: "e2e4 d7d5 e4d5 d8d5 P@e4",
    Variant.KING_OF_THE_HILL: "e2e3 a7a6 e1e2 a6a5 e2d3 a5a4 d3d4",
    Variant.THREE_CHECK: "e2e4 e7e5 f1c4 b8c6 c4f7",
    Variant.ANTICHESS: "e2e3 b7b5 f1b5 a7a6",
    Variant.ATOMIC: "g1f3 a7a6 f3g5 b7b6 g5f7",
    Variant.HORDE: "a4a5 b7b6 a5b6",
    Variant.RACING_KINGS: "h2h3 a2a3",
}


@pytest.mark.parametrize("variant", SHORT_GAMES)
def test_our_turn_and_the_legal_moves_are_those_of_the_variant(variant: Variant) -> None:
    moves = SHORT_GAMES[variant].split()
    bench = Bench(variant=variant, white=len(moves) % 2 == 1)
    think = only(bench.full(" ".join(moves[:-1])), StartSearch)
    assert (think.search.variant, think.search.moves) == (bench.game.board.variant, tuple(moves[:-1]))
    assert only(bench.find([think], moves[-1]), SendMove).move == moves[-1]
    assert bench.full(" ".join(moves)) is not None
    assert bench.game.board.moves == moves


def test_another_move_than_one_of_the_variant_replaces_the_engine() -> None:
    bench = Bench(variant="antichess")
    think = bench.full("e2e3 b7b5 f1b5 a7a6")
    assert not [action for action in bench.find(think, "e1e2") if isinstance(action, SendMove)]


@pytest.mark.parametrize("variant", SHORT_GAMES)
def test_the_pgn_of_a_variant_is_what_python_chess_reads(variant: Variant) -> None:
    fen = {"initialFen": chess.STARTING_FEN} if variant is Variant.CHESS960 else {}
    recording = Recording(variant={"key": variant}, **fen)
    recording.full(SHORT_GAMES[variant])
    game = recording.read()
    assert [move.uci() for move in game.mainline_moves()] == SHORT_GAMES[variant].split()
    ours = start_board(variant, fen.get("initialFen", "startpos"))
    for move in SHORT_GAMES[variant].split():
        ours.push(move)
    theirs = game.end().board()
    assert theirs.board_fen() == ours.fen().split()[0].split("[")[0].rsplit("/", ours.fen().count("/") - 7)[0]


def test_a_record_without_a_variant_is_of_standard_chess() -> None:
    assert start_board("", "").fen() == chess.STARTING_FEN


@pytest.mark.parametrize(
    ("variant", "fen", "drawn"),
    [
        ("standard", "7k/r7/8/8/8/8/1R6/6K1 w - - 99 80", True),
        ("crazyhouse", "7k/r7/8/8/8/8/1R6/6K1/ w - - 99 80", False),
        ("threeCheck", "7k/r7/8/8/8/8/1R6/6K1 w - - 99 80 +0+0", True),
    ],
)
def test_the_fifty_move_rule_draws_where_it_holds(variant: str, fen: str, drawn: bool) -> None:
    board = start_board(variant, fen)
    now = GameState.model_validate(state())
    full = GameFull.model_validate(
        {"id": GAME, "variant": {"key": variant}, "white": {}, "black": {}, "state": state()}
    )
    clock = GameClock.read(full, now, Colour.WHITE, "white", 0.0, TIMEOUTS)
    facts = PositionFacts.of(board, "b2b3", clock, full, 0.0)
    assert facts.cannot_be_lost is drawn


@pytest.mark.parametrize("variant", [it for it in Variant if not it.has_standard_rules])
def test_the_log_names_how_a_variant_ended(variant: Variant, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    full = {
        "id": GAME, "variant": {"key": variant}, "white": {"id": US}, "black": {"id": "ferdinand"}, "state": state(),
    }  # fmt: skip
    log = GameLog(US, "https://lichess.org", GameInfo.model_validate({"gameId": GAME, "variant": {"key": variant}}))
    report: Report = StreamEvent(GAME, GameFull.model_validate(full), 0.0)
    log.note(report, awaited=False)
    log.log_end(GameOver(GameStatus.VARIANT_END, Colour.WHITE, 20))
    (line,) = [it.getMessage() for it in caplog.records if "game.over" in it.getMessage()]
    assert "result=won" in line
    assert ("the rules of the variant" in line) is (variant is Variant.CRAZYHOUSE)


def test_pocket_and_checks_are_shown_beside_the_board() -> None:
    house = start_board(Variant.CRAZYHOUSE, "rnbqkbnr/ppp1pppp/8/8/8/8/PPP1PPP1/RNB1KB2/PQppn w Qkq - 0 9")
    assert (holdings(house, "white"), holdings(house, "black")) == ("QP", "NPP")
    checks = start_board(Variant.THREE_CHECK, f"{chess.STARTING_FEN} +2+0")
    assert (holdings(checks, "white"), holdings(checks, "black")) == ("+2", "")
    assert holdings(start_board(Variant.ATOMIC, "startpos"), "white") == ""
