"""The play page: a whole game by clicks against the real bot, and hard cases against an account of the house."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.opponents import GreedyOpponent
from lichessbot.rehearsal.rules.enums import ChatRoom, Color
from tests.browser import axe
from tests.browser.chromium import DESKTOP, LOOKS, NARROW, visit
from tests.browser.playing import (
    HOSTILE,
    OVER,
    PROMOTION,
    RUNNING,
    Patient,
    challenge,
    click,
    drag,
    enter,
    point,
    until_moves,
    until_turn,
)
from tests.browser.rehearsal import rehearse
from tests.lichessbot.rehearsal.browser.scene import Scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = pytest.mark.browser

MATE_IN_TWO = "7k/8/8/7p/8/8/R7/1R4K1 w - - 0 1"
# The words are gone as soon as the stream is open again.
NOTE_LOSS = """() => {
    const it = document.getElementById('connection');
    const note = () => { window.wasLost ||= it.textContent.startsWith('Connection lost'); };
    new MutationObserver(note).observe(it, { childList: true, characterData: true, subtree: true });
}"""
# As in Safari, which copies only while a click is dealt with.
REFUSE_LATE_COPIES = """() => ['write', 'writeText'].forEach((name) => {
    const copy = navigator.clipboard[name].bind(navigator.clipboard);
    navigator.clipboard[name] = async (what) => {
        if (window.event?.type !== 'click') throw new Error('The request is not allowed.');
        return copy(what);
    };
})"""


# The updates wait until `release()`; `answered` counts the answers that the page has dealt with.
LATE_UPDATES = """
    const held = [], fetched = window.fetch;
    let holds = false;
    window.hold = () => { holds = true; };
    window.release = () => { holds = false; held.splice(0).forEach((tell) => tell()); };
    window.answered = 0;
    window.fetch = (...request) => {
        const answer = fetched(...request);
        answer.then(() => setTimeout(() => { window.answered += 1; }, 100));
        return answer;
    };
    window.EventSource = class extends EventSource {
        addEventListener(type, hear) {
            super.addEventListener(type, (event) => (holds ? held.push(() => hear(event)) : hear(event)));
        }
    };
"""


class Generous(GreedyOpponent):
    """Gives White two pawns for the pocket, and then waits."""

    plan = ("d7d5", "e7e6", "f7e6", "a7a6", "a6a5", "a5a4", "a4a3")

    def choose(self, board: Board, clocks: Limits) -> str:
        return next(move for move in self.plan if move in board.legal_moves())


@pytest.fixture(scope="module")
def rehearsal(browser: "Browser") -> Iterator[str]:
    """The address of the page of the real bot."""
    with rehearse() as address:
        yield address


def say(scene: Scene, text: str) -> None:
    """Let the opponent, who has Black, write into the chat of the first game."""
    (session,) = scene.person.sessions
    scene.server.call(lambda: session.say(Color.BLACK, ChatRoom.PLAYER, text))


def test_a_whole_game_by_clicks_against_the_bot(browser: "Browser", rehearsal: str) -> None:
    with visit(browser, rehearsal) as page:
        assert page.page.locator("#review").is_hidden()
        challenge(page, fen=MATE_IN_TWO, strength="level-800")
        until_turn(page)
        assert page.page.evaluate("document.activeElement.id") == "side", "Tab goes on with the game's controls"
        page.until_text("#chat", "Hello You, I am")
        click(page, "a2")
        page.page.locator("cg-board square.move-dest").nth(13).wait_for()
        click(page, "a7")
        until_moves(page, r"1\.\s*Ra7\s*\S+")
        until_turn(page)
        assert page.page.locator("#review").is_hidden(), "no evaluation while the game runs"
        drag(page, "b1", "b8")
        page.page.wait_for_selector(OVER)
        assert page.text("#end-title") == "You won"
        assert page.text("#end-reason") == "Checkmate."
        assert "checkmate" in page.text("#announcement")
        page.page.wait_for_selector("#graph canvas")
        page.page.locator("#progress:empty").wait_for(state="attached")
        page.until_text("#verdict", "2. Rb8# (checkmate)")
        assert page.page.locator("#summary").inner_text().split()[:2] == ["White", "Black"]
        page.page.keyboard.press("ArrowUp")
        page.until_text("#verdict", "Start (#2)")
        page.page.keyboard.press("ArrowRight")
        page.until_text("#verdict", "1. Ra7 (#1)")
        graph = page.page.locator("#graph .u-over").bounding_box()
        assert graph is not None
        page.page.mouse.move(graph["x"] + graph["width"] / 3, graph["y"] + 20)
        for tremor in (0, 2):                   # also where another position has been chosen since the mouse moved
            page.page.keyboard.press("ArrowUp")
            page.until_text("#verdict", "Start (#2)")
            page.page.mouse.down()
            page.page.mouse.move(graph["x"] + graph["width"] / 3 + tremor, graph["y"] + 20 + tremor)
            page.page.mouse.up()
            page.until_text("#verdict", "1. Ra7 (#1)")

        page.page.click("#rematch")
        page.page.wait_for_selector(RUNNING)
        assert page.page.locator("#review").is_hidden()
        assert "You" in page.text("#below")
        page.page.click("#resign")
        page.page.wait_for_selector(OVER)
        assert page.text("#end-title") == "Game aborted"


def test_takeback_review_copies_sounds_and_their_switch(browser: "Browser", rehearsal: str) -> None:
    note = "window.AudioContext = class extends AudioContext { constructor() { super(); window.sounds = this; } }"
    with visit(browser, "about:blank") as page:
        page.page.add_init_script(note)
        page.page.goto(rehearsal)
        page.page.wait_for_selector("#challenge:not([hidden]), #end:not([hidden])")
        if page.page.locator("#new-game").is_visible():
            page.page.click("#new-game")
        challenge(page, fen="3q3k/8/8/8/8/8/8/3Q3K w - - 0 1", strength="level-1600")
        for takes_back in (True, False):
            until_turn(page)
            enter(page, "move", "Qg1")
            until_moves(page, r"1\.\s*Qg1\s*\S+")
            until_turn(page)
            if takes_back:
                page.page.click("#takeback")
                page.page.locator("#moves:empty").wait_for(state="attached")
                page.until_text("#chat", "Black accepts takeback")
        page.page.click("#resign")
        page.page.click("#sure .danger")
        page.page.wait_for_selector("#mistakes button")
        page.page.locator("#progress:empty").wait_for(state="attached")  # until then the page may shift
        page.page.locator("#mistakes button").first.click()
        page.until_text("#verdict", "1. Qg1?? (")
        page.page.wait_for_selector("#mistakes [aria-current=true]")
        assert "Blunder. Qxd8+ was better." in page.text("#verdict")
        arrows = page.page.locator("#board svg.cg-shapes g line")
        arrows.first.wait_for(state="attached")         # with the next frame
        assert arrows.count() == 1
        page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        for what, content in (("pgn", '[White "You"]'), ("fen", "3q3k/8/8/8/8/8/8/6QK b - - 1 1")):
            page.page.click(f"#copy-{what}")
            page.until_text("#said", f"{what.upper()} copied.")
            assert content in page.page.evaluate("navigator.clipboard.readText()")
        assert page.page.evaluate("sounds.currentTime") > 0
        page.page.wait_for_function("() => sounds.state === 'suspended'")       # silence would cost power
        page.page.click("#sound")
        page.page.reload()
        assert page.page.get_attribute("#sound[aria-pressed=false]", "type") == "button", "the browser remembers"
        page.page.wait_for_selector(OVER)
        assert page.text("#end-title") == "You lost"


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_premoves_promotion_typed_moves_and_a_broken_stream(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        enter(page, "move", "e4")
        until_moves(page, "e4")
        click(page, "d2", "d4")
        page.page.locator("cg-board square.current-premove").first.wait_for()
        Patient.may_move.release()
        until_moves(page, r"1\.\s*e4\s*\S+\s*2\.\s*d4")
        page.page.locator("cg-board square.current-premove").first.wait_for(state="hidden")

        page.page.evaluate(NOTE_LOSS)
        scene.server.call(scene.page.end_streams)
        page.page.wait_for_function("() => window.wasLost")
        Patient.may_move.release()
        page.page.locator("#connection:empty").wait_for(state="attached")
        until_moves(page, r"2\.\s*d4\s*\S+")
        page.page.click("#flip")
        assert "orientation-black" in (page.page.get_attribute("#board", "class") or "")
        page.page.click("#resign")
        page.page.click("#sure .danger")
        page.page.click("#new-game")

        challenge(page, fen=PROMOTION)
        click(page, "a7", "a8")
        page.page.wait_for_selector("#promotion[open]")
        page.page.keyboard.press("Escape")
        page.page.locator("#promotion[open]").wait_for(state="hidden")
        assert page.text("#moves").strip() == ""
        page.page.locator("#board piece.white.pawn:not(.ghost)").wait_for()         # it stands on a7 again
        page.page.wait_for_timeout(300)
        click(page, "a7", "a8")
        page.page.wait_for_selector("#promotion[open]")
        pictures = page.page.locator("#promotion piece").evaluate_all("them => them.map(it => [it.className,"
            " getComputedStyle(it).backgroundImage.startsWith('url'), it.offsetWidth, it.offsetHeight])")
        assert pictures == [[f"{name} white", True, 58, 58] for name in ("queen", "rook", "bishop", "knight")]
        page.page.keyboard.press("r")
        until_moves(page, "a8=R")


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_move_stays_on_the_board_until_it_is_confirmed(browser: "Browser", scene: Scene) -> None:
    with visit(browser, "about:blank") as page:
        page.page.add_init_script(LATE_UPDATES)
        page.page.goto(f"{scene.server.site.url}/")
        challenge(page)
        page.page.wait_for_function("() => answered === 1")       # the challenge
        page.page.evaluate("hold()")
        click(page, "e2", "e4")
        page.page.wait_for_function("() => answered === 2")
        where = "[...document.querySelectorAll('#board piece.white.pawn:not(.ghost)')].map(it => it.cgKey)"
        squares = page.page.evaluate(where)
        assert ("e4" in squares, "e2" in squares) == (True, False)
        page.page.evaluate("release()")
        until_moves(page, "e4")
        assert page.page.evaluate(where) == squares

        Patient.may_move.release()
        until_turn(page)
        held: list[Route] = []
        page.page.route("**/move", lambda route: held.append(route))
        with page.page.expect_request("**/move"):
            click(page, "d2", "d4")
        drag(page, "b1", "c3", button="right")
        arrows = page.page.locator("#board svg.cg-shapes g line")
        arrows.wait_for(state="attached")
        say(scene, "hello")
        page.until_text("#chat", "hello")
        squares = page.page.evaluate(where)
        assert ("d4" in squares, "d2" in squares) == (True, False), "nothing is known of the move yet"
        assert arrows.count() == 1
        enter(page, "chat", " ")
        page.until_text("#said", "Must be between")
        assert ("d4" in page.page.evaluate(where), arrows.count()) == (True, 1), "the chat has nothing to do with it"
        held[0].fulfill(status=400, json={"error": "Not now."})
        page.until_text("#said", "Not now.")
        page.page.wait_for_function(f"() => {where}.includes('d2') && !{where}.includes('d4')")
        assert len(page.complaints) == 2, page.complaints
        assert all("400 (Bad Request)" in page.complaints.pop() for _ in range(2))


def test_what_is_typed_stays_until_the_server_takes_it(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        page.page.route("**/chat", lambda route: route.fulfill(status=400, json={"error": "Not now."}))
        enter(page, "chat", "good luck")
        page.until_text("#said", "Not now.")
        assert page.page.input_value("#chat-text") == "good luck"
        page.page.unroute("**/chat")
        page.page.press("#chat-text", "Enter")
        page.until_text("#chat", "good luck")
        page.page.wait_for_function("() => document.getElementById('chat-text').value === ''")

        enter(page, "move", "Nf9")
        page.until_text("#move-error", "'Nf9' is not a legal move here")
        assert page.page.input_value("#move-text") == "Nf9"
        click(page, "e2", "e4")
        until_moves(page, "e4")
        page.page.wait_for_selector("#move-error:empty", state="attached")
        assert all("400 (Bad Request)" in it for it in page.complaints), page.complaints
        page.complaints.clear()


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_takeback_ends_the_premove_that_was_meant_for_another_position(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        click(page, "e2", "e4")
        Patient.may_move.release()
        until_moves(page, r"1\..*e4\s*\S+")
        until_turn(page)
        click(page, "g1", "f3")
        until_moves(page, "Nf3")
        click(page, "d2", "d4")
        page.page.locator("cg-board square.current-premove").first.wait_for()
        (session,) = scene.person.sessions
        scene.server.call(session.take_back_last)
        page.until_text("#announcement", "A move was taken back. It is white's turn.")
        page.page.locator("cg-board square.current-premove").first.wait_for(state="hidden")
        until_turn(page)
        enter(page, "move", "a3")
        until_moves(page, "a3")
        assert session.game.moves[2:] == ["a2a3"]


@pytest.mark.parametrize("scene", [Generous], indirect=True)
def test_pieces_of_the_pocket_are_dropped_by_drag_and_by_click(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page, variant="crazyhouse")
        pawn = page.page.locator("#pocket piece.pawn.white")
        for number, (origin, target) in enumerate((("e2", "e4"), ("e4", "d5"), ("d5", "e6")), 1):
            until_turn(page)
            drag(page, origin, target)
            until_moves(page, rf"{number}\.\s*\S+\s*\S+")
        page.page.wait_for_selector("#pocket piece[data-count='2']")
        until_turn(page)
        pawn.hover()
        page.page.mouse.down()
        page.page.mouse.move(*point(page, "e4"), steps=5)
        say(scene, "hello")                     # the pawn stays in the hand whatever is heard
        page.until_text("#chat", "hello")
        scene.server.call(lambda: scene.person.sessions[0].play(Color.WHITE, "g1f3"))
        until_moves(page, r"4\.\s*Nf3\s*a6")
        page.page.mouse.move(*point(page, "e5"), steps=5)
        page.page.mouse.up()
        until_moves(page, r"5\.\s*P?@e5\s*a5")
        page.page.wait_for_selector("#pocket piece[data-count='1']")

        pawn.click()
        page.page.wait_for_selector("#pocket[data-held=pawn]")
        click(page, "b1")                       # a piece of ours stands there: the pawn stays in the pocket
        page.page.wait_for_selector("#pocket:not([data-held])")
        drag(page, "b1", "c3")
        until_moves(page, r"6\.\s*Nc3\s*a4")
        pawn.click()
        click(page, "d4")
        until_moves(page, r"7\.\s*P?@d4")
        pawn.wait_for(state="detached")


def test_a_wrong_clock_of_ones_own_does_not_keep_others_from_being_played(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        page.page.wait_for_selector("#send:enabled")
        page.page.click("#clocks label:has([value=custom])")
        for name in ("minutes", "increment"):
            for wrong in ("999", ""):
                page.page.fill(f"[name={name}]", wrong)
                page.page.click("#send")
                page.page.wait_for_selector(f"[name={name}]:invalid")
            page.page.fill(f"[name={name}]", "2")
        page.page.fill("[name=minutes]", "")
        page.page.click("#send")
        page.page.wait_for_selector("#challenge:invalid")
        assert page.page.locator(RUNNING).count() == 0
        page.page.click("#clocks label:has([value='3+2'])")
        page.page.click("#send")
        page.page.wait_for_selector(RUNNING)


def test_a_pgn_is_copied_where_only_a_click_may_copy(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.page.evaluate(REFUSE_LATE_COPIES)
        page.page.click("#copy-pgn")
        page.until_text("#said", "PGN copied.")
        assert '[White "You"]' in page.page.evaluate("navigator.clipboard.readText()")


def test_a_pgn_that_does_not_come_is_not_copied(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.page.click("#copy-fen")
        page.until_text("#said", "FEN copied.")
        page.page.route("**/pgn", lambda route: route.fulfill(status=404, json={"error": "No such game."}))
        page.page.click("#copy-pgn")
        page.until_text("#said", "No such game.")
        page.page.route("**/pgn", lambda route: route.abort())
        page.page.click("#copy-pgn")
        page.until_text("#said", "The server does not answer. Is the rehearsal still running?")
        assert page.page.evaluate("navigator.clipboard.readText()").startswith("rnbqkbnr/")
        assert all(it.startswith("Failed to load resource") for it in page.complaints), page.complaints
        page.complaints.clear()


def test_hostile_names_chat_and_positions_are_text(browser: "Browser", scene: Scene) -> None:
    game_id = scene.start_another("<b>Greedy</b>")
    with visit(browser, f"{scene.server.site.url}/") as page:
        page.until_text("#boards", "<b>Greedy</b>")
        assert HOSTILE in page.text("#heading")
        page.page.click("#boards button")
        page.until_text("#above", "<b>Greedy</b>")
        assert page.page.url.endswith(f"#{game_id}")
        assert page.page.locator("#typing").is_hidden()
        page.page.click("#leave")
        challenge(page)
        enter(page, "chat", "<script>alert(1)</script> &lt;")
        page.until_text("#chat", "<script>alert(1)</script> &lt;")
        page.resize(NARROW)
        page.until_it_fits()
        assert page.text("#above small") == "1500"
        assert page.is_whole("#above small"), "the name alone is cut off"
        page.resize(DESKTOP)
        page.page.click("#resign")
        page.page.wait_for_selector(OVER)
        page.page.click("#new-game")
        page.page.select_option("[name=variant]", "fromPosition")
        page.page.fill("[name=fen]", "<b>8</b>")
        page.page.click("#send")
        page.until_text("#notice", "Fen: invalid FEN '<b>8</b>'")
        assert page.page.locator("main img, main script, main b b, bdi b").count() == 0
        assert len(page.complaints) == 1, page.complaints
        assert "400 (Bad Request)" in page.complaints.pop()


def test_axe_finds_nothing_serious_and_nothing_is_too_wide(
    browser: "Browser", scene: Scene, axe_script: str
) -> None:
    scene.start_another()

    def look() -> None:
        for size, scheme in LOOKS:
            page.resize(size)
            page.page.emulate_media(color_scheme=scheme)
            page.page.wait_for_timeout(300)         # boards follow the size of the window a moment later
            page.until_it_fits()
            assert axe.serious(page.page, axe_script) == [], size

    with visit(browser, f"{scene.server.site.url}/", bypass_csp=True) as page:
        page.until_text("#boards", "Greedy")
        look()
        challenge(page)
        until_turn(page)
        enter(page, "move", "f3")
        until_moves(page, r"1\.\s*f3\s*\S+")
        look()
        page.page.click("#resign")
        page.page.click("#sure .danger")
        page.page.wait_for_selector("#graph canvas")
        page.page.locator("#progress:empty").wait_for(state="attached")
        look()
