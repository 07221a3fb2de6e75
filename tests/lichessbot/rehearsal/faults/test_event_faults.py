"""What other people do: challenges that come and go, a second client, a repetition told late."""

import asyncio
import threading

import pytest

from lichessbot.rehearsal.faults.catalogue import Fault
from lichessbot.rehearsal.faults.event_faults import STRANGERS, EventFaults
from lichessbot.rehearsal.faults.fault_injector import FaultInjector
from lichessbot.rehearsal.rules.challenges import Challenge
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.rehearsal.server.site import ChallengeMade, SiteEvent
from tests.lichessbot.rehearsal.client import Client, play, start_game
from tests.lichessbot.rehearsal.faults.injection import inject_for, placed, start_numbered_game
from tests.patience import until


def challenged(lichess: RehearsalServer, ada: Client, hal: Client, fault: Fault) -> str:
    """Hal challenges Ada in game 1 of the rehearsal, and the fault strikes."""
    begun: list[FaultInjector] = []

    def number(happening: SiteEvent) -> None:
        """The first observer can enter the challenge before the faults hear of it."""
        if isinstance(happening, ChallengeMade) and begun:
            begun.pop().schedule.enter(happening.challenge.id, 1)

    lichess.call(lambda: lichess.site.observe(number))
    begun.append(inject_for(lichess, ada, *placed(fault)))
    return str(hal.challenge(ada)["id"])


def test_withdrawn_challenge_cannot_be_accepted(lichess: RehearsalServer, ada: Client, hal: Client) -> None:
    events = ada.events()
    challenge_id = challenged(lichess, ada, hal, Fault.CHALLENGE_CANCELED)
    assert events.next("challengeCanceled")["challenge"]["id"] == challenge_id
    answer = ada.post(f"/api/challenge/{challenge_id}/accept")
    assert answer.json() == {"error": "The challenge has been canceled."}


def test_replaced_challenge_dies_without_a_word(lichess: RehearsalServer, ada: Client, hal: Client) -> None:
    events = ada.events()
    first = challenged(lichess, ada, hal, Fault.CHALLENGE_REPLACED)
    told = [line["challenge"]["id"] for line in events.only(2, "challenge")]
    assert ada.post(f"/api/challenge/{first}/accept").status_code == 400
    assert ada.post(f"/api/challenge/{told[1]}/accept").status_code == 200


def test_expired_challenge_can_still_become_a_game(lichess: RehearsalServer, ada: Client, hal: Client) -> None:
    challenge_id = challenged(lichess, ada, hal, Fault.CHALLENGE_EXPIRED)
    assert ada.get(f"/api/challenge/{challenge_id}/show").json()["status"] == "offline"
    assert ada.post(f"/api/challenge/{challenge_id}/accept").status_code == 200


def test_a_hundred_strangers_challenge_at_once_and_withdraw(
    lichess: RehearsalServer, ada: Client, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    withdraw, seen = EventFaults._withdraw, threading.Event()

    def withdraw_once_seen(faults: EventFaults, challenges: list[Challenge]) -> None:
        if seen.is_set():
            withdraw(faults, challenges)
        else:
            asyncio.get_running_loop().call_later(0.02, faults._withdraw, challenges)

    monkeypatch.setattr(EventFaults, "_withdraw", withdraw_once_seen)
    it = inject_for(lichess, ada, *placed(Fault.FLOOD))
    start_numbered_game(lichess, it, bob, ada)
    waiting = ada.get("/api/challenge").json()["in"]
    assert len({challenge["challenger"]["id"] for challenge in waiting}) == STRANGERS
    accepted = waiting[0]["id"]
    assert ada.post(f"/api/challenge/{accepted}/accept").status_code == 200
    assert ada.game(accepted).next("gameFull")["state"]["status"] == "aborted"
    seen.set()
    until(lambda: not ada.get("/api/challenge").json()["in"], "they withdraw")


def test_second_client_ends_the_event_stream_cleanly_and_leaves(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.EVICTION))
    events = ada.events()
    game_id = start_numbered_game(lichess, it, bob, ada)
    events.rest()
    assert events.ended_cleanly
    again = ada.events()
    assert again.next("gameStart")["game"]["id"] == game_id
    assert again.waiting(0.2) == []


def test_the_lines_that_a_second_client_gets_are_struck_by_no_fault(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.EVICTION), *placed(Fault.START_LOST))
    events = ada.events()
    start_numbered_game(lichess, it, bob, ada)
    events.rest()
    again = ada.events()
    assert again.waiting(0.2) == []
    lost = [strike for strike in it.accounting.strikes if strike.fault is Fault.START_LOST]
    assert len(lost) == 2, "of this client's two streams"


@pytest.mark.parametrize("fault", [Fault.EVENTS_ENDED, Fault.GAME_STREAM_ENDED], ids=lambda fault: fault.label)
def test_streams_end_cleanly_during_the_game(
    fault: Fault, lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it = inject_for(lichess, ada, *placed(fault))
    events = ada.events()
    game_id = start_numbered_game(lichess, it, bob, ada)
    stream = ada.game(game_id)
    play(game_id, "e2e4", bob, ada)
    ended = events if fault is Fault.EVENTS_ENDED else stream
    ended.rest()
    assert ended.ended_cleanly
    ada.do(game_id, "move/e7e5")


def test_castling_is_written_as_king_takes_rook_for_a_whole_game(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.CASTLING))
    game_id = start_numbered_game(lichess, it, ada, bob)
    stream = ada.game(game_id)
    play(game_id, "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8h8", ada, bob)
    ada.do(game_id, "resign")
    assert stream.rest()[-1]["moves"].endswith(" e1h1 e8h8")
    assert it.offences == []


def test_late_threefold_looks_like_our_turn_and_refuses_our_move(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.THREEFOLD))
    game_id = start_numbered_game(lichess, it, ada, bob)
    stream = ada.game(game_id)
    play(game_id, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", ada, bob)
    assert ada.command(game_id, "move/e2e4").status_code == 400
    states = [line for line in stream.rest() if line["type"] == "gameState"]
    assert [state["status"] for state in states[-2:]] == ["started", "draw"]
    assert [strike.fault for strike in it.accounting.strikes] == [Fault.THREEFOLD]
    assert it.offences == []


@pytest.mark.parametrize("seed", range(4))
def test_threefold_is_late_exactly_where_the_accounting_says(
    seed: int, lichess: RehearsalServer, ada: Client, bob: Client, timing: Timing
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.THREEFOLD), chance=0.5, seed=seed)
    game_id = start_numbered_game(lichess, it, ada, bob)
    play(game_id, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", ada, bob)
    late = lichess.site.session(game_id).threefold_shown_after_s == timing.threefold_late_s
    assert [strike.fault for strike in it.accounting.strikes] == [Fault.THREEFOLD] * late


def test_a_draw_by_repetition_outside_the_rehearsal_is_shown_in_time(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.THREEFOLD))
    game_id = start_game(ada, bob)
    play(game_id, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", ada, bob)
    assert lichess.site.session(game_id).threefold_shown_after_s == 0
    assert it.accounting.strikes == []


def test_no_fault_strikes_challenges_outside_the_rehearsal(
    lichess: RehearsalServer, ada: Client, hal: Client
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.CHALLENGE_CANCELED))
    challenge_id = hal.challenge(ada)["id"]
    assert ada.post(f"/api/challenge/{challenge_id}/accept").status_code == 200
    assert it.accounting.strikes == []
