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
from lichessbot.lichess.models import GameInfo, Opponent, VariantRef
from lichessbot.lichess.streams import PlayingWanted
from lichessbot.timeouts import Timeouts
from lichessbot.uci.machine import Machine
from lichessbot.uci.search import NO_GAME, EngineDied
from tests.lichessbot.machines import UNKNOWN_MACHINE

INFO = GameInfo.model_validate({"gameId": "abcd1234", "variant": {"key": "standard"}, "speed": "blitz"})
BY_DAYS = INFO.model_copy(update={"speed": "correspondence", "opponent": Opponent(username="Karl")})
OUR_TURN = BY_DAYS.model_copy(update={"is_my_turn": True})
NOT_OUR_TURN = BY_DAYS.model_copy(update={"is_my_turn": False})


@pytest.fixture
def inbox() -> Inbox:
    return SimpleQueue()


@pytest.fixture
def manager(inbox: Inbox) -> GameManager:
    return GameManager(inbox, Timeouts())


@pytest.fixture
def started(manager: GameManager, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The games that the manager would have started."""
    ids: list[str] = []
    monkeypatch.setattr(manager, "_start_session", lambda info: ids.append(info.game_id))
    return ids


def context(**parts: object) -> GameContext:
    """What the manager asks of its context, with other `parts` than usual."""
    store = SimpleNamespace(note_game=lambda *facts, has_clock: None)
    usual = {"config": Config(), "store": store, "machine": UNKNOWN_MACHINE, "timeouts": Timeouts()}
    return cast(GameContext, SimpleNamespace(**usual | parts))


def under_way(manager: GameManager, game_id: str, **parts: object) -> None:
    """Give the manager a session with these `parts`."""
    session = SimpleNamespace(**{"game_id": game_id, "info": INFO, "over": False} | parts)
    manager._sessions[game_id] = cast(GameSession, session)


def left_alone(manager: GameManager, number: int) -> list[GameInfo]:
    """Return games that the manager does not start, as they have failed too often."""
    games = [INFO.model_copy(update={"game_id": f"game{it:04}"}) for it in range(number)]
    manager._failures.update({info.game_id: 4 for info in games})
    return games


def test_a_late_announcement_does_not_begin_a_game_again(manager: GameManager, started: list[str]) -> None:
    manager._ended_at["abcd1234"] = time.monotonic()
    manager.join(INFO, context())
    manager.compare([], time.monotonic() + 60, context())
    manager.join(INFO, context())
    assert started == [], "nor one that comes after a list without the game"
    manager.join(INFO.model_copy(update={"game_id": "efgh5678"}), context())
    assert started == ["efgh5678"]


def test_ends_are_not_remembered_for_ever(manager: GameManager) -> None:
    manager._ended_at["abcd1234"] = time.monotonic()
    manager.compare([], time.monotonic() + 7200, context())
    assert not manager._ended_at


def test_a_game_that_ended_is_joined_again_only_if_a_later_list_shows_it(
    manager: GameManager, started: list[str]
) -> None:
    ended_at = time.monotonic()
    manager._ended_at["abcd1234"] = ended_at
    for asked_at in (ended_at - 2, ended_at - 1):
        manager.compare([INFO], asked_at, context())
        assert started == []
    manager.compare([INFO], ended_at + 1, context())
    assert started == ["abcd1234"]


def test_the_games_of_a_list_are_joined_where_our_clock_runs_and_by_the_time_left(
    manager: GameManager, started: list[str]
) -> None:
    listed = {"theirs": (False, 3), "untimed1": (True, None), "minute12": (True, 60), "hurry123": (True, 5)}
    facts = ({"game_id": it, "is_my_turn": ours, "seconds_left": left_s} for it, (ours, left_s) in listed.items())
    manager.compare([INFO.model_copy(update=it) for it in facts], time.monotonic(), context())
    assert started == ["hurry123", "minute12", "untimed1", "theirs"]


def test_a_game_left_without_a_known_end_is_looked_for_in_several_lists(manager: GameManager, inbox: Inbox) -> None:
    under_way(
        manager, "abcd1234", over=True, over_for_certain=False, handle=lambda report: None, close=lambda: None
    )
    manager.tell("abcd1234", ListedGame("abcd1234", None, 0.0, is_whole=True))
    assert inbox.get_nowait() == PlayingWanted("a game was left without a known end", again=True)


@pytest.mark.parametrize(("speed", "has_clock"), [("blitz", True), ("correspondence", False)])
def test_a_game_is_recorded_once_when_it_is_joined(
    manager: GameManager, monkeypatch: pytest.MonkeyPatch, speed: str, *, has_clock: bool
) -> None:
    recorded: list[tuple[str, str, bool]] = []
    monkeypatch.setattr(manager, "_start_session", lambda info: under_way(manager, info.game_id))
    store = SimpleNamespace(note_game=lambda game_id, name, has_clock: recorded.append((game_id, name, has_clock)))
    info = INFO.model_copy(update={"speed": speed, "opponent": Opponent(username="Karl")})
    for _ in range(2):
        manager.join(info, context(store=store))
    assert recorded == [("abcd1234", "Karl", has_clock)]


def test_a_game_that_programs_may_not_play_is_left_alone_also_when_the_list_shows_it(
    manager: GameManager, started: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The list does not say that they may not."""
    manager.join(GameInfo.model_validate(INFO.model_dump(by_alias=True) | {"compat": {"bot": False}}), context())
    for games in ([], [INFO]):  # the first was requested before the game began
        manager.compare(games, time.monotonic(), context())
    assert started == []
    assert caplog.text.count("game.left_alone") == 1


def test_a_game_of_an_unknown_variant_is_left_alone(manager: GameManager, started: list[str]) -> None:
    manager.join(INFO.model_copy(update={"variant": VariantRef(key="fromTheFuture")}), context())
    assert started == []


def test_clocks_run_until_those_of_all_games_have_run_out(manager: GameManager) -> None:
    assert manager.clocks_run_until == -math.inf
    for game_id, until in (("abcd1234", 50.0), ("efgh5678", 100.0), ("ijkl9012", -math.inf)):
        under_way(manager, game_id, clocks_run_until=until)
    assert manager.clocks_run_until == 100.0


def test_the_streams_of_all_games_retry_at_once_when_another_one_opens(manager: GameManager) -> None:
    retried: list[str] = []
    for game_id in ("abcd1234", "efgh5678"):
        under_way(manager, game_id, retry_now=partial(retried.append, game_id))
    manager.retry_now()
    assert retried == ["abcd1234", "efgh5678"]


def test_an_engine_that_dies_between_two_games_is_logged(
    manager: GameManager, caplog: pytest.LogCaptureFixture
) -> None:
    manager.tell(NO_GAME, EngineDied(NO_GAME, None, "killed by SIGKILL"))
    assert "engine.died" in caplog.text


def test_a_join_counts_all_games_in_progress_also_correspondence_games(
    manager: GameManager, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    for number in (1, 2, 3):
        manager.join(BY_DAYS.model_copy(update={"game_id": f"game{number:04}"}), context())
    assert [it.partition(" games=")[2] for it in caplog.messages if it.startswith("game.join")] == ["1", "2", "3"]


def test_a_correspondence_game_that_is_announced_again_is_visited_only_in_our_turn(
    manager: GameManager,
) -> None:
    """A new event stream announces all games."""
    manager.compare([NOT_OUR_TURN], time.monotonic(), context())
    manager.join(NOT_OUR_TURN, context())
    assert manager._correspondence.next(time.monotonic(), ()) is None


@pytest.mark.parametrize(("listed", "theirs", "may_lack_turns"), [(49, 0, False), (50, 0, True), (50, 1, False)])
def test_only_a_full_list_that_may_lack_turns_of_ours_is_read_again_at_once(
    manager: GameManager, inbox: Inbox, monkeypatch: pytest.MonkeyPatch, listed: int, theirs: int, *,
    may_lack_turns: bool,
) -> None:
    """The games with our turn come first."""
    waiting = manager._correspondence
    monkeypatch.setattr(manager, "_start_session", lambda info: waiting.put_back(info.game_id, math.inf))
    turns = [True] * (listed - theirs) + [False] * theirs
    games = [
        BY_DAYS.model_copy(update={"game_id": f"game{number:04}", "is_my_turn": ours})
        for number, ours in enumerate(turns)
    ]
    manager.compare(games, time.monotonic(), context())
    manager.tick()
    assert inbox.empty() is not may_lack_turns


@pytest.mark.parametrize(("listed", "is_whole"), [(0, True), (49, True), (50, False)])
def test_a_game_that_a_list_lacks_is_told_so_and_whether_the_list_is_whole(
    manager: GameManager, listed: int, is_whole: bool
) -> None:
    told: list[Report] = []
    under_way(manager, "abcd1234", handle=told.append)
    now = time.monotonic()
    manager.compare(left_alone(manager, listed), now, context())
    assert told == [ListedGame("abcd1234", None, now, is_whole=is_whole)]


@pytest.mark.parametrize(
    ("listed", "seen_s_ago", "is_visited"), [(0, 1, True), (50, 1, False), (50, 3600, True)]
)
def test_a_correspondence_game_that_a_list_lacks_is_visited_unless_the_list_is_full(
    manager: GameManager, listed: int, seen_s_ago: float, is_visited: bool
) -> None:
    now = time.monotonic()
    manager._correspondence.note(NOT_OUR_TURN, now - seen_s_ago)
    manager.compare(left_alone(manager, listed), now, context())
    assert (manager._correspondence.next(now, ()) is NOT_OUR_TURN) is is_visited


def test_a_refused_list_has_correspondence_games_visited_that_were_not_looked_at_for_long(manager: GameManager) -> None:
    manager.list_refused()  # before any game is known
    manager._context = context()
    games, now = manager._correspondence, time.monotonic()
    games.note(NOT_OUR_TURN, now - Config().correspondence.checkin_period)
    games.note(NOT_OUR_TURN.model_copy(update={"game_id": "lately11"}), now)
    assert games.next(now, ()) is None
    manager.list_refused()
    assert games.next(now, ()) is NOT_OUR_TURN
    assert games.next(now, ["abcd1234"]) is None


def test_a_refused_list_is_told_to_games_as_one_that_shows_nothing(manager: GameManager) -> None:
    told: list[Report] = []
    under_way(manager, "abcd1234", handle=told.append)
    manager._context = context()
    manager.list_refused()
    (report,) = told
    assert (report.info, report.is_whole) == (None, False)


def test_whose_turn_it_is_is_asked_at_every_check_in(
    manager: GameManager, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(games_manager, "time", SimpleNamespace(monotonic=lambda: clock.now))
    manager.compare([NOT_OUR_TURN], clock.now, context())
    asked = []
    for clock.now in (1299.9, 1300.0, 1599.9, 1600.0):
        manager.tick()
        asked.append(inbox.qsize())
    assert asked == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("visited_for_s", "others", "suspended"),
    [(850.0, ["game0002"], []), (950.0, ["game0002"], ["game0001"]), (950.0, [], [])],
)
def test_a_visit_lasts_as_long_as_the_engine_of_the_game_may_think_or_no_other_game_waits(
    manager: GameManager, monkeypatch: pytest.MonkeyPatch, visited_for_s: float, others: list[str], suspended: list[str]
) -> None:
    """A profile gives it ten minutes for a move."""
    gone: list[str] = []

    def start(info: GameInfo) -> None:
        began_at = time.monotonic() - visited_for_s
        under_way(
            manager, info.game_id, info=info, idle_since=None, began_at=began_at, move_time_s=600.0, wake_at=None,
            threads=0, suspend=lambda: gone.append(info.game_id),
        )  # fmt: skip

    monkeypatch.setattr(manager, "_start_session", start)
    games = [OUR_TURN.model_copy(update={"game_id": name}) for name in ("game0001", *others)]
    manager.compare(games, time.monotonic(), context())
    manager.tick()
    assert list(manager._sessions) == ["game0001"]
    manager.tick()
    assert gone == suspended


@pytest.mark.parametrize(
    ("idle_for_s", "others_turn", "suspended"),
    [(100.0, False, []), (200.0, False, ["game0001"]), (0.0, True, ["game0001"])],
)
def test_after_our_move_a_visit_goes_on_for_disconnect_time_unless_another_game_waits(
    manager: GameManager, monkeypatch: pytest.MonkeyPatch, idle_for_s: float, others_turn: bool, suspended: list[str]
) -> None:
    gone: list[str] = []
    waiting = manager._correspondence
    monkeypatch.setattr(manager, "_start_session", lambda info: waiting.put_back(info.game_id, math.inf))
    by_days = BY_DAYS.model_copy(update={"game_id": "game0001"})
    under_way(
        manager, "game0001", info=by_days, idle_since=time.monotonic() - idle_for_s, wake_at=None, threads=0,
        suspend=lambda: gone.append("game0001"), handle=lambda report: None,
    )  # fmt: skip
    other = by_days.model_copy(update={"game_id": "game0002", "is_my_turn": others_turn})
    manager.compare([by_days, other], time.monotonic(), context())
    manager.tick()
    assert gone == suspended


@pytest.mark.parametrize(("threads", "is_free"), [([], True), ([1], True), ([1, 1], False), ([2], False)])
def test_a_review_searches_while_the_games_leave_a_core_free(
    manager: GameManager, monkeypatch: pytest.MonkeyPatch, threads: list[int], is_free: bool
) -> None:
    told: list[bool] = []
    monkeypatch.setattr(manager._reviewer, "give_way", lambda *, core_is_free: told.append(core_is_free))
    manager._context = context(machine=Machine(2, None))
    for number, each in enumerate(threads):
        under_way(manager, f"game{number:04}", wake_at=None, threads=each)
    manager.tick()
    assert told == [is_free]


def test_a_correspondence_game_that_a_list_takes_for_another_speed_hides_no_game(
    manager: GameManager, started: list[str]
) -> None:
    by_days = BY_DAYS.model_copy(update={"game_id": "game0001"})
    manager.compare([by_days], time.monotonic(), context())
    blitz = by_days.model_copy(update={"speed": "blitz"})
    manager.compare([blitz, INFO.model_copy(update={"game_id": "game0002"})], time.monotonic(), context())
    assert started == ["game0002"]


@pytest.mark.parametrize("changed", [False, True])
def test_a_correspondence_game_obeys_a_changed_configuration_at_its_next_visit(
    manager: GameManager, monkeypatch: pytest.MonkeyPatch, changed: bool
) -> None:
    begun: list[Config] = []

    def begin(info: GameInfo, context: GameContext, _: object) -> SimpleNamespace:
        begun.append(context.config)
        return SimpleNamespace(
            game_id=info.game_id, info=info, idle_since=0.0, wake_at=None, threads=0, over=False,
            start=lambda has_slot: None, suspend=lambda: None, tick=lambda: None,
        )  # fmt: skip

    monkeypatch.setattr(games_manager, "GameSession", begin)
    before, now = Config(), Config(max_takebacks_accepted=7)
    for config in (before, now if changed else before):
        manager.compare([OUR_TURN], time.monotonic(), context(config=config))
        manager.tick()
        assert list(manager._sessions) == [INFO.game_id]
        manager.tick()
        assert not manager._sessions, "the visit is over"
    assert begun == ([before, now] if changed else [before])


def test_only_games_that_have_a_slot_get_an_engine_before_their_streams_tell_of_them(
    manager: GameManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flood of announcements must not start a flood of engines, which would take the cores from running games."""

    class Session(SimpleNamespace):
        def __init__(self, info: GameInfo, *_: object) -> None:
            super().__init__(info=info, over=False, threads=0)

        def start(self, *, has_slot: bool) -> None:
            engines.append(has_slot)

    engines: list[bool] = []
    monkeypatch.setattr(games_manager, "GameSession", Session)
    shared = context(config=Config.model_validate({"challenge": {"concurrency": 2}}))
    for number in range(4):
        manager.join(INFO.model_copy(update={"game_id": f"game{number:04}"}), shared)
    assert engines == [True, True, False, False]
