"""Parts of the operator's page: what it says of a daemon that does not answer, and modules without the others."""

import re
import signal
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import Visit, visit
from tests.fakes.arena import Arena
from tests.lichessbot.control.status_of import GAME

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

# The connection, how many lists are said to be empty, and whether the activity is grey.
WHAT_IS_STATED = """() => {
    const colour = (id) => getComputedStyle(document.getElementById(id)).color;
    const empty = [...document.querySelectorAll('#live .none')].filter((it) => it.checkVisibility());
    return [document.getElementById('connection').textContent, empty.length, colour('activity') === colour('version')];
}"""

KEEP_EVENTS = """window.EventSource = class extends EventSource {
    constructor(url) { super(url); window.events = this; }
};"""

# `drawn(graph, data)` shows data in the graph of `element`, and notes its `labels`.
NOTE_TEXTS = """const element = document.getElementById('main').appendChild(document.createElement('div'));
    Object.assign(element.style, { width: '400px', height: '60px' });
    const labels = [], { prototype } = CanvasRenderingContext2D, { fillText } = prototype;
    prototype.fillText = function (text, ...place) {
        labels.push(text);
        fillText.call(this, text, ...place);
    };
    const drawn = async (graph, data) => {
        graph.show(data);
        await new Promise((done) => setTimeout(done));      // uPlot draws in a microtask
        prototype.fillText = fillText;
    };"""

# How wide the bars of a graph of these times are, and the labels of its axis.
BARS_AND_LABELS = f"""async (times) => {{
    const {{ colour }} = await import('/static/common/graph.js');
    const {{ makeTimeGraph }} = await import('/static/operator/plots.js');
    {NOTE_TEXTS}
    const graph = makeTimeGraph(element);
    await drawn(graph, [times.map((time, index) => 2 * index), times]);
    const canvas = element.querySelector('canvas');
    const {{ data }} = canvas.getContext('2d').getImageData(0, canvas.height / 2, canvas.width, 1);
    graph.destroy();
    const hex = (at) => '#' + [...data.slice(at, at + 3)].map((it) => it.toString(16).padStart(2, '0')).join('');
    const row = Array.from({{ length: canvas.width }}, (_, x) => (hex(4 * x) === colour('--accent') ? '#' : ' '));
    return [row.join('').trim().split(/ +/).map((bar) => bar.length), labels];
}}"""

# The labels of time of a graph of lines from one local moment to another.
LABELS_OF_TIME = f"""async (moments) => {{
    const {{ makeLineGraph }} = await import('/static/operator/plots.js');
    {NOTE_TEXTS}
    const graph = makeLineGraph(element, [[], []]);
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame().then(frame);      // a new graph is drawn again once its size has been observed
    await drawn(graph, [moments.map((moment) => new Date(moment) / 1000), [1500, 1600].slice(0, moments.length)]);
    graph.destroy();
    return labels.filter((label) => /[:a-z]/.test(label));
}}"""


def test_a_daemon_that_is_too_busy_to_answer_is_not_called_connected(
    browser: "Browser", arena: Arena, address: str
) -> None:
    with visit(browser, "about:blank") as page:
        page.page.add_init_script(KEEP_EVENTS)
        page.page.goto(f"http://{address}/")
        page.until_text("#connection", "connected")
        is_connected = f"const it = ({WHAT_IS_STATED})(); return it[0] === 'connected' && !it[2];"
        page.page.wait_for_function(f"() => {{ {is_connected} }}")
        stale = f"events.dispatchEvent(new MessageEvent('stale')); ({WHAT_IS_STATED})()"
        assert page.page.evaluate(stale) == ["the daemon does not answer", 0, True]
        page.until_text("#connection", "connected")        # with the next status
        event = "event: stale\ndata:\n\n"
        page.page.route("**/api/events", lambda it: it.fulfill(content_type="text/event-stream", body=event))
        page.page.reload()
        page.until_text("#connection", "reconnecting")
        assert page.page.evaluate(f"({WHAT_IS_STATED})()")[1] == 0, "nothing is known of games yet"


def test_a_daemon_that_falls_silent_is_not_called_connected(browser: "Browser", arena: Arena, address: str) -> None:
    state = Path(f"/proc/{arena.process.pid}/stat")
    with visit(browser, "about:blank") as page:
        page.page.clock.install()
        page.page.goto(f"http://{address}/")
        page.until_text("#connection", "connected")
        arena.signal(signal.SIGSTOP)  # its connections stay open
        try:
            arena.until(lambda: state.read_text().rpartition(")")[2].split()[0] == "T")
            page.page.clock.fast_forward(31_000)
            page.until_text("#connection", "nothing heard from the daemon")
        finally:
            arena.signal(signal.SIGCONT)
        page.until_text("#connection", "connected")


def test_the_page_comes_back_after_a_proxy_said_that_the_daemon_is_away(
    browser: "Browser", arena: Arena, address: str
) -> None:
    with visit(browser, "about:blank") as page:
        page.page.route("**/api/events", lambda route: route.fulfill(status=502))
        page.page.goto(f"http://{address}/")
        page.until_text("#connection", "reconnecting")
        page.page.unroute("**/api/events")
        page.until_text("#connection", "connected")
        page.until_text("#account", "TestBot")


def test_the_history_says_that_the_daemon_does_not_answer(browser: "Browser", arena: Arena, address: str) -> None:
    with visit(browser, f"http://{address}/") as page:
        page.until_text("#connection", "connected")
        page.page.route(re.compile("/api/(games|statistics)"), lambda route: route.abort())
        page.page.click("#to-history")
        page.until_text("#found", "The games cannot be shown: the daemon does not answer")
        page.until_text("#total", "The statistics cannot be shown: the daemon does not answer")
        assert all(it.startswith("Failed to load resource") for it in page.complaints), page.complaints
        page.complaints.clear()


def test_the_history_is_shown_at_an_address_with_a_password(browser: "Browser", arena: Arena, address: str) -> None:
    with visit(browser, f"http://operator:password@{address}/#/history") as page:
        page.until_text("#total", "0 games")
        page.until_text("#found", "No game in the records is like this.")


@pytest.mark.parametrize(("view", "failed", "shown"), [
    ("history", "The games cannot be shown: the daemon does not answer", "No game in the records is like this."),
    ("game/lost0001", "This game cannot be shown: the daemon does not answer", "the records have no game lost0001"),
])
def test_what_could_not_be_read_while_the_daemon_was_away_is_read_when_it_is_back(
    browser: "Browser", arena: Arena, address: str, view: str, failed: str, shown: str
) -> None:
    with visit(browser, "about:blank") as page:
        page.page.add_init_script(KEEP_EVENTS)
        page.page.goto(f"http://{address}/")
        page.until_text("#connection", "connected")
        page.page.route(re.compile("/api/(games|statistics)"), lambda route: route.abort())
        page.page.evaluate("view => { location.hash = `#/${view}`; }", view)
        page.until_text("main", failed)
        page.page.unroute_all()
        page.page.evaluate("events.dispatchEvent(new MessageEvent('stale'))")
        page.until_text("main", shown)
        assert failed not in page.text("main")
        assert "cannot be shown" not in page.text("#total")
        assert all(it.startswith("Failed to load resource") for it in page.complaints), page.complaints
        page.complaints.clear()


def test_an_old_record_states_nothing_that_is_not_known(browser: "Browser", arena: Arena, address: str) -> None:
    unknown = {"variant": "", "speed": "", "rated": False, "result": None, "status": "", "opening": "", "base_s": None}
    game = {**unknown, "id": "old00001", "opponent": "BOT Old", "opponent_title": "", "began_at": 1, "initial_fen": ""}
    record = {"game": game, "moves": [], "chat": [], "review": None, "mistakes": [], "scores": []}
    with visit(browser, "about:blank") as page:
        page.page.route("**/api/games/old00001", lambda route: route.fulfill(json=record))
        page.page.route("**/api/games/old00001.pgn", lambda route: route.fulfill(body="*\n"))
        page.page.goto(f"http://{address}/#/game/old00001")
        page.until_text("#game", "The records have no evaluations of this game.")
        assert "running, or its end is unknown" in page.text("#game")
        assert "casual" not in page.text("#game")


@pytest.fixture(scope="module")
def opened(browser: "Browser", arena: Arena, address: str) -> Iterator[Visit]:
    """The page, beside which single modules are used."""
    with visit(browser, f"http://{address}/") as page:
        yield page


def test_the_graph_of_times_draws_whole_bars_and_short_labels(opened: Visit) -> None:
    widths, _ = opened.page.evaluate(BARS_AND_LABELS, [1.0, 1.0, 1.0])
    _, labels = opened.page.evaluate(BARS_AND_LABELS, [0.0001, 0.0003])
    assert (len(widths), len(set(widths))) == (3, 1), widths
    assert labels
    assert all(len(label) <= len("0.05 s") for label in labels), labels


def test_a_graph_of_lines_names_times_days_or_months(opened: Visit) -> None:
    wanted = {
        ("2026-01-01T06:00",): "06:00, 06:15, 06:30, 06:45, 07:00",
        ("2026-01-01T06:00", "2026-01-01T12:00"): "06:00, 08:00, 10:00, 12:00",
        ("2026-01-01T06:00", "2026-01-03T12:00"): "12:00, 2 Jan, 12:00, 3 Jan, 12:00",
        ("2025-12-30T00:00", "2026-01-03T12:00"): "30 Dec, 31 Dec, 1 Jan, 2 Jan, 3 Jan",
        ("2026-01-01T00:00", "2026-12-20T00:00"): "Jan 2026, Apr 2026, Jul 2026, Oct 2026",
        ("2022-12-20T00:00", "2026-01-20T00:00"): "Jan 2023, Jan 2024, Jan 2025, Jan 2026",
    }
    found = {span: ", ".join(opened.page.evaluate(LABELS_OF_TIME, list(span))) for span in wanted}
    assert found == wanted


def test_black_sees_racing_kings_from_the_side_of_white(opened: Visit) -> None:
    script = """async (game) => {
        const { closeGame, createGame, updateGame } = await import('/static/operator/game.js');
        const element = document.getElementById('main').appendChild(createGame(game));
        updateGame(element, game);
        const side = element.querySelector('.cg-wrap').className.match(/orientation-(\\w+)/)[1];
        closeGame(element);
        element.remove();
        return side;
    }"""
    black = replace(GAME, our_colour="black")
    games = [asdict(it) for it in (black, replace(black, variant="racingKings"))]
    assert [opened.page.evaluate(script, game) for game in games] == ["black", "white"]


def test_moves_are_numbered_as_the_position_says(opened: Visit) -> None:
    starts = {
        "": "1. 1… 2.", "w - - 0 12": "12. 12… 13.", "b - - 5 40": "40… 41. 41…",
        "w - - 3+3 0 7": "7. 7… 8.", "b KQkq e3 0 7 +0+0": "7… 8. 8…",
    }  # fmt: skip
    script = """async (rest) => {
        const { numbered } = await import('/static/operator/words.js');
        return [1, 2, 3].map((ply) => numbered({ ply, san: '' }, rest && `4k3/8/8/8/8/8/4P3/4K3 ${rest}`).trim());
    }"""
    assert {rest: " ".join(opened.page.evaluate(script, rest)) for rest in starts} == starts


def test_a_clock_changes_the_page_only_with_its_text(opened: Visit) -> None:
    script = """async () => {
        const { setClock } = await import('/static/common/clock.js');
        const element = document.getElementById('main').appendChild(document.createElement('span'));
        const texts = [];
        new MutationObserver(() => texts.push(element.textContent)).observe(element, { childList: true });
        setClock(element, 500.9, true, {});
        await new Promise((done) => setTimeout(done, 1500));
        return texts;
    }"""
    texts = opened.page.evaluate(script)
    assert texts[:2] == ["8:20", "8:19"]
    assert len(texts) == len(set(texts)), "no layout is made anew for the same text"
