"""The session of one game, with reports handed in instead of threads that send them."""

import logging
import math
import time
from dataclasses import replace
from datetime import timedelta
from queue import SimpleQueue
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from engine.facade import Board
from lichessbot.config import Config, EngineConfig
from lichessbot.errors import Refused
from lichessbot.games.actions import PonderHit, RecordAction, ReopenStream
from lichessbot.games.move_search import ChosenMove, Stage
from lichessbot.games.pace import Pace
from lichessbot.games.recording.archive import GameArchive
from lichessbot.games.session import GameSession
from lichessbot.games.time_budget import MoveOverhead
from lichessbot.lichess.commands import CommandDone, CommandFailed, ReadChat, Say, SendMove
from lichessbot.lichess.enums import ChatRoom, Colour, Speed
from lichessbot.lichess.models import GameFull, GameInfo, GameState
from lichessbot.lichess.outbox import Outbox
from lichessbot.lichess.streams import StreamEvent, StreamLost
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.storage.store import LimitedAction
from lichessbot.uci.search import BestMove, EngineDied, Search, SearchInfo
from tests.lichessbot.games.bench import GAME, state


def opened(session: GameSession, *, black: bool, moves: str = "", now: float | None = None, **fields: Any) -> float:
    """The session reads its game's first state, at the time that is returned."""
    us = {"id": "testbot", "name": "TestBot", "title": "BOT"}
    them = {"id": "ferdinand", "name": "Ferdinand", "rating": 1720}
    players = {"white": them if black else us, "black": us if black else them}
    facts: dict[str, Any] = {"clock": {"initial": 60_000, "increment": 2000}, "speed": "blitz", "rated": True, **fields}
    full = {"id": GAME, "variant": {"key": "standard"}, **players, "state": state(moves), **facts}
    now = time.monotonic() if now is None else now
    session.handle(StreamEvent(GAME, GameFull.model_validate(full), now))
    return now


def asked(session: GameSession) -> int:
    """Return the id of the search that was asked for, and failed."""
    failed = session._context.inbox.get_nowait()
    assert isinstance(failed, EngineDied)
    assert failed.search_id is not None
    return failed.search_id


def answer(session: GameSession, move: str, summary: SearchInfo) -> None:
    session.handle(BestMove(GAME, asked(session), move, summary))


def move_shown(session: GameSession, moves: str, **clocks: int) -> None:
    session.handle(StreamEvent(GAME, GameState.model_validate(state(moves) | clocks), time.monotonic()))


@pytest.mark.parametrize(
    ("fields", "until"),
    [({"clock": {"initial": 60_000, "increment": 0}}, 1120.0), ({"clock": None, "daysPerTurn": 1}, -math.inf)],
)
def test_the_clocks_of_a_timed_game_have_run_out_after_both_together(
    session: GameSession, fields: dict[str, Any], until: float
) -> None:
    assert session.clocks_run_until == -math.inf, "not known yet"
    opened(session, black=True, now=1000.0, **fields)
    assert session.clocks_run_until == until


def test_the_log_names_only_answers_that_are_played_as_moves(
    session: GameSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "lichessbot")
    opened(session, black=False)
    search_id = asked(session)
    summary = SearchInfo(depth=3, pv="e2e4 e7e5")
    session.handle(BestMove(GAME, search_id + 1, "d2d4", SearchInfo(depth=2)))
    session.handle(BestMove(GAME, search_id, "e2e4", summary))
    session.handle(BestMove(GAME, search_id, "e2e4", summary))
    (line,) = [record.message for record in caplog.records if record.message.startswith("engine.move ")]
    assert line.startswith(f"engine.move game={GAME} move=e2e4 depth=3")


def test_a_lost_stream_counts_as_a_fault_unless_it_was_reopened_on_request(session: GameSession, context: Any) -> None:
    for on_request in (False, True):
        session.handle(StreamLost(GAME, "reset", timedelta(), on_request=on_request))
    assert context.counters.counted.game_streams_lost == 1
    assert context.outbox.renewed == [GAME, GAME], "the connection for moves may be dead as well"


def test_a_plain_move_does_not_wait_for_a_record_that_a_disk_does_not_take(session: GameSession, context: Any) -> None:
    written = Event()
    context.store.note_done = lambda game_id, kind: written
    move = SendMove(GAME, 1, "e2e4")
    record = RecordAction(LimitedAction.DRAW_OFFER)
    session._game.chosen = ChosenMove(Board(), move.move)
    session._perform([record, replace(move, offering_draw=True), move, Say(GAME, ChatRoom.PLAYER, "Hello.")])
    assert context.outbox.awaited == [written, None, written]


def test_neither_the_search_nor_a_configured_pause_is_part_of_our_reaction(
    session: GameSession, context: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = [1000.0]
    monkeypatch.setattr("lichessbot.games.session.time", SimpleNamespace(monotonic=lambda: now[0]))
    session._game._pace = Pace(Config(humanlike_time=True), GAME)
    opening = state("e2e4 e7e5", time_ms=600_000)
    opened(session, black=False, now=now[0], clock={"initial": 600_000, "increment": 0}, state=opening)
    now[0] += 0.030
    session.handle(BestMove(GAME, asked(session), "g1f3", SearchInfo(depth=3), took_s=0.010))
    pause_s = session._game.pause_s
    assert not context.outbox.sent
    assert pause_s > 0.3
    now[0] += pause_s + 0.005
    session.tick()
    (move,) = context.outbox.sent
    caplog.set_level(logging.DEBUG, "lichessbot")
    session.handle(CommandDone(move, sent_at=now[0], answered_at=now[0] + 0.050))
    assert "reaction_ms=25.000" in caplog.text


def test_a_stream_whose_reader_has_ended_is_read_again(
    session: GameSession, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: list[Any] = []
    stopped: list[float] = []

    def start_reader(*arguments: object) -> Any:
        reader = SimpleNamespace(is_alive=lambda: len(readers) > 1, asked=[], is_queued=False)
        reader.start, reader.reopen = lambda: None, lambda: reader.asked.append(reader.due_at)
        reader.told_tried_at, reader.tried_at = arguments[-1], float(len(readers))
        reader.stop = lambda: stopped.append(reader.tried_at)
        readers.append(reader)
        return reader

    monkeypatch.setattr("lichessbot.games.session.StreamReader", start_reader)
    context.open_api = lambda read_timeout: None
    session._read()
    session._perform([ReopenStream("the game's state did not arrive")])
    assert len(readers) == 2, "the first has ended"
    session._perform([ReopenStream("the game's state did not arrive")])
    assert (len(readers), readers[1].asked) == (2, [None])
    session.handle(StreamLost(GAME, "reset", timedelta()))
    due_at = session._game.monitor.opening_due_at
    assert due_at is not None
    assert readers[1].due_at == due_at, "the reader tries again by itself"
    session._perform([ReopenStream("the next attempt is due")])
    assert readers[1].asked == [None, due_at]
    readers[1].is_queued = True
    session._perform([ReopenStream("no connection within the time limit", hangs=True)])
    assert len(readers) == 2, "our own limit delays it, and a new reader would wait as long"
    readers[1].is_queued = False
    session._perform([ReopenStream("no connection within the time limit", hangs=True)])
    assert len(readers) == 3
    assert [it.told_tried_at for it in readers] == [None, 0.0, 1.0], "only a stream's very first opening never waits"
    assert stopped == [0.0, 1.0], "one that hangs would read the game beside its successor once it goes on"


def test_a_ponder_hit_makes_an_expected_position_count_for_variety(session: GameSession, context: Any) -> None:
    hits: list[str] = []
    context.opening_variety.ponder_hit = hits.append
    session._perform([PonderHit(1)])
    assert hits == [GAME]


def test_an_abort_that_a_rate_limit_holds_back_is_not_sent_once_the_opponent_has_moved(
    session: GameSession, context: Any
) -> None:
    sent: list[str] = []
    reports: SimpleQueue[Any] = SimpleQueue()
    api: Any = SimpleNamespace(abort=sent.append, resign=sent.append, sent_at=0.0, close=lambda: None)
    context.outbox = Outbox(lambda read_timeout: api, reports.put, context.timeouts, context.rate_limiter)
    context.rate_limiter.hold_back(timedelta(minutes=1))
    opened(session, black=True)
    session._perform(session._game.tick(time.monotonic() + 31.0))
    assert context.outbox.unanswered == {"abort": 1}
    move_shown(session, "e2e4")
    assert not context.outbox.unanswered
    context.outbox.close()
    assert not sent


def test_a_correspondence_engine_is_ended_after_each_move_and_its_successor_gets_as_much_time(
    session: GameSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[bool] = []
    monkeypatch.setattr(session._engine, "end", lambda: ended.append(True))
    session.info = session.info.model_copy(update={"speed": Speed.CORRESPONDENCE})
    opened(session, black=False, clock=None, daysPerTurn=2)
    assert not ended, "it searches"
    answer(session, "e2e4", SearchInfo(depth=3))
    assert not session._game.search.engine_wanted
    assert ended
    move_shown(session, "e2e4 e7e5")
    assert session._game.search._pending.stage is Stage.STARTING


def test_the_engine_of_a_game_with_a_clock_is_neither_started_while_it_searches_nor_ended_by_a_move(
    session: GameSession,
) -> None:
    opened(session, black=False)
    session._engine.start = session._engine.end = pytest.fail
    session._start_engine()
    answer(session, "e2e4", SearchInfo(depth=3))


def test_a_move_that_variety_prefers_is_sent(session: GameSession, context: Any) -> None:
    context.opening_variety.choose_move = lambda answer: replace(answer, move="d2d4")
    opened(session, black=False)
    answer(session, "e2e4", SearchInfo(depth=3))
    assert [it.move for it in context.outbox.sent] == ["d2d4"]


def test_a_chat_that_cannot_be_read_costs_nothing(
    session: GameSession, context: Any, caplog: pytest.LogCaptureFixture
) -> None:
    opened(session, black=True, clock=None, daysPerTurn=2)
    session.handle(CommandFailed(ReadChat(GAME), Refused(403, "not yours")))
    assert context.outbox.sent == [ReadChat(GAME)]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_stream_whose_thread_cannot_be_started_is_read_a_little_later(
    session: GameSession, context: Any, no_thread_once: None
) -> None:
    api = SimpleNamespace(close=lambda: None, game_stream=lambda game_id: iter(()))
    context.open_api = lambda read_timeout: api
    session._read()
    lost = context.inbox.get_nowait()
    assert isinstance(lost, StreamLost)
    session.handle(lost)
    assert session.wake_at is not None
    session._perform([ReopenStream("the next attempt is due")])
    assert session._reader.ident is not None
    session._reader.stop()


# For the operator


def test_the_end_of_a_game_is_told_though_its_archive_gets_no_thread(
    session: GameSession, context: Any, no_thread_once: None, caplog: pytest.LogCaptureFixture
) -> None:
    context.archive = GameArchive(context.store, context.counters.counted)
    over = state("e2e4 e7e5 g1f3", status="resign", winner="black")
    opened(session, black=False, state=over)
    assert session.over_for_certain
    assert context.inbox.get_nowait().result == "lost"
    assert "thread.not_started" in caplog.text


@pytest.mark.parametrize("watched", [False, True])
def test_the_end_says_whether_the_game_was_watched(session: GameSession, context: Any, watched: bool) -> None:
    """Our last move may cross the end: the stream is opened again then, and its first state is the last one."""
    context.archive = SimpleNamespace(put=lambda game, config: None)
    if watched:
        opened(session, black=True)
    opened(session, black=True, state=state("e2e4 e7e5", status="resign", winner="black"))
    assert context.inbox.get_nowait().was_watched is watched


def test_a_game_is_described_as_it_was_announced_until_its_state_comes(session: GameSession) -> None:
    info = {"gameId": GAME, "color": "black", "variant": {"key": "chess960"}, "speed": "rapid", "rated": True}
    session.info = GameInfo.model_validate({**info, "opponent": {"id": "x", "username": "BOT X", "rating": 9}})
    it = session.describe(time.monotonic())
    assert (it.game_id, it.url, it.fen, it.moves, it.evaluation) == (GAME, f"https://lichess.org/{GAME}", "", (), None)
    assert (it.variant, it.speed, it.rated, it.time_control) == ("chess960", "rapid", True, "")
    assert {it.white.name, it.black.name} == {"BOT X"}, "our side is known from its state"
    assert (it.to_move, it.clock_runs, it.stream) == (None, False, None)
    session._game.colour = Colour.BLACK
    it = session.describe(time.monotonic())
    assert (it.white.name, it.black.name) == ("BOT X", "testbot"), "or from its announcement"


@pytest.mark.parametrize("black", [False, True])
def test_a_game_is_described_with_clocks_and_the_evaluation_from_whites_view(
    session: GameSession, context: Any, black: bool
) -> None:
    opened_at = opened(session, black=black, moves="e2e4 e7e5 g1f3" if black else "e2e4 e7e5")
    line = "b8c6 f1b5" if black else "g1f3 b8c6"
    summary = SearchInfo(depth=9, nodes=5000, score="cp 31", pv=line, nps=1000)
    answer(session, "b8c6" if black else "g1f3", summary)
    it = session.describe(opened_at + 10.0)
    side = "black" if black else "white"
    assert (it.our_colour, it.to_move, it.clock_runs) == (side, side, True)
    ours, theirs = (it.black, it.white) if black else (it.white, it.black)
    assert (ours.name, ours.title, theirs.name, theirs.rating) == ("TestBot", "BOT", "Ferdinand", 1720)
    assert ours.clock_s == pytest.approx(50.0)
    assert theirs.clock_s == 60.0
    assert (it.time_control, it.speed, it.rated, it.moves[:2]) == ("1+2", "blitz", True, ("e2e4", "e7e5"))
    found = it.evaluation
    assert (found.source, found.score_cp, found.mate_in, found.depth) == ("engine", -31 if black else 31, None, 9)
    assert found.line == tuple(summary.pv.split())
    assert found.line_san == (("Nc6", "Bb5") if black else ("Nf3", "Nc6"))
    assert session.describe(time.monotonic()).evaluation is found, "described once"
    assert context.counters.engine(()).nodes_per_s == 1000


@pytest.mark.parametrize(("score", "found"), [("mate 3", (None, -3)), ("mate -2", (None, 2)), ("", (None, None))])
def test_a_mate_is_told_from_whites_view_too(
    session: GameSession, score: str, found: tuple[int | None, int | None]
) -> None:
    opened(session, black=True, moves="e2e4")
    answer(session, "e7e5", SearchInfo(score=score))
    it = session.describe(time.monotonic()).evaluation
    assert (it.score_cp, it.mate_in) == found


@pytest.mark.parametrize(
    ("fields", "told", "clock_s"),
    [
        ({"clock": None, "daysPerTurn": 2}, "2 days per move", 60.0),
        ({"clock": {"initial": 30_000, "increment": 0}}, "0.5+0", 60.0),
    ],
)
def test_the_time_control_is_told_as_on_lichess(
    session: GameSession, fields: dict[str, Any], told: str, clock_s: float
) -> None:
    opened(session, black=False, **fields)
    it = session.describe(time.monotonic() + 30.0)
    assert (it.time_control, it.white.clock_s, it.clock_runs) == (told, clock_s, False)


def test_an_illegal_move_ends_the_line_that_is_shown(session: GameSession) -> None:
    opened(session, black=False)
    answer(session, "e2e4", SearchInfo(score="cp 1", pv="e2e4 e7e5 e4e5 g1f3"))
    it = session.describe(time.monotonic()).evaluation
    assert (len(it.line), it.line_san) == (4, ("e4", "e5"))


def sources_told(session: GameSession, moves: str) -> list[str | None]:
    """Show our move on the stream; return its source by the status, by the list of moves, and by the records."""
    rows: list[Any] = []
    session._context.store.record = lambda *all_: rows.extend(row for _, found in all_ for row in found)
    found = session.describe(time.monotonic()).evaluation
    assert (found.move, found.depth) == (moves.split()[-1], 0)
    move_shown(session, moves)
    return [found.source, session.describe(time.monotonic()).played[-1].source, rows[-1][4]]


def test_a_move_that_the_daemon_found_itself_has_one_source_everywhere(
    session: GameSession, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lichessbot.games.session.fallback_move", lambda board, time_s: "e2e4")
    opened(session, black=False)
    while not context.inbox.empty():
        session.handle(context.inbox.get_nowait())
    assert sources_told(session, "e2e4") == ["fallback"] * 3
    assert context.counters.counted.moves_without_engine == 1


def test_a_move_in_place_of_one_that_the_engine_was_not_to_choose_has_one_source_everywhere(
    session: GameSession,
) -> None:
    opened(session, black=True)
    session._game.engine = session._game.engine.model_copy(update={"own_book": True})
    moves = ("e7e5", "c7c5")
    tables: Any = SimpleNamespace(ask=lambda question: SourceAnswer(GAME, question.search_id, moves, "table"))
    session._resolver = tables
    move_shown(session, "e2e4")
    answer(session, "a7a6", SearchInfo(depth=9, score="cp 30", pv="a7a6"))
    assert sources_told(session, "e2e4 e7e5") == ["fallback", "table, fallback", "fallback"]


def test_the_chat_tells_of_no_search_whose_answer_is_not_played(session: GameSession) -> None:
    opened(session, black=False)
    answer(session, "e2e4", SearchInfo(depth=3))
    session.handle(BestMove(GAME, 99, "d8h4", SearchInfo(depth=18)))
    assert session._chat._last_search == SearchInfo(depth=3)


def test_the_time_for_a_move_is_that_of_the_engine_of_the_game(session: GameSession) -> None:
    assert session.move_time_s == 0.0
    session._game.engine = EngineConfig(move_time_ms=600_000)
    assert session.move_time_s == 600.0


def test_a_session_that_is_over_is_no_part_of_a_cycle_with_its_chat(session: GameSession) -> None:
    """Python would rarely look for it there, and keep the memory of many games meanwhile."""
    facts = session._chat._facts
    for ask in (facts.engine, facts.identity, facts.board, facts.takebacks_granted, facts.round_trip_s):
        assert session not in [cell.cell_contents for cell in ask.__closure__ or ()]


def test_the_round_trip_of_a_game_is_that_of_its_latest_move(session: GameSession) -> None:
    opened(session, black=False)
    assert session.describe(time.monotonic()).round_trip_s is None
    for answered_at in (10.5, 10.25):
        session.handle(CommandDone(SendMove(GAME, 1, "e2e4"), sent_at=10.0, answered_at=answered_at))
    assert session.describe(time.monotonic()).round_trip_s == 0.25
    assert session._chat._facts.round_trip_s() == 0.25, "whatever other games measure"


def test_the_overhead_covers_what_the_clock_loses_while_the_stream_is_late(session: GameSession) -> None:
    opened(session, black=False, moves="e2e4 e7e5")
    answer(session, "g1f3", SearchInfo())
    session.handle(CommandDone(SendMove(GAME, 3, "g1f3"), sent_at=10.0, answered_at=10.25))
    move_shown(session, "e2e4 e7e5 g1f3", wtime=10_000)
    assert session._game.clock.round_trip_s == session._game.engine.max_move_overhead_ms / 1000


def test_the_time_of_rare_slow_answers_is_reserved_once(
    session: GameSession, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    context.overhead = MoveOverhead([50.0] * 49 + [1050.0])
    asked: list[tuple[EngineConfig, Search, int]] = []
    monkeypatch.setattr(session._engine, "search", lambda *question: asked.append(question))
    opened(session, black=False, moves="e2e4 e7e5")
    ((_, search, overhead_ms),) = asked
    assert overhead_ms == 70
    assert 1 <= (search.limits.white_time_ms or 0) <= 60_000 - 3 * 980


def test_each_search_says_who_the_opponent_is(session: GameSession, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(session._engine, "search", lambda _engine, search, _overhead_ms: told.append(search.opponent))
    opened(session, black=False, moves="e2e4 e7e5")
    assert told == ["none 1720 human Ferdinand"]


def test_the_engine_that_the_stream_asks_for_starts_while_the_opponent_thinks(
    session: GameSession, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Announcements lack the clock, and the records of an earlier process nearly everything."""
    profile = {"when": {"clock": ["1+0"]}, "engine": {"command": ["slow-engine"]}}
    context.config = Config.model_validate({"profiles": [profile]})
    started: list[EngineConfig] = []
    monkeypatch.setattr(session._engine, "start", started.append)
    opened(session, black=True, clock={"initial": 60_000, "increment": 0})
    assert [it.command for it in started] == [("slow-engine",)]


@pytest.mark.parametrize("has_slot", [True, False])
def test_a_game_without_a_slot_gets_its_engine_with_its_first_search(
    session: GameSession, has_slot: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[EngineConfig] = []
    monkeypatch.setattr(session, "_read", lambda: None)
    monkeypatch.setattr(session._engine, "start", started.append)
    session.start(has_slot=has_slot)
    assert len(started) == has_slot
