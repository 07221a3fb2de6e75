"""Where the focus and the board go on the play page as its parts come and go, and whether all is shown whole."""

from typing import TYPE_CHECKING

import pytest

from lichessbot.rehearsal.rules.enums import Color
from tests.browser.chromium import NARROW, Visit, visit
from tests.browser.playing import OVER, Patient, challenge, click, enter, until_moves, until_turn
from tests.lichessbot.rehearsal.browser.scene import Scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

BEFORE_PROMOTION = "c2c4 b8c6 g2g4 b7b5 c4b5 a8b8 b5c6 b8b2 c6d7 b2b1"  # in antichess, by d7c8
LONG_NAME = "W" * 20
AT_THE_SIDE = "() => document.activeElement.id === 'side'"
KEEP_EVENTS = """window.EventSource = class extends EventSource {
    constructor(url) { super(url); window.events = this; }
};"""
IS_INSIDE = """([selector, frame]) => {
    const [inner, outer] = [selector, frame].map((it) => document.querySelector(it).getBoundingClientRect());
    return inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
}"""
# Each of these also measures, as the page's own events may show the game again at any moment.
SHOWS_LONG_MOVES = f"""async () => {{
    const {{ showMoves }} = await import('/static/play/game.js');
    const moves = [1, 2, 3, 4].flatMap((number) =>
        ['white', 'black'].map((color) => ({{ number, color, san: 'Nb8xd7+??' }})));
    showMoves({{ id: 'long', moves }}, 8, new Map(), () => {{}});
    return ({IS_INSIDE})(['#moves [aria-current]', '#moves']);
}}"""
HEIGHT_OF_MANY_MISTAKES = """async () => {
    const { showReview } = await import('/static/play/review.js');
    const mistakes = Array.from({ length: 40 }, (_, index) => ({ ply: index + 1, kind: 'mistake', text: 'Mistake.' }));
    const moves = mistakes.map(({ ply }) => ({ number: ply, color: 'white', san: 'Nf3' }));
    const counts = { white: {}, black: {} };
    const analysis = { id: 'bad', isOver: true, positions: 41, scores: [], mistakes, counts, averageLoss: {} };
    showReview({ id: 'bad', moves }, analysis, 40, () => {});
    return document.querySelector('#review').getBoundingClientRect().height;
}"""
IS_IN_VIEW = "it => it.getBoundingClientRect().top >= 0 && it.getBoundingClientRect().bottom <= innerHeight"
COUNT_LINES = """(it) => {
    const text = document.createRange();
    text.selectNodeContents(it);
    return new Set([...text.getClientRects()].map((line) => line.top)).size;
}"""


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
        until_moves(page, r"e4\s*\S+")
        press(page, "#draw:enabled")
        page.page.wait_for_selector("#draw:disabled")
        assert tab(page) == "takeback", "what stays in its place is not left"
        enter(page, "move", "d4")
        Patient.may_move.release()
        until_moves(page, r"d4\s*\S+")
        (session,) = scene.person.sessions
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


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_move_that_is_typed_is_shown_whatever_was_looked_at(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        enter(page, "move", "e4")
        page.page.wait_for_selector("#moves [aria-current]:text-is('e4')")
        page.page.focus("#flip")
        page.page.keyboard.press("ArrowUp")
        page.page.wait_for_selector("#moves [aria-current]", state="detached")
        Patient.may_move.release()
        until_turn(page)
        assert page.page.locator("#moves [aria-current]").count() == 0, "the opponent's move does not interrupt"
        enter(page, "move", "d4")
        page.page.wait_for_selector("#moves [aria-current]:text-is('d4')")


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_long_move_is_shown_whole_on_a_phone(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/", NARROW) as page:
        challenge(page)
        assert page.page.evaluate(SHOWS_LONG_MOVES)


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_the_board_leaves_room_for_a_scrollbar_in_a_narrow_window(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/", NARROW) as page:
        challenge(page)
        page.page.evaluate("document.body.style.marginRight = '15px'")      # this Chromium hides its scrollbars
        assert page.page.evaluate(IS_INSIDE, ["#frame", "main"])


def test_a_phone_has_no_reason_to_enlarge_a_field_that_is_touched(browser: "Browser", scene: Scene) -> None:
    sizes = "fields => fields.map((it) => parseFloat(getComputedStyle(it).fontSize))"
    with visit(browser, f"{scene.server.site.url}/", NARROW, is_phone=True) as page:
        page.page.wait_for_selector("#challenge")
        assert min(page.page.locator("input, select").evaluate_all(sizes)) >= 16
        page.until_it_fits()


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_moves_and_their_steps_stay_under_the_finger_on_a_low_phone(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/", (390, 620), is_phone=True) as page:
        challenge(page)
        Patient.may_move.release()
        enter(page, "move", "e4")
        until_turn(page)
        page.page.click("#resign")
        page.page.click("#sure .danger")
        page.page.wait_for_selector(OVER)
        page.page.wait_for_selector("#verdict:not(:empty)")
        white, black = "#moves button:nth-of-type(1)", "#moves button:nth-of-type(2)"
        for pressed, move in (("#steps [value='-1']", white), (black, black)):
            page.page.tap(pressed)
            page.page.wait_for_selector(f"{move}[aria-current]")
            assert page.page.locator(pressed).evaluate(IS_IN_VIEW), pressed


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_clocks_and_controls_beside_a_long_name_stay_in_one_line(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/", NARROW) as page:
        challenge(page)
        scene.start_another(LONG_NAME)
        page.page.click("#boards button")
        page.page.wait_for_selector("#leave:text-is('Back to your game')")
        for selector in ("#boards .clock", "#leave"):
            lines = page.page.locator(selector).first.evaluate(COUNT_LINES)
            assert lines == 1, selector
        assert page.page.evaluate(IS_INSIDE, ["#boards .clock", "#boards button"])


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_all_pieces_of_a_promotion_fit_into_a_small_window(browser: "Browser", scene: Scene) -> None:
    is_whole = "it => it.scrollHeight <= it.clientHeight && it.scrollWidth <= it.clientWidth"
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page, variant="antichess")
        (session,) = scene.person.sessions
        for move in BEFORE_PROMOTION.split():
            scene.server.call(lambda move=move: session.play(session.game.turn, move))
        until_moves(page, "Rxb1")
        click(page, "d7", "c8")
        page.page.wait_for_selector("#promotion[open]")
        assert page.page.locator("#promotion button").count() == 5
        for size in ((640, 360), (320, 640)):
            page.resize(size)
            assert page.page.locator("#promotion").evaluate(is_whole), size


def test_a_long_list_of_mistakes_leaves_room_for_the_chat(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/", NARROW) as page:
        challenge(page)
        assert 0 < page.page.evaluate(HEIGHT_OF_MANY_MISTAKES) < NARROW[1]


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_server_that_has_started_anew_leaves_nothing_of_the_lost_game(browser: "Browser", scene: Scene) -> None:
    with visit(browser, "about:blank") as page:
        page.page.add_init_script(KEEP_EVENTS)
        page.page.goto(f"{scene.server.site.url}/")
        challenge(page)
        page.page.wait_for_selector("#talk:not([hidden])")
        page.page.evaluate("window.events.dispatchEvent(new MessageEvent('game', { data: 'null' }))")
        page.page.wait_for_selector("#challenge:not([hidden])")
        assert [page.page.is_visible(it) for it in ("#game", "#talk", "#above", "#below")] == [False] * 4
