"""The players of the house: they answer challenges and play their games, over real sockets."""

import io
import queue
import threading
from collections.abc import Iterator

import chess
import chess.pgn
import chess.variant
import pytest

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.house_bots import AnswerPolicy, HouseBots
from lichessbot.rehearsal.players.opponents import Opponent, OpponentKind, make_opponent
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.challenges import Challenge, Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import ChallengeStatus, DeclineReason, Variant
from lichessbot.rehearsal.rules.timing import wall_ms
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client
from tests.patience import PATIENCE_S, until

NAME = "HouseGreedy"
LONG = {"clock.limit": 1800}       # no game ends on time, however slow the machine
VARIANTS = ("antichess", "atomic", "crazyhouse", "horde", "kingOfTheHill", "racingKings", "threeCheck")


@pytest.fixture(scope="module")
def house_bots(lichess: RehearsalServer) -> Iterator[Client]:
    """A player of the house, as a name to challenge."""

    def open_house() -> HouseBots:
        site = lichess.site
        house_bots = HouseBots(site)
        account = site.accounts.add(Account(NAME, wall_ms(), "BOT", bio="Takes everything."))
        house_bots.add(account, lambda game_id: make_opponent(OpponentKind.GREEDY, seed="1", depth=1))
        return house_bots

    it = lichess.call(open_house)
    yield Client(lichess.site.url, None, NAME)
    lichess.call(it.close)


def play_to_the_end(player: Client, game_id: str) -> tuple[chess.Board, dict[str, object]]:
    """Play first legal moves; return the last position and state."""
    stream = player.game(game_id)
    full = stream.next("gameFull")
    white = full["white"].get("id") == player.id
    key = full["variant"]["key"]
    board_class = chess.variant.find_variant(full["variant"]["name"]) if key in VARIANTS else chess.Board
    fen = board_class.starting_fen if full["initialFen"] == "startpos" else full["initialFen"]
    state = full["state"]
    while True:
        board = board_class(fen, chess960=key == "chess960")
        for move in state["moves"].split():
            board.push(board.parse_uci(move))
        if state["status"] != "started" or board.is_repetition(3):
            rest = stream.rest()
            return board, rest[-1] if rest else state
        if board.turn == white:
            player.do(game_id, f"move/{next(iter(board.legal_moves)).uci()}")
        state = stream.next("gameState")


@pytest.mark.parametrize("variant", ["standard", "chess960"])
def test_house_accepts_challenges_and_plays_to_an_end_by_the_rules(
    ada: Client, house_bots: Client, variant: str
) -> None:
    events = ada.events()
    ada.challenge(house_bots, variant=variant, **LONG)
    game_id = events.next("gameStart")["game"]["id"]
    board, last = play_to_the_end(ada, game_id)
    winner = {True: "white", False: "black", None: None}[board.outcome(claim_draw=True).winner]
    assert last.get("winner") == winner
    assert last["status"] in ("mate", "stalemate", "draw")
    assert events.next("gameFinish")["game"]["id"] == game_id


@pytest.mark.parametrize("variant", VARIANTS)
def test_house_plays_every_variant_to_an_end_by_its_rules(ada: Client, house_bots: Client, variant: str) -> None:
    events = ada.events()
    ada.challenge(house_bots, variant=variant, **LONG)
    game_id = events.next("gameStart")["game"]["id"]
    board, last = play_to_the_end(ada, game_id)
    by_its_rules = board.is_variant_win() or board.is_variant_loss()
    won = by_its_rules or board.is_checkmate()
    assert ("winner" in last) == won
    assert last["status"] in (("variantEnd", "mate") if by_its_rules else ("mate",) if won else ("draw", "stalemate"))
    if won:
        mover, other = ("white", "black") if board.turn else ("black", "white")
        assert last["winner"] == (mover if board.is_variant_win() else other)
    game = chess.pgn.read_game(io.StringIO(ada.get(f"/game/export/{game_id}").text))
    assert game.errors == []
    assert type(game.board()) is type(board)
    assert game.end().board().board_fen() == board.board_fen()


def test_a_game_that_ends_while_its_opponent_thinks_gets_no_other_one(lichess: RehearsalServer, ada: Client) -> None:
    made, thinks, over = [], threading.Event(), threading.Event()

    class Thinker:
        def choose(self, board: Board, clocks: Limits) -> str:
            thinks.set()
            assert over.wait(PATIENCE_S)
            return board.legal_moves()[0]

    def opponent_of(game_id: str) -> Opponent:
        made.append(game_id)
        return Thinker()

    def open_house() -> HouseBots:
        house_bots = HouseBots(lichess.site)
        house_bots.add(lichess.site.accounts.add(Account("Thinker", wall_ms(), "BOT", bio="Thinks.")), opponent_of)
        return house_bots

    it = lichess.call(open_house)
    game_id = str(ada.challenge(Client(lichess.site.url, None, "Thinker"), color="black", **LONG)["id"])
    assert thinks.wait(PATIENCE_S)
    ada.do(game_id, "abort")
    over.set()
    until(lambda: lichess.call(lambda: not it._thinking))
    assert made == [game_id]
    lichess.call(it.close)


def test_an_opponent_knows_both_clocks(lichess: RehearsalServer, ada: Client) -> None:
    seen: queue.Queue[Limits] = queue.Queue()

    class Watcher:
        def choose(self, board: Board, clocks: Limits) -> str:
            seen.put(clocks)
            return board.legal_moves()[0]

    def open_house() -> HouseBots:
        house_bots = HouseBots(lichess.site)
        account = Account("Watcher", wall_ms(), "BOT", bio="Watches.")
        house_bots.add(lichess.site.accounts.add(account), lambda game_id: Watcher())
        return house_bots

    it, events = lichess.call(open_house), ada.events()
    ada.challenge(Client(lichess.site.url, None, "Watcher"), color="white", **{"clock.increment": 3, **LONG})
    game_id = events.next("gameStart")["game"]["id"]
    session = lichess.site.session(game_id)
    lichess.call(session.outlive_restart)       # which gives the side to move more than the other
    ada.do(game_id, "move/e2e4")
    clocks = seen.get(timeout=PATIENCE_S)
    gifts_s = lichess.site.timing.restart_gift_s, lichess.site.timing.restart_other_gift_s
    times_ms = [round(1000 * (1800 + gift_s)) for gift_s in gifts_s]
    assert [clocks.white_time_ms, clocks.black_time_ms] == times_ms
    assert (clocks.white_increment_ms, clocks.black_increment_ms) == (3000, 3000)
    lichess.call(it.close)


def test_house_is_online_without_a_stream(ada: Client, house_bots: Client) -> None:
    assert house_bots.get("/api/users/status", params={"ids": house_bots.id}).json()[0]["online"] is True
    assert house_bots.id in house_bots.get("/api/bot/online").text


def test_a_house_bot_declines_or_ignores_challenges_by_policy(
    lichess: RehearsalServer, ada: Client
) -> None:
    def open_house() -> HouseBots:
        site = lichess.site
        house_bots = HouseBots(site)
        for name, policy in (
            ("Grumpy", AnswerPolicy(declines=DeclineReason.TOO_SLOW)),
            ("Sleepy", AnswerPolicy(ignores=True)),
        ):
            account = site.accounts.add(Account(name, wall_ms(), "BOT", bio="Sits."))
            house_bots.add(account, lambda game_id: make_opponent(OpponentKind.GREEDY, seed="1", depth=1), policy)
        return house_bots

    house_bots = lichess.call(open_house)
    events = ada.events()
    ada.challenge(Client(ada.url, None, "Grumpy"))
    assert events.next("challengeDeclined")["challenge"]["declineReasonKey"] == "tooslow"
    challenge_id = ada.challenge(Client(ada.url, None, "Sleepy"))["id"]
    assert [event["type"] for event in events.only(1, silence_s=0.3)] == ["challenge"]
    assert ada.get(f"/api/challenge/{challenge_id}/show").json()["status"] == "created"
    lichess.call(house_bots.close)


def test_a_challenge_that_a_used_up_quota_prevents_is_declined(
    own_lichess: RehearsalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = own_lichess.site
    monkeypatch.setattr(site.quotas, "bot_games_per_day", 1)

    def open_house() -> tuple[HouseBots, list[Challenge]]:
        house_bots, ada = HouseBots(site), site.accounts.add(Account("Ada", wall_ms(), "BOT"))
        for name in ("First", "Second"):
            account = site.accounts.add(Account(name, wall_ms(), "BOT", bio="Sits."))
            house_bots.add(account, lambda game_id: make_opponent(OpponentKind.GREEDY, seed="1", depth=1))
        terms = Terms(Variant.STANDARD, RealTime(1800, 0))
        # In one turn of the server: neither is a game yet when the other is made.
        return house_bots, [site.challenge(ada, name, terms) for name in ("First", "Second")]

    house_bots, (first, second) = own_lichess.call(open_house)
    own_lichess.call(lambda: None)      # the answers come in the next turn
    assert first.settled is ChallengeStatus.ACCEPTED
    assert (second.settled, second.decline_reason) == (ChallengeStatus.DECLINED, DeclineReason.LATER)
    own_lichess.call(house_bots.close)
