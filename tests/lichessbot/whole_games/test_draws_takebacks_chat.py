"""Draws, takebacks, claims, chat and PGN files: the daemon against the embedded Lichess."""

import io
import signal
import time
from typing import Any

import chess.pgn
import pytest
import yaml

from lichessbot.rehearsal.rules.enums import ChatRoom, Color, Status, Variant
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.storage.database import read_only
from lichessbot.storage.store import LimitedAction
from tests.fakes.arena import PATIENCE_S, Arena, SlowOpponent, judge
from tests.fakes.scripted_opponent import ScriptedOpponent

# A blocked position that neither side can win, with few pieces.
BLOCKED = "4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 w - - 0 1"
HOPELESS = "4k3/8/8/8/3q4/8/5PPP/7K w - - 0 1"
# After the check on e8 there is one legal move, which needs no search.
ONE_REPLY = "7k/6pp/8/8/8/7P/5rP1/4R2K w - - 0 1"
READY_TO_DRAW = {"offer_draw_enabled": True, "offer_draw_score": 2000, "offer_draw_moves": 2}
# The game of an absent player can be claimed after a second.
QUICK = Timing(
    tick_s=2.0, absence_check_s=0.3, claim_wait_s=1.0, claim_clock_margin_s=0.1, challenge_expiry_s=PATIENCE_S
)


@pytest.fixture
def timing() -> Timing:
    return QUICK


def configure(arena: Arena, *, engine: dict[str, Any] | None = None, **settings: Any) -> None:
    base = {
        "url": arena.site.url,
        "state_dir": "state",
        "challenge": {"concurrency": 4},
        "engine": {"hash_mb": 1, "depth": 2, "move_overhead_ms": 30, "own_book": False, **(engine or {})},
    }
    (arena.folder / "config.yml").write_text(yaml.safe_dump({**base, **settings}))


def until_recorded(arena: Arena, action: LimitedAction) -> None:
    """Wait until the disk has what must not be done twice: the daemon waits for it only half a second."""
    query = "SELECT 1 FROM deeds WHERE deed = ?"
    arena.until(lambda: read_only(arena.folder / "state", query, action))


# Draws and resignation


def test_the_bots_offer_is_accepted_by_the_opponent(arena: Arena) -> None:
    configure(arena, engine={"draw_or_resign": READY_TO_DRAW})
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE, fen=BLOCKED)
    human.plays("e1d1", "d1e1")
    assert human.lines("Black offers draw") == ["Black offers draw"]
    human.answers_draw(accept=True)
    assert human.game.status is Status.DRAW
    arena.until(lambda: "game.over" in arena.log())


def test_an_offer_is_made_once_in_twenty_plies_over_a_restart(arena: Arena) -> None:
    configure(arena, engine={"draw_or_resign": READY_TO_DRAW})
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE, fen=BLOCKED)
    human.plays("e1d1", "d1c1")
    assert len(human.lines("Black offers draw")) == 1
    assert arena.logged("offer=True")       # before it is killed
    until_recorded(arena, LimitedAction.DRAW_OFFER)
    arena.kill()
    arena.start()
    human.plays("c1b1", "b1a1", "a1a2")
    assert len(human.lines("Black offers draw")) == 1
    assert arena.logged("offer=True", times=1)
    human.leaves_the_game()


def test_the_opponents_offer_is_accepted_with_our_move(arena: Arena) -> None:
    configure(arena, engine={"draw_or_resign": {**READY_TO_DRAW, "offer_draw_moves": 3}})
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE, fen=BLOCKED)
    human.plays("e1d1", "d1e1")
    human.offers_a_draw_with("e1d1")
    arena.until(lambda: human.game.is_over)
    assert human.game.status is Status.DRAW
    assert human.game.ply == 5, "the acceptance came with our move"
    assert human.lines("Black offers draw") == []


def test_a_lost_game_is_resigned_after_moves_that_agree(arena: Arena) -> None:
    rules = {"resign_enabled": True, "resign_score": -300, "resign_moves": 2}
    configure(arena, engine={"draw_or_resign": rules})
    arena.start()
    human = ScriptedOpponent(arena, Color.BLACK, fen=HOPELESS)
    human.waits_for_turn()
    human.plays("e8e7")
    arena.until(lambda: human.game.is_over)
    assert human.game.status is Status.RESIGN
    assert human.game.winner is Color.BLACK
    assert human.game.ply == 2


# An opponent who leaves


def test_the_game_of_an_opponent_who_left_is_claimed(arena: Arena) -> None:
    configure(arena)
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE, present=False)
    human.plays("a2a3")
    arena.until(lambda: human.game.is_over)
    assert human.game.status is Status.TIMEOUT
    assert human.game.winner is Color.BLACK
    arena.until(lambda: "game.over" in arena.log())
    assert arena.logged("game.claim", times=1)


# Takebacks


def test_takebacks_are_limited_over_a_restart(arena: Arena) -> None:
    configure(arena, max_takebacks_accepted=2)
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE)
    human.plays("e2e4")
    for granted in (1, 2):
        human.requests_takeback()
        human.waits_for_line("Black accepts takeback", granted)
        assert human.game.ply == 0
        if granted == 1:
            until_recorded(arena, LimitedAction.TAKEBACK)
            arena.kill()
            arena.start()
        human.plays("d2d4")
    human.requests_takeback()
    human.waits_for_line("Black declines takeback")
    assert human.game.ply == 2
    human.leaves_the_game()


def test_a_takeback_is_granted_while_the_engine_thinks(arena: Arena) -> None:
    configure(arena, engine={"depth": None, "move_time_ms": 60_000}, max_takebacks_accepted=1)
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE, fen=ONE_REPLY, base_s=1800)
    human.plays("e1e8")
    arena.server.call(lambda: human.session.play(Color.WHITE, "e8e7"))
    human.requests_takeback()
    human.waits_for_line("Black accepts takeback")
    assert human.game.ply == 2
    arena.server.call(lambda: human.session.play(Color.WHITE, "e8e6"))
    assert human.game.moves == ["e1e8", "f2f8", "e8e6"]
    human.leaves_the_game()


def test_a_takeback_that_crosses_our_move_does_no_harm(arena: Arena) -> None:
    configure(arena, max_takebacks_accepted=1000)
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE, fen=BLOCKED)  # no move can end the game
    human.plays("e1e2")
    squares: list[str] = []
    for number in range(16):
        # The king looks for new squares, so that no position is repeated.
        move = min(human.game.board().legal_moves(), key=lambda move: squares.count(move[2:]))
        squares.append(move[2:])
        # The bot answers at once, and the request comes a little sooner or later than its move.
        arena.server.call(lambda move=move: human.session.play(Color.WHITE, move))  # type: ignore[misc]
        time.sleep(0.003 * number)
        human.requests_takeback()
        arena.until(lambda: human.is_undisturbed())
    assert human.lines("Black accepts takeback")
    assert not human.game.is_over
    assert "command.failed" not in arena.log(), "no move was refused"
    human.leaves_the_game()


# Chat


GREETING = {
    "hello": "Hello {opponent}, I am {me}.",
    "goodbye": "Bye {opponent}.",
    "hello_spectators": "Watch {me} closely.",
    "goodbye_spectators": "The end.",
}


def test_greetings_are_sent_once_over_a_restart_and_goodbyes_before_the_exit(arena: Arena) -> None:
    configure(arena, greeting=GREETING)
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE)
    human.plays("e2e4")
    human.waits_for_line("Watch TestBot closely.")
    until_recorded(arena, LimitedAction.GREETING)
    arena.kill()
    arena.start()
    human.plays("d2d4", "b1c3")
    assert human.lines() == [f"Hello {human.account.name}, I am TestBot.", "Watch TestBot closely."]
    arena.signal(signal.SIGTERM)
    arena.until(lambda: "stop.asked" in arena.log())
    arena.server.call(lambda: human.session.resign(human.color))
    assert arena.wait_for_exit() == 0
    assert human.lines()[2:] == [f"Bye {human.account.name}.", "The end."]


def test_commands_are_answered_while_the_engine_searches(arena: Arena) -> None:
    configure(arena, engine={"depth": None, "move_time_ms": 60_000})
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE, base_s=1800)
    human.plays("e2e4")         # it does not think long about its first move
    arena.server.call(lambda: human.session.play(Color.WHITE, "d2d4"))
    human.says("!name")
    human.waits_for_line("TestBot runs lichessbot")
    human.says("!eval", ChatRoom.SPECTATOR)
    human.waits_for_line("I do not tell my opponent.")
    assert human.game.ply == 3
    human.leaves_the_game()


def test_commands_and_greetings_tell_of_the_running_game(arena: Arena) -> None:
    configure(arena, greeting={"hello": "I am {me} ({rating}) with {engine}{cpu}."}, max_takebacks_accepted=2)
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE)
    human.waits_for_line("I am TestBot (1500) with lichessbot-engine")
    human.plays("e2e4")
    arena.until(lambda: "move.done" in arena.log())
    human.says("!ping")
    human.waits_for_line("My last move took ")
    human.says("!pv", ChatRoom.SPECTATOR)
    human.waits_for_line("I do not tell my opponent.")
    human.requests_takeback()
    arena.until(lambda: "takeback.granted" in arena.log())
    time.sleep(2)       # between two answers in a room
    human.says("!takeback")
    human.waits_for_line("I grant up to 2 takebacks in a game; used so far: 1.")
    human.leaves_the_game()


def test_queue_names_the_waiting_challengers(arena: Arena) -> None:
    configure(arena, challenge={"concurrency": 1})
    arena.time_scale = 10.0     # nobody is declined before the test asks
    arena.start()
    human = ScriptedOpponent(arena, Color.WHITE)
    arena.challenge(arena.player("Karl", None), base_s=60)
    arena.until(lambda: "challenge.wait" in arena.log())
    human.says("!queue")
    human.waits_for_line("Waiting for a game: Karl")
    human.leaves_the_game()


def asks_for_time(arena: Arena) -> ScriptedOpponent:
    """Return somebody whose wish was read in time: a busy bot may abort the game first."""
    while True:
        human = ScriptedOpponent(arena, Color.WHITE)
        human.says("!wait")
        wish, abort = f"name={human.account.name} text=!wait", f"game.abort game={human.game.id}"
        arena.until(lambda words=(wish, abort): any(word in arena.log() for word in words))  # type: ignore[misc]
        if abort not in arena.log().partition(wish)[0]:
            return human


def test_an_opponent_who_asks_for_time_gets_it(arena: Arena) -> None:
    configure(arena, abort_time=3)
    arena.start()
    human = asks_for_time(arena)
    human.waits_for_line("I wait 60 seconds longer")
    time.sleep(3.5)
    assert not human.game.is_over
    human.plays("e2e4")
    human.leaves_the_game()


# PGN files


def test_finished_games_are_written_with_clocks_and_evaluations(arena: Arena) -> None:
    configure(arena, pgn_directory="games", pgn_file_grouping="all")
    arena.start()
    for number, variant in enumerate((Variant.STANDARD, Variant.CHESS960)):
        arena.challenge(arena.player(f"Slow{number}", SlowOpponent), variant=variant)
        arena.until_ended(number + 1)
        arena.until(lambda count=number + 1: arena.log().count("pgn.written") == count)
    file = io.StringIO((arena.folder / "games" / "TestBot games.pgn").read_text())
    for session in arena.ended:
        judge(session)
        game = chess.pgn.read_game(file)
        assert game.errors == []
        assert game.headers["GameId"] == session.game.id
        assert len(list(game.mainline_moves())) == session.game.ply
        assert game.headers["Result"] == {Color.WHITE: "1-0", Color.BLACK: "0-1", None: "1/2-1/2"}[session.game.winner]
        bot_is_white = game.headers["White"] == "TestBot"
        ours = [node for node in game.mainline() if node.ply() % 2 == (1 if bot_is_white else 0)]
        assert all(node.clock() is not None for node in game.mainline() if not node.is_end()), "the end may come first"
        # The only legal move is played without a search.
        chosen = [node for node in ours if node.parent and node.parent.board().legal_moves.count() > 1]
        assert sum(node.eval() is None for node in chosen) <= 1, "but for the mating move"
    assert chess.pgn.read_game(file) is None


def test_a_failing_disk_costs_no_game(arena: Arena) -> None:
    configure(arena, pgn_directory="config.yml/games")
    arena.start()
    arena.challenge(arena.player("Slow", SlowOpponent))
    arena.until_ended(1)
    judge(arena.ended[0])
    arena.until(lambda: "pgn.lost" in arena.log())
    assert arena.stop() == 0
