"""What follows from the facts of one moment."""

from lichessbot.challenges.slots import SlotHolder
from lichessbot.challenges.snapshot import Snapshot
from lichessbot.config import Config

US, BOT_GUEST = "testbot", SlotHolder("stockfish", is_bot=True)


def test_our_own_challenges_get_the_slots_of_bots_unless_we_stop() -> None:
    config = Config.model_validate({"challenge": {"concurrency": 3, "games_reserved_for_humans": 1}})
    assert Snapshot(config, US, (BOT_GUEST,)).slots_for_our_games(is_bot=True) == 1
    assert Snapshot(config, US, (BOT_GUEST,), our_slots=(BOT_GUEST,)).slots_for_our_games(is_bot=True) == 0
    assert Snapshot(config, US, stopping=True).slots_for_our_games(is_bot=True) == 0
    assert Snapshot(config, US, paused=True).slots_for_our_games(is_bot=True) == 0
