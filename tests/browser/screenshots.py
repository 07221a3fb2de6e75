"""Make the README's screenshots of the operator's page: `python -m tests.browser.screenshots`, in about two minutes.

The bot plays some games on the embedded Lichess, and two more while the page is shown, so all figures are real ones.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.opponents import EngineOpponent
from lichessbot.rehearsal.rules.enums import ColorChoice
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.browser import chromium
from tests.browser.chromium import DESKTOP, PHONE, Scheme, Size
from tests.browser.png import with_few_colours
from tests.fakes.arena import Arena, GreedyOpponent
from tests.fakes.ports import free_port

FOLDER: Final = Path(__file__).parents[2] / "deploy" / "screenshots"
MOST_BYTES: Final = 60_000
PATIENCE_S: Final = 180.0
PLIES: Final = 30
DROP: Final = "#game ol button >> nth=0"
# Name, what leads to the view, what it shows when it is complete, size and scheme.
SHOTS: Final[tuple[tuple[str, str, str, Size, Scheme], ...]] = (
    ("operator", "#to-live", ".game cg-board piece", DESKTOP, "light"),
    ("operator-phone", "#to-live", ".game cg-board piece", PHONE, "dark"),
    ("operator-history", "#to-history", "#list a", DESKTOP, "dark"),
    ("operator-replay", "#list tr:has-text('Heron') a", ".lpv cg-board piece", DESKTOP, "light"),
)


class Quick(EngineOpponent):
    """Is about as strong as the bot in these games."""

    def __init__(self, seed: str) -> None:
        super().__init__(9)


class Slow(EngineOpponent):
    """Plays as long as the screenshots take."""

    def __init__(self, seed: str) -> None:
        super().__init__(9)

    def choose(self, board: Board, clocks: Limits) -> str:
        time.sleep(1.5)
        return super().choose(board, clocks)


def play(arena: Arena) -> None:
    """Play games for the history, and then two that go on."""
    opponents = [
        arena.player("Heron", Quick, rating=1720),
        arena.player("Osprey", Quick, title="BOT", rating=1850),
        arena.player("Wren", GreedyOpponent, rating=1430),
    ]
    for round_number in range(4):
        for number, opponent in enumerate(opponents):
            colour = (ColorChoice.WHITE, ColorChoice.BLACK)[(round_number + number) % 2]
            arena.challenge(opponent, color=colour, base_s=(60, 180)[round_number % 2], increment_s=2, rated=True)
        arena.until_ended(3 * (round_number + 1), PATIENCE_S)
    arena.challenge(arena.player("Kestrel", Slow, rating=1910), color=ColorChoice.WHITE, base_s=180, increment_s=2)
    arena.challenge(arena.player("Merlin", Slow, title="BOT", rating=1880), color=ColorChoice.BLACK, base_s=180)
    arena.until(lambda: len(arena.started) == 14)
    for session in arena.started[-2:]:
        arena.until_plies(session, PLIES)


def small(png: bytes) -> bytes:
    """Return a screenshot with as many colours as fit into the size that is allowed."""
    found = next(
        (it for colours in (64, 48, 32, 16) if len(it := with_few_colours(png, colours)) <= MOST_BYTES), None
    )
    assert found is not None, "a screenshot is too large"
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where they go; default: deploy/screenshots")
    folder: Path = parser.parse_args().folder
    if reason := chromium.missing():
        print(reason, file=sys.stderr)
        return 1
    folder.mkdir(exist_ok=True)
    address = f"127.0.0.1:{free_port()}"
    with (
        tempfile.TemporaryDirectory() as state,
        RehearsalServer(timing=Timing(tick_s=2.0)) as server,
        chromium.start() as browser,
    ):
        arena = Arena(server, Path(state))
        arena.configure(f"status: {{listen: {address}}}\n", depth=8)
        try:
            arena.start()
            play(arena)
            for name, view, sign, size, scheme in SHOTS:
                with chromium.visit(browser, f"http://{address}/", size, scheme) as page:
                    if view != "#to-live":
                        page.page.click("#to-history")
                    page.page.click(view)
                    page.page.wait_for_selector(sign)
                    if page.page.is_visible(DROP):
                        page.page.click(DROP)
                    page.page.wait_for_timeout(1500)
                    picture = small(page.page.screenshot())
                (folder / f"{name}.png").write_bytes(picture)
                print(f"{folder / name}.png: {len(picture)} bytes")
        finally:
            arena.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
