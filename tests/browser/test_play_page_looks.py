"""How the play page looks: in colours that the person has forced, dark or light, and in windows of any size."""

from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import visit
from tests.browser.playing import PROMOTION, Patient, challenge, click, until_moves
from tests.lichessbot.rehearsal.browser.scene import Scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

BACKGROUNDS = """(selectors) => selectors.map((it) =>
    getComputedStyle(document.querySelector(it)).backgroundColor)"""


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_what_has_a_meaning_by_its_colour_keeps_it_where_colours_are_forced(browser: "Browser", scene: Scene) -> None:
    meanings = ["#board cg-board", "#board .last-move", ".clock.runs", "#moves [aria-current]", ":checked + span"]
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        click(page, "e2", "e4")
        Patient.may_move.release()
        until_moves(page, r"e4\s*\S+")
        page.page.wait_for_selector(".clock.runs")
        before, body = (page.page.evaluate(BACKGROUNDS, it) for it in (meanings, ["body"]))
        page.page.emulate_media(forced_colors="active")
        assert page.page.evaluate(BACKGROUNDS, ["body"]) != body, "colours are forced"
        assert page.page.evaluate(BACKGROUNDS, meanings) == before


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_pieces_beside_the_board_stand_out_from_a_dark_page(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/", scheme="dark") as page:
        challenge(page, fen=PROMOTION)
        click(page, "a7", "a8")
        page.page.wait_for_selector("#promotion[open]")
        square, choice = page.page.evaluate(BACKGROUNDS, ["#board cg-board", "#promotion button"])
        assert choice == square
        page.page.keyboard.press("Escape")
        page.page.click("#resign")
        page.page.click("#new-game")
        challenge(page, variant="crazyhouse")
        session = scene.person.sessions[-1]
        for move in ("e2e4", "d7d5", "e4d5"):
            scene.server.call(lambda move=move: session.play(session.game.turn, move))
        page.page.wait_for_selector("#pocket piece")
        assert page.page.evaluate(BACKGROUNDS, ["#pocket piece"]) == [square]


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_the_board_is_large_and_fits_into_the_window_with_both_clocks(browser: "Browser", scene: Scene) -> None:
    least_px = {
        (360, 640): 360, (740, 360): 280, (768, 1024): 560, (1024, 768): 600, (1280, 800): 600, (2560, 1440): 900,
    }  # fmt: skip
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        for size, least in least_px.items():
            page.resize(size)
            page.until_it_fits()
            board, table = (page.page.locator(it).bounding_box() for it in ("#frame", "#table"))
            assert board is not None
            assert table is not None
            assert board["width"] >= least, size
            assert table["height"] <= size[1], size
