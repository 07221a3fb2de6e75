"""What the play page shows in the course of games: clocks, the form, what can be pressed, and what was answered.

And how it looks: in colours that the person has forced, dark or light, and in windows of any size.
"""

from typing import TYPE_CHECKING

import pytest

from lichessbot.rehearsal.browser.person import FINISHED_SHOWN
from lichessbot.rehearsal.players.house_bots import AnswerPolicy
from lichessbot.rehearsal.rules.enums import ChatRoom, Color, ColorChoice, DeclineReason
from lichessbot.rehearsal.server.game_session import GameSession
from tests.browser.chromium import NARROW, Visit, visit
from tests.browser.playing import (
    HOSTILE,
    OVER,
    PROMOTION,
    RUNNING,
    Patient,
    challenge,
    click,
    touch,
    until_moves,
    until_turn,
)
from tests.lichessbot.rehearsal.browser.scene import Scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

NOTE_FORM = """new MutationObserver(() => {
    window.sawForm ||= document.querySelector('#challenge:not([hidden])') !== null;
}).observe(document, { subtree: true, attributeFilter: ['hidden'] });"""
MARK_ALL_MOVES = """async () => {
    const { showMoves } = await import('/static/play/game.js');
    const moves = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((number) =>
        ['white', 'black'].map((color) => ({ number, color, san: 'Nf3' })));
    const right = (selector) => document.querySelector(selector).getBoundingClientRect().right;
    showMoves({ id: 'marked', moves }, 16, new Map(), () => {});
    showMoves({ id: 'marked', moves }, 16, new Map(moves.map((_, index) => [index + 1, { glyph: '??' }])), () => {});
    return right('#moves [aria-current]') <= right('#moves') + 1;
}"""
SHOW_FAILED_ANALYSIS = """async () => {
    const { showReview } = await import('/static/play/review.js');
    const analysis = {
        id: 'failed', isOver: false, fault: 'no engine', positions: 9, mistakes: [],
        scores: [{ ply: 0, score_cp: 0, mate_in: null, text: '+0.00' }],
        counts: { white: {}, black: {} }, averageLoss: { white: 0, black: 0 },
    };
    showReview({ id: 'failed', moves: [] }, analysis, 0, () => {});
}"""
BACKGROUNDS = """(selectors) => selectors.map((it) =>
    getComputedStyle(document.querySelector(it)).backgroundColor)"""


def play_seven_moves(scene: Scene, page: Visit) -> GameSession:
    """Play a pawn move of each side on all files but the last."""
    (session,) = scene.person.sessions
    for file in "abcdefg":
        for move in (f"{file}2{file}3", f"{file}7{file}6"):
            scene.server.call(lambda move=move: session.play(session.game.turn, move))
    until_moves(page, r"7\.\s*g3\s*g6")
    return session


def test_a_list_keeps_the_focus_on_what_stays(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        page.page.wait_for_selector("#send:enabled")
        before, after = page.page.evaluate("""async () => {
            const { make, showList } = await import('/static/common/dom.js');
            const list = document.querySelector('main').appendChild(make('div'));
            const show = (names) => showList(list, names, (name) => name, (name) => make('button', {}, name));
            const state = () => [[...list.children].map((it) => it.dataset.key).join(' '),
                document.activeElement.dataset.key ?? 'lost'];
            show(['first', 'second', 'third']);
            list.children[1].focus();
            const before = state();
            show(['zeroth', 'second', 'third', 'fourth']);
            return [before, state()];
        }""")
    assert before == ["first second third", "second"]
    assert after == ["zeroth second third fourth", "second"]


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_clock_runs_on_whatever_is_looked_at(browser: "Browser", scene: Scene) -> None:
    def left_s(place: str) -> int:
        minutes, seconds = page.text(f"#{place} .clock").split(":")
        return 60 * int(minutes) + int(seconds)

    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        click(page, "e2", "e4")
        Patient.may_move.release()
        until_moves(page, r"e4\s*\S+")
        page.page.wait_for_function("() => document.querySelector('#below .clock').innerText <= '2:56'")
        page.page.keyboard.press("ArrowLeft")
        page.page.wait_for_selector("#moves [aria-current=true]:text-is('e4')")
        assert left_s("below") <= 176
        page.page.click("#flip")
        page.until_text("#above", "You")
        assert left_s("above") <= 176


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_declined_rematch_is_told_and_an_unanswered_one_can_be_cancelled(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        page.page.click("#resign")
        page.page.wait_for_selector(OVER)
        scene.server.call(lambda: scene.hire(AnswerPolicy(declines=DeclineReason.LATER)))
        for _ in range(2):
            page.page.click("#rematch")
            page.until_text("#said", "declined: ")
            page.page.click("#copy-fen")
            page.page.locator("#said", has_text="declined").wait_for(state="hidden")
        scene.server.call(lambda: scene.hire(AnswerPolicy(ignores=True)))
        page.page.click("#rematch")
        page.page.wait_for_selector("#rematch:disabled")
        page.page.click("#new-game")
        page.page.click("#cancel")
        page.page.wait_for_selector("#send:enabled")


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_new_game_is_offered_after_a_game_of_others_too(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        page.page.click("#resign")
        page.page.wait_for_selector(OVER)
        watched = scene.start_another()
        page.page.click("#boards button")
        page.until_text("#below", HOSTILE)
        page.page.wait_for_selector("#leave:not([hidden])")
        scene.server.call(lambda: scene.server.site.session(watched).abort())
        page.page.wait_for_selector(OVER)
        page.page.click("#new-game")
        page.until_text("#below", "You")
        assert page.page.locator("#challenge").is_visible()
        page.page.click("#boards button")
        page.page.wait_for_selector("#leave:not([hidden])")
        page.page.locator("#skip").press("Enter")
        assert page.page.evaluate("document.activeElement.id") == "side"
        page.page.wait_for_selector("#leave:not([hidden])")


def test_a_remembered_choice_that_no_longer_exists_is_ignored(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        stored = {"gone=x&clock=5%2B3": "5+3", '{"clock': "3+2", "clock=4%2B2&variant=gone": "3+2"}
        for choices, clock in stored.items():
            page.page.evaluate("choices => { localStorage.challenge = choices; }", choices)
            page.page.reload()
            page.page.wait_for_selector("#send:enabled")
            assert page.page.locator("#clocks :checked").input_value() == clock
        assert page.page.input_value("[name=variant]") == "standard"
        page.page.select_option("[name=variant]", "chess960")
        challenge(page)
        page.page.reload()
        page.page.wait_for_selector(RUNNING)
        assert page.page.input_value("[name=variant]") == "chess960", "the browser remembers"


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_ones_own_game_is_shown_at_once_and_found_again(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        page.page.add_init_script(NOTE_FORM)
        page.page.reload()
        page.page.wait_for_selector(RUNNING)
        assert not page.page.evaluate("window.sawForm"), "the form was shown before the game"
        scene.start_another()
        page.page.click("#boards button")
        page.page.click("#leave:text-is('Back to your game')")
        page.page.wait_for_selector(RUNNING)
        page.until_text("#below", "You")


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_the_list_of_moves_is_scrolled_only_to_another_move(browser: "Browser", scene: Scene) -> None:
    place = "() => document.getElementById('moves').scrollLeft"
    with visit(browser, f"{scene.server.site.url}/", NARROW) as page:
        challenge(page)
        session = play_seven_moves(scene, page)
        assert page.page.evaluate(place) > 0
        page.page.evaluate("document.getElementById('moves').scrollLeft = 0")
        scene.server.call(lambda: session.say(Color.BLACK, ChatRoom.PLAYER, "hello"))
        page.until_text("#chat", "hello")
        assert page.page.evaluate(place) == 0
        scene.server.call(lambda: session.play(Color.WHITE, "h2h3"))
        until_moves(page, r"8\.\s*h3")
        assert page.page.evaluate(place) > 0
        assert page.page.evaluate(MARK_ALL_MOVES), "the move on the board is not pushed out by the marks of the others"


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_double_click_asks_once(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:       # which notes each refusal
        page.page.wait_for_selector("#send:enabled")
        page.page.click("#colours label:has([value=white])")
        page.page.dblclick("#send")
        for field, text in (("move", "e4"), ("chat", "hi")):
            page.page.fill(f"#{field}-text", text)
            page.page.dblclick(f"form:has(#{field}-text) button")
            page.page.wait_for_function(f"() => !document.getElementById('{field}-text').value")
        page.page.dblclick("#resign")
        page.page.wait_for_selector(OVER)
        page.page.dblclick("#rematch")
        page.page.wait_for_selector(RUNNING)
        assert [len(it.game.chat) for it in scene.person.sessions] == [1, 0]


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_phone_that_is_turned_shows_the_board(browser: "Browser", scene: Scene) -> None:
    is_whole = """(selector) => {
        const { top, bottom } = document.querySelector(selector).getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
    }"""
    upright, lying = (360, 640), (640, 360)
    with visit(browser, f"{scene.server.site.url}/", upright, is_phone=True) as page:
        challenge(page)
        play_seven_moves(scene, page)
        for size in (lying, upright, lying):
            page.resize(size)
            page.page.wait_for_function(is_whole, arg="#table")
            page.page.wait_for_function("""() => {
                const [move, list] = ['#moves [aria-current]', '#moves'].map(
                    (it) => document.querySelector(it).getBoundingClientRect());
                return move.top >= list.top && move.bottom <= list.bottom + 1 && move.right <= list.right + 1;
            }""")
        page.page.focus("#chat-text")
        page.resize(upright)
        page.page.wait_for_function(is_whole, arg="#chat-text")


def test_black_sees_racing_kings_from_the_side_of_white(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page, variant="racingKings", color="black")
        page.until_text("#below", "You")
        for side in ("white", "black"):
            page.page.wait_for_selector(f"#board.orientation-{side}")
            page.page.click("#flip")
        page.until_text("#below", "You")


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_touch_that_drops_a_piece_does_not_select_it(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/", NARROW, is_phone=True) as page:
        challenge(page, variant="crazyhouse")
        (session,) = scene.person.sessions
        for move in ("e2e4", "d7d5", "e4d5", "d8d5"):
            scene.server.call(lambda move=move: session.play(session.game.turn, move))
        page.page.locator("#pocket piece").tap()
        page.page.wait_for_selector("#pocket[data-held=pawn]")
        touch(page, "e4")
        until_moves(page, r"3\.\s*P?@e4")
        page.page.wait_for_timeout(500)         # the click that belongs to a touch comes later
        assert page.page.locator("#board square.selected").count() == 0


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_the_piece_of_the_pocket_that_was_clicked_last_is_dropped(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page, variant="crazyhouse")
        (session,) = scene.person.sessions
        for move in ["e2e4", "d7d5", "e4d5", "g8f6", "d5d6", "f6g8", "d6c7", "g8f6", "c7b8q", "a8b8"]:
            scene.server.call(lambda move=move: session.play(session.game.turn, move))
        for role in ("knight", "pawn", "knight"):
            page.page.click(f"#pocket .{role}")
            page.page.wait_for_selector(f"#pocket[data-held={role}]")
        click(page, "d6")
        until_moves(page, r"6\.\s*N@d6")
        page.page.click("#pocket .pawn")
        page.page.click("#pocket .pawn")
        page.page.wait_for_selector("#pocket:not([data-held])")         # put back


def test_an_analysis_that_fails_says_why(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        page.page.wait_for_selector("#send:enabled")
        page.page.evaluate(SHOW_FAILED_ANALYSIS)
        assert page.text("#progress") == "1 of 9 positions"
        assert page.page.get_by_role("alert").filter(has_text="The analysis failed: no engine").is_visible()


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_watched_game_stays_as_it_is_seen(browser: "Browser", scene: Scene) -> None:
    def end(game_id: str) -> None:
        page.page.wait_for_selector(f"#boards [data-key='{game_id}']")
        scene.server.call(scene.server.site.session(game_id).abort)

    watched = scene.start_another(color=ColorChoice.WHITE)
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        page.page.click("#boards button")
        page.page.wait_for_selector("#leave:not([hidden])")
        page.page.reload()
        page.page.wait_for_selector("#leave:text-is('Back to your game')")
        assert page.page.url.endswith(f"#{watched}"), "one's own game did not just begin"
        end(watched)
        page.page.wait_for_selector(OVER)
        for number in range(FINISHED_SHOWN):
            end(scene.start_another(f"Greedy {number}"))
        page.page.wait_for_selector(f"#boards [data-key='{watched}']", state="detached")
        page.page.click("#flip")
        page.page.click("#flip")
        assert page.page.locator("#board.orientation-black").count() == 1, "the bot is below, as before"
        assert HOSTILE in page.text("#below")


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_question_ends_with_its_game(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page, fen=PROMOTION)
        other = scene.open()
        game = other.wait("game", lambda it: it)
        for dialog in ("sure", "promotion"):
            page.page.wait_for_selector(RUNNING)
            if dialog == "sure":
                click(page, "a1", "a2")
                Patient.may_move.release()
                until_moves(page, r"Ka2\s*\S+")
                page.page.click("#resign")
            else:
                click(page, "a7", "a8")
            page.page.wait_for_selector(f"#{dialog}[open]")
            other.do(f"game/{game['id']}/resign")
            page.page.wait_for_selector(f"#{dialog}[open]", state="detached")
            page.page.wait_for_selector(OVER)
            page.page.evaluate(f"document.getElementById('{dialog}').showModal()")      # as if the end had been missed
            game = other.start(variant="fromPosition", fen=PROMOTION)
            page.page.wait_for_selector(f"#{dialog}[open]", state="detached")
            played = scene.server.site.session(game["id"]).game
            assert (list(played.moves), played.is_over) == ([], False)


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_promotion_ends_with_a_click_elsewhere_and_with_another_move(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page, fen=PROMOTION)
        (session,) = scene.person.sessions
        click(page, "a7", "a8")
        page.page.wait_for_selector("#promotion[open]")
        page.page.mouse.click(3, 3)
        page.page.wait_for_selector("#promotion[open]", state="detached")
        page.page.wait_for_function("() => [...document.querySelectorAll('piece.pawn')].some(it => it.cgKey === 'a7')")
        click(page, "a7", "a8")
        page.page.wait_for_selector("#promotion[open]")
        scene.server.call(lambda: session.play(Color.WHITE, "a1a2"))            # as at another page
        page.page.wait_for_selector("#promotion[open]", state="detached")
        scene.server.call(lambda: session.play(Color.BLACK, "h7h6"))
        until_turn(page)
        click(page, "a7", "a8")
        page.page.wait_for_selector("#promotion[open]")
        page.page.keyboard.press("Shift+R")
        until_moves(page, r"1\.\s*Ka2\s*Kh6\s*2\.\s*a8=R")


def test_a_question_that_is_closed_without_an_answer_resigns_nothing(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        click(page, "e2", "e4")
        until_moves(page, r"e4\s*\S+")
        page.page.click("#resign")
        page.page.click("#sure [value=yes]")
        page.page.wait_for_selector(OVER)
        page.page.click("#new-game")
        challenge(page)
        click(page, "e2", "e4")
        until_moves(page, r"e4\s*\S+")
        page.page.click("#resign")
        page.page.wait_for_selector("#sure[open]")
        # What Escape does by the HTML standard and in Firefox: the dialog keeps its last answer.
        page.page.evaluate("document.getElementById('sure').close()")
        click(page, "d2", "d4")
        until_moves(page, "2.*d4")
        assert page.page.locator(OVER).count() == 0


@pytest.mark.parametrize("scene", [Patient], indirect=True)
def test_a_click_means_the_square_that_is_seen_there(browser: "Browser", scene: Scene) -> None:
    with visit(browser, f"{scene.server.site.url}/") as page:
        challenge(page)
        page.page.evaluate("document.querySelector('header').style.height = '120px'")   # as a longer heading would
        click(page, "e2", "e4")
        until_moves(page, "e4")


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
