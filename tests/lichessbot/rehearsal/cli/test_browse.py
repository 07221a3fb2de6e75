"""`rehearse --browser`: the real bot as a child process, and a person at the page, without a browser."""

import io
import subprocess
from functools import partial
from pathlib import Path

import chess.pgn
import click
import pytest

from lichessbot.rehearsal.cli import rehearse
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import ServerDidNotStart
from tests.fakes.ports import free_port
from tests.lichessbot.rehearsal.browser.page_client import PageClient
from tests.patience import PATIENCE_S
from tests.processes import marked

from .processes import arguments, interrupt, kill_daemon, read_until, start

MATE_IN_TWO = "7k/8/8/7p/8/8/R7/1R4K1 w - - 0 1"


def open_page(process: subprocess.Popen[str]) -> PageClient:
    """The page of a rehearsal, once the bot is there."""
    page = PageClient(read_until(process, r"play at (\S+)/ ")[1])
    page.wait("lobby", lambda it: it["bot"]["isOnline"])
    return page


def test_a_person_mates_the_bot_and_ctrl_c_ends_everything(
    rehearsal: list[subprocess.Popen[str]], mark: str, tmp_path: Path
) -> None:
    pgn, port = tmp_path / "games.pgn", free_port()
    process = start(rehearsal, "--browser", "--port", str(port), "--pgn", str(pgn))
    page = open_page(process)
    assert page.url == f"http://127.0.0.1:{port}"
    game = page.start(variant="fromPosition", fen=MATE_IN_TWO, strength="level-1400")
    page.wait("game", lambda it: any(line["text"].startswith("Hello You, I am") for line in it["chat"]))
    page.move(game["id"], "Ra7")
    page.move(game["id"], "b1b8")
    ended = page.wait("game", lambda it: it["isOver"])
    assert (ended["title"], ended["reason"]) == ("You won", "Checkmate.")
    analysis = page.wait("analysis", lambda it: it and it["isOver"])
    assert [it["text"] for it in analysis["scores"]] == ["#2", "#1", "#1", "checkmate"]
    assert analysis["mistakes"] == []
    (log,) = tmp_path.glob("lichessbot-rehearsal-*/daemon.log")
    (start_of_game,) = [line for line in log.read_text().splitlines() if " game.start " in line]
    assert " level=1400 " in start_of_game
    output = interrupt(process)
    assert process.returncode == rehearse.EXIT_GOOD, output
    assert "Traceback" not in output
    assert marked(mark) == []
    assert list(tmp_path.glob("lichessbot-rehearsal-*")) == []
    played = chess.pgn.read_game(io.StringIO(pgn.read_text()))
    assert (played.headers["White"], played.headers["Result"]) == ("You", "1-0")
    assert played.end().board().is_checkmate()


def test_ctrl_c_in_a_game_and_beside_a_series_is_no_failure(
    rehearsal: list[subprocess.Popen[str]], mark: str, tmp_path: Path
) -> None:
    pgn = tmp_path / "games.pgn"
    words = ("--games", "1", "--concurrency", "1", "--clock", "300+0", "--pgn", str(pgn))
    process = start(rehearsal, "--browser", *words)
    page = open_page(process)
    board = page.wait("boards", lambda it: it)[0]
    assert (board["title"], board["result"]) == ("Game 1", "")
    game = page.start(color="black")
    page.wait("game", lambda it: it["id"] == game["id"] and it["legal"])
    output = interrupt(process)
    assert process.returncode == rehearse.EXIT_GOOD, output
    assert "1 game: 0 won, 0 drawn, 0 lost, 0 failed" in output
    assert "Traceback" not in output
    assert marked(mark) == []
    *_, own = iter(partial(chess.pgn.read_game, io.StringIO(pgn.read_text())), None)
    assert own.headers["Black"] == "You"
    assert own.headers["Result"] == "*"
    assert own.end().ply() == 1, "all of it, not what spectators see"


def test_the_page_has_the_same_port_every_time_while_it_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = free_port()
    monkeypatch.setattr(rehearse, "PAGE_PORT", usual)
    options = arguments("--browser")
    first, second = (rehearse._server(options, FaultPlan(), Timing()) for _ in range(2))
    with first, second:
        assert first.site.url == f"http://127.0.0.1:{usual}"
        assert second.site.url != first.site.url
    with rehearse._server(options, FaultPlan(), Timing()) as again:
        assert again.site.url == first.site.url
        with pytest.raises(ServerDidNotStart):
            rehearse._server(arguments("--browser", "--port", str(usual)), FaultPlan(), Timing())
        with rehearse._server(arguments("--browser", "--port", "0"), FaultPlan(), Timing()) as free:
            assert free.site.url != first.site.url
    with rehearse._server(arguments(), FaultPlan(), Timing()) as other:
        assert other.site.url != first.site.url


def test_ctrl_c_while_the_daemon_starts_is_no_failure(rehearsal: list[subprocess.Popen[str]], mark: str) -> None:
    process = start(rehearsal, "--browser")
    read_until(process, r"play at ")
    output = interrupt(process)
    assert process.returncode == rehearse.EXIT_GOOD, output
    assert "problem" not in output
    assert marked(mark) == []


def test_a_dead_daemon_ends_the_page_with_a_failure(rehearsal: list[subprocess.Popen[str]], mark: str) -> None:
    process = start(rehearsal, "--browser")
    open_page(process)
    kill_daemon(mark)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == rehearse.EXIT_BAD
    assert "problem: the daemon ended with exit code -9" in output
    assert marked(mark) == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--browser", "--serve"], "--browser lets you play the bot, and --serve starts none"),
        (["--no-open"], "--no-open needs --browser"),
        (["--browser", "--clock", "60+0"], "--clock is for games against opponents: with --browser it needs --games"),
        (["--browser", "--variant", "chess960"], "--variant is for games against opponents"),
        (["--browser", "--depth", "5"], "--depth is for games against opponents"),
        (["--browser", "--seed", "5"], "--seed is for games against opponents"),
        (["--depth", "3"], "--depth needs --opponent engine"),
        (["--opponent", "level:1500", "--depth", "4"], "--depth needs --opponent engine"),
        (["--browser", "--opponent-actions", "0.1"], "--opponent-actions is for games against opponents"),
        (["--browser", "--faults", "stall"], "--faults is for games against opponents"),
        (["--browser", "--chaos", "0.1"], "--chaos is for games against opponents"),
        (["--browser", "--faults", "list"], "only explains: it goes with no other option"),
    ],
)
def test_contradictions_are_refused_in_one_line(words: list[str], problem: str) -> None:
    with pytest.raises(click.UsageError, match=problem):
        rehearse.run(arguments(*words))
