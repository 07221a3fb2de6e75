"""What a person does at the play page, and opponents for it."""

import re
import threading
from typing import Literal

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.opponents import GreedyOpponent
from tests.browser.chromium import Visit

HOSTILE = '<img src=x onerror=alert(1)>"&amp;'
PROMOTION = "8/P6k/8/8/8/8/8/K7 w - - 0 1"
RUNNING, OVER = "#typing:not([hidden])", "#end:not([hidden])"


class Patient(GreedyOpponent):
    """Moves only when the test lets it."""

    may_move = threading.Semaphore(0)

    def choose(self, board: Board, clocks: Limits) -> str:
        self.may_move.acquire()
        return super().choose(board, clocks)


def challenge(
    page: Visit, *, variant: str = "", fen: str = "", color: str = "white", strength: str = "full"
) -> None:
    """Fill the form in and wait for the game."""
    page.page.wait_for_selector("#send:enabled")
    page.page.click(f"#colours label:has([value={color}])")
    if variant or fen:
        page.page.select_option("[name=variant]", variant or "fromPosition")
    if fen:
        page.page.fill("[name=fen]", fen)
    page.page.select_option("[name=strength]", strength)
    page.page.click("#send")
    page.page.wait_for_selector(RUNNING)


def point(page: Visit, square: str) -> tuple[float, float]:
    """Return the middle of a square with White below."""
    box = page.page.locator("#board cg-board").bounding_box()
    assert box is not None
    size = box["width"] / 8
    return box["x"] + (ord(square[0]) - 96.5) * size, box["y"] + (8.5 - int(square[1])) * size


def click(page: Visit, *squares: str) -> None:
    for square in squares:
        page.page.mouse.click(*point(page, square))


def touch(page: Visit, *squares: str) -> None:
    for square in squares:
        page.page.touchscreen.tap(*point(page, square))


def drag(page: Visit, origin: str, target: str, button: Literal["left", "right"] = "left") -> None:
    page.page.mouse.move(*point(page, origin))
    page.page.mouse.down(button=button)
    page.page.mouse.move(*point(page, target), steps=5)
    page.page.mouse.up(button=button)


def enter(page: Visit, field: Literal["move", "chat"], text: str) -> None:
    """Type a move or a chat line, and send it."""
    page.page.fill(f"#{field}-text", text)
    page.page.press(f"#{field}-text", "Enter")


def until_turn(page: Visit) -> None:
    page.page.wait_for_selector("#below.turn")


def until_moves(page: Visit, text: str) -> None:
    """Wait until the list of moves contains this, whatever stands between the words."""
    page.page.locator("#moves", has_text=re.compile(text)).wait_for()
