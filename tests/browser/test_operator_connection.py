"""The operator's page while the daemon does not answer: what it says of that, and how it comes back."""

import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import visit
from tests.fakes.arena import Arena

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

# The connection, how many lists are said to be empty, and whether the activity is grey.
WHAT_IS_STATED = """() => {
    const colour = (id) => getComputedStyle(document.getElementById(id)).color;
    const empty = [...document.querySelectorAll('#live .none')].filter((it) => it.checkVisibility());
    return [document.getElementById('connection').textContent, empty.length, colour('activity') === colour('version')];
}"""


def test_a_daemon_that_is_too_busy_to_answer_is_not_called_connected(
    browser: "Browser", arena: Arena, address: str
) -> None:
    script = "window.EventSource = class extends EventSource { constructor(url) { super(url); window.events = this; } }"
    with visit(browser, "about:blank") as page:
        page.page.add_init_script(script)
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
