"""What `lichessbot check` says the daemon would do."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.facade import OWN_BOOK
from lichessbot.cli.check import intentions
from lichessbot.cli.main import main
from lichessbot.config import Config, load_config
from lichessbot.storage.database import FILE_NAME, LOCK_NAME
from lichessbot.uci.machine import Machine
from tests.fakes.arena import IDLE_ENGINE
from tests.fakes.scripted_lichess import Reply, ScriptedLichess
from tests.lichessbot.machines import UNKNOWN_MACHINE

NOTHING = "would neither agree to draws or takebacks nor resign"
TOKEN = {"userId": "testbot", "scopes": "bot:play,challenge:read,challenge:write", "expires": None}
ALL: dict[str, Any] = {
    "engine": {"draw_or_resign": {"offer_draw_enabled": True, "resign_enabled": True}},
    "max_takebacks_accepted": 2,
    "pgn_directory": "/var/games",
}
Check = Callable[..., str]


def plan(machine: Machine = UNKNOWN_MACHINE, **settings: Any) -> list[str]:
    return list(intentions(Config.model_validate(settings), machine))


@pytest.fixture
def check(
    lichess: ScriptedLichess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Check:
    """Runs the command in the test's folder; the records are kept in `state` there unless the test says otherwise."""

    def check(more: str = "", *, state_dir: str = "state", engine: str = IDLE_ENGINE, code: int = 1) -> str:
        text = f"url: {lichess.url}\nstate_dir: {state_dir}\nengine: {{{engine}}}\n{more}"
        (tmp_path / "config.yml").write_text(text)
        assert main(["check", "--config", "config.yml"]) == code
        return capsys.readouterr().out

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LICHESS_BOT_TOKEN", "lip_good")
    return check


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, NOTHING),
        (
            ALL,
            "would offer and accept draws, resign lost games, grant up to 2 takebacks in a game, "
            "keep finished games in /var/games",
        ),
    ],
)
def test_check_reports_chat_and_takebacks(settings: dict[str, Any], sentence: str) -> None:
    assert sentence in plan(**settings)


def test_check_tells_the_plan_in_sentences() -> None:
    settings = {
        "challenge": {
            "variants": ["standard", "atomic"], "time_controls": ["blitz", "rapid"], "modes": ["casual"],
            "min_base": 60, "max_base": 600, "min_increment": 1, "max_increment": 10, "only_bot": True,
        },
        "engine": {"command": ["fish", "-x"], "depth": 9, "hash_mb": 32, "ponder": True},
        "correspondence": {"concurrency": 3, "move_time": 20},
        "stop_grace": 900,
        "abort_time": 45,
    }  # fmt: skip
    assert plan(**settings) == [
        "would play one game at a time on https://lichess.org",
        "would accept bots; standard, atomic; casual",
        "would accept blitz, rapid with 60 to 600 s and an increment of 1 to 10 s, and decline the rest",
        "would play with fish -x",
        "would limit each search by depth 9; 32 MiB of hash for each game",
        "would look for another good move where it would repeat an earlier game",
        "would let the opponent of a casual game choose a level in the chat, if the engine has levels",
        "would ponder: think on the opponent's time",
        "would play correspondence games 3 at a time, with 20 s for each move",
        "would let games in progress go on for up to 900 s after the first signal",
        NOTHING,
        "would abort a game whose opponent makes no first move in 45 s",
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {"engine": {"variety": False, "level_in_chat": False}},
        {"engine": {"strength": 1200}, "challenge": {"modes": ["rated"]}},
    ],
)
def test_check_names_neither_variety_nor_levels_where_there_are_none(settings: dict[str, Any]) -> None:
    assert not [line for line in plan(**settings) if "earlier game" in line or "in the chat" in line]


def test_check_names_the_level_at_which_the_bot_does_not_ponder() -> None:
    told = plan(engine={"strength": 1200})
    assert "would play at level 1200, without pondering and servers" in told
    assert not [line for line in told if line.startswith("would ponder")]


@pytest.mark.parametrize(
    ("keys", "sources"),
    [
        ({}, "polyglot, syzygy, chessdb_book, own_book"),
        ({"strength": "match_opponent"}, "polyglot, syzygy, chessdb_book, own_book"),
        ({"strength": 1500}, "polyglot"),
        ({"strength": 400}, None),
    ],
)
def test_check_names_only_move_sources_that_are_asked(keys: dict[str, Any], sources: str | None) -> None:
    engine = {
        "polyglot": {"enabled": True, "book": {"standard": "b.bin"}},
        "lichess_bot_tbs": {"syzygy": {"enabled": True, "paths": "/tables"}},
        "online_moves": {"chessdb_book": {"enabled": True}},
    }
    first = [line for line in plan(engine={**engine, **keys}) if line.startswith("would first look")]
    assert first == ([f"would first look for a move in: {sources}"] if sources else [])


@pytest.mark.parametrize(("games", "words"), [(1, "1 game of 8 threads"), (2, "2 games of 8 threads")])
def test_check_names_the_games_that_leave_no_core_to_ponder(games: int, words: str) -> None:
    told = plan(Machine(4, None), engine={"threads": 8, "ponder": True}, challenge={"concurrency": games})
    assert f"would not ponder: 4 processor cores for {words}" in told


@pytest.mark.parametrize(
    ("challenge", "sentence"),
    [
        (
            {"min_rating": 1500, "allow_list": ["Ada", "bob"]},
            "would also apply challenge.min_rating = 1500; challenge.allow_list = [ada, bob]",
        ),
        ({}, "would accept humans and bots; no variant; casual or rated"),
        ({"accept_bot": False, "variants": ["standard"]}, "would accept humans; standard; casual or rated"),
        ({"human": {"min_rating": 1000}}, "would apply to humans: challenge.human.min_rating = 1000"),
        ({"bot": {"modes": ["casual"]}}, "would apply to bots: challenge.bot.modes = [casual]"),
        ({"concurrency": 3, "games_reserved_for_humans": 1}, "would reserve 1 of 3 slots for humans"),
        (
            {"concurrency": 2, "games_reserved_for_humans": 2},
            "would reserve all slots for humans: no bot would get a game with a clock",
        ),
    ],
)
def test_check_reports_who_is_accepted_and_declined(challenge: dict[str, Any], sentence: str) -> None:
    assert sentence in plan(challenge=challenge)
    assert not [line for line in plan() if "also apply" in line or "slots" in line]


def test_check_reports_matchmaking() -> None:
    settings = {
        "matchmaking": {
            "allow_matchmaking": True,
            "bot_games_per_day": 40,
            "overrides": {"slow": {}, "off": {"weight": 0}},
        },
        "rematch": {"offer": "human", "offers_in_a_row": 2},
        "tournaments": [{"id": "hL7vMrFQ", "password": "sesame"}],
    }
    told = plan(**settings)
    spread = "at most 32 games of its own in 24 hours, spread over the day"
    assert f"would challenge bots after 30 min, when idle, {spread}; kinds of games: default, slow" in told
    assert "would play at most 40 games against bots in 24 hours" in told
    assert "would take part in the tournaments hL7vMrFQ" in told
    assert "would offer humans a rematch after a game, 2 in a row" in told
    assert not [line for line in plan() if any(it in line for it in ("challenge bots", "tournament", "rematch"))]


@pytest.mark.parametrize(
    ("matchmaking", "challenge", "key", "note"),
    [
        ("bot_games_per_day: 0", "", "allow_matchmaking", "has no effect, as matchmaking.bot_games_per_day is 0"),
        (
            "bot_games_per_day: 20, bot_games_for_challengers: 20", "", "allow_matchmaking",
            "has no effect, as matchmaking.bot_games_for_challengers leaves none of the 20 bot games a day",
        ),
        (
            "bot_games_for_challengers: 100", "", "allow_matchmaking",
            "has no effect, as matchmaking.bot_games_for_challengers leaves none of the 100 bot games a day",
        ),
        (
            "bot_games_per_day: 500, bot_games_for_challengers: 200", "", "allow_matchmaking",
            "has no effect, as matchmaking.bot_games_for_challengers leaves none of the 100 bot games a day",
        ),
        (
            "", "games_reserved_for_humans: 1", "allow_matchmaking",
            "has no effect, as challenge.games_reserved_for_humans reserves all slots for humans",
        ),
        ("allow_during_games: true", "", "allow_during_games", "has no effect while challenge.concurrency is 1"),
    ],
)  # fmt: skip
def test_matchmaking_that_challenges_nobody_is_noted_and_not_planned(
    tmp_path: Path, matchmaking: str, challenge: str, key: str, note: str
) -> None:
    file = tmp_path / "config.yml"
    text = f"challenge: {{{challenge}}}\nmatchmaking:\n  allow_matchmaking: true\n  {matchmaking}\n"
    file.write_text(text.replace(", ", "\n  "))
    loaded = load_config(file, {}, needs_token=False)
    line = next(number for number, it in enumerate(file.read_text().splitlines(), 1) if f"  {key}:" in it)
    assert loaded.warnings == (f"{file}:{line}: matchmaking.{key}: {note}",)
    told = [line for line in intentions(loaded.config, UNKNOWN_MACHINE) if "would challenge bots" in line]
    spread = "at most 80 games of its own in 24 hours, spread over the day"
    when_idle = [f"would challenge bots after 30 min, when idle, {spread}; kinds of games: default"]
    assert told == (when_idle if key == "allow_during_games" else [])


def test_matchmaking_that_may_challenge_somebody_is_planned(tmp_path: Path) -> None:
    file = tmp_path / "config.yml"
    match = "allow_matchmaking: true, allow_during_games: true, bot_games_per_day: 20, bot_games_for_challengers: 19"
    file.write_text(f"challenge: {{concurrency: 2, games_reserved_for_humans: 1}}\nmatchmaking: {{{match}}}\n")
    loaded = load_config(file, {}, needs_token=False)
    assert loaded.warnings == ()
    told = list(intentions(loaded.config, UNKNOWN_MACHINE))
    spread = "at most 1 game of its own in 24 hours, spread over the day"
    assert f"would challenge bots after 30 min, also during games, {spread}; kinds of games: default" in told
    file.write_text("matchmaking: {bot_games_per_day: 0, allow_during_games: true}\n")
    assert load_config(file, {}, needs_token=False).warnings == ()


def test_a_profile_that_no_game_can_match_is_noted_and_not_counted(tmp_path: Path) -> None:
    file = tmp_path / "config.yml"
    conditions = ("speed: bullet, clock: 3+2", "clock: 0.25+0", "speed: [blitz, rapid], clock: [1+0, 3+2]")
    file.write_text("profiles:\n" + "".join(f"- {{when: {{{it}}}, engine: {{depth: 4}}}}\n" for it in conditions))
    loaded = load_config(file, {}, needs_token=False)
    assert loaded.warnings == (
        f"{file}:2: profiles #1.when.clock: no game with 3+2 meets the conditions, as its speed is blitz, which is not "
        "in speed",
        f"{file}:3: profiles #2.when.clock: no game with 0.25+0 meets the conditions, as it is too fast for bots",
        f"{file}:4: profiles #3.when.clock: no game with 1+0 meets the conditions, as its speed is bullet, which is "
        "not in speed",
    )
    assert "would change that in some games, by 1 profile" in list(intentions(loaded.config, UNKNOWN_MACHINE))


@pytest.mark.parametrize(
    ("scopes", "told"),
    [
        ("bot:play", "note  the token lacks the scopes challenge:read, challenge:write: make a new one with them for"),
        ("challenge:read,challenge:write", "FAIL  the token lacks the scopes bot:play: make a new one with them\n"),
    ],
)
def test_only_a_token_with_which_the_bot_cannot_play_fails_the_check(
    lichess: ScriptedLichess, check: Check, scopes: str, told: str
) -> None:
    lichess.answer("/api/token/test", Reply(body={"lip_good": TOKEN | {"scopes": scopes}}))
    lichess.answer("/api/account", Reply(body={"id": "testbot", "username": "TestBot", "title": "BOT"}))
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}))
    assert told in check(code=1 if told.startswith("FAIL") else 0)


def test_a_scope_that_lichess_asks_for_and_the_token_lacks_is_named(
    lichess: ScriptedLichess, check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "blocked").write_text("villain\nrival until 2099-12-31\n")
    (tmp_path / "one").write_text("villain\n")
    lists = "challenge: {block_list_files: [blocked, one, missing]}\nnotify: {command: [sh, -c, 'echo Oh no; exit 3']}"
    monkeypatch.setattr(Machine, "detect", lambda: Machine(4, 80))
    expires = datetime.now(UTC) + timedelta(days=9.5)
    token = TOKEN | {"userId": "test\x1b[2jbot", "expires": int(expires.timestamp() * 1000)}
    lichess.answer("/api/token/test", Reply(body={"lip_good": token}))
    lichess.answer("/api/account", Reply(body={"id": "testbot", "username": "TestBot", "title": "BOT"}))
    lichess.answer("/api/account/playing", Reply(403, {"error": "Missing scope: preference:read"}))
    told = check(lists, engine=f"hash_mb: 2, {IDLE_ENGINE}")
    assert f"FAIL  {lichess.url}: the token lacks the scope preference:read: make a new one with it" in told
    assert "ok    TestBot is a BOT account" in told
    assert r"ok    the token of test\x1b[2jbot is valid and has all scopes" in told
    assert "ok    the block list blocked names 2 players" in told
    assert "ok    the block list one names 1 player\n" in told
    assert f"note  the token expires on {expires:%Y-%m-%d}, in 9 days: make a new one\n" in told
    assert "note  notify.command does not work: sh ended with exit code 3: Oh no\n" in told
    assert "note  the block list missing cannot be used: No such file or directory" in told
    assert "note  engine.hash_mb: 2 MiB for each game do not fit into memory, 1 are used\n" in told


@pytest.mark.parametrize(
    ("facts", "note"),
    [
        ({}, "TestBot has no biography in its profile: Lichess does not list it among the bots that are online; "),
        ({"profile": {"bio": " "}}, "TestBot has no biography in its profile: Lichess does not list it among the bots"),
        ({"profile": {"bio": "Plays."}, "disabled": True}, "the account TestBot is closed\n"),
        ({"profile": {"bio": "Plays."}, "tosViolation": True}, "Lichess has marked TestBot for a violation"),
        ({"profile": {"bio": "Plays."}}, None),
    ],
)
def test_what_others_cannot_find_is_told(
    facts: dict[str, Any], note: str | None, lichess: ScriptedLichess, check: Check
) -> None:
    lichess.answer("/api/token/test", Reply(body={"lip_good": TOKEN}))
    lichess.answer("/api/account", Reply(body={"id": "testbot", "username": "TestBot", "title": "BOT", **facts}))
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}))
    is_closed = "disabled" in facts
    told = check(code=is_closed)
    assert "ok    TestBot is a BOT account\n" in told
    assert f"{'FAIL' if is_closed else 'note'}  {note}" in told if note else "note" not in told


def test_the_notifier_is_told_a_test(check: Check, tmp_path: Path) -> None:
    told = check("notify: {command: [sh, -c, 'cat >told'], on: [game_won, game_lost]}\n")
    assert "ok    sh was told a test; it would be told of game_won, game_lost\n" in told
    assert '"lichessbot check: the notifier works"' in (tmp_path / "told").read_text()


@pytest.mark.parametrize("name", [FILE_NAME, LOCK_NAME])
def test_files_that_keep_the_records_out_are_named(name: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "state" / name).mkdir(parents=True)  # for root no file is read-only
    told = check()
    assert f"note  records cannot be kept in state: state/{name} is not a writable file\n" in told
    assert "records are kept" not in told


def test_a_damaged_records_file_is_noted(check: Check, tmp_path: Path) -> None:
    file = tmp_path / FILE_NAME
    file.write_bytes(b"no database" * 100)
    told = check(state_dir=str(tmp_path))
    damage = "file is not a database; `run` renames it to lichessbot.sqlite.damaged and begins a new one"
    assert f"note  {file}: {damage}\n" in told
    assert "records are kept" not in told
    assert file.read_bytes() == b"no database" * 100


def test_the_engine_and_the_books_that_answer_are_named(
    check: Check, lichess: ScriptedLichess, tmp_path: Path
) -> None:
    account = {"id": "testbot", "username": "TestBot", "title": "BOT", "profile": {"bio": "Plays."}}
    lichess.answer("/api/token/test", Reply(body={"lip_good": TOKEN}))
    lichess.answer("/api/account", Reply(body=account))
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}))
    shutil.copy(OWN_BOOK, tmp_path / "book.bin")
    book = "polyglot: {enabled: true, book: {standard: book.bin}}"
    told = check(engine=f"{IDLE_ENGINE}, {book}", code=0)
    assert "ok    rude plays e2e4 after " in told
    assert "ok    book book.bin: " in told
    assert "FAIL" not in told
    (tmp_path / "book.bin").write_bytes(bytes(17))
    assert "FAIL  book book.bin" in check(engine=f"{IDLE_ENGINE}, {book}")


def test_an_engine_that_ends_at_once_is_to_be_started_by_hand(check: Check) -> None:
    told = check(engine="command: [sh, -c, exit 3]")
    assert "FAIL  engine: the engine died: ended by itself, exit status 3\n" in told
    assert "note  to see what the engine says before it ends, start it by hand: sh -c 'exit 3'\n" in told
    assert "by hand" not in check(engine="command: [no-such-engine]")
