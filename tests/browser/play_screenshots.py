"""Make the README's screenshots of the play page: `python -m tests.browser.play_screenshots`, in about a minute.

Our engine plays a real game against the bot, is looked at on a phone, blunders and resigns; then the game is reviewed.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.opponents import EngineOpponent
from tests.browser import chromium
from tests.browser.chromium import PHONE, visit
from tests.browser.rehearsal import rehearse
from tests.browser.screenshots import FOLDER, small
from tests.lichessbot.rehearsal.browser.page_client import PageClient

if TYPE_CHECKING:
    from playwright.sync_api import Page

DEPTH: Final = 5
PLIES: Final = 24                   # before the blunder
STRENGTH: Final = "level-1600"
GREETED: Final = "#chat li"
SETTLED_MS: Final = 1500


def play(client: PageClient, game_id: str, plies: int) -> None:
    """Play good moves until the game has that many plies."""
    player = EngineOpponent(DEPTH)
    while len(client.told["game"]["moves"]) < plies:
        game = client.wait("game", lambda it: it["legal"])
        client.move(game_id, player.choose(board_of(game["moves"]), Limits()))


def blunder(client: PageClient, game_id: str) -> None:
    """Play the move after which the bot's best one gains most, and wait for the answer."""
    game = client.wait("game", lambda it: it["legal"])
    board, bot = board_of(game["moves"]), EngineOpponent(2)

    def worth(move: str) -> int:
        after = board.after(move)
        if after.legal_moves():
            after.push(bot.choose(after, Limits()))
        return after.evaluate()

    client.move(game_id, min(board.legal_moves(), key=worth))
    client.wait("game", lambda it: it["legal"] or it["isOver"])


def board_of(moves: list[dict[str, str]]) -> Board:
    board = Board()
    for move in moves:
        board.push(move["uci"])
    return board


def shoot(page: "Page", folder: Path, name: str) -> None:
    page.wait_for_timeout(SETTLED_MS)
    picture = small(page.screenshot())
    (folder / f"{name}.png").write_bytes(picture)
    print(f"{folder / name}.png: {len(picture)} bytes")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where they go; default: deploy/screenshots")
    folder: Path = parser.parse_args().folder
    if reason := chromium.missing():
        print(reason, file=sys.stderr)
        return 1
    folder.mkdir(exist_ok=True)
    with rehearse() as address, chromium.start() as browser:
        client = PageClient(address.rstrip("/"))
        client.wait("lobby", lambda it: it["bot"]["isOnline"])
        game_id = client.start(limit=300, increment=3, strength=STRENGTH)["id"]
        play(client, game_id, PLIES)
        with visit(browser, address, PHONE, "dark") as phone:
            phone.page.wait_for_selector(GREETED)
            shoot(phone.page, folder, "play-phone")
        blunder(client, game_id)
        client.do(f"game/{game_id}/resign")
        client.wait("analysis", lambda it: it and it["isOver"])
        with visit(browser, address) as desktop:
            desktop.page.wait_for_selector("#mistakes button")
            desktop.page.locator("#mistakes button:has(.blunder)").last.click()
            shoot(desktop.page, folder, "play")
        client.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
