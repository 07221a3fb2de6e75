"""The state machine, fed by hand: reports in, actions out, time as a number."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from engine.facade import STARTING_FEN, chess960_fen
from lichessbot.actions import (
    Action,
    Consult,
    Fallback,
    GameOver,
    KillEngine,
    PonderHit,
    Remember,
    ReopenStream,
    StopThinking,
    Think,
)
from lichessbot.config import Config, EngineConfig
from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.events import ChatLine, GameFinish, GameFull, GameInfo, GameState, OpponentGone
from lichessbot.game import Game
from lichessbot.messages import (
    Abort,
    Advice,
    BestMove,
    CommandDone,
    CommandFailed,
    Deed,
    EngineDied,
    EngineReady,
    PlayingWanted,
    Report,
    Resign,
    Search,
    SendMove,
    Standing,
    StreamEvent,
    StreamLost,
    StreamOpened,
    StreamRefused,
)
from lichessbot.vocabulary import Colour, GameStatus
from lichessbot.waits import Waits

GAME = "abcd1234"
US = "testbot"
THEM = "ferdinand"
WAITS = Waits()
ENGINE_ALONE = Config(engine=EngineConfig(own_book=False))
REFUSED = Refused(400, "Not your turn, or game already over")
UNREACHABLE = Unreachable("ConnectionError: reset")


def limited(seconds: float) -> RateLimited:
    return RateLimited(timedelta(seconds=seconds), "Too many requests")


def state(
    moves: str = "", *, time_ms: int = 60_000, status: str = "started", winner: str | None = None
) -> dict[str, Any]:
    return {
        "moves": moves,
        "wtime": time_ms,
        "btime": time_ms,
        "winc": 0,
        "binc": 0,
        "status": status,
        "winner": winner,
    }


class Bench:
    """A game on the test bench: time stands still unless moved."""

    def __init__(
        self,
        *,
        white: bool = True,
        variant: str = "standard",
        fen: str = "startpos",
        timed: bool = True,
        announced: Colour | None = None,
        config: Config = ENGINE_ALONE,
        **settings: Any,
    ) -> None:
        self.now = 1000.0
        self.game = Game(GAME, US, config.model_copy(update=settings), WAITS, announced)
        self._full = {
            "id": GAME,
            "variant": {"key": variant},
            "white": {"id": US if white else THEM},
            "black": {"id": THEM if white else US},
            "initialFen": fen,
            "clock": {"initial": 60_000, "increment": 0} if timed else None,
        }

    def hear(self, report: Report) -> list[Action]:
        return self.game.handle(report, self.now)

    def full(self, moves: str = "", **changes: Any) -> list[Action]:
        full = GameFull.model_validate({**self._full, "state": state(moves, **changes)})
        return self.hear(StreamEvent(GAME, full, self.now))

    def state(self, moves: str = "", **changes: Any) -> list[Action]:
        return self.hear(StreamEvent(GAME, GameState.model_validate(state(moves, **changes)), self.now))

    def finish(self, status: str = "resign", winner: str | None = "white") -> list[Action]:
        game = {"gameId": GAME, "variant": {"key": "standard"}, "status": {"name": status}, "winner": winner}
        return self.hear(StreamEvent(None, GameFinish.model_validate({"game": game}), self.now))

    def wait(self, seconds: float) -> list[Action]:
        """What is done because of the time; looks at the games in progress are passed over."""
        self.now += seconds
        return [action for action in self.game.tick(self.now) if not isinstance(action, PlayingWanted)]

    def looked_after(self, seconds: float) -> bool:
        """Whether the passing of this time brings a look at the games in progress."""
        self.now += seconds
        return any(isinstance(action, PlayingWanted) for action in self.game.tick(self.now))

    def standing(self, *, our_turn: bool | None, asked_ago: float = 0.0) -> list[Action]:
        """A look at the games in progress; `our_turn` None: ours is not among them."""
        info = None
        if our_turn is not None:
            info = GameInfo.model_validate({"gameId": GAME, "variant": {"key": "standard"}, "isMyTurn": our_turn})
        return self.hear(Standing(GAME, info, self.now - asked_ago))

    def wait_until_due(self) -> list[Action]:
        assert self.game.wake_at is not None
        return self.wait(max(0.0, self.game.wake_at - self.now))

    def owing(self, move: str = "e2e4") -> SendMove:
        """Our first move as White, found and just sent."""
        think = only(self.full(), Think)
        return only(self.hear(BestMove(GAME, think.search.search_id, move)), SendMove)


def tells_of_a_hang(actions: list[Action]) -> bool:
    return any(isinstance(action, ReopenStream) and action.hangs for action in actions)


def only(actions: list[Action], kind: type[Any]) -> Any:
    """The single action, which must be of that kind."""
    assert [type(action) for action in actions] == [kind], actions
    return actions[0]


# Whose turn it is, and what the engine is asked


def test_we_think_when_it_is_our_turn() -> None:
    search = only(Bench().full(), Think).search
    assert (search.initial_fen, search.moves, search.chess960) == (STARTING_FEN, (), False)


def test_we_wait_when_it_is_not() -> None:
    assert Bench(white=False).full() == []
    assert Bench().full("e2e4") == []


def test_our_colour_is_the_side_with_our_id() -> None:
    search = only(Bench(white=False).full("e2e4"), Think).search
    assert search.moves == ("e2e4",)


def test_black_moves_first_if_the_position_says_so() -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"
    assert Bench(variant="fromPosition", fen=fen).full() == []
    search = only(Bench(white=False, variant="fromPosition", fen=fen).full(), Think).search
    assert (search.initial_fen, search.chess960) == (fen, True)


def test_the_reply_of_the_opponent_starts_the_next_search() -> None:
    bench = Bench()
    bench.owing()
    assert bench.state("e2e4") == []
    assert only(bench.state("e2e4 e7e5"), Think).search.moves == ("e2e4", "e7e5")


def test_the_same_state_again_changes_nothing() -> None:
    bench = Bench()
    bench.full()
    assert bench.state("") == []
    assert bench.full() == []
    bench = Bench()
    bench.owing()
    assert bench.state("") == []
    assert bench.full() == []


def test_a_state_before_the_first_full_one_is_not_enough() -> None:
    assert Bench().state("") == []


def test_talk_and_absence_change_nothing() -> None:
    bench = Bench()
    bench.full()
    for event in (ChatLine(text="hi"), OpponentGone(gone=True)):
        assert bench.hear(StreamEvent(GAME, event, bench.now)) == []


def test_a_stream_that_breaks_leaves_the_search_running() -> None:
    bench = Bench()
    think = only(bench.full(), Think)
    assert bench.hear(StreamLost(GAME, "reset", timedelta())) == []
    assert bench.hear(StreamOpened(GAME)) == []
    assert bench.full() == []
    only(bench.hear(BestMove(GAME, think.search.search_id, "d2d4")), SendMove)


def test_a_takeback_is_believed_from_a_new_connection_and_restarts_the_search() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5")
    only(bench.state(""), ReopenStream)
    search = only(bench.full(""), Think).search
    assert search.moves == ()


def test_a_takeback_to_the_opponents_turn_stops_the_search() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5")
    only(bench.state("e2e4"), ReopenStream)
    only(bench.full("e2e4"), StopThinking)


def test_an_old_line_that_comes_late_changes_nothing() -> None:
    bench = Bench()
    think = only(bench.full("e2e4 e7e5"), Think)
    only(bench.state("e2e4"), ReopenStream)
    assert bench.hear(BestMove(GAME, think.search.search_id, "g1f3")) == [], "first the stream is read anew"
    assert bench.full("e2e4 e7e5") == [SendMove(GAME, 3, "g1f3")]


def test_an_old_line_that_comes_late_sends_no_second_move_for_the_same_ply() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.state("e2e4")
    assert bench.hear(CommandDone(sent)) == []
    only(bench.state(""), ReopenStream)
    assert bench.full("e2e4") == []


def test_the_clock_of_a_resumed_game_goes_to_the_engine() -> None:
    limits = only(Bench().full("e2e4 e7e5", time_ms=7000), Think).search.limits
    assert limits.white_time_ms == 7000


def test_without_a_legal_move_we_wait_for_the_verdict() -> None:
    mate = "f2f3 e7e5 g2g4 d8h4"
    assert Bench().full(mate) == []


# What is sent


def test_the_best_move_is_sent_once() -> None:
    bench = Bench()
    search_id = only(bench.full(), Think).search.search_id
    assert bench.hear(BestMove(GAME, search_id, "e2e4")) == [SendMove(GAME, 1, "e2e4")]
    assert bench.hear(BestMove(GAME, search_id, "d2d4")) == []


def test_the_answer_to_an_abandoned_search_is_not_sent() -> None:
    bench = Bench()
    first = only(bench.full("e2e4 e7e5"), Think).search.search_id
    only(bench.full(""), Think)
    assert bench.hear(BestMove(GAME, first, "g1f3")) == []


@pytest.mark.parametrize("found", ["e1g1", "e1h1"])
def test_castling_goes_out_as_e1g1_in_standard_chess(found: str) -> None:
    bench = Bench()
    think = only(bench.full("e2e4 e7e5 g1f3 b8c6 f1c4 g8f6"), Think)
    assert only(bench.hear(BestMove(GAME, think.search.search_id, found)), SendMove).move == "e1g1"


@pytest.mark.parametrize("found", ["e1g1", "e1h1"])
@pytest.mark.parametrize("variant", ["chess960", "fromPosition"])
def test_castling_goes_out_as_king_takes_rook_otherwise(variant: str, found: str) -> None:
    bench = Bench(variant=variant, fen=STARTING_FEN)
    think = only(bench.full("e2e4 e7e5 g1f3 b8c6 f1c4 g8f6"), Think)
    assert only(bench.hear(BestMove(GAME, think.search.search_id, found)), SendMove).move == "e1h1"


@pytest.mark.parametrize("castling", ["e1g1", "e1h1"])
def test_both_spellings_of_castling_are_understood_in_standard_chess(castling: str) -> None:
    think = only(Bench(white=False).full(f"e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 {castling}"), Think)
    assert think.search.moves[-1] == "e1g1"


def test_chess960_positions_are_followed() -> None:
    think = only(Bench(variant="chess960", fen=chess960_fen(0)).full(), Think)
    assert think.search.chess960
    assert think.search.initial_fen == chess960_fen(0)


# An owed move


def test_a_move_with_no_answer_is_sent_again_at_once_and_then_ever_slower() -> None:
    bench = Bench()
    sent = bench.owing()
    assert bench.hear(CommandFailed(sent, UNREACHABLE)) == [sent]
    for _ in range(20):
        assert bench.hear(CommandFailed(sent, UNREACHABLE)) == []
        before = bench.now
        assert bench.wait_until_due() == [sent]
        assert 0.2 < bench.now - before <= WAITS.game_backoff_ceiling.total_seconds()


def test_a_move_the_stream_shows_is_not_sent_again() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(CommandFailed(sent, UNREACHABLE))
    bench.hear(CommandFailed(sent, UNREACHABLE))
    bench.state("e2e4")
    assert all(isinstance(action, Abort) for action in bench.wait(3600))


def test_a_late_failure_of_a_move_already_shown_is_ignored() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.state("e2e4 e7e5")
    assert bench.hear(CommandFailed(sent, UNREACHABLE)) == []


def test_the_same_text_at_another_ply_is_another_move() -> None:
    bench = Bench()
    first = bench.owing("g1f3")
    think = only(bench.state("g1f3 g8f6 f3g1 f6g8"), Think)
    second = only(bench.hear(BestMove(GAME, think.search.search_id, "g1f3")), SendMove)
    assert bench.hear(CommandFailed(first, UNREACHABLE)) == []
    assert bench.hear(CommandFailed(second, UNREACHABLE)) == [second]


def test_a_rate_limited_move_waits_as_long_as_the_clock_survives() -> None:
    bench = Bench(white=False)
    think = only(bench.full("e2e4 e7e5 g1f3", time_ms=120_000), Think)
    sent = only(bench.hear(BestMove(GAME, think.search.search_id, "b8c6")), SendMove)
    assert bench.hear(CommandFailed(sent, limited(60))) == []
    assert bench.wait(59) == []
    assert bench.wait(1) == [sent]


def test_the_clock_runs_from_when_the_line_arrived_not_from_when_somebody_had_time_for_it() -> None:
    bench = Bench()
    full = GameFull.model_validate({**bench._full, "state": state("e2e4 e7e5", time_ms=60_000)})
    think = only(bench.hear(StreamEvent(GAME, full, bench.now - 0.5)), Think)
    assert think.search.limits.white_time_ms == 59_500


def test_a_rate_limited_move_is_tried_earlier_when_the_pause_would_lose_on_time() -> None:
    bench = Bench(white=False)
    think = only(bench.full("e2e4 e7e5 g1f3", time_ms=20_000), Think)
    sent = only(bench.hear(BestMove(GAME, think.search.search_id, "b8c6")), SendMove)
    bench.hear(CommandFailed(sent, limited(60)))
    assert bench.wait(9) == []
    assert bench.wait(1) == [sent]


def test_a_refused_move_is_looked_up_on_the_stream_before_it_is_sent_again() -> None:
    bench = Bench()
    sent = bench.owing()
    only(bench.hear(CommandFailed(sent, REFUSED)), ReopenStream)
    assert bench.wait(60) == []
    assert bench.state("") == [], "only a state written for the new connection counts"
    assert bench.full() == [sent]


def test_a_move_refused_because_it_had_arrived_is_done() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(CommandFailed(sent, REFUSED))
    assert bench.full("e2e4") == []


def test_a_move_refused_because_the_game_ended_ends_it() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(CommandFailed(sent, REFUSED))
    assert only(bench.full(status="draw"), GameOver).status is GameStatus.DRAW


def test_a_move_refused_again_and_again_is_sent_ever_slower() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(CommandFailed(sent, REFUSED))
    assert bench.full() == [sent]
    for _ in range(5):
        only(bench.hear(CommandFailed(sent, REFUSED)), ReopenStream)
        assert bench.full() == []
        assert bench.wait_until_due() == [sent]


def test_after_a_takeback_another_move_may_be_sent_for_the_same_ply() -> None:
    bench = Bench()
    bench.owing()
    bench.state("e2e4 e7e5")
    only(bench.state(""), ReopenStream)
    think = only(bench.full(""), Think)
    assert bench.hear(BestMove(GAME, think.search.search_id, "d2d4")) == [SendMove(GAME, 1, "d2d4")]


def test_a_move_whose_answer_trickles_for_ever_is_looked_up_and_sent_again() -> None:
    bench = Bench()
    sent = bench.owing()
    assert bench.wait(5) == []
    only(bench.wait(1), ReopenStream)
    assert bench.full() == [sent]


def test_with_little_time_left_a_move_without_answer_is_sent_again_sooner() -> None:
    bench = Bench()
    think = only(bench.full("e2e4 e7e5", time_ms=2000), Think)
    sent = only(bench.hear(BestMove(GAME, think.search.search_id, "g1f3")), SendMove)
    tries = 0
    began = bench.now
    while bench.now < began + 1.9:
        answer = bench.hear(CommandFailed(sent, UNREACHABLE))
        tries += len(answer or bench.wait_until_due())
    assert tries > 10


def test_an_acknowledged_move_that_does_not_show_is_looked_up() -> None:
    bench = Bench()
    sent = bench.owing()
    assert bench.hear(CommandDone(sent)) == []
    only(bench.wait(WAITS.move_echo.total_seconds()), ReopenStream)
    assert bench.full() == [sent]


def test_an_acknowledged_move_is_not_sent_again_by_a_reconnection() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(CommandDone(sent))
    assert bench.full() == []
    assert bench.full("e2e4") == []


# The end


@pytest.mark.parametrize("status", ["mate", "draw", "outoftime", "aborted", "stalemate", "nobodyKnows"])
def test_a_final_state_ends_the_game(status: str) -> None:
    bench = Bench()
    bench.full()
    over = only(bench.state("e2e4", status=status, winner="white"), GameOver)
    assert (over.winner, over.plies) == (Colour.WHITE, 1)


def test_a_game_that_was_over_when_its_stream_opened_is_over() -> None:
    only(Bench().full(status="aborted"), GameOver)


def test_the_event_stream_ends_the_game_if_the_final_state_is_lost() -> None:
    bench = Bench()
    bench.owing()
    over = only(bench.finish("draw", None), GameOver)
    assert (over.status, over.winner) == (GameStatus.DRAW, None)


def test_after_the_end_nothing_is_done() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.finish()
    assert bench.full() == []
    assert bench.state("e2e4", status="aborted") == []
    assert bench.hear(CommandFailed(sent, UNREACHABLE)) == []
    assert bench.wait(3600) == []
    assert bench.game.wake_at is None


def test_a_game_of_others_is_left() -> None:
    bench = Bench()
    bench._full["white"] = {"id": "stranger"}
    over = only(bench.full(), GameOver)
    assert not over.certain


def test_a_game_whose_players_cannot_be_read_is_played_with_the_colour_announced() -> None:
    bench = Bench()
    bench.game = Game(GAME, US, ENGINE_ALONE, WAITS, Colour.BLACK)
    bench._full |= {"white": None, "black": None}
    only(bench.full("e2e4"), Think)


def test_an_end_in_words_nobody_knows_is_not_certain() -> None:
    assert not only(Bench().full(status="nobodyKnows"), GameOver).certain
    assert only(Bench().full(status="mate"), GameOver).certain


# What the stream may have lost


def test_a_refused_stream_asks_whether_the_game_is_still_on() -> None:
    bench = Bench()
    bench.full()
    only(bench.hear(StreamRefused(GAME, 404, "No such game")), PlayingWanted)
    only(bench.standing(our_turn=None), GameOver)


def test_a_refused_stream_is_opened_again_until_somebody_says_that_the_game_is_gone() -> None:
    bench = Bench()
    think = only(bench.full(), Think)
    for _ in range(3):
        only(bench.hear(StreamRefused(GAME, 400, "odd")), PlayingWanted)
        only(bench.wait(4), ReopenStream)
    assert bench.standing(our_turn=True) == []
    bench.hear(StreamOpened(GAME))
    assert bench.full() == []
    only(bench.hear(BestMove(GAME, think.search.search_id, "e2e4")), SendMove)


def test_a_stream_that_is_refused_again_and_again_is_given_up_if_the_game_is_really_on() -> None:
    bench = Bench(announced=Colour.WHITE)
    for _ in range(20):
        only(bench.hear(StreamRefused(GAME, 400, "not with the Bot API")), PlayingWanted)
        only(bench.wait(4), ReopenStream)
    assert not only(bench.standing(our_turn=True), GameOver).certain


def test_pages_of_something_on_the_way_to_lichess_never_give_a_game_up() -> None:
    bench = Bench(announced=Colour.WHITE)
    for _ in range(20):
        only(bench.hear(StreamRefused(GAME, 403, "Forbidden", certain=False)), PlayingWanted)
        only(bench.wait(4), ReopenStream)
    assert bench.standing(our_turn=True) == []
    only(bench.standing(our_turn=None), GameOver)


def test_a_game_that_only_we_believe_in_is_given_up_without_a_look() -> None:
    bench = Bench()
    for _ in range(7):
        only(bench.hear(StreamRefused(GAME, 404, "No such game")), PlayingWanted)
        only(bench.wait(4), ReopenStream)
    wanted, over = bench.hear(StreamRefused(GAME, 404, "No such game"))
    assert isinstance(wanted, PlayingWanted)
    assert isinstance(over, GameOver)
    assert not over.certain, "a look may still find it"


def test_a_game_that_was_read_once_waits_for_a_look_however_often_it_is_refused() -> None:
    bench = Bench()
    bench.full()
    for _ in range(20):
        only(bench.hear(StreamRefused(GAME, 404, "No such game")), PlayingWanted)
        bench.wait(4)


def test_a_silent_opponent_is_looked_after_and_not_too_often() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3", time_ms=80_000)
    assert not bench.looked_after(9.9)
    assert bench.looked_after(0.1)
    assert bench.standing(our_turn=False) == []
    assert not bench.looked_after(9.9)
    assert bench.looked_after(0.1)


def test_while_no_look_is_answered_the_stream_is_read_anew_instead() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3", time_ms=80_000)
    assert bench.looked_after(10)
    only(bench.wait(10), ReopenStream)
    bench.full("e2e4 e7e5 g1f3", time_ms=80_000)
    assert bench.looked_after(10)


def test_an_opponents_move_that_never_arrived_is_read_anew() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3")
    bench.wait(10)
    only(bench.standing(our_turn=True), ReopenStream)
    only(bench.full("e2e4 e7e5 g1f3 b8c6"), Think)


def test_a_look_older_than_the_last_line_says_nothing() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3")
    bench.wait(5)
    assert bench.standing(our_turn=True, asked_ago=6) == []
    assert bench.standing(our_turn=None, asked_ago=6) == []


def test_a_game_that_is_not_in_progress_any_more_is_read_to_its_end() -> None:
    bench = Bench()
    bench.full("e2e4")
    bench.wait(5)
    only(bench.standing(our_turn=None), ReopenStream)
    only(bench.full("e2e4", status="resign"), GameOver)


def test_a_stream_that_opens_without_the_state_is_opened_again() -> None:
    bench = Bench()
    bench.hear(StreamOpened(GAME))
    assert bench.wait(4) == []
    only(bench.wait(1), ReopenStream)
    bench.hear(StreamOpened(GAME))
    bench.full()
    assert not any(isinstance(action, ReopenStream) for action in bench.wait(20))


@pytest.mark.parametrize(
    ("time_ms", "patience_s", "next_s"),
    [(180_000, 5, 10), (24_000, 3, 6), (4_000, 1, 2)],
    ids=["long", "short", "nearly gone"],
)
def test_a_stream_that_does_not_open_is_not_waited_for_but_each_time_twice_as_long(
    time_ms: int, patience_s: float, next_s: float
) -> None:
    bench = Bench()
    bench.full("e2e4", time_ms=time_ms)
    bench.hear(StreamLost(GAME, "reset", timedelta()))
    assert bench.wait(patience_s - 0.1) == []
    assert only(bench.wait(0.1), ReopenStream).hangs
    assert not tells_of_a_hang(bench.wait(next_s - 0.1))
    assert tells_of_a_hang(bench.wait(0.1)), "nor the next"
    bench.hear(StreamOpened(GAME))
    bench.full("e2e4", time_ms=time_ms)
    assert not any(isinstance(action, ReopenStream) for action in bench.wait(patience_s))


def test_a_site_that_opens_slowly_is_reached_before_the_clock_is_gone() -> None:
    bench = Bench()
    bench.full("e2e4", time_ms=8_000)
    bench.hear(StreamLost(GAME, "reset", timedelta()))
    hung_at = [bench.now]
    while len(hung_at) < 4:
        if tells_of_a_hang(bench.wait_until_due()):
            hung_at.append(bench.now)
    assert [round(later - earlier, 3) for earlier, later in pairwise(hung_at)] == [1, 2, 4]


def test_a_refused_stream_that_then_does_not_open_is_not_waited_for_either() -> None:
    bench = Bench()
    bench.full("e2e4")
    bench.hear(StreamRefused(GAME, 400, "odd"))
    assert not only(bench.wait(1), ReopenStream).hangs
    assert any(isinstance(action, ReopenStream) and action.hangs for action in bench.wait(5))


def test_a_first_stream_that_does_not_open_is_not_waited_for_either() -> None:
    bench = Bench()
    bench.game.join(bench.now)
    assert bench.wait(4.9) == []
    assert only(bench.wait(0.1), ReopenStream).hangs


def test_a_first_state_that_does_not_come_is_waited_for_less_if_the_clock_is_short() -> None:
    bench = Bench()
    bench.full("e2e4", time_ms=16_000)
    bench.hear(StreamOpened(GAME))
    assert bench.wait(1.9) == []
    assert not only(bench.wait(0.1), ReopenStream).hangs


def test_a_stream_that_is_to_wait_longer_than_the_clock_is_opened_earlier() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5", time_ms=20_000)
    assert bench.hear(StreamLost(GAME, "429", timedelta(seconds=60), as_asked=True)) == []
    assert not any(isinstance(action, ReopenStream) for action in bench.wait(9))
    assert any(isinstance(action, ReopenStream) for action in bench.wait(1))


def test_a_lost_stream_is_looked_for_more_often_than_its_reader_would_if_the_clock_is_short() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5", time_ms=4_000)
    assert bench.hear(StreamLost(GAME, "refused", timedelta(seconds=4))) == []
    assert not any(isinstance(action, ReopenStream) for action in bench.wait(0.4))
    assert any(isinstance(action, ReopenStream) for action in bench.wait(0.2))


def test_a_stream_whose_pause_the_clock_survives_is_left_to_its_reader() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5", time_ms=90_000)
    bench.hear(StreamLost(GAME, "429", timedelta(seconds=60), as_asked=True))
    assert not any(isinstance(action, ReopenStream) for action in bench.wait(60))


@pytest.mark.parametrize(
    ("announced", "again_after_s"),
    [
        ({"secondsLeft": 600, "speed": "blitz"}, 10),
        ({"secondsLeft": 12, "speed": "bullet"}, 6),
        ({"secondsLeft": 1, "speed": "bullet"}, 1),
        ({}, 10),
    ],
    ids=["much is left", "little is left", "nothing is left", "nobody knows"],
)
def test_a_game_that_was_never_read_does_not_wait_out_a_pause(
    announced: dict[str, Any], again_after_s: float
) -> None:
    bench = Bench()
    info = GameInfo.model_validate({"gameId": GAME, "variant": {"key": "standard"}, **announced})
    bench.game.join(bench.now, info)
    assert bench.hear(StreamLost(GAME, "429", timedelta(seconds=60), as_asked=True)) == []
    assert bench.wait(again_after_s - 0.1) == []
    assert not only(bench.wait(0.1), ReopenStream).hangs


def test_a_correspondence_game_that_was_never_read_can_wait() -> None:
    bench = Bench()
    told = {"gameId": GAME, "variant": {"key": "standard"}, "secondsLeft": 86_400, "speed": "correspondence"}
    bench.game.join(bench.now, GameInfo.model_validate(told))
    bench.hear(StreamLost(GAME, "429", timedelta(seconds=60), as_asked=True))
    assert bench.wait(60) == []


def test_a_third_repetition_looks_like_our_turn_until_the_draw_follows() -> None:
    bench = Bench()
    repetition = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"
    think = only(bench.full(repetition), Think)
    sent = only(bench.hear(BestMove(GAME, think.search.search_id, "e2e4")), SendMove)
    only(bench.hear(CommandFailed(sent, REFUSED)), ReopenStream)
    over = only(bench.full(repetition, status="draw"), GameOver)
    assert over.winner is None


# An opponent who never moves


def test_a_game_whose_opponent_never_moves_is_aborted() -> None:
    bench = Bench(white=False)
    assert bench.full() == []
    assert bench.wait(29) == []
    assert only(bench.wait(1), Abort).game_id == GAME


def test_it_is_aborted_after_our_first_move_too() -> None:
    bench = Bench()
    bench.owing()
    bench.state("e2e4")
    only(bench.wait(30), Abort)


def test_waiting_starts_when_the_opponents_turn_starts_not_at_each_line() -> None:
    bench = Bench(white=False)
    bench.full()
    bench.wait(20)
    bench.full()
    only(bench.wait(10), Abort)


def test_an_abort_that_fails_is_tried_again() -> None:
    bench = Bench(white=False)
    bench.full()
    abort = only(bench.wait(30), Abort)
    assert bench.hear(CommandFailed(abort, UNREACHABLE)) == []
    assert bench.standing(our_turn=False) == []
    assert bench.wait(9) == []
    assert bench.wait(1) == [abort]


def test_a_game_in_which_both_moved_is_never_aborted() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3")
    assert bench.wait(3600) == []


def test_our_own_slow_first_move_is_no_reason_to_abort() -> None:
    bench = Bench(white=False)
    bench.full()
    bench.full("e2e4")
    assert not any(isinstance(action, Abort) for action in bench.wait(60))


# An engine that fails


def running(bench: Bench, time_ms: int = 60_000) -> Think:
    """A search while our clock runs."""
    think: Think = only(bench.full("e2e4 e7e5", time_ms=time_ms), Think)
    return think


def test_an_engine_that_takes_too_long_is_told_to_stop() -> None:
    bench = Bench()
    think = running(bench)
    assert bench.wait(8.6) == [], "60 s are 36 moves of 1.67 s, one may cost four of them, and a busy machine 2 s"
    only(bench.wait(0.1), StopThinking)
    only(bench.hear(BestMove(GAME, think.search.search_id, "g1f3")), SendMove)


def test_an_engine_that_does_not_stop_is_replaced_and_gets_what_is_left() -> None:
    bench = Bench()
    first = running(bench)
    bench.wait(30)
    kill, again = bench.wait(1)
    assert isinstance(kill, KillEngine)
    assert isinstance(again, Think)
    assert again.search.search_id != first.search.search_id
    assert again.search.limits.white_time_ms == 29_000


def test_a_second_failure_in_one_move_calls_the_fallback() -> None:
    bench = Bench()
    first = running(bench)
    _, again = bench.hear(EngineDied(GAME, first.search.search_id, "crashed"))
    assert isinstance(again, Think)
    kill, fallback = bench.hear(EngineDied(GAME, again.search.search_id, "crashed"))
    assert isinstance(kill, KillEngine)
    assert isinstance(fallback, Fallback)
    assert fallback.board.moves == ["e2e4", "e7e5"]
    assert bench.wait(10) == []
    only(bench.hear(BestMove(GAME, fallback.search_id, "g1f3")), SendMove)


def test_the_next_move_gets_an_engine_again() -> None:
    bench = Bench()
    first = running(bench)
    _, again = bench.hear(EngineDied(GAME, first.search.search_id, "crashed"))
    bench.hear(BestMove(GAME, again.search.search_id, "g1f3"))
    second = only(bench.state("e2e4 e7e5 g1f3 b8c6"), Think)
    kinds = [type(action) for action in bench.hear(EngineDied(GAME, second.search.search_id, "crashed"))]
    assert kinds == [KillEngine, Think]


def test_with_hardly_any_time_left_the_fallback_moves_at_once() -> None:
    bench = Bench()
    think = running(bench, time_ms=1000)
    kinds = [type(action) for action in bench.hear(EngineDied(GAME, think.search.search_id, "crashed"))]
    assert kinds == [KillEngine, Fallback]


def test_with_hardly_any_time_left_nobody_waits_for_a_new_engine_until_it_has_answered() -> None:
    bench = Bench()
    bench.hear(EngineDied(GAME, running(bench, time_ms=1000).search.search_id, "crashed"))
    bench.hear(BestMove(GAME, 1, "g1f3"))
    fallback, think = bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=800)
    assert isinstance(fallback, Fallback)
    assert isinstance(think, Think)
    assert fallback.search_id == think.search.search_id
    only(bench.hear(BestMove(GAME, fallback.search_id, "f1b5")), SendMove)
    assert bench.hear(EngineDied(GAME, think.search.search_id, "crashed")) == []
    fallback, think = bench.state("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", time_ms=600)
    only(bench.hear(BestMove(GAME, fallback.search_id, "b5a4")), SendMove)
    assert bench.hear(BestMove(GAME, think.search.search_id, "b5c6")) == [], "too late, but it is there"
    only(bench.state("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6", time_ms=400), Think)


def test_a_new_engine_is_waited_for_once_the_clock_can_bear_it_again() -> None:
    bench = Bench()
    bench.hear(EngineDied(GAME, running(bench, time_ms=1000).search.search_id, "crashed"))
    bench.hear(BestMove(GAME, 1, "g1f3"))
    only(bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=3000), Think)


def test_a_new_engine_that_starts_slowly_costs_little_of_the_clock_and_goes_on_starting() -> None:
    bench = Bench()
    _, again = bench.hear(EngineDied(GAME, running(bench).search.search_id, "no answer to uci in time"))
    assert isinstance(again, Think)
    assert bench.wait(2.9) == []
    fallback = only(bench.wait(0.1), Fallback)
    assert bench.hear(EngineDied(GAME, again.search.search_id, "no answer to uci in time")) == [], "a move is coming"
    only(bench.hear(BestMove(GAME, fallback.search_id, "g1f3")), SendMove)
    third = only(bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=40_000), Think)
    assert bench.wait(1.9) == []
    only(bench.wait(0.1), Fallback)
    assert bench.hear(BestMove(GAME, third.search.search_id, "a2a3")) == [], "too late for this move"


def test_a_new_engine_that_is_ready_may_think() -> None:
    bench = Bench()
    _, again = bench.hear(EngineDied(GAME, running(bench).search.search_id, "crashed"))
    bench.wait(1)
    assert bench.hear(EngineReady(GAME)) == []
    assert bench.wait(8) == []
    only(bench.hear(BestMove(GAME, again.search.search_id, "g1f3")), SendMove)


@pytest.mark.parametrize("move", ["e2e4", "a1h8", "e7e8q", "nonsense", "", None])
def test_an_illegal_move_is_not_sent(move: str | None) -> None:
    bench = Bench()
    think = running(bench)
    kinds = [type(action) for action in bench.hear(BestMove(GAME, think.search.search_id, move))]
    assert kinds == [KillEngine, Think]


def test_the_death_of_an_idle_engine_is_no_concern() -> None:
    bench = Bench()
    bench.owing()
    assert bench.hear(EngineDied(GAME, None, "crashed")) == []
    assert bench.hear(EngineDied(GAME, 1, "crashed")) == []


# What cannot be followed


def test_an_impossible_move_on_the_stream_is_read_again_first() -> None:
    bench = Bench()
    bench.full()
    only(bench.state("e2e5"), ReopenStream)
    assert bench.full() == [], "the search goes on"


def unreadable_thrice(bench: Bench, moves: str) -> Resign:
    """What our rules refuse is read three times before the game is resigned."""
    for _ in range(2):
        actions = bench.full(moves) or bench.wait(1)
        only(actions, ReopenStream)
    resign: Resign = only(bench.full(moves), Resign)
    return resign


def test_a_game_that_our_rules_cannot_follow_is_resigned_until_it_is_over() -> None:
    bench = Bench()
    resign = unreadable_thrice(bench, "e2e5")
    bench.hear(CommandFailed(resign, UNREACHABLE))
    assert bench.wait(10) == [resign]
    only(bench.state("e2e5", status="resign", winner="black"), GameOver)


def test_a_state_that_could_not_be_followed_is_forgotten_when_it_can() -> None:
    bench = Bench()
    only(bench.full("e2e5"), ReopenStream)
    only(bench.full("e2e4 e7e5"), Think)
    only(bench.state("e2e5"), ReopenStream)
    assert bench.full("e2e4 e7e5") == []


def test_an_impossible_start_is_resigned() -> None:
    unreadable_thrice(Bench(variant="fromPosition", fen="8/8/8/8/8/8/8/8 w - - 0 1"), "")


# Sources before the engine


def consulting(**about: Any) -> tuple[Bench, Consult]:
    """A game that has just asked for its first move."""
    bench = Bench(config=Config(), **about)
    return bench, only(bench.full(), Consult)


def advice(consult: Consult, *moves: str, **about: Any) -> Advice:
    return Advice(GAME, consult.question.search_id, moves, **about)


def test_the_sources_are_asked_before_the_engine() -> None:
    bench, consult = consulting()
    question = consult.question
    assert (question.variant, question.moves, question.initial_s) == ("standard", (), 60.0)
    assert question.remaining_s == pytest.approx(60.0)
    assert 0 < question.patience_s <= WAITS.source_answer.total_seconds()
    assert only(bench.hear(advice(consult, "e2e4")), SendMove).move == "e2e4"


def test_without_sources_the_engine_is_asked_at_once() -> None:
    assert isinstance(only(Bench().full(), Think), Think)


def test_where_the_sources_know_nothing_the_engine_thinks() -> None:
    bench, consult = consulting()
    think = only(bench.hear(advice(consult)), Think)
    assert think.search.only == ()
    assert only(bench.hear(BestMove(GAME, think.search.search_id, "d2d4")), SendMove).move == "d2d4"


def test_of_several_moves_the_engine_chooses() -> None:
    bench, consult = consulting()
    think = only(bench.hear(advice(consult, "e2e4", "d2d4")), Think)
    assert think.search.only == ("e2e4", "d2d4")
    (_, again) = bench.hear(EngineDied(GAME, think.search.search_id, "gone"))
    assert isinstance(again, Think)
    assert again.search.only == ("e2e4", "d2d4")


@pytest.mark.parametrize("move", ["e2e5", "e7e5", "", "nonsense"])
def test_illegal_advice_is_no_advice(move: str) -> None:
    bench, consult = consulting()
    assert only(bench.hear(advice(consult, move)), Think).search.only == ()


def test_sources_that_do_not_answer_in_time_are_not_waited_for() -> None:
    bench, consult = consulting()
    assert bench.wait(consult.question.patience_s / 2) == []
    think = only(bench.wait(consult.question.patience_s / 2), Think)
    assert bench.hear(advice(consult, "e2e4")) == []
    assert only(bench.hear(BestMove(GAME, think.search.search_id, "d2d4")), SendMove).move == "d2d4"


def test_the_less_time_is_left_the_less_the_sources_get() -> None:
    long_s = only(Bench(config=Config()).full("e2e4 e7e5", time_ms=600_000), Consult).question.patience_s
    short_s = only(Bench(config=Config()).full("e2e4 e7e5", time_ms=2_000), Consult).question.patience_s
    assert long_s == WAITS.source_answer.total_seconds()
    assert short_s == pytest.approx(0.05)


def test_advice_for_an_earlier_position_is_passed_over() -> None:
    bench, first = consulting()
    bench.hear(advice(first, "e2e4"))
    second = only(bench.state("e2e4 e7e5"), Consult)
    assert bench.hear(advice(first, "d2d4")) == []
    assert only(bench.hear(advice(second, "g1f3")), SendMove).ply == 3


def test_a_game_without_a_clock_tells_the_sources_so() -> None:
    bench = Bench(timed=False, config=Config())
    question = only(bench.full(time_ms=2**31 - 1), Consult).question
    assert (question.remaining_s, question.initial_s) == (None, None)
    assert question.patience_s == WAITS.source_answer.total_seconds()


def test_a_state_read_anew_does_not_ask_the_sources_again() -> None:
    bench, consult = consulting()
    assert bench.full() == []
    assert only(bench.hear(advice(consult, "e2e4")), SendMove).move == "e2e4"


def agreeing(fen: str) -> Bench:
    """A game whose rules let it end by what tables say."""
    rules = {"offer_draw_enabled": True, "resign_enabled": True}
    config = Config.model_validate({"engine": {"draw_or_resign": rules}})
    return Bench(config=config, fen=fen, variant="fromPosition")


def test_a_position_lost_by_the_table_is_resigned() -> None:
    bench = agreeing("4k3/8/8/8/8/8/q7/4K3 w - - 0 1")
    consult = only(bench.full(), Consult)
    assert isinstance(only(bench.hear(advice(consult, "e1f1", wdl=-2)), Resign), Resign)


def test_where_the_table_leaves_the_choice_to_the_engine_its_word_still_counts() -> None:
    bench = agreeing("4k3/8/8/8/8/r7/8/R3K3 w - - 0 1")
    consult = only(bench.full("a1b1 a3a2"), Consult)
    think = only(bench.hear(advice(consult, "b1c1", "b1d1", wdl=0)), Think)
    remember, send = bench.hear(BestMove(GAME, think.search.search_id, "b1c1"))
    assert remember == Remember(Deed.DRAW_OFFER)
    assert isinstance(send, SendMove)
    assert send.offering_draw


# The opponent's time


def pondering(bench: Bench, reply: str | None = "e7e5") -> Think:
    """Our first move is found and sent, and what the engine expects is thought about."""
    think = only(bench.full(), Think)
    sent, supposed = bench.hear(BestMove(GAME, think.search.search_id, "e2e4", reply=reply))
    assert isinstance(sent, SendMove)
    assert isinstance(supposed, Think)
    return supposed


def test_the_expected_reply_is_thought_about_on_the_opponents_time() -> None:
    bench = Bench()
    search = pondering(bench).search
    assert search.moves == ("e2e4", "e7e5")
    assert search.limits.ponder
    assert bench.state("e2e4") == [], "our own move is no news"


def test_a_ponder_hit_goes_on_as_the_search_for_our_move() -> None:
    bench = Bench()
    search = pondering(bench).search
    bench.state("e2e4")
    assert bench.state("e2e4 e7e5") == [PonderHit(search.search_id)]
    assert only(bench.hear(BestMove(GAME, search.search_id, "g1f3")), SendMove).move == "g1f3"


def test_another_reply_is_a_new_question() -> None:
    bench = Bench()
    supposed = pondering(bench).search
    bench.state("e2e4")
    search = only(bench.state("e2e4 c7c5"), Think).search
    assert (search.moves, search.limits.ponder) == (("e2e4", "c7c5"), False)
    assert (bench.game.is_asked(supposed.search_id), bench.game.is_asked(search.search_id)) == (False, True)
    assert bench.hear(BestMove(GAME, supposed.search_id, "g1f3")) == []
    only(bench.hear(BestMove(GAME, search.search_id, "g1f3")), SendMove)


def test_an_answer_before_the_hit_is_kept_for_it() -> None:
    bench = Bench()
    search = pondering(bench).search
    assert bench.hear(BestMove(GAME, search.search_id, "g1f3")) == []
    hit, sent = bench.state("e2e4 e7e5")
    assert hit == PonderHit(search.search_id)
    assert sent == SendMove(GAME, 3, "g1f3")


def test_an_engine_that_hangs_after_a_ponder_hit_is_stopped_and_replaced() -> None:
    bench = Bench()
    pondering(bench)
    bench.state("e2e4 e7e5")
    only(bench.wait_until_due(), StopThinking)
    kill, think = bench.wait_until_due()
    assert isinstance(kill, KillEngine)
    assert isinstance(think, Think)
    assert not think.search.limits.ponder


def test_an_engine_that_dies_while_pondering_costs_nothing_and_ponders_no_more() -> None:
    bench = Bench()
    search = pondering(bench).search
    assert bench.hear(EngineDied(GAME, search.search_id, "ended by itself")) == []
    think = only(bench.state("e2e4 e7e5"), Think)
    only(bench.hear(BestMove(GAME, think.search.search_id, "g1f3", reply="b8c6")), SendMove)


@pytest.mark.parametrize("reply", [None, "e2e4", "a1a8", "0000", "e7e5q"])
def test_an_impossible_reply_is_not_thought_about(reply: str | None) -> None:
    bench = Bench()
    think = only(bench.full(), Think)
    only(bench.hear(BestMove(GAME, think.search.search_id, "e2e4", reply=reply)), SendMove)


def test_a_reply_that_ends_the_game_is_not_thought_about() -> None:
    bench = Bench()
    think = only(bench.full("f2f3 e7e5"), Think)
    only(bench.hear(BestMove(GAME, think.search.search_id, "g2g4", reply="d8h4")), SendMove)


def test_the_search_on_the_opponents_time_ends_with_a_takeback() -> None:
    bench = Bench()
    think = only(bench.full("e2e4 e7e5"), Think)
    bench.hear(BestMove(GAME, think.search.search_id, "g1f3", reply="b8c6"))
    bench.state("e2e4 e7e5 g1f3")
    only(bench.full("e2e4"), StopThinking)


def test_the_only_legal_move_is_sent_at_once() -> None:
    fen = "k7/8/8/8/8/6q1/8/7K w - - 0 1"  # the queen leaves the king no square
    bench = Bench(variant="fromPosition", fen="k7/8/8/8/8/8/6q1/7K w - - 0 1")
    assert only(bench.full(), SendMove).move == "h1g2"
    assert Bench(variant="fromPosition", fen=fen).full() == [], "stalemate leaves no move at all"


def test_the_only_legal_move_ends_a_wrong_supposition() -> None:
    bench = Bench(variant="fromPosition", fen="k7/8/8/8/8/7q/8/K7 w - - 0 1")
    think = only(bench.full(), Think)
    bench.hear(BestMove(GAME, think.search.search_id, "a1b1", reply="a8b8"))
    stop, sent = bench.state("a1b1 h3a3")
    assert stop == StopThinking()
    assert sent == SendMove(GAME, 3, "b1c2")


def test_a_move_that_left_late_makes_the_hit_a_new_question() -> None:
    bench = Bench()
    pondering(bench)
    search = only(bench.state("e2e4 e7e5", time_ms=50_000), Think).search
    assert not search.limits.ponder
    assert search.limits.white_time_ms == 50_000


def consulting_after_the_expected_reply() -> tuple[Bench, Search, Consult]:
    bench, consult = consulting()
    think = only(bench.hear(advice(consult)), Think)
    _, supposed = bench.hear(BestMove(GAME, think.search.search_id, "e2e4", reply="e7e5"))
    assert isinstance(supposed, Think)
    return bench, supposed.search, only(bench.state("e2e4 e7e5"), Consult)


def test_while_the_sources_are_asked_the_engine_goes_on_with_what_it_expected() -> None:
    bench, search, consult = consulting_after_the_expected_reply()
    assert bench.hear(advice(consult)) == [PonderHit(search.search_id)]
    bench, search, consult = consulting_after_the_expected_reply()
    assert bench.wait(consult.question.patience_s) == [PonderHit(search.search_id)]
    assert only(bench.hear(BestMove(GAME, search.search_id, "g1f3")), SendMove).move == "g1f3"


def test_a_move_of_the_sources_ends_what_the_engine_expected() -> None:
    bench, search, consult = consulting_after_the_expected_reply()
    assert bench.hear(advice(consult, "g1f3")) == [StopThinking(), SendMove(GAME, 3, "g1f3")]
    assert bench.hear(BestMove(GAME, search.search_id, "d2d4")) == []


def test_of_several_moves_the_engine_chooses_anew() -> None:
    bench, _, consult = consulting_after_the_expected_reply()
    search = only(bench.hear(advice(consult, "g1f3", "b1c3")), Think).search
    assert (search.only, search.limits.ponder) == (("g1f3", "b1c3"), False)


def test_without_ponder_nothing_is_thought_about() -> None:
    bench = Bench()
    bench.game.engine = EngineConfig(ponder=False, own_book=False)
    think = only(bench.full(), Think)
    only(bench.hear(BestMove(GAME, think.search.search_id, "e2e4", reply="e7e5")), SendMove)


# Moves that wait although they need not


TEN_PLIES = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7"


def test_fake_thinking_keeps_a_move_back_from_the_sixth_on() -> None:
    bench = Bench(fake_think_time=True)
    think = only(bench.full(TEN_PLIES), Think)
    bench.now += 0.5
    assert bench.hear(BestMove(GAME, think.search.search_id, "f1e1")) == []
    assert bench.wait(0.9) == []
    assert bench.wait(0.11) == [SendMove(GAME, 11, "f1e1")], "2.5 % of a minute"


def test_thinking_counts_as_fake_thinking() -> None:
    bench = Bench(fake_think_time=True)
    think = only(bench.full(TEN_PLIES), Think)
    bench.now += 1.6
    only(bench.hear(BestMove(GAME, think.search.search_id, "f1e1")), SendMove)


def test_the_opening_is_not_thought_about_in_show() -> None:
    bench = Bench(fake_think_time=True)
    bench.owing()


def test_the_rate_limiting_delay_lies_between_two_moves_of_a_game() -> None:
    bench = Bench(rate_limiting_delay=1000)
    bench.owing()
    bench.now += 0.3
    think = only(bench.state("e2e4 e7e5"), Think)
    assert bench.hear(BestMove(GAME, think.search.search_id, "g1f3")) == []
    assert only(bench.wait_until_due(), SendMove).move == "g1f3"
    assert bench.now == pytest.approx(1001.0)


def test_a_wished_pause_never_costs_more_than_the_clock_can_bear() -> None:
    bench = Bench(rate_limiting_delay=60_000)
    bench.owing()
    think = only(bench.state("e2e4 e7e5", time_ms=4000), Think)
    assert bench.hear(BestMove(GAME, think.search.search_id, "g1f3")) == []
    assert only(bench.wait_until_due(), SendMove).move == "g1f3"
    assert bench.now == pytest.approx(1000.1), "a fortieth of four seconds"


def test_a_move_that_waits_is_doubted_with_its_stream() -> None:
    bench = Bench(fake_think_time=True)
    think = only(bench.full(TEN_PLIES), Think)
    bench.hear(BestMove(GAME, think.search.search_id, "f1e1"))
    only(bench.state(TEN_PLIES[:-10]), ReopenStream)
    assert bench.wait(2.0) == []


# Days for a move


def by_days() -> Bench:
    bench = Bench(timed=False)
    bench._full |= {"daysPerTurn": 3}
    bench.game.engine = EngineConfig(move_time_ms=7000, own_book=False)
    return bench


def test_a_correspondence_move_is_thought_about_for_a_fixed_time() -> None:
    limits = only(by_days().full(time_ms=3 * 86_400_000), Think).search.limits
    assert (limits.move_time_ms, limits.white_time_ms) == (7000, None)


def test_a_correspondence_game_is_not_aborted_for_its_first_move() -> None:
    bench = by_days()
    assert bench.full("e2e4", time_ms=3 * 86_400_000) == []
    assert bench.wait(86_400.0) == []


def test_we_are_idle_from_when_our_move_shows_until_it_is_answered() -> None:
    bench = by_days()
    bench.owing()
    assert bench.game.idle_since is None, "the move may still be lost"
    bench.now += 1
    bench.state("e2e4")
    bench.now += 1
    bench.state("e2e4")
    assert bench.game.idle_since == 1001.0
    assert not bench.game.engine_wanted
    bench.state("e2e4 e7e5")
    assert bench.game.idle_since is None
    assert bench.game.engine_wanted


def test_who_sits_down_again_begins_anew() -> None:
    bench = by_days()
    first = only(bench.full("e2e4 e7e5"), Think).search
    bench.game.join(bench.now)
    assert bench.game.idle_since is None
    assert not bench.game.engine_wanted
    second = only(bench.full("e2e4 e7e5"), Think).search
    assert bench.hear(BestMove(GAME, first.search_id, "g1f3")) == []
    only(bench.hear(BestMove(GAME, second.search_id, "g1f3")), SendMove)
    bench.game.join(bench.now)
    assert bench.full("e2e4 e7e5 g1f3") == []
    assert bench.game.idle_since == bench.now


def test_a_move_that_was_not_seen_before_we_left_is_sent_again() -> None:
    bench = by_days()
    sent = bench.owing()
    bench.game.join(bench.now)
    assert bench.full() == [sent]
