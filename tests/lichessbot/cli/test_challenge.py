"""`lichessbot challenge`: its series in front of a scripted Lichess, and what it refuses by itself."""

import io
import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from lichessbot.cli.challenge import Series
from lichessbot.cli.main import main
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.client import Access
from lichessbot.lichess.enums import ExactClock, Variant
from lichessbot.storage.database import Database
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import Reply, ScriptedLichess

# Nobody waits, but a busy machine has time to look for the answer.
TIMEOUTS = replace(Timeouts().scaled(0.001), challenge_open=timedelta(minutes=1))
LOOK, WITHDRAWAL = "/api/challenge/abcd1234/show", "/api/challenge/abcd1234/cancel"
GAME = "/game/export/abcd1234"


def limit(seconds: float) -> Reply:
    return Reply(429, {"error": "Too many requests", "ratelimit": {"seconds": seconds}})


def shown(**changes: Any) -> Reply:
    challenge = {
        "id": "abcd1234",
        "variant": {"key": "standard"},
        "speed": "blitz",
        "timeControl": {"type": "clock", "limit": 180, "increment": 2},
    }
    return Reply(body={**challenge, **changes})


def told(
    lichess: ScriptedLichess,
    *looks: Reply,
    withdrawal: Reply | None = None,
    games: int = 1,
    is_played: bool = False,
    title: str | None = "BOT",
    scopes: str = "bot:play,challenge:read",
) -> str:
    """What the command prints if it looks at its challenge and gets these answers."""
    lichess.answer("/api/account", Reply(body={"id": "testbot", "username": "TestBot", "title": title}))
    lichess.answer("/api/users/status", Reply(body=[{"id": "testbot", "online": True}]))
    lichess.answer("/api/token/test", Reply(body={"lip_secret": {"userId": "testbot", "scopes": scopes}}))
    lichess.answer("/api/challenge/rival", shown())
    lichess.answer(LOOK, *looks)
    lichess.answer(WITHDRAWAL, withdrawal or Reply())
    access, out = Access(lichess.url, SecretStr("lip_secret"), TIMEOUTS), io.StringIO()
    terms = Terms(Variant.STANDARD, ExactClock(180, 2), rated=False)
    assert Series("rival", terms, games, access, out).run() is is_played
    return out.getvalue()


def test_a_short_pause_is_told_and_waited_for(lichess: ScriptedLichess, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=slept.append)
    monkeypatch.setattr("lichessbot.cli.challenge.time", clock)
    said = told(lichess, limit(0.1), shown(status="declined", declineReasonKey="later"))
    assert said == "429: Too many requests (pause 0 s): waiting\ngame 1 abcd1234: declined, reason later\n"
    assert 0.1 in slept
    assert WITHDRAWAL not in lichess.paths(), "which was answered"


@pytest.mark.parametrize(
    ("look", "why"),
    [
        (limit(86_398), "429: Too many requests (pause 86398 s)"),
        (Reply(503), "503: Service Unavailable"),
        (
            Reply(403, {"error": "Missing scope: challenge:write"}),
            "the token lacks the scope challenge:write: make a new one with it",
        ),
    ],
)
def test_a_pause_of_hours_an_outage_or_a_missing_scope_ends_the_command_and_withdraws_its_challenge(
    lichess: ScriptedLichess, look: Reply, why: str
) -> None:
    assert told(lichess, look) == f"rival: {why}\n"
    assert WITHDRAWAL in lichess.paths()


def test_an_account_that_is_no_bot_challenges_nobody(lichess: ScriptedLichess) -> None:
    assert told(lichess, title=None) == "TestBot is not a BOT account: run `lichessbot upgrade`\n"
    assert lichess.paths() == ["/api/account"]


def test_a_token_that_cannot_read_the_answer_challenges_nobody(lichess: ScriptedLichess) -> None:
    assert told(lichess, scopes="bot:play") == "the token lacks the scope challenge:read: make a new one with it\n"
    assert "/api/challenge/rival" not in lichess.paths()


@pytest.mark.parametrize(
    ("withdrawal", "why"),
    [
        (Reply(404, {"error": "Not found"}), "was answered before it could be withdrawn"),
        (limit(60), "could not be withdrawn: 429: Too many requests (pause 60 s)"),
    ],
    ids=["answered", "perhaps still open"],
)
def test_a_challenge_that_is_not_withdrawn_is_told(lichess: ScriptedLichess, withdrawal: Reply, why: str) -> None:
    _, said = told(lichess, limit(86_398), withdrawal=withdrawal).splitlines()
    assert said == f"challenge abcd1234 {why}"


@pytest.mark.parametrize(
    ("end", "results"),
    [
        ({"status": "mate", "winner": "white"}, ["won as white (mate)", "lost as black (mate)"]),
        ({"status": "outoftime", "winner": "black"}, ["lost as white (outoftime)", "won as black (outoftime)"]),
        ({"status": "draw"}, ["drawn (draw)", "drawn (draw)"]),
        ({"status": "aborted"}, ["aborted"]),
    ],
)
def test_each_result_is_told_from_our_side_and_an_aborted_game_ends_the_series(
    lichess: ScriptedLichess, end: dict[str, str], results: list[str]
) -> None:
    looks = {"status": "started"}, end
    lichess.answer(GAME, Reply(503), *(Reply(body={"id": "abcd1234", **look}) for look in looks))
    said = told(lichess, shown(status="accepted"), games=2, is_played=len(results) == 2).splitlines()
    assert said[::2] == [f"game {it} abcd1234: started, {lichess.url}/abcd1234" for it in range(1, len(results) + 1)]
    assert said[1::2] == [f"game {number} abcd1234: {result}" for number, result in enumerate(results, 1)]


# Before anything is asked of Lichess


@pytest.mark.parametrize("section", ["challenge", "matchmaking"])
def test_a_player_on_any_block_list_is_not_challenged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], section: str
) -> None:
    """The daemon, which reads these lists, need not run."""
    config, in_file, address = tmp_path / "config.yml", tmp_path / "blocked.txt", "https://example.com/list"
    in_file.write_text("# of several bots\nrude\nFormer until 2020-01-01\nfriend\n")
    lists = f"block_list: [Pest], block_list_files: [blocked.txt], online_block_list: ['{address}']"
    section_text = f"{section}: {{{lists}, block_list_exceptions: [Friend]}}"
    config.write_text(f"token: lip_0123456789abcdef\nurl: http://127.0.0.1:9\nstate_dir: state\n{section_text}\n")
    with closing(Store(Database(tmp_path / "state"))) as store:
        store.note_player_list(PlayerList(address, frozenset({"cheat"})))

    def answer(name: str) -> str:
        assert main(["challenge", name, "--config", str(config)]) != 0
        return "".join(capsys.readouterr())

    assert answer("Pest") == f"{config}:4: {section}.block_list: names Pest\n"
    assert answer("Rude") == f"{config}:4: {section}.block_list_files: {in_file} names Rude\n"
    assert answer("Cheat") == f"{config}:4: {section}.online_block_list: {address} names Cheat\n"
    assert "block_list" not in answer("Former"), "not any more"
    assert "block_list" not in answer("Friend"), "an exception"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["challenge", "x/../y"], "expected a player's name on Lichess, found 'x/../y'"),
        (["challenge", "Bob", "--clock", "3"], "expected MINUTES+SECONDS such as 3+2 or 0.5+1, found '3'"),
        (["challenge", "Bob", "--clock", "3.3+0"], "expected a base of 0, 15, 30, 45, 60, 90 or whole minutes up to"),
        (["challenge", "Bob", "--days", "4"], "expected one of 1, 2, 3, 5, 7, 10, 14, found '4'"),
        (["challenge", "Bob", "--days", "two"], "expected one of 1, 2, 3, 5, 7, 10, 14, found 'two'"),
        (["challenge", "Bob", "--games", "0"], "expected a whole number from 1 to 100, found 0"),
    ],
)
def test_invalid_arguments_are_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line


def test_correspondence_challenges_are_made_one_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["challenge", "Bob", "--days", "2", "--games", "2"]) == 2
    assert capsys.readouterr().err.startswith("--days: one game at a time")


def test_a_challenge_has_a_clock_or_days(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["challenge", "somebody", "--clock", "3+0", "--days", "2"]) == 2
    assert "--clock and --days exclude each other" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--clock", "0+0"), "0+0: expected 30 s or more for base + 40 increments, found 0 + 40 * 0"),
        (("--clock", "3+181"), "expected an increment of 0 to 180 seconds, found 181"),
        (("--clock", "0.25+0"), "0.25+0: expected 30 s or more for base + 40 increments, found 15 + 40 * 0"),
        (("--days", "2", "--variant", "atomic", "--rated"), "--rated: without a clock, Lichess rates games of stand"),
        (("--days", "2", "--variant", "chess960", "--rated"), "--rated: without a clock, Lichess rates games of stand"),
        (("--clock", "0+1", "--variant", "atomic", "--rated"), "--rated: with the clock 0+1, Lichess rates games of "),
        (("--clock", "0+2", "--variant", "atomic", "--rated"), "missing.yml: cannot be read"),
        (("--clock", "0+1"), "missing.yml: cannot be read"),
        (("--days", "2", "--rated"), "missing.yml: cannot be read"),
        (("--days", "2", "--variant", "atomic"), "missing.yml: cannot be read"),
    ],
)
def test_a_challenge_that_lichess_never_accepts_is_not_sent(
    words: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["challenge", "somebody", *words, "--config", "missing.yml"]) == 2
    told = capsys.readouterr().err
    assert complaint in told
