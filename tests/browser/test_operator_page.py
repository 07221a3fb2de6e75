"""The operator's page in front of the real daemon, which plays on the embedded Lichess."""

import json
import re
import time
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from lichessbot.control.status import clock_time
from lichessbot.rehearsal.rules.enums import ChatRoom, Color
from lichessbot.rehearsal.server.game_session import GameSession
from tests.browser import axe
from tests.browser.chromium import DESKTOP, LOOKS, NARROW, Visit, visit
from tests.fakes.arena import PATIENCE_S, Arena, GreedyOpponent, Ponderer, SlowOpponent

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = pytest.mark.browser

NAME = '<img src=x onerror=alert(1)>"&amp;'
CHAT = "<script>alert(1)</script> &lt;b&gt; \u202egnp.exe"
MOVES = ".game .moves"
WORDS_OF_LAST_MOVE = ".lpv [aria-live]"
PIXELS_OF_THE_SECOND_RATING = """() => {
    const [, mark] = document.querySelectorAll('#ratings-legend .mark');
    const colour = getComputedStyle(mark).backgroundColor.match(/\\d+/g).map(Number);
    const canvas = document.querySelector('#ratings canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) count += colour.every((part, index) => data[at + index] === part);
    return count;
}"""
NOTE_ANIMATION = """() => new MutationObserver(() => {
    window.wasAnimated ||= document.querySelector('.lpv piece.anim') !== null;
}).observe(document.querySelector('.lpv'), { subtree: true, attributeFilter: ['class'] })"""
# What leads to a view, and what it shows when it is complete.
VIEWS = [
    ("#to-live", ".game cg-board piece"),
    ("#to-history", "#list a"),
    ("#list a", ".lpv cg-board piece"),
]


class Steady(SlowOpponent):
    """Moves every now and then, and is not beaten while a test lasts."""

    thinks_s = 1.5
    careful_moves = 100


class Dawdler(Steady):
    """Has hardly moved when a test is over."""

    thinks_s = 5.0


def begin(arena: Arena, name: str, opponent: type[GreedyOpponent] = Ponderer) -> GameSession:
    """Return a game that has begun."""
    before = len(arena.started)
    arena.challenge(arena.player(name, opponent), base_s=1800)  # a slow machine looks at every view meanwhile
    arena.until(lambda: len(arena.started) > before)
    return arena.started[-1]


def end(arena: Arena, session: GameSession) -> None:
    """Let the opponent resign once the records have some moves of ours with evaluations."""
    arena.until_plies(session, 8)
    seat = session.game.setup.color_of(arena.bot)
    assert seat is not None
    arena.server.call(lambda: session.game.is_over or session.resign(seat.other))
    arena.until(lambda: session in arena.ended)


def told(address: str, path: str) -> Any:
    with urllib.request.urlopen(f"http://{address}/api/{path}", timeout=PATIENCE_S) as answer:
        return json.load(answer)


def await_record(address: str, opponent: str) -> None:
    """Wait until the result of the game against this opponent is in the records and counted, some seconds later."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        is_recorded = any(game["result"] for game in told(address, f"games?opponent={opponent}")["games"])
        if is_recorded and opponent in map(str.lower, told(address, "statistics")["groups"]["opponent"]):
            return
        time.sleep(0.1)
    raise AssertionError("the game is not in the records")


def say(arena: Arena, session: GameSession, text: str) -> None:
    seat = (session.game.setup.color_of(arena.bot) or Color.WHITE).other
    arena.server.call(lambda: session.say(seat, ChatRoom.PLAYER, text))


def press(page: Visit, *keys: str) -> None:
    for key in keys:
        page.page.keyboard.press(key)


def focused(page: Visit) -> str:
    """Return the name of the focused element, or its text where it has none."""
    text: str = page.page.evaluate("document.activeElement.ariaLabel || document.activeElement.innerText")
    return text


def tab_to(page: Visit, text: str) -> None:
    """Press Tab until an element with this text has the focus."""
    for _ in range(100):
        press(page, "Tab")
        if text in focused(page):
            return
    raise AssertionError(f"Tab never reaches {text!r}")


def test_the_page_follows_a_game_over_a_restart_of_the_daemon(browser: "Browser", arena: Arena, address: str) -> None:
    with visit(browser, f"http://{address}/") as page:
        page.until_text("#connection", "connected")
        page.until_text("#live .none:visible", "No game is being played.")
        page.page.evaluate("window.loadedOnce = true")
        session = begin(arena, NAME, Steady)
        page.until_text(".game h3", NAME)
        moves = page.until_other_text(MOVES, "")
        assert re.fullmatch(r"1\.\s\S+.*", moves)
        page.until_other_text(MOVES, moves)
        assert page.page.locator(".game cg-board piece").count() > 2
        assert "White: " in (page.page.get_attribute(".game .board", "aria-label") or "")
        say(arena, session, CHAT)
        page.until_text(".game summary", "Chat (1)")
        page.page.click(".game summary")
        assert "<script>alert(1)</script> &lt;b&gt;" in page.text(".game .chat")

        arena.kill()
        page.until_text("#connection", "reconnecting")
        arena.start()
        page.until_text("#connection", "connected")
        moves = page.text(MOVES)
        page.until_other_text(MOVES, moves)

        end(arena, session)
        page.until_text("#live .none:visible", "No game is being played.")
        assert page.page.inner_text("#news") == f"Game against {NAME} is over."
        assert page.page.evaluate("window.loadedOnce"), "the page was loaded again"
        assert page.page.locator("img, main script").count() == 0


def test_a_pause_with_its_end_a_failing_engine_and_a_full_disk_are_told(
    browser: "Browser", arena: Arena, address: str
) -> None:
    status, at = told(address, "status"), time.time() + 3 * 86400
    when = clock_time(at, time.time())
    held_back = [{"what": "all but moves", "until_epoch_s": at}]
    status["connection"] |= {"held_back_s": 90.0, "requests": {"waiting": {}, "held_back": held_back}}
    status["lobby"]["matchmaking"] |= {"next_step": "challenges a bot", "next_attempt_epoch_s": at}
    status["engine"]["failure"] = "no <b>such program"
    status["records"] = {"unwritten_for_s": 90.0, "error": "disk is <b>full"}
    event = f"event: status\ndata: {json.dumps(status)}\n\n"
    with visit(browser, "about:blank") as page:
        page.page.route("**/api/events", lambda it: it.fulfill(content_type="text/event-stream", body=event))
        page.page.goto(f"http://{address}/")
        page.until_text("#next", f"challenges a bot, at {when}")
        health = page.page.locator("#health > div")
        assert health.filter(has_text="Held back").locator("dd").inner_text() == f"all but moves until {when}"
        engine = health.filter(has=page.page.locator("dt", has_text="Engine"))
        assert engine.locator("dd").inner_text() == "no <b>such program"
        assert health.filter(has_text="Records").locator("dd").inner_text() == "not written: disk is <b>full"


def test_the_way_back_from_the_history_is_the_live_view(browser: "Browser", arena: Arena, address: str) -> None:
    with visit(browser, f"http://{address}/") as page:
        page.until_text("#connection", "connected")
        page.page.click("#to-history")
        page.page.wait_for_selector("#history:not([hidden])")
        page.page.go_back()
        page.page.wait_for_selector("#live:not([hidden])")
        assert page.page.locator("#history").is_hidden()


def test_the_history_and_the_replayer_work_by_keyboard(browser: "Browser", arena: Arena, address: str) -> None:
    session = begin(arena, "Keys")
    end(arena, session)
    await_record(address, "keys")
    with visit(browser, f"http://{address}/") as page:
        press(page, "Tab")
        assert focused(page) == "Skip to the content"
        tab_to(page, "History")
        press(page, "Enter")
        page.until_text("#list", "Keys")
        page.page.focus(".skip")
        press(page, "Enter")
        assert page.page.evaluate("document.activeElement.id") == "main"
        assert page.page.is_visible("#list"), "the skip link left the view"
        page.until_text("#total", "won")
        assert "Keys" in page.text("#groups")
        page.page.focus("#filters [name=opponent]")
        page.page.evaluate("document.querySelector('#list tr').dataset.before = 'the filter'")
        page.page.keyboard.type("keys ")     # keyboards of phones add the space
        press(page, "Enter")
        page.page.locator("#list tr[data-before]").wait_for(state="detached")
        assert page.page.locator("#list tr").count() == 1
        link = page.page.inner_text("#list a")
        tab_to(page, link)
        press(page, "Enter")
        page.until_text("#game h2", "Game against Keys")
        tab_to(page, "Chess game between")
        page.page.evaluate(NOTE_ANIMATION)
        press(page, "ArrowRight", "ArrowRight")
        page.page.locator(".lpv square.last-move").nth(1).wait_for()
        assert not page.page.evaluate("window.wasAnimated"), "for people who want little motion"
        assert page.page.inner_text(WORDS_OF_LAST_MOVE).startswith("Move 1, black")
        press(page, "ArrowLeft")
        assert page.page.inner_text(WORDS_OF_LAST_MOVE).startswith("Move 1, white")
        before = page.page.get_attribute(".lpv .cg-wrap", "class")
        press(page, "f")
        assert page.page.get_attribute(".lpv .cg-wrap", "class") != before
        with page.page.expect_download() as download:
            page.page.click("#game a[download]")
        text = download.value.path().read_text()
        assert '"Keys"' in text
        assert "[%clk" in text
        page.until_text("#game", "reviews both sides")
        assert arena.tell("review", session.game.id, "--nodes", "2000").returncode == 0
        page.page.reload()
        page.until_text("#game", "accuracy")


def test_a_running_game_is_listed_as_not_over_and_older_games_follow_the_last_one(
    browser: "Browser", arena: Arena, address: str
) -> None:
    session = begin(arena, "Open", Dawdler)
    arena.until(lambda: told(address, "games?opponent=open")["games"])
    (record,) = told(address, "games?opponent=open")["games"]
    asked: list[str] = []

    def many(route: "Route") -> None:
        asked.append(urlsplit(route.request.url).query)
        route.fulfill(json={"games": [{**record, "id": f"game{number:04}"} for number in range(30)]})

    with visit(browser, f"http://{address}/#/history") as page:
        page.until_text("#list tr:first-child", "running, or its end is unknown")
        assert "plies" not in page.text("#list tr:first-child")
        page.page.click("#list tr:first-child a")
        page.until_text("#game", "running, or its end is unknown")
        page.page.route("**/api/games?*", many)
        page.page.click("#to-history")
        first = page.page.wait_for_selector("#list tr:nth-child(30)")
        page.page.click("#more")
        page.page.wait_for_selector("#list tr:nth-child(60)")
        assert first is not None
        assert first.evaluate("it => it.isConnected"), "what is shown is not built anew"
    last = parse_qs(asked[-1])
    assert (float(last["before"][0]), last["before_id"]) == (record["began_at"], ["game0029"])
    arena.server.call(lambda: session.resign(Color.WHITE))
    arena.until(lambda: session in arena.ended)


def test_a_move_from_a_book_has_no_line_and_a_long_name_leaves_room(
    browser: "Browser", arena: Arena, address: str
) -> None:
    session = begin(arena, "Book", Dawdler)
    arena.until_plies(session, 2)
    status = told(address, "status")
    status["games"][0]["white"] |= {"name": "W" * 30, "title": "BOT", "rating": 2222, "holds": "QRBNPP"}
    status["games"][0]["evaluation"] |= {"source": "own_book", "depth": 0, "nodes_per_s": 0, "line": [], "line_san": []}
    event = f"event: status\ndata: {json.dumps(status)}\n\n"
    with visit(browser, "about:blank") as page:
        page.page.route("**/api/events", lambda it: it.fulfill(content_type="text/event-stream", body=event))
        page.page.goto(f"http://{address}/")
        page.until_text(".evaluation", "from own book")
        assert page.page.evaluate("getComputedStyle(document.querySelector('.line'), '::before').content") == "none"
        page.resize(NARROW)
        page.until_it_fits()
        holds = ".name:has-text('WWW') i"
        assert page.text(holds) == "2222 · QRBNPP"
        assert page.is_whole(holds)
    arena.server.call(lambda: session.resign(Color.WHITE))
    arena.until(lambda: session in arena.ended)


def test_the_board_of_a_replayed_game_stays_beside_a_long_list_of_mistakes(
    browser: "Browser", arena: Arena, address: str
) -> None:
    end(arena, begin(arena, "Errors"))
    await_record(address, "errors")
    (record,) = told(address, "games?opponent=errors")["games"]
    game = told(address, f"games/{record['id']}")
    mistake = {"ply": 1, "glyph": "??", "judgement": "blunder", "before": 60, "after": 20, "mate": "", "better": ""}
    with visit(browser, "about:blank") as page:
        page.page.route("**/api/games/*", lambda it: it.fulfill(json={**game, "mistakes": [mistake] * 60}))
        page.page.goto(f"http://{address}/#/game/{record['id']}")
        page.page.hover(".lpv .move.blunder")
        colours = "it => [getComputedStyle(it).color, getComputedStyle(it).backgroundColor]"
        assert page.page.eval_on_selector(".lpv .move.blunder", colours) == ["rgb(255, 255, 255)", "rgb(179, 38, 30)"]
        for size in (DESKTOP, NARROW):
            page.resize(size)
            page.page.locator("#game ol button").last.click()
            page.page.wait_for_function("""() => {
                const [board, buttons] = ['.lpv__board', '.lpv__controls'].map(
                    (it) => document.querySelector(it).getBoundingClientRect());
                return board.height === board.width && board.top > 0 && buttons.bottom <= innerHeight;
            }""")


def test_the_way_back_from_a_game_is_its_place_in_the_history(browser: "Browser", arena: Arena, address: str) -> None:
    session = begin(arena, "Place")
    end(arena, session)
    await_record(address, "place")
    (record,) = told(address, "games?opponent=place")["games"]
    asked: list[str] = []

    def many(route: "Route") -> None:
        asked.append(route.request.url)
        route.fulfill(json={"games": [record] * 30})

    with visit(browser, f"http://{address}/") as page:
        page.page.route("**/api/games?*", many)
        page.page.click("#to-history")
        page.page.click("#more")
        link = page.page.locator("#list tr:nth-child(55) a")
        link.scroll_into_view_if_needed()
        place = page.page.evaluate("scrollY")
        assert place > 0
        link.click()
        page.until_text("#game h2", "Game against Place")
        assert page.page.evaluate("scrollY") == 0
        for turn in range(2):
            if turn:
                page.page.go_forward()
                page.until_text("#game h2", "Game against Place")
            page.page.go_back()
            page.page.wait_for_selector("#history:not([hidden])")
            page.page.wait_for_function("place => scrollY === place", arg=place)
        assert (page.page.locator("#list tr").count(), len(asked)) == (60, 2)
        page.page.click("#to-live")
        page.page.wait_for_selector("#live:not([hidden])")
        page.page.go_back()
        page.page.wait_for_selector("#list:not(:has(tr:nth-child(31)))")
        page.page.click("#list tr:first-child a")
        page.page.wait_for_selector("#game:not([hidden])")     # its title is still that of the last visit
        with page.page.expect_response("**/api/games?*"):       # games that are over by now would be missing
            page.page.click("#to-history")
        page.page.wait_for_selector("#history:not([hidden])")
        assert len(asked) == 4


def test_a_correspondence_game_is_replayed_without_clocks(browser: "Browser", arena: Arena, address: str) -> None:
    session = begin(arena, "Mail")
    end(arena, session)
    await_record(address, "mail")

    def by_mail(route: "Route") -> None:
        """The records of the arena's game as if it had had two days for each move."""
        answer = route.fetch()
        if route.request.url.endswith(".pgn"):
            return route.fulfill(response=answer, body=answer.text().replace('"1800+0"', '"1/172800"'))
        record = answer.json()
        record["game"] |= {"base_s": None, "increment_s": None, "speed": "correspondence", "time_control": "2 days"}
        record["moves"] = [{**move, "clock_ms": None} for move in record["moves"]]
        return route.fulfill(response=answer, json=record)

    with visit(browser, f"http://{address}/#/game/{session.game.id}") as page:
        page.page.wait_for_selector(".lpv__player__clock")
        page.until_text("#game", "· 30+0 · classical · casual")
        page.page.route(f"**/api/games/{session.game.id}*", by_mail)
        page.page.reload()
        page.until_text("#game", "· 2 days · correspondence · casual")
        page.page.wait_for_selector(".lpv cg-board piece")
        assert page.page.locator(".lpv__player__clock").count() == 0


def test_a_dropped_piece_that_was_a_mistake_is_drawn_and_not_spelled(
    browser: "Browser", arena: Arena, address: str
) -> None:
    session = begin(arena, "Drops")
    end(arena, session)
    await_record(address, "drops")
    played = {"e2e4": "e4", "d7d5": "d5", "e4d5": "exd5", "d8d5": "Qxd5", "P@e4": "P@e4"}
    mistake = {
        "ply": 5, "judgement": "blunder", "glyph": "??", "before": 60.0, "after": 20.0, "mate": None, "better": "Nc3",
        "better_move": "b1c3", "line": ["Nc3"],
    }  # fmt: skip

    def crazyhouse(route: "Route") -> None:
        """The records of the arena's game as if it had been another one."""
        answer = route.fetch()
        if route.request.url.endswith(".pgn"):
            return route.fulfill(response=answer, body='[Variant "Crazyhouse"]\n\n*\n')
        record = answer.json()
        move = {**record["moves"][0], "source": "own_book"}
        moves = [{**move, "ply": ply, "move": uci, "san": san} for ply, (uci, san) in enumerate(played.items(), 1)]
        return route.fulfill(response=answer, json={**record, "moves": moves, "mistakes": [mistake], "scores": []})

    with visit(browser, "about:blank") as page:
        page.page.route(f"**/api/games/{session.game.id}*", crazyhouse)
        page.page.goto(f"http://{address}/#/game/{session.game.id}")
        page.until_text(".lpv", "@e4")
        assert "%cal" not in page.text(".lpv")
        page.until_text("#game li", "own book")
        page.page.click("#game li button")
        page.page.wait_for_selector(".lpv .cg-shapes circle")


def test_the_history_fits_a_phone_and_shows_no_ratings_without_rated_games(
    browser: "Browser", arena: Arena, address: str
) -> None:
    score = {"won": 12, "drawn": 3, "lost": 7}
    ratings = {"blitz": [[1e9, 1500], [1e9 + 9e4, 1540]], "bullet": [[1e9 + 4e4, 1700]]}
    openings = {"Scandinavian Defense: Mieses-Kotrč Variation": score, "English Opening: Anglo-Grünfeld": score}
    told = {
        "score": score, "ratings": ratings, "results": [[1e9, "won"]],
        "groups": {"speed": {"correspondence": score}, "colour": {}, "opening": openings, "opponent": {}},
    }  # fmt: skip
    with visit(browser, f"http://{address}/#/history", NARROW) as page:
        page.until_text("#total", "drawn")     # the statistics have come
        assert page.page.locator("figure:visible").count() == 1
        page.page.route("**/api/statistics", lambda route: route.fulfill(json=told))
        page.page.reload()
        page.until_text("#groups", "Mieses")
        assert page.page.locator("figure:visible").count() == 2
        assert page.page.evaluate(PIXELS_OF_THE_SECOND_RATING) > 0, "a single rating is a point"
        assert page.page.locator("#groups tbody bdi").first.evaluate("it => it.getClientRects().length") == 1
        widths = page.page.locator("#groups tbody tr").nth(1).evaluate("it => [...it.cells].map(it => it.clientWidth)")
        assert widths[0] > widths[-1] * 1.5, "of the opening and of its bar"


def test_axe_finds_nothing_serious_and_nothing_is_too_wide(
    browser: "Browser", arena: Arena, address: str, axe_script: str
) -> None:
    end(arena, begin(arena, "Ended"))
    session = begin(arena, "Runs", Dawdler)
    arena.until_plies(session, 2)
    with visit(browser, f"http://{address}/", bypass_csp=True) as page:
        for view, sign in VIEWS:
            page.page.click(view)
            page.page.wait_for_selector(sign)
            assert page.page.locator("#games > *").count() == (view == "#to-live"), "hidden boards spoil others' arrows"
            if "lpv" in sign:
                page.page.focus(".lpv")
                press(page, "ArrowRight")
            for size, scheme in LOOKS:
                page.resize(size)
                page.page.emulate_media(color_scheme=scheme)
                page.until_it_fits()
                assert axe.serious(page.page, axe_script) == [], (view, size)
    arena.server.call(lambda: session.resign(Color.WHITE))
