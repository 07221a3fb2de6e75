"""The review of a game after its end: the daemon against the embedded Lichess."""

import json
import re

from lichessbot.rehearsal.rules.enums import Color
from tests.fakes.arena import Arena
from tests.fakes.scripted_opponent import ScriptedOpponent

# White can mate, and hangs the rook instead.
BACK_RANK = "3r2k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
TURN = re.compile(r"The turning point: 1\. Rd7 \(your chances fell from 98 % to [0-9] %, better Rxd8#\)\.")


def blunders(arena: Arena) -> ScriptedOpponent:
    human = ScriptedOpponent(arena, Color.WHITE, fen=BACK_RANK)
    human.plays("d1d7")
    return human


def test_an_opponent_who_asks_hears_the_turning_points_after_the_end_and_not_before(arena: Arena) -> None:
    arena.time_scale = 0.3      # the chat is read again after 3 s
    arena.configure(depth=2, engine="own_book: false")
    arena.start()
    human = blunders(arena)
    human.says("!review")
    human.waits_for_line("After the game I name its turning points")
    human.leaves_the_game()
    human.waits_for_line("The turning point")
    assert [bool(TURN.fullmatch(line)) for line in human.lines()][-1]
    assert len(human.lines("The turning point")) == 1
    words = ("review", human.game.id, "--json")
    arena.until(lambda: arena.tell(*words).stderr == "")  # the review is in the records soon after
    told = json.loads(arena.tell(*words).stdout)
    assert (told["turning_points"], told["mistakes"][0]["mate"]) == ([1], "misses mate in 1")
    # The next one asks when the game, and with it the stream, is over.
    late = blunders(arena)
    late.leaves_the_game()
    arena.until(lambda: late.game.is_over)
    late.says("!review")
    late.waits_for_line("The turning point")
    assert TURN.fullmatch(late.lines()[-1])
    assert arena.logged("review.done", times=2)


def test_every_human_hears_them_if_the_operator_wants_it(arena: Arena) -> None:
    arena.configure("greeting: {review: humans}\n", depth=2, engine="own_book: false")
    arena.start()
    human = blunders(arena)
    assert human.lines() == []
    human.leaves_the_game()
    human.waits_for_line("The turning point")
