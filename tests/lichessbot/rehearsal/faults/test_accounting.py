"""What faults cost: whose games, how long, how much of the clock, and whether anybody could have moved."""

import time
from dataclasses import replace
from functools import partial

import pytest

from lichessbot.rehearsal.faults import accounting
from lichessbot.rehearsal.faults.accounting import Cost, FaultAccounting, Strike
from lichessbot.rehearsal.faults.catalogue import Fault, PlacedFault
from lichessbot.rehearsal.faults.traffic import Place
from lichessbot.rehearsal.rules.enums import Color, Status
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client, play, start_game, start_hurried_game
from tests.lichessbot.rehearsal.faults.injection import E4_E5, inject_for
from tests.patience import PATIENCE_S, until

DELAY_S = 0.3
RESTART = PlacedFault(Fault.RESTART, Place.MOVE)
STALL = PlacedFault(Fault.STALL, Place.GAME_STREAM)
STATE_LOST = PlacedFault(Fault.STATE_LOST, Place.STATE_LINE)
LINE_NULLS = PlacedFault(Fault.LINE_NULLS, Place.STATE_LINE)
LINE_DOUBLED = PlacedFault(Fault.LINE_DOUBLED, Place.STATE_LINE)
BAD_GATEWAY = PlacedFault(Fault.GATEWAY_HTML, Place.MOVE)
EVICTION = PlacedFault(Fault.EVICTION, Place.GAME_START)


@pytest.fixture
def _long_restart(lichess: RehearsalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A restart takes longer than any pause of this machine."""
    monkeypatch.setattr(lichess.site, "timing", replace(lichess.site.timing, restart_s=10 * PATIENCE_S))


class Books:
    """The accounting of faults that a test only claims to have struck."""

    def __init__(self, lichess: RehearsalServer, accounting: FaultAccounting) -> None:
        self.lichess, self.accounting = lichess, accounting

    def record(self, placed: PlacedFault, game_id: str | None) -> Strike:
        self.lichess.call(lambda: self.accounting.record(placed, game_id))
        return self.accounting.strikes[-1]

    def record_as_the_clock_starts(self, placed: PlacedFault, ada: Client, bob: Client) -> tuple[Strike, GameSession]:
        """A fault in a game of a second, struck with the move that starts the clock of White."""
        game_id = start_hurried_game(self.lichess, ada, bob)
        session = self.lichess.site.session(game_id)

        def begin() -> None:
            session.play(Color.WHITE, "e2e4")
            session.play(Color.BLACK, "e7e5")
            self.accounting.record(placed, game_id)

        self.lichess.call(begin)
        return self.accounting.strikes[-1], session

    def close(self, game: Game, *, lost: bool) -> bool:
        """Return whether a game that is lost could have been saved."""
        return self.lichess.call(lambda: self.accounting.close(game, lost=lost))


@pytest.fixture
def books(lichess: RehearsalServer, ada: Client) -> Books:
    return Books(lichess, inject_for(lichess, ada).accounting)


def play_second_moves(session: GameSession) -> bool:
    """Return whether White's clock had not run out before."""
    if not session.game.is_over:
        session.play(Color.WHITE, "g1f3")
    if not session.game.is_over:
        session.play(Color.BLACK, "g8f6")
    return session.game.ply == 4


def flag(session: GameSession) -> None:
    """Wait until the clock has run out."""
    until(lambda: session.game.is_over)
    assert session.game.status is Status.OUT_OF_TIME


def only_cost(strike: Strike) -> Cost:
    (cost,) = strike.costs
    return cost


def test_the_client_has_recovered_from_a_harmless_fault_at_once(books: Books, ada: Client, bob: Client) -> None:
    strike = books.record(LINE_DOUBLED, start_game(ada, bob))
    assert (strike.delay_ms, only_cost(strike).clock_lost_ms) == (0, 0)


def test_the_client_has_recovered_from_a_lost_stream_when_it_is_opened_again(
    books: Books, ada: Client, bob: Client
) -> None:
    game_id = start_game(ada, bob)
    play(game_id, E4_E5, ada, bob)
    strike = books.record(STALL, game_id)
    time.sleep(DELAY_S)
    assert strike.delay_ms is None
    ada.game(game_id)
    assert strike.delay_ms is not None
    assert only_cost(strike).clock_lost_ms == pytest.approx(strike.delay_ms, abs=1)
    assert strike.delay_ms >= 1000 * DELAY_S


def test_the_client_has_recovered_from_a_lost_line_when_its_move_arrives(
    books: Books, ada: Client, bob: Client
) -> None:
    game_id = start_game(ada, bob, **{"clock.increment": 10})
    play(game_id, E4_E5, ada, bob)
    strike = books.record(STATE_LOST, game_id)
    only_cost(strike).clock_left_ms += 5000     # as if it had struck five seconds before
    ada.game(game_id)
    assert strike.delay_ms is None
    ada.do(game_id, "move/g1f3")
    assert strike.delay_ms is not None
    assert only_cost(strike).clock_lost_ms >= 5000, "whatever the increment has given back"


def test_the_client_has_recovered_from_a_refusal_when_the_request_is_carried_out_in_the_same_game(
    books: Books, ada: Client, bob: Client
) -> None:
    game_id, other = start_game(ada, bob), start_game(ada, bob)
    strike = books.record(BAD_GATEWAY, game_id)
    assert only_cost(strike).game.id == game_id
    ada.do(other, "move/e2e4")
    ada.do(game_id, "chat", data={"room": "player", "text": "hello"})
    assert ada.command(game_id, "move/e2e5").status_code == 400
    assert strike.delay_ms is None
    ada.do(game_id, "move/e2e4")
    assert strike.delay_ms is not None


def test_the_summary_counts_the_strikes_without_recovery(books: Books, ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    play(game_id, E4_E5, ada, bob)
    recovered = books.record(STATE_LOST, game_id)
    ada.do(game_id, "move/g1f3")
    books.record(STATE_LOST, game_id)
    (summary,) = books.accounting.summary()
    assert (summary.struck, summary.never_recovered) == (2, 1)
    assert summary.worst_delay_ms == recovered.delay_ms


def test_the_client_has_recovered_from_an_eviction_when_the_event_stream_is_opened_again(
    books: Books, ada: Client, bob: Client
) -> None:
    strike = books.record(EVICTION, start_game(ada, bob))
    assert strike.delay_ms is None
    ada.events()
    assert strike.delay_ms is not None


def test_restart_touches_every_running_game_and_waits_for_all_their_streams(
    books: Books, ada: Client, bob: Client
) -> None:
    games = [start_game(ada, bob), start_game(bob, ada)]
    strike = books.record(RESTART, games[0])
    assert {cost.game.id for cost in strike.costs} == set(games)
    ada.game(games[0])
    assert strike.delay_ms is None
    ada.game(games[1])
    assert strike.delay_ms is not None


@pytest.mark.usefixtures("_long_restart")
@pytest.mark.parametrize(
    ("placed", "savable"),
    [(RESTART, False), (BAD_GATEWAY, True)],      # one lasts longer than the clock, the other is over at once
    ids=str,
)
def test_an_outage_as_long_as_the_clock_excuses_a_loss(
    placed: PlacedFault, savable: bool, books: Books, ada: Client, bob: Client
) -> None:
    strike, session = books.record_as_the_clock_starts(placed, ada, bob)
    flag(session)
    assert books.close(only_cost(strike).game, lost=True) is savable
    (summary,) = books.accounting.summary()
    assert (summary.struck, summary.games_touched, summary.games_lost) == (1, 1, 1)
    assert summary.own_fault == int(savable)
    (entry,) = books.accounting.entries()
    assert (entry["game"], entry["lost"], entry["own_fault"]) == (session.game.id, True, savable)


@pytest.mark.usefixtures("_long_restart")
@pytest.mark.parametrize(("placed", "savable"), [(RESTART, False), (LINE_DOUBLED, True)], ids=str)
def test_a_fault_excuses_no_more_of_the_clock_than_it_took(
    placed: PlacedFault, savable: bool, books: Books, lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:     # until no pause of the machine uses up the clock before the second move
        strike, session = books.record_as_the_clock_starts(placed, ada, bob)
        ada.game(session.game.id)
        time.sleep(DELAY_S)
        if lichess.call(partial(play_second_moves, session)):
            break
        assert time.monotonic() < deadline
    flag(session)
    assert books.close(only_cost(strike).game, lost=True) is savable


@pytest.fixture
def long_turn(books: Books, ada: Client, bob: Client, monkeypatch: pytest.MonkeyPatch) -> Game:
    """A game in a turn of ten seconds, of which a move needs one without an outage."""
    game_id = start_game(ada, bob)
    play(game_id, E4_E5, ada, bob)
    game = books.lichess.site.session(game_id).game
    monkeypatch.setattr(accounting, "monotonic_ms", lambda: game.last_change_ms + 10_000)
    return game


@pytest.mark.parametrize(("other_outage", "savable"), [((1000, 5000), True), ((4000, 9001), False)])
def test_time_in_two_outages_at_once_is_excused_once(
    other_outage: tuple[int, int], savable: bool, books: Books, long_turn: Game
) -> None:
    for outage in ((0, 6000), other_outage):
        cost = only_cost(books.record(BAD_GATEWAY, long_turn.id))
        cost.at_ms, cost.held_up_until_ms = (long_turn.last_change_ms + it_ms for it_ms in outage)
    assert books.close(long_turn, lost=True) is savable


@pytest.mark.parametrize(("placed", "savable"), [(STATE_LOST, False), (BAD_GATEWAY, True)], ids=str)
def test_the_pause_after_a_429_excuses_a_client_that_has_to_ask(
    placed: PlacedFault, savable: bool, books: Books, long_turn: Game
) -> None:
    cost = only_cost(books.record(placed, long_turn.id))
    cost.held_up_until_ms = cost.at_ms
    books.record(PlacedFault(Fault.LIMIT_BARE, Place.ACCOUNT), None).at_ms = long_turn.last_change_ms
    assert books.close(long_turn, lost=True) is savable


def test_game_lost_without_any_fault_could_have_been_saved(
    books: Books, lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    game = lichess.site.session(start_game(ada, bob)).game
    assert books.close(game, lost=True)


def test_no_fault_excuses_a_resignation(books: Books, ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    play(game_id, E4_E5, ada, bob)
    strike = books.record(RESTART, game_id)
    ada.do(game_id, "resign")
    assert books.close(only_cost(strike).game, lost=True)
    assert only_cost(strike).own_fault


def test_a_game_that_is_not_lost_ends_its_open_strikes(books: Books, ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    harmless, strike = (books.record(placed, game_id) for placed in (LINE_DOUBLED, STATE_LOST))
    bob.do(game_id, "abort")
    books.close(only_cost(strike).game, lost=False)
    assert strike.delay_ms is not None
    assert not only_cost(strike).lost
    assert harmless.delay_ms == 0, "that strike was over before"
