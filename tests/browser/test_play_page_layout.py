"""Where the focus goes on the play page as its parts come and go."""

from typing import TYPE_CHECKING

import pytest

from lichessbot.rehearsal.rules.enums import Color
from tests.browser.chromium import Visit, visit
from tests.browser.playing import OVER, Patient, challenge, enter, until_turn
from tests.lichessbot.rehearsal.browser.scene import Scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

AT_THE_SIDE = "() => document.activeElement.id === 'side'"


def press(page: Visit, selector: str) -> None:
    page.page.press(selector, "Enter")


def tab(page: Visit) -> str:
    """Return the id of what the next Tab reaches."""
    page.page.keyboard.press("Tab")
    return str(page.page.evaluate("document.activeElement.id || document.activeElement.name"))


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_the_keyboard_goes_on_with_what_takes_the_place_of_what_was_pressed(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        enter(page, "move", "e4")
        Patient.may_move.release()
        until_turn(page)
        press(page, "#draw")
        page.page.wait_for_selector("#draw:disabled")
        assert tab(page) == "takeback", "what stays in its place is not left"
        (session,) = scene.person.sessions
        for color, move in ((Color.WHITE, "d2d4"), (Color.BLACK, "a7a6")):
            scene.server.call(lambda color=color, move=move: session.play(color, move))
        scene.server.call(lambda: session.answer_draw(Color.BLACK, accept=True))
        press(page, "#offer button:text-is('Decline')")
        page.page.wait_for_function(AT_THE_SIDE)
        press(page, "#resign")
        press(page, "#sure [value=yes]")
        page.page.wait_for_selector(OVER)
        page.page.wait_for_function(AT_THE_SIDE)
        assert tab(page) == "rematch"
        press(page, "#new-game")
        page.page.wait_for_function(AT_THE_SIDE)
        assert tab(page) == "clock"
