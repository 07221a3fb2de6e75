"""Correspondence games: more games than may be played at a time, and restarts of the daemon."""

import time
from typing import Any

import pytest

from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import Correspondence, TimeControl, Unlimited
from lichessbot.rehearsal.rules.enums import ChatRoom, Color, ColorChoice, Status, Variant
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.game_session import GameSession
from tests.fakes.arena import BOT, PATIENCE_S, Arena, SlowOpponent, judge

DAY_S = 7200.0
SECTION = """\
correspondence: {{concurrency: {places}, move_time: 30, checkin_period: 1, disconnect_time: {disconnect_time}}}
"""


@pytest.fixture
def day_s() -> float:
    return DAY_S


@pytest.fixture
def timing(day_s: float) -> Timing:
    return Timing(tick_s=2.0, day_s=day_s, challenge_expiry_s=PATIENCE_S)


class Penpal(SlowOpponent):
    """Replies after the visit has ended: otherwise one visit would be a whole game."""

    thinks_s = 1.0


def configure(arena: Arena, places: int = 1, disconnect_time: int = 0, **keys: Any) -> None:
    arena.configure(SECTION.format(places=places, disconnect_time=disconnect_time), depth=1, **keys)


def our_plies(session: GameSession) -> int:
    """Return the number of moves of the bot."""
    first = 0 if session.game.setup.white.name == BOT else 1
    return len(session.game.moves[first::2])


def streams(arena: Arena) -> int:
    """Return the number of games whose stream the bot reads."""
    return sum(any(True for _ in session._streams) for session in arena.started)


def is_our_turn(session: GameSession) -> bool:
    return session.game.setup.account(session.game.turn).name == BOT


def begin(arena: Arena, count: int) -> None:
    """Begin `count` games with both colours, one in three without a clock."""
    opponents = [arena.player(f"Penpal{number}", Penpal) for number in range(count)]
    for number, opponent in enumerate(opponents):
        color = ColorChoice.WHITE if number % 2 else ColorChoice.BLACK
        arena.correspondence(opponent, (None, 3, 14)[number % 3], color)


def play_over_a_restart(arena: Arena, count: int, places: int, patience_s: float) -> None:
    configure(arena, places)
    begin(arena, count)
    most_engines = most_streams = 0
    watch_at = 0.0

    def watch() -> bool:
        nonlocal most_engines, most_streams, watch_at
        if time.monotonic() < watch_at:
            return True
        watch_at = time.monotonic() + 0.2
        most_engines = max(most_engines, len(arena.engines()))
        most_streams = max(most_streams, streams(arena))
        return True

    arena.start()
    arena.until(lambda: watch() and sum(our_plies(session) >= 1 for session in arena.started) >= count // 2, patience_s)
    arena.kill()
    arena.start()
    arena.until(lambda: watch() and all(our_plies(it) >= 2 or it.game.is_over for it in arena.started), patience_s)
    assert arena.stop() == 0, "the daemon does not wait for correspondence games"
    assert most_engines <= places + 1, "one may just be ending"      # 0 if all visits were shorter than a look
    assert most_streams <= places + 1, "one may just be closing"
    for session in arena.started:
        if session.game.status is not Status.STARTED:
            judge(session)


def test_games_go_on_over_a_restart_one_at_a_time(arena: Arena) -> None:
    play_over_a_restart(arena, 3, 1, PATIENCE_S)


@pytest.mark.long
def test_two_hundred_games_go_on_over_a_restart(arena: Arena) -> None:
    play_over_a_restart(arena, 200, 2, 1800.0)


@pytest.mark.parametrize("control", [Correspondence(3), Unlimited()])
def test_a_correspondence_challenge_is_accepted_and_played(arena: Arena, control: TimeControl) -> None:
    configure(arena, rules="time_controls: [correspondence], max_days: .inf")
    arena.start()
    arena.propose(arena.player("Penpal"), Terms(Variant.STANDARD, control))
    arena.until(lambda: arena.started and our_plies(arena.started[0]) >= 2)
    assert arena.stop() == 0


def test_a_quick_reply_is_answered_in_the_same_visit(arena: Arena) -> None:
    configure(arena, disconnect_time=600)
    session = arena.correspondence(arena.player("Quick"), 3, ColorChoice.BLACK)
    arena.start()
    arena.until(lambda: our_plies(session) >= 4 or session.game.is_over)
    assert arena.logged("game.visit", times=1)
    assert arena.stop() == 0


def test_a_new_game_in_which_the_opponent_moves_first_is_visited_at_once(arena: Arena) -> None:
    configure(arena)
    arena.start()
    arena.until(lambda: "events.open" in arena.log())
    session = arena.correspondence(arena.player("Silent", opponent=None), 3, ColorChoice.WHITE)
    assert not is_our_turn(session)
    arena.until(lambda: arena.log().count("game.visit") == 1)
    arena.until(lambda: not streams(arena))
    assert our_plies(session) == 0
    assert arena.stop() == 0


def test_between_moves_neither_an_engine_nor_a_stream_is_held(arena: Arena) -> None:
    configure(arena, engine="own_book: false")      # else the engine of the check at the start, unused, would be kept
    session = arena.correspondence(arena.player("Silent", opponent=None), 3, ColorChoice.BLACK)
    arena.start()
    arena.until(lambda: our_plies(session) == 1)
    arena.until(lambda: not arena.engines() and not streams(arena))
    time.sleep(1.5)
    assert arena.logged("game.visit", times=1), "the lists show that it is not our turn"
    assert arena.stop() == 0


def test_correspondence_takes_no_slot_of_a_game_with_a_clock(arena: Arena) -> None:
    configure(arena, disconnect_time=600, concurrency=1)
    arena.correspondence(arena.player("Silent", opponent=None), 3, ColorChoice.BLACK)
    arena.start()
    arena.challenge(arena.player("Greedy"))
    arena.until_ended(1)
    assert arena.ended[0].game.status is not Status.ABORTED
    assert arena.stop() == 0


@pytest.mark.parametrize("day_s", [60.0])
def test_the_game_with_the_least_time_is_played_first(arena: Arena) -> None:
    configure(arena)
    days = [14, 2, None, 7, 1]
    sessions = [
        arena.correspondence(arena.player(f"Silent{number}", opponent=None), given, ColorChoice.BLACK)
        for number, given in enumerate(days)
    ]
    arena.start()
    arena.until(lambda: all(our_plies(session) for session in sessions))
    played = sorted(sessions, key=lambda session: session.game.last_change_ms)
    assert [sessions.index(session) for session in played] == [4, 1, 3, 0, 2]
    assert arena.stop() == 0


def test_a_level_chosen_between_two_visits_plays(arena: Arena) -> None:
    configure(arena, disconnect_time=600, engine="strength: 1500")
    session = arena.correspondence(arena.player("Silent", opponent=None), 3, ColorChoice.BLACK)
    arena.start()
    arena.until(lambda: our_plies(session) == 1)
    assert arena.stop() == 0

    def choose_and_move() -> None:
        session.say(Color.BLACK, ChatRoom.PLAYER, "!level 900")
        session.play(Color.BLACK, "e7e5")

    arena.server.call(choose_and_move)
    arena.start()
    arena.until(lambda: our_plies(session) == 2 and session.game.chat[-1].username == BOT)
    assert session.game.chat[-1].text.endswith(" I play at level 900.")
    assert arena.logged("game.level", times=1)
    assert arena.stop() == 0


def test_while_the_book_answers_the_chat_knows_the_engine_that_has_not_started(arena: Arena) -> None:
    arena.configure(SECTION.format(places=1, disconnect_time=600) + "greeting: {hello: 'I am {engine}.'}\n", depth=1)
    session = arena.correspondence(arena.player("Silent", opponent=None), 3, ColorChoice.BLACK)
    arena.start()
    arena.until(lambda: our_plies(session) == 1 and session.game.chat)
    assert session.game.chat[0].text.startswith("I am lichessbot")
    arena.server.call(lambda: session.say(Color.BLACK, ChatRoom.PLAYER, "!level 900"))
    arena.until(lambda: len(session.game.chat) == 3)
    assert session.game.chat[-1].text == "From my next move on I play at level 900."
    assert arena.stop() == 0


def suspended_game(arena: Arena) -> tuple[GameSession, Color]:
    """Start the daemon; return a game in which it has made two moves and that is suspended, and the opponent's side."""
    sections = SECTION.format(places=1, disconnect_time=0) + "pgn_directory: games\n"
    arena.configure(sections, depth=1, engine="own_book: false")
    session = arena.correspondence(arena.player("Silent", opponent=None), 3, ColorChoice.BLACK)
    arena.start()
    arena.until(lambda: our_plies(session) == 1 and not streams(arena))
    opponent = Color.BLACK if session.game.setup.white.name == BOT else Color.WHITE
    arena.server.call(lambda: session.play(opponent, "e7e5" if opponent is Color.BLACK else "e2e4"))
    arena.until(lambda: our_plies(session) == 2 and not streams(arena))
    return session, opponent


def test_a_game_that_ends_while_suspended_is_visited_once_more_and_recorded(arena: Arena) -> None:
    session, opponent = suspended_game(arena)
    arena.server.call(lambda: session.resign(opponent))
    arena.until(lambda: "game.over" in arena.log())
    time.sleep(1.5)
    assert arena.logged("game.visit", times=3)
    assert arena.stop() == 0
    (pgn,) = (arena.folder / "games").glob("*.pgn")
    assert pgn.read_text().count("[%eval") == 2, "of both visits"


def test_a_game_that_ends_while_the_daemon_is_down_is_recorded_at_its_next_start(arena: Arena) -> None:
    session, opponent = suspended_game(arena)
    for _ in range(2):
        assert arena.stop() == 0
        arena.start()
    assert arena.stop() == 0
    arena.server.call(lambda: session.resign(opponent))
    arena.start()
    assert arena.logged("game.over", times=1)
    assert arena.stop() == 0
    (pgn,) = (arena.folder / "games").glob("*.pgn")
    assert pgn.read_text().count("[%eval") == 2, "as recorded by the first process"
