"""What the chat tells of earlier games."""

import pytest

from lichessbot.lichess.commands import Say
from lichessbot.storage.game_records import Result
from tests.lichessbot.games.chat.bench import GAME, PLAYER, ChatBench


@pytest.mark.parametrize(
    ("won", "drawn", "lost", "clause"),
    [
        (0, 0, 0, "we have not met before"),
        (0, 1, 0, "we have met once, the score is 0.5-0.5"),
        (5, 2, 7, "we have met 14 times, you lead 8-6"),
        (3, 0, 0, "we have met 3 times, I lead 3-0"),
    ],
)
def test_a_greeting_tells_the_score_so_far(won: int, drawn: int, lost: int, clause: str) -> None:
    bench = ChatBench({"hello": "Hi, {crosstable}!"})
    for result, count in ((Result.WON, won), (Result.DRAWN, drawn), (Result.LOST, lost)):
        bench.scores.add("ferdinand", result, count)
    bench.scores.add("karl", Result.WON, 9)
    _, said = bench.meet()
    assert said == Say(GAME, PLAYER, f"Hi, {clause}!")


def test_players_without_an_id_are_not_taken_for_one_another() -> None:
    bench = ChatBench({"hello": "{crosstable}"})
    bench.scores.add("", Result.LOST)
    _, said = bench.meet({})
    assert said == Say(GAME, PLAYER, "we have not met before")


def test_stats_tells_results_of_all_games_and_those_against_the_opponent() -> None:
    bench = ChatBench()
    bench.meet({"id": "ferdinand", "name": "F" * 20})
    assert bench.answer("!stats") == f"My results: none yet; against {'F' * 20}: none yet."
    for opponent in ("ferdinand", "karl"):
        for result in Result:
            bench.scores.add(opponent, result, 44_444)
    figures = [f"{count} won, {count} drawn, {count} lost" for count in (88_888, 44_444)]
    assert bench.tell_a_spectator("!stats") == f"My results: {figures[0]}; against {'F' * 20}: {figures[1]}."
