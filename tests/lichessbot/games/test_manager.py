"""Which announced and listed games are joined."""

import math
import time
from functools import partial
from queue import SimpleQueue
from types import SimpleNamespace
from typing import cast

import pytest

from lichessbot.config import Config
from lichessbot.games import manager as games_manager
from lichessbot.games.manager import GameManager
from lichessbot.games.session import GameContext, GameSession
from lichessbot.inbox import Inbox, ListedGame, Report
from lichessbot.lichess.models import GameInfo, Opponent
from lichessbot.lichess.streams import PlayingWanted
from lichessbot.timeouts import Timeouts
from lichessbot.uci.machine import Machine
from lichessbot.uci.search import NO_GAME, EngineDied
from tests.lichessbot.machines import UNKNOWN_MACHINE

INFO = GameInfo.model_validate({"gameId": "abcd1234", "variant": {"key": "standard"}, "speed": "blitz"})


def test_a_late_announcement_does_not_begin_a_game_again(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: list[GameInfo] = []
    manager = GameManager(SimpleQueue(), Timeouts())
    monkeypatch.setattr(manager, "_start_session", joined.append)
    store = SimpleNamespace(note_game=lambda *facts, has_clock: None)
    context = cast(GameContext, SimpleNamespace(config=Config(), store=store))
    manager._ended_at["abcd1234"] = time.monotonic()
    manager.join(INFO, context)
    assert joined == []
    other = INFO.model_copy(update={"game_id": "efgh5678"})
    manager.join(other, context)
    assert joined == [other]


def test_a_game_that_ended_is_joined_again_only_if_a_later_list_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: list[GameInfo] = []
    manager, ended_at = GameManager(SimpleQueue(), Timeouts()), time.monotonic()
    monkeypatch.setattr(manager, "_start_session", joined.append)
    store = SimpleNamespace(note_game=lambda *facts, has_clock: None)
    context = cast(GameContext, SimpleNamespace(config=Config(), store=store))
    manager._ended_at["abcd1234"] = ended_at
    for asked_at in (ended_at - 2, ended_at - 1):
        manager.compare([INFO], asked_at, context)
        assert joined == []
    manager.compare([INFO], ended_at + 1, context)
    assert joined == [INFO]


def test_a_game_left_without_a_known_end_is_looked_for_in_several_lists() -> None:
    inbox: Inbox = SimpleQueue()
    manager = GameManager(inbox, Timeouts())
    session = SimpleNamespace(
        game_id="abcd1234", over=True, over_for_certain=False, handle=lambda report: None, close=lambda: None
    )
    manager._sessions["abcd1234"] = cast(GameSession, session)
    manager.tell("abcd1234", ListedGame("abcd1234", None, 0.0, is_whole=True))
    assert inbox.get_nowait() == PlayingWanted("a game was left without a known end", again=True)


@pytest.mark.parametrize(("speed", "has_clock"), [("blitz", True), ("correspondence", False)])
def test_a_game_is_recorded_once_when_it_is_joined(
    monkeypatch: pytest.MonkeyPatch, speed: str, *, has_clock: bool
) -> None:
    manager, recorded = GameManager(SimpleQueue(), Timeouts()), list[tuple[str, str, bool]]()
    session = cast(GameSession, SimpleNamespace(info=INFO, game_id=INFO.game_id))
    monkeypatch.setattr(manager, "_start_session", lambda info: manager._sessions.update({info.game_id: session}))
    store = SimpleNamespace(note_game=lambda game_id, name, has_clock: recorded.append((game_id, name, has_clock)))
    context = cast(GameContext, SimpleNamespace(config=Config(), store=store))
    info = INFO.model_copy(update={"speed": speed, "opponent": Opponent(username="Karl")})
    manager.join(info, context)
    manager.join(info, context)
    assert recorded == [("abcd1234", "Karl", has_clock)]


def test_a_game_that_programs_may_not_play_is_left_alone_also_when_the_list_shows_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The list does not say that they may not."""
    joined: list[GameInfo] = []
    manager = GameManager(SimpleQueue(), Timeouts())
    monkeypatch.setattr(manager, "_start_session", joined.append)
    context = cast(GameContext, SimpleNamespace(config=Config()))
    manager.join(GameInfo.model_validate(INFO.model_dump(by_alias=True) | {"compat": {"bot": False}}), context)
    for games in ([], [INFO]):  # the first was requested before the game began
        manager.compare(games, time.monotonic(), context)
    assert joined == []
    assert caplog.text.count("game.left_alone") == 1


def test_clocks_run_until_those_of_all_games_have_run_out() -> None:
    manager = GameManager(SimpleQueue(), Timeouts())
    assert manager.clocks_run_until == -math.inf
    for game_id, until in (("abcd1234", 50.0), ("efgh5678", 100.0), ("ijkl9012", -math.inf)):
        manager._sessions[game_id] = cast(GameSession, SimpleNamespace(clocks_run_until=until))
    assert manager.clocks_run_until == 100.0


def test_the_streams_of_all_games_retry_at_once_when_another_one_opens() -> None:
    manager, retried = GameManager(SimpleQueue(), Timeouts()), list[str]()
    for game_id in ("abcd1234", "efgh5678"):
        retry_now = partial(retried.append, game_id)
        manager._sessions[game_id] = cast(GameSession, SimpleNamespace(retry_now=retry_now))
    manager.retry_now()
    assert retried == ["abcd1234", "efgh5678"]


def test_an_engine_that_dies_between_two_games_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    GameManager(SimpleQueue(), Timeouts()).tell(NO_GAME, EngineDied(NO_GAME, None, "killed by SIGKILL"))
    assert "engine.died" in caplog.text


def test_a_join_counts_all_games_in_progress_also_correspondence_games(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    manager = GameManager(SimpleQueue(), Timeouts())
    store = SimpleNamespace(note_game=lambda *facts, has_clock: None)
    context = cast(GameContext, SimpleNamespace(config=Config(), store=store))
    for number in (1, 2, 3):
        facts = {"game_id": f"game{number:04}", "speed": "correspondence", "opponent": Opponent(username="Karl")}
        manager.join(INFO.model_copy(update=facts), context)
    assert [it.partition(" games=")[2] for it in caplog.messages if it.startswith("game.join")] == ["1", "2", "3"]


@pytest.mark.parametrize("theirs", [0, 1, 50])
def test_a_full_list_is_read_again_at_once_only_if_it_may_lack_turns_of_ours(
    monkeypatch: pytest.MonkeyPatch, theirs: int
) -> None:
    """The games with our turn come first."""
    inbox: Inbox = SimpleQueue()
    manager = GameManager(inbox, Timeouts())
    waiting = manager._correspondence
    monkeypatch.setattr(manager, "_start_session", lambda info: waiting.put_back(info.game_id, math.inf))
    store = SimpleNamespace(note_game=lambda *facts, has_clock: None)
    context = cast(GameContext, SimpleNamespace(config=Config(), store=store, machine=UNKNOWN_MACHINE))
    by_days = INFO.model_copy(update={"speed": "correspondence", "opponent": Opponent(username="Karl")})
    turns = [True] * (50 - theirs) + [False] * theirs
    games = [
        by_days.model_copy(update={"game_id": f"game{number:04}", "is_my_turn": ours})
        for number, ours in enumerate(turns)
    ]
    manager.compare(games, time.monotonic(), context)
    manager.tick()
    assert inbox.empty() is (theirs > 0)


@pytest.mark.parametrize(("listed", "is_whole"), [(0, True), (49, True), (50, False)])
def test_a_game_that_a_list_lacks_is_told_so_and_whether_the_list_is_whole(listed: int, is_whole: bool) -> None:
    manager, told = GameManager(SimpleQueue(), Timeouts()), list[Report]()
    session = SimpleNamespace(game_id="abcd1234", info=INFO, over=False, handle=told.append)
    manager._sessions["abcd1234"] = cast(GameSession, session)
    others = [INFO.model_copy(update={"game_id": f"game{number:04}"}) for number in range(listed)]
    manager._failures.update({info.game_id: 4 for info in others})  # they are left alone
    now = time.monotonic()
    manager.compare(others, now, cast(GameContext, SimpleNamespace(config=Config())))
    assert told == [ListedGame("abcd1234", None, now, is_whole=is_whole)]


@pytest.mark.parametrize(
    ("listed", "seen_s_ago", "is_visited"), [(0, 1, True), (50, 1, False), (50, 3600, True)]
)
def test_a_correspondence_game_that_a_list_lacks_is_visited_unless_the_list_is_full(
    listed: int, seen_s_ago: float, is_visited: bool
) -> None:
    manager, now = GameManager(SimpleQueue(), Timeouts()), time.monotonic()
    theirs = INFO.model_copy(update={"speed": "correspondence", "is_my_turn": False})
    manager._correspondence.note(theirs, now - seen_s_ago)
    others = [INFO.model_copy(update={"game_id": f"game{number:04}"}) for number in range(listed)]
    manager._failures.update({info.game_id: 4 for info in others})  # they are left alone
    manager.compare(others, now, cast(GameContext, SimpleNamespace(config=Config())))
    assert (manager._correspondence.next(now, ()) is theirs) is is_visited


def test_a_refused_list_has_correspondence_games_visited_that_were_not_looked_at_for_long() -> None:
    manager = GameManager(SimpleQueue(), Timeouts())
    manager.list_refused()  # before any game is known
    manager._context = cast(GameContext, SimpleNamespace(config=Config()))
    games, now = manager._correspondence, time.monotonic()
    theirs = INFO.model_copy(update={"speed": "correspondence", "is_my_turn": False})
    games.note(theirs, now - Config().correspondence.checkin_period)
    games.note(theirs.model_copy(update={"game_id": "lately11"}), now)
    assert games.next(now, ()) is None
    manager.list_refused()
    assert games.next(now, ()) is theirs
    assert games.next(now, ["abcd1234"]) is None


def test_a_refused_list_is_told_to_games_as_one_that_shows_nothing() -> None:
    manager, told = GameManager(SimpleQueue(), Timeouts()), list[Report]()
    session = SimpleNamespace(game_id="abcd1234", info=INFO, over=False, handle=told.append)
    manager._sessions["abcd1234"] = cast(GameSession, session)
    manager._context = cast(GameContext, SimpleNamespace(config=Config()))
    manager.list_refused()
    (report,) = told
    assert isinstance(report, ListedGame)
    assert (report.info, report.is_whole) == (None, False)


def test_whose_turn_it_is_is_asked_at_every_check_in() -> None:
    inbox: Inbox = SimpleQueue()
    manager = GameManager(inbox, Timeouts())
    store = SimpleNamespace(note_game=lambda *facts, has_clock: None)
    context = cast(GameContext, SimpleNamespace(config=Config(), store=store, machine=UNKNOWN_MACHINE))
    theirs = INFO.model_copy(update={"speed": "correspondence", "is_my_turn": False})
    asked_at = time.monotonic() - 301
    manager.compare([theirs], asked_at, context)
    assert manager.wake_at == asked_at + 300
    asked_at = time.monotonic()
    manager.tick()
    assert inbox.qsize() == 1
    assert manager.wake_at is not None
    assert asked_at + 300 <= manager.wake_at <= time.monotonic() + 300


@pytest.mark.parametrize(("visited_for_s", "suspended"), [(850.0, []), (950.0, ["game0001"])])
def test_a_visit_lasts_as_long_as_the_engine_of_the_game_may_think(
    monkeypatch: pytest.MonkeyPatch, visited_for_s: float, suspended: list[str]
) -> None:
    """A profile gives it ten minutes for a move, while another game waits."""
    manager, gone = GameManager(SimpleQueue(), Timeouts()), list[str]()

    def start(info: GameInfo) -> None:
        began_at = time.monotonic() - visited_for_s
        visit = SimpleNamespace(
            game_id=info.game_id, info=info, idle_since=None, began_at=began_at, move_time_s=600.0, wake_at=None,
            threads=0, suspend=lambda: gone.append(info.game_id),
        )  # fmt: skip
        manager._sessions[info.game_id] = cast(GameSession, visit)

    monkeypatch.setattr(manager, "_start_session", start)
    store = SimpleNamespace(note_game=lambda *facts, has_clock: None)
    context = SimpleNamespace(config=Config(), store=store, machine=UNKNOWN_MACHINE, timeouts=Timeouts())
    by_days = INFO.model_copy(update={"speed": "correspondence", "is_my_turn": True})
    games = [by_days.model_copy(update={"game_id": name}) for name in ("game0001", "game0002")]
    manager.compare(games, time.monotonic(), cast(GameContext, context))
    manager.tick()
    assert list(manager._sessions) == ["game0001"]
    manager.tick()
    assert gone == suspended


@pytest.mark.parametrize(
    ("idle_for_s", "others_turn", "suspended"),
    [(100.0, False, []), (200.0, False, ["game0001"]), (0.0, True, ["game0001"])],
)
def test_after_our_move_a_visit_goes_on_for_disconnect_time_unless_another_game_waits(
    monkeypatch: pytest.MonkeyPatch, idle_for_s: float, others_turn: bool, suspended: list[str]
) -> None:
    manager, gone = GameManager(SimpleQueue(), Timeouts()), list[str]()
    waiting = manager._correspondence
    monkeypatch.setattr(manager, "_start_session", lambda info: waiting.put_back(info.game_id, math.inf))
    by_days = INFO.model_copy(update={"speed": "correspondence", "game_id": "game0001"})
    manager._sessions["game0001"] = cast(GameSession, SimpleNamespace(
        game_id="game0001", info=by_days, idle_since=time.monotonic() - idle_for_s, wake_at=None, threads=0,
        suspend=lambda: gone.append("game0001"), over=False, handle=lambda report: None,
    ))  # fmt: skip
    store = SimpleNamespace(note_game=lambda *facts, has_clock: None)
    context = SimpleNamespace(config=Config(), store=store, machine=UNKNOWN_MACHINE, timeouts=Timeouts())
    other = by_days.model_copy(update={"game_id": "game0002", "is_my_turn": others_turn})
    manager.compare([by_days, other], time.monotonic(), cast(GameContext, context))
    manager.tick()
    assert gone == suspended


@pytest.mark.parametrize(("threads", "is_free"), [([], True), ([1], True), ([1, 1], False), ([2], False)])
def test_a_review_searches_while_the_games_leave_a_core_free(
    monkeypatch: pytest.MonkeyPatch, threads: list[int], is_free: bool
) -> None:
    manager, told = GameManager(SimpleQueue(), Timeouts()), list[bool]()
    monkeypatch.setattr(manager._reviewer, "give_way", lambda *, core_is_free: told.append(core_is_free))
    manager._context = cast(GameContext, SimpleNamespace(machine=Machine(2, None)))
    for number, each in enumerate(threads):
        manager._sessions[f"game{number:04}"] = cast(GameSession, SimpleNamespace(wake_at=None, threads=each))
    manager.tick()
    assert told == [is_free]


def test_a_correspondence_game_that_a_list_takes_for_another_speed_hides_no_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    manager = GameManager(SimpleQueue(), Timeouts())
    started: list[str] = []
    monkeypatch.setattr(manager, "_start_session", lambda info: started.append(info.game_id))
    store = SimpleNamespace(note_game=lambda *facts, has_clock: None)
    context = cast(GameContext, SimpleNamespace(config=Config(), store=store, machine=UNKNOWN_MACHINE))
    by_days = INFO.model_copy(update={"game_id": "game0001", "speed": "correspondence"})
    manager.compare([by_days], time.monotonic(), context)
    blitz = by_days.model_copy(update={"speed": "blitz"})
    manager.compare([blitz, INFO.model_copy(update={"game_id": "game0002"})], time.monotonic(), context)
    assert started == ["game0002"]


@pytest.mark.parametrize("changed", [False, True])
def test_a_correspondence_game_obeys_a_changed_configuration_at_its_next_visit(
    monkeypatch: pytest.MonkeyPatch, changed: bool
) -> None:
    begun: list[Config] = []

    def begin(info: GameInfo, context: GameContext, _: object) -> SimpleNamespace:
        begun.append(context.config)
        return SimpleNamespace(
            game_id=info.game_id, info=info, idle_since=0.0, wake_at=None, threads=0, over=False,
            start=lambda: None, suspend=lambda: None, tick=lambda: None,
        )  # fmt: skip

    monkeypatch.setattr(games_manager, "GameSession", begin)
    manager = GameManager(SimpleQueue(), Timeouts())
    store = SimpleNamespace(note_game=lambda *facts, has_clock: None)
    by_days = INFO.model_copy(update={"speed": "correspondence", "is_my_turn": True})
    before, now = Config(), Config(max_takebacks_accepted=7)
    for config in (before, now if changed else before):
        context = SimpleNamespace(config=config, store=store, machine=UNKNOWN_MACHINE, timeouts=Timeouts())
        manager.compare([by_days], time.monotonic(), cast(GameContext, context))
        manager.tick()
        assert list(manager._sessions) == [INFO.game_id]
        manager.tick()
        assert not manager._sessions, "the visit is over"
    assert begun == ([before, now] if changed else [before])
