"""The words of the Lichess API."""

import pytest

from lichessbot.lichess.enums import player_label


@pytest.mark.parametrize(
    ("given", "label"),
    [
        (("maia1", "BOT", 1600), "BOT maia1 (1600)"),
        (("BOT maia1", "BOT", 1600), "BOT maia1 (1600)"),
        (("Ann", "", None), "Ann"),
    ],
)
def test_a_player_is_shown_as_on_lichess_with_one_title(given: tuple[str, str, int | None], label: str) -> None:
    assert player_label(*given) == label
