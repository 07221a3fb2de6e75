"""Chromium, and visits to a page that note whatever a page must not do."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    "--renderer-process-limit=1",       # keeps no process in stock for the next page
]
PATIENCE_MS = 60_000
DESKTOP, PHONE, NARROW = (1280, 800), (390, 844), (360, 740)

Size = tuple[int, int]
Scheme = Literal["light", "dark"]

# What a page is checked in.
LOOKS: tuple[tuple[Size, Scheme], ...] = ((DESKTOP, "light"), (NARROW, "dark"))


def missing() -> str | None:
    """Return what the tests in a browser lack here; None if nothing."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "needs playwright: pip install -e '.[test,browser]'"
    return None if path() else "needs Chromium, such as Debian's package chromium"


def path() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def start() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path(), args=FLAGS, timeout=PATIENCE_MS)
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page in a context of its own. What it logs and which requests it makes is noted."""

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.complaints: list[str] = []
        self.outside: list[str] = []
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._note_request(request.url))

    def _note(self, message: "ConsoleMessage") -> None:
        # A browser logs that the stream of events broke or was refused; no page can prevent that.
        url = str(message.location.get("url"))
        is_lost_stream = message.text.startswith("Failed to load resource") and url.endswith("/api/events")
        if message.type in ("error", "warning") and not is_lost_stream:
            self.complaints.append(f"{message.text} ({url})")

    def _note_request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.outside.append(url)

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    def until_text(self, selector: str, text: str) -> None:
        """Wait until the visible text of an element contains this."""
        self.page.locator(selector, has_text=text).first.wait_for()

    def until_other_text(self, selector: str, before: str) -> str:
        """Wait until an element has another text, and return it."""
        differs = "([selector, before]) => (document.querySelector(selector)?.innerText ?? before) !== before"
        self.page.wait_for_function(differs, arg=[selector, before])
        return self.text(selector)

    def resize(self, size: Size) -> None:
        width, height = size
        self.page.set_viewport_size({"width": width, "height": height})

    def is_whole(self, selector: str) -> bool:
        """Return whether an element inside a `.name` ends within it, so that it is not cut off."""
        edges = "it => [it.getBoundingClientRect().right, it.closest('.name').getBoundingClientRect().right]"
        right, end = self.page.locator(selector).first.evaluate(edges)
        return float(right) <= float(end)

    def until_it_fits(self) -> None:
        """Wait until the page is no wider than the window, which graphs follow a moment after it was resized."""
        self.page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")


@contextmanager
def visit(
    browser: "Browser",
    url: str,
    size: Size = DESKTOP,
    scheme: Scheme = "light",
    *,
    bypass_csp: bool = False,
    is_phone: bool = False,
) -> Iterator[Visit]:
    """Open a page, or `about:blank` to prepare it. It has logged no error or warning, and asked no other machine.

    `is_phone`: it is touched, and turned as a phone is.
    """
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",
        bypass_csp=bypass_csp,
        has_touch=is_phone,
        is_mobile=is_phone,
    )
    try:
        context.set_default_timeout(PATIENCE_MS)
        visited = Visit(context.new_page())
        visited.page.goto(url)
        yield visited
        assert not visited.complaints, visited.complaints
        assert not visited.outside, visited.outside
    finally:
        context.close()
