"""A series of games against one bot: its challenges, and how the games are judged."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import chess
import chess.pgn
import pytest

from lichessbot.rehearsal.cli.match import Match, Outcome, Plan, judge
from lichessbot.rehearsal.faults.fault_injector import FaultInjector
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.players.house_bots import HouseBots
from lichessbot.rehearsal.players.opponents import GreedyOpponent, OpponentKind
from lichessbot.rehearsal.players.start_positions import FROM_POSITION_FENS
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import Color, Status, Variant
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client, Stream, play, start_game
from tests.lichessbot.rehearsal.conftest import Join
from tests.lichessbot.rehearsal.rules import games
from tests.patience import PATIENCE_S, until

WHITE, BLACK = Color.WHITE, Color.BLACK

PLAN = Plan(
    games=2,
    concurrency=1,
    clock=RealTime(180, 0),
    variant=Variant.STANDARD,
    opponent=OpponentKind.GREEDY,
    depth=1,
    seed=7,
)


@pytest.fixture
def lichess(own_lichess: RehearsalServer) -> RehearsalServer:
    """One server for each test: house bots have fixed names."""
    return own_lichess


@pytest.fixture
def bot(join: Join) -> Client:
    return join("Bot", "BOT")


@contextmanager
def match(lichess: RehearsalServer, bot: Client, plan: Plan) -> Iterator[tuple[Match, list[str]]]:
    """The match has begun; the list collects what it says."""
    said: list[str] = []

    def begin() -> tuple[HouseBots, Match]:
        house_bots = HouseBots(lichess.site)
        grant = lichess.site.accounts.grant(bot.token or "")
        injector = FaultInjector(lichess.site, grant, FaultPlan())
        it = Match(lichess.site, house_bots, grant.account, plan, injector, said.append)
        it.fill()
        return house_bots, it

    house_bots, it = lichess.call(begin)
    yield it, said
    lichess.call(house_bots.close)


def finish(it: Match, lichess: RehearsalServer) -> None:
    until(lambda: lichess.call(lambda: it.is_over))


def accept_next(bot: Client, events: Stream) -> str:
    """Take the next challenge; the id of the game it becomes."""
    challenge_id = str(events.next("challenge")["challenge"]["id"])
    assert bot.post(f"/api/challenge/{challenge_id}/accept").status_code == 200
    return challenge_id


def play_game(bot: Client, game_id: str) -> None:
    """Play random moves to the end."""
    stream = bot.game(game_id)
    full = stream.next("gameFull")
    chance = random.Random(1)
    board = chess.Board()
    white = full["white"].get("id") == bot.id
    state, answered = full["state"], -1
    while True:
        for move in state["moves"].split()[len(board.move_stack) :]:
            board.push_uci(move)
        ply = len(board.move_stack)
        on_turn = state["status"] == "started" and board.turn == white and not board.is_repetition(3)
        if on_turn and ply != answered:         # an empty line may come before our own move
            answered = ply
            bot.do(game_id, f"move/{chance.choice(list(board.legal_moves)).uci()}")
        line = stream.next_line()
        while line is not None and line.payload is None:        # a keep-alive is no reason to move again
            line = stream.next_line()
        if line is None:
            return
        state = line.payload


def test_colours_alternate_and_games_follow_each_other(lichess: RehearsalServer, bot: Client) -> None:
    events = bot.events()
    with match(lichess, bot, PLAN) as (it, said):
        for _ in range(2):
            play_game(bot, accept_next(bot, events))
        finish(it, lichess)
        assert [pairing.bot_color for pairing in it.pairings] == [WHITE, BLACK]
        assert it.count(Outcome.FAILED) == 0
        assert len([line for line in said if "started" in line]) == 2
        first, second = it.pgns()
        assert '[Round "1"]' in first
        assert '[Round "2"]' in second


@pytest.mark.parametrize(
    ("accepted", "names"),
    [
        ({}, ["GreedyHuman1", "GreedyBot2"]),
        ({"accepts_bots": False}, ["GreedyHuman1", "GreedyHuman2"]),
        ({"accepts_humans": False}, ["GreedyBot1", "GreedyBot2"]),
    ],
)
def test_opponents_are_of_the_kinds_that_the_bot_accepts(
    lichess: RehearsalServer, bot: Client, accepted: dict[str, bool], names: list[str]
) -> None:
    with match(lichess, bot, replace(PLAN, concurrency=2, **accepted)) as (it, _):
        assert it.opponent_names == names


def test_people_of_every_level_come_in_turn_with_that_rating_and_both_colours(
    lichess: RehearsalServer, bot: Client
) -> None:
    plan = replace(PLAN, games=4, opponent=OpponentKind.LEVEL, levels=(600, 1500))
    events = bot.events()
    with match(lichess, bot, plan) as (it, _):
        for _ in range(4):
            game_id = accept_next(bot, events)
            full = bot.game(game_id).next("gameFull")
            them = full["black" if full["white"].get("id") == bot.id else "white"]
            pairing = next(pairing for pairing in it.pairings if pairing.game and pairing.game.id == game_id)
            assert (them["rating"], them.get("title")) == (pairing.opponent.rating, None)
            bot.do(game_id, "resign")
        finish(it, lichess)
        paired = [(pairing.opponent.rating, pairing.bot_color) for pairing in it.pairings]
        assert paired == [(600, WHITE), (1500, WHITE), (600, BLACK), (1500, BLACK)]
        assert {rating: sum(count.values()) for rating, count in it.counts_by_rating().items()} == {600: 2, 1500: 2}


@pytest.mark.parametrize(("ending", "outcome"), [("resign", "failed"), ("draw/yes", "drawn")])
def test_games_from_the_bots_own_challenges_are_judged(
    lichess: RehearsalServer, bot: Client, bob: Client, ending: str, outcome: str
) -> None:
    with match(lichess, bot, PLAN) as (it, said):
        game_id = start_game(bot, bob)
        play(game_id, "e2e4 e7e5", bot, bob)
        if ending != "resign":
            bob.do(game_id, ending)
        bot.do(game_id, ending)
        assert any(line.startswith(f"game {game_id} against {bob.name}: {outcome}") for line in said)
        assert len(it.failed_beside) == (outcome == "failed")


def test_a_game_aborted_by_the_opponent_is_not_judged(lichess: RehearsalServer, bot: Client, bob: Client) -> None:
    with match(lichess, bot, PLAN) as (it, said):
        game_id = start_game(bob, bot)
        bob.do(game_id, "move/e2e4")
        bob.do(game_id, "abort")
        assert not it.failed_beside
        assert not [line for line in said if "against" in line]


def test_no_more_games_than_configured_run_at_once(lichess: RehearsalServer, bot: Client) -> None:
    events = bot.events()
    with match(lichess, bot, replace(PLAN, games=5, concurrency=3)):
        challenges = [event["challenge"] for event in events.only(3, silence_s=0.3)]
        assert len(challenges) == 3
        assert len({challenge["challenger"]["id"] for challenge in challenges}) == 3
        titles = [challenge["challenger"].get("title") for challenge in challenges]
        assert "BOT" in titles
        assert None in titles


def test_no_more_bots_challenge_than_the_daily_quota_allows(
    lichess: RehearsalServer, bot: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lichessbot.rehearsal.cli.match.MAX_PAIRINGS_WITH_BOTS", 1)
    events = bot.events()
    with match(lichess, bot, replace(PLAN, games=5, concurrency=4)) as (it, _):
        challenges = [event["challenge"] for event in events.only(3, silence_s=0.3)]
        assert sorted(challenge["challenger"].get("title") or "" for challenge in challenges) == ["", "", "BOT"]
        for challenge in challenges:
            bot.post(f"/api/challenge/{challenge['id']}/decline")
        again = [event["challenge"] for event in events.only(2, "challenge", silence_s=0.3)]
        assert [challenge["challenger"].get("title") for challenge in again] == [None, None], "games 4 and 5"
        assert len(it.pairings) == 5


def test_a_challenge_declined_with_later_is_repeated(lichess: RehearsalServer, bot: Client) -> None:
    events = bot.events()
    with match(lichess, bot, replace(PLAN, games=1)):
        challenge_id = events.next("challenge")["challenge"]["id"]
        bot.post(f"/api/challenge/{challenge_id}/decline", data={"reason": "later"})
        assert accept_next(bot, events) != challenge_id


def test_declined_challenge_is_a_failed_game(lichess: RehearsalServer, bot: Client) -> None:
    events = bot.events()
    with match(lichess, bot, replace(PLAN, games=1)) as (it, _):
        challenge_id = events.next("challenge")["challenge"]["id"]
        bot.post(f"/api/challenge/{challenge_id}/decline", data={"reason": "variant"})
        finish(it, lichess)
        assert (it.pairings[0].outcome, it.pairings[0].reason) == (Outcome.FAILED, "challenge declined: variant")


def test_unanswered_challenge_is_a_failed_game(
    lichess: RehearsalServer, bot: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lichess.site, "timing", replace(lichess.site.timing, challenge_expiry_s=0.5))
    with match(lichess, bot, replace(PLAN, games=1)) as (it, _):
        finish(it, lichess)
        assert (it.pairings[0].outcome, it.pairings[0].reason) == (Outcome.FAILED, "challenge not answered")


def test_a_challenge_that_is_withdrawn_for_good_is_a_failed_game(lichess: RehearsalServer, bot: Client) -> None:
    with match(lichess, bot, replace(PLAN, games=1)) as (it, _):
        challenge = it.pairings[0].challenge
        lichess.call(lambda: lichess.site.cancel(challenge.id, challenge.challenger))
        finish(it, lichess)
        assert (it.pairings[0].outcome, it.pairings[0].reason) == (Outcome.FAILED, "challenge not answered")


def test_bot_that_never_moves_is_aborted(
    lichess: RehearsalServer, bot: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = bot.events()
    with match(lichess, bot, replace(PLAN, games=2, concurrency=1)) as (it, said):
        with monkeypatch.context() as impatient:
            impatient.setattr(lichess.site, "timing", replace(lichess.site.timing, first_moves_s=0.1))
            accept_next(bot, events)
            until(lambda: it.pairings[0].is_over)
        session = lichess.site.session(accept_next(bot, events))
        until(lambda: session.game.ply == 1)
        # By its timer it could come before the opponent's move.
        lichess.call(lambda: it._abort_idle(it.pairings[1], session))
        finish(it, lichess)
        reason = "aborted, the bot did not move in time"
        assert {(pairing.outcome, pairing.reason) for pairing in it.pairings} == {(Outcome.FAILED, reason)}
        ends = [line.rpartition(", ")[2] for line in said if "aborted" in line]
        assert ends == ["0 plies", "1 ply"], "with White, and with Black"


def test_a_game_whose_opponent_makes_no_first_move_is_excused(
    lichess: RehearsalServer, bot: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    wakes = threading.Event()
    monkeypatch.setattr(GreedyOpponent, "choose", lambda *_: wakes.wait(PATIENCE_S) and "")
    events = bot.events()
    with match(lichess, bot, replace(PLAN, games=1)) as (it, _):
        session = lichess.site.session(accept_next(bot, events))
        bot.do(session.game.id, "move/e2e4")
        lichess.call(lambda: it._abort_idle(it.pairings[0], session))
        finish(it, lichess)
        wakes.set()
        assert it.pairings[0].outcome is Outcome.EXCUSED


@pytest.mark.parametrize("variant", [Variant.CHESS960, Variant.FROM_POSITION])
def test_each_start_is_played_with_both_colours(
    lichess: RehearsalServer, bot: Client, variant: Variant
) -> None:
    events = bot.events()
    with match(lichess, bot, replace(PLAN, games=4, concurrency=4, variant=variant)):
        starts = [events.next("challenge")["challenge"]["initialFen"] for _ in range(4)]
    assert starts[0] == starts[1]
    assert starts[2] == starts[3]
    assert starts[0] != starts[2]


def test_from_position_starts_are_legal_and_unfinished() -> None:
    for fen in FROM_POSITION_FENS:
        board = chess.Board(fen)
        assert board.is_valid()
        assert not board.is_game_over()


# Judgement.

def game(moves: str) -> Game:
    return games.game(moves=moves.split())


def test_mate_is_won_or_lost() -> None:
    mated = game("f2f3 e7e5 g2g4 d8h4")
    assert judge(mated, BLACK) == (Outcome.WON, "mate")
    assert judge(mated, WHITE) == (Outcome.LOST, "mate")


def test_draw_is_drawn() -> None:
    drawn = game("e2e4 e7e5")
    drawn.offer_draw(WHITE, 0)
    drawn.offer_draw(BLACK, 0)
    assert judge(drawn, WHITE) == (Outcome.DRAWN, "draw")


def test_a_flag_of_the_bot_is_a_failure_and_of_the_opponent_a_win() -> None:
    flagged = game("e2e4 e7e5")
    flagged.check_flag(60_000)
    assert judge(flagged, WHITE) == (Outcome.FAILED, "outoftime")
    assert judge(flagged, BLACK) == (Outcome.WON, "outoftime")


def test_a_flag_of_the_bot_that_a_draw_offer_saves_is_a_failure_too() -> None:
    flagged = game("e2e4 e7e5")
    flagged.offer_draw(BLACK, 0)
    flagged.check_flag(60_000)
    assert judge(flagged, WHITE) == (Outcome.FAILED, "draw, out of time")
    assert judge(flagged, BLACK) == (Outcome.DRAWN, "draw, out of time")


def test_our_absence_is_a_failure() -> None:
    left = game("e2e4 e7e5 g1f3")
    left.claim_victory(WHITE, 0, opponent_gone=True)
    assert judge(left, BLACK) == (Outcome.FAILED, "timeout")
    assert judge(left, WHITE) == (Outcome.WON, "timeout")


def test_a_game_aborted_after_a_restart_is_excused_for_the_other_side() -> None:
    aborted = game("e2e4 e7e5")
    aborted.outlive_restart(Timing(), 1)
    clock_ms = aborted.clock.remaining_ms(WHITE, 1)
    aborted.check_flag(clock_ms + 2)
    assert aborted.status is Status.ABORTED
    assert judge(aborted, BLACK) == (Outcome.EXCUSED, "aborted by the site")
    assert judge(aborted, WHITE) == (Outcome.FAILED, "aborted")


def test_our_resignation_is_a_failure_unless_we_may() -> None:
    resigned = game("e2e4 e7e5")
    resigned.resign(WHITE, 0)
    assert judge(resigned, WHITE) == (Outcome.FAILED, "resign")
    assert judge(resigned, WHITE, may_resign=True) == (Outcome.LOST, "resign")
    assert judge(resigned, BLACK) == (Outcome.WON, "resign")


def test_an_abort_is_a_failure_by_either_side() -> None:
    aborted = game("e2e4")
    aborted.abort(0)
    assert judge(aborted, WHITE) == judge(aborted, BLACK) == (Outcome.FAILED, "aborted")
