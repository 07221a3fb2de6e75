"""The answers of `lichessbot explain`, from the command line on."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.facade import STARTING_FEN
from lichessbot.cli.main import main
from lichessbot.cli.options import refuse_unplayable
from lichessbot.config import load_config
from lichessbot.config.matchmaking import ChallengeFilter
from lichessbot.errors import ConfigError
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.enums import Colour, DeclineReason, ExactClock, Variant
from lichessbot.matchmaking.known_bots import BotGame, BotGames, Declines
from lichessbot.storage.challenge_records import ChallengeOutcome, ChallengeRecord
from lichessbot.storage.database import FILE_NAME, Database, read_only
from lichessbot.storage.migrations import MIGRATIONS
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store
from lichessbot.storage.tables import Table
from lichessbot.timeouts import Timeouts
from tests.patience import until


@pytest.fixture(autouse=True)
def _config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LICHESS_BOT_TOKEN", raising=False)
    configure(tmp_path, "")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """What a running daemon holds."""
    with closing(Store(Database(tmp_path / "state"))) as store:
        yield store


def written(store: Store, folder: Path) -> None:
    """Wait until all notes are on the disk, where the command reads them."""
    last = f"last{time.monotonic_ns()}"
    store.note_game(last, "Nobody")
    store.note_left(last)
    until(lambda: read_only(folder / "state", "SELECT id FROM games WHERE id = ? AND left_at > 0", last))


def configure(folder: Path, challenge: str) -> None:
    (folder / "config.yml").write_text(f"state_dir: state\nchallenge: {{{challenge}}}\n")


def entry(challenge_id: str, **changes: object) -> ChallengeRecord:
    values = {
        "id": challenge_id, "received_at": time.time(), "challenger": "rival", "is_bot": True, "rating": 1900,
        "our_rating": 2000, "variant": "standard", "speed": "blitz", "terms": "3+0 rated", "has_clock": True,
        "answer": ChallengeOutcome.ACCEPTED, "reason": "", "rule": "challenge.concurrency = 1",
        "because": "it meets every rule",
    }  # fmt: skip
    return ChallengeRecord(**{**values, **changes})  # type: ignore[arg-type]


def test_a_player_blocked_by_command_is_declined(tmp_path: Path, store: Store, ask: "Asked") -> None:
    words = ("--from", "human", "--name", "Pest", "--clock", "3+0")
    assert ask(*words)["answer"] == "would be accepted"
    store.add(Table.BLOCKED_PLAYERS, id="pest", blocked_at=time.time())
    written(store, tmp_path)
    assert ask(*words)["rule"] == "lichessbot block pest"


class Asked:
    """One call of the command."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys
        self.code = 0
        self.complaint = ""

    def __call__(self, *words: str) -> dict[str, str]:
        """The lines of the answer, by what stands before the colon."""
        self.code = main(["explain", "--config", str(self._folder / "config.yml"), *words])
        out, self.complaint = self._capsys.readouterr()
        return dict(line.split(": ", 1) for line in out.splitlines())


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    return Asked(tmp_path, capsys)


@pytest.mark.parametrize(
    ("challenge", "words", "answer", "rule"),
    [
        ("", "--from bot:1900 --clock 3+0 --rated", "would be accepted", "challenge.concurrency = 1"),
        ("accept_bot: false", "--from bot --clock 3+0", "would be declined: noBot", "challenge.accept_bot = false"),
        (
            "accept_bot: true, only_bot: true",
            "--from anonymous --clock 3+0",
            "would be declined: onlyBot",
            "challenge.only_bot = true",
        ),
        ("modes: [casual]", "--clock 3+0 --rated", "would be declined: casual", "challenge.modes = [casual]"),
        ("modes: [rated]", "--clock 3+0", "would be declined: rated", "challenge.modes = [rated]"),
        (
            "max_rating: 1800",
            "--from human:1900 --clock 3+0",
            "would be declined: generic",
            "challenge.max_rating = 1800",
        ),
        (
            "block_list: [Rival]",
            "--from bot --name RIVAL --clock 3+0",
            "would be declined: generic",
            "challenge.block_list has rival",
        ),
        (
            "time_controls: [correspondence]",
            "--days 3",
            "would be accepted",
            "challenge.max_correspondence_games = 100",
        ),
        ("time_controls: [correspondence]", "--unlimited", "would be declined: tooSlow", "challenge.max_days = 14"),
        (
            "",
            "--clock 0.25+0",
            "would be declined: tooFast",
            "challenge.time_controls = [bullet, blitz, rapid, classical]",
        ),
        ("variants: [standard]", "--clock 3+0 --variant Chess960", "would be declined: standard", None),
        ("", "--clock 3+0 --variant fromPosition --fen nonsense", "would be declined: variant", "the rules of chess"),
    ],
)  # fmt: skip
def test_the_rule_that_decides_is_named(
    ask: Asked, tmp_path: Path, challenge: str, words: str, answer: str, rule: str | None
) -> None:
    configure(tmp_path, challenge)
    told = ask(*words.split())
    assert ask.code == 0, ask.complaint
    assert told["answer"] == answer
    assert rule is None or told["rule"] == rule
    assert told["now"] == "the daemon is not running; assuming no games in progress"
    assert not (tmp_path / "state").exists(), "asking leaves no trace"


def test_the_games_of_the_running_daemon_count(ask: Asked, tmp_path: Path, store: Store) -> None:
    configure(tmp_path, "concurrency: 2, games_reserved_for_humans: 1")
    store.note_game("game0000", "Ferdinand")
    store.note_left("game0000")
    store.note_challenge(entry("game0001"))
    store.note_game("game0001", "Rival")
    written(store, tmp_path)
    told = ask("--from", "bot", "--clock", "3+0")
    assert told["now"] == "slots taken: 1 of 2; correspondence games: 0"
    assert told["answer"] == "would wait up to 12 s for a slot, then be declined: later"
    assert told["rule"] == "challenge.games_reserved_for_humans = 1"
    assert "does not know the bot games left today" in told["but"]
    told = ask("--clock", "3+0")
    assert told["answer"] == "would be accepted"
    assert "but" not in told, "all that is said there is about bots"
    store.note_game("game0002", "BOT Zeekat")
    written(store, tmp_path)
    told = ask("--clock", "3+0")
    assert (told["answer"], told["rule"]) == (
        "would wait up to 12 s for a slot, then be declined: later", "challenge.concurrency = 2",
    )  # fmt: skip


def test_what_was_remembered_counts(ask: Asked, tmp_path: Path, store: Store) -> None:
    address = "https://example.com/list"
    configure(
        tmp_path,
        f"max_recent_bot_challenges: 1, recent_bot_challenge_age: 60, rating_difference: 100, "
        f"online_block_list: ['{address}'], block_list_files: [/srv/shared.txt], block_list_exceptions: [Friend]",
    )
    store.note_challenge(entry("game0001", our_rating=1950))
    store.note_player_list(PlayerList(address, frozenset({"villain", "friend"})))
    shared = ("trickster@2000-01-01", "scoundrel@2999-12-31")
    store.note_player_list(PlayerList.of_words("/srv/shared.txt", shared))
    written(store, tmp_path)
    rival = ("--from", "bot:1900", "--name", "Rival", "--clock", "3+0")
    assert ask(*rival)["rule"] == "challenge.max_recent_bot_challenges = 1"
    assert ask("--from", "bot:1849", "--clock", "3+0")["because"] == "a rating of 1849 is too far from ours, 1950"
    assert "our own rating in such games is unknown" in ask("--from", "bot:1849", "--clock", "1+0")["note"]
    villain = ask("--from", "human:1900", "--name", "Villain", "--clock", "3+0")
    assert villain["rule"] == f"challenge.online_block_list has {address}"
    scoundrel = ask("--from", "human:1900", "--name", "Scoundrel", "--clock", "3+0")
    assert scoundrel["rule"] == "challenge.block_list_files has /srv/shared.txt"
    for name in ("Trickster", "Friend"):
        assert ask("--from", "human:1900", "--name", name, "--clock", "3+0")["answer"] == "would be accepted"


def test_the_matching_profiles_are_named(ask: Asked, tmp_path: Path) -> None:
    profiles = """\
profiles:
  - {when: {speed: bullet}, engine: {depth: 8}}
  - {when: {opponent: human, rating: [0, 1600]}, engine: {ponder: false, hash_mb: 1}}
  - {when: {colour: black, rated: true}, engine: {move_time_ms: 100}}
  - {when: {opponent_name: Villain}, engine: {threads: 2}}
"""
    config = tmp_path / "config.yml"
    config.write_text(config.read_text() + profiles)
    human = "plays with our engine; limits each search by depth 8; 1 MiB of hash; 1 thread; does not ponder"
    human += "; first asks own_book"
    assert ask("--clock", "1+0")["engine"] == f"profile 1 and 2: {human}"
    assert ask("--clock", "3+0", "--from", "bot:2000")["engine"].startswith("no profile: plays with our engine")
    rated = ask("--clock", "1+0", "--rated")
    assert rated["engine as white"] == f"profile 1 and 2: {human}"
    assert rated["engine as black"] == f"profile 1 and 2 and 3: {human.replace('depth 8', 'depth 8, 100 ms a move')}"
    assert ask("--clock", "1+0", "--name", "viLLain")["engine"].startswith("profile 1 and 2 and 4: ")
    assert "engine" not in ask("--days", "3"), "which is declined"


def test_a_source_that_does_not_know_the_variant_is_not_named(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "book.bin").touch()
    sources = """\
engine:
  polyglot: {enabled: true, book: {atomic: book.bin}}
  lichess_bot_tbs: {syzygy: {enabled: true, paths: .}}
  online_moves:
    online_egtb: {enabled: true}
    chessdb_book: {enabled: true}
    lichess_opening_explorer: {enabled: true}
"""
    config = tmp_path / "config.yml"
    config.write_text(config.read_text() + sources)
    asked = {
        variant: ask("--clock", "3+0", "--variant", variant)["engine"].partition("first asks ")[2].split(", ")
        for variant in ("standard", "atomic", "horde")
    }
    assert asked == {
        "standard": ["syzygy", "online_egtb", "chessdb_book", "lichess_opening_explorer", "own_book"],
        "atomic": ["polyglot", "online_egtb"],
        "horde": [""],
    }


def test_an_engine_that_does_not_start_is_no_rule(ask: Asked, tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text(config.read_text() + "engine: {command: [no-such-engine]}\n")
    told = ask("--clock", "3+0", "--variant", "atomic")
    assert told["note"] == "engine: the engine does not start: no program no-such-engine that may be run"
    assert told["but"] == "no daemon starts with that; engines without an answer are assumed to play atomic"
    assert told["answer"] == "would be accepted"
    assert "note" not in ask("--clock", "3+0"), "which needs no answer of an engine"
    loaded = load_config(config, {}, needs_token=False)
    with pytest.raises(ConfigError) as caught:
        refuse_unplayable("--variant", "atomic", loaded.config, Timeouts())
    assert caught.value.problems == ("engine: the engine does not start: no program no-such-engine that may be run",)


def test_a_past_challenge_is_explained_by_its_id_or_address(ask: Asked, store: Store, tmp_path: Path) -> None:
    why = {"reason": "tooFast", "rule": "challenge.min_base = 300", "because": "too short"}
    store.note_challenge(entry("abcd1234", answer=ChallengeOutcome.DECLINED, **why))
    written(store, tmp_path)
    for name in ("abcd1234", "https://lichess.org/abcd1234/"):
        told = ask(name)
        assert ask.code == 0
        assert told["challenge"].startswith("abcd1234, 3+0 rated (blitz) standard, from a bot named rival rated 1900")
        assert told["answer"] == "declined: tooFast"
        assert told["because"] == "too short"
        assert told["rule"] == "challenge.min_base = 300"
    store.note_challenge(entry("efgh5678", challenger_name="RiVal"))
    written(store, tmp_path)
    assert "from a bot named RiVal rated 1900" in ask("efgh5678")["challenge"]


@pytest.mark.parametrize(
    ("outcome", "age_s", "answer"),
    [
        (ChallengeOutcome.WAITING, 1, "waiting"),
        (ChallengeOutcome.WAITING, 3600, "none; the daemon ended while the challenge waited"),
        (ChallengeOutcome.ACCEPTED, 3600, "accepted"),
    ],
)
def test_a_challenge_waits_only_while_the_daemon_runs(
    ask: Asked, store: Store, tmp_path: Path, outcome: ChallengeOutcome, age_s: float, answer: str
) -> None:
    store.note_challenge(entry("abcd1234", answer=outcome, received_at=time.time() - age_s))
    written(store, tmp_path)
    assert ask("abcd1234")["answer"] == answer


@pytest.mark.parametrize(
    "address",
    [
        "https://lichess.org/abcd1234/black",
        "https://lichess.org/abcd1234/white?source=x#20",
        "lichess.org/abcd1234efgh",
        "https://lichess.org/abcd1234/",
    ],
)
def test_a_game_is_found_by_each_of_its_addresses(ask: Asked, store: Store, tmp_path: Path, address: str) -> None:
    store.note_challenge(entry("abcd1234"))
    written(store, tmp_path)
    assert ask(address)["challenge"].startswith("abcd1234,")


def test_an_unknown_challenge_lists_the_latest_known(ask: Asked, tmp_path: Path, store: Store) -> None:
    store.note_challenge(entry("abcd1234"))
    written(store, tmp_path)
    told = ask("nowhere1")
    assert ask.code == 1
    assert told["known"] == "abcd1234 from rival, accepted"
    assert f"challenge nowhere1 is unknown in {tmp_path / 'state' / FILE_NAME}" in told["note"]


def test_nothing_in_a_record_can_steer_the_terminal(ask: Asked, tmp_path: Path, store: Store) -> None:
    hostile = "x\x1b[2J\nrule: forged"
    store.note_challenge(entry("abcd1234", challenger_name=hostile, terms=hostile, because=hostile))
    written(store, tmp_path)
    told = ask("abcd1234")
    assert told["because"] == r"x\x1b[2J\nrule: forged"
    assert told["rule"] == "challenge.concurrency = 1"
    assert all(map(str.isprintable, [*told.values(), *ask("nowhere1").values()]))


def test_records_that_cannot_be_read_are_one_line(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    path = tmp_path / "state" / FILE_NAME
    path.write_bytes(b"not a database" * 100)
    ask("abcd1234")
    assert ask.code == 1
    assert ask.complaint == f"{path}: file is not a database\n"
    path.unlink()
    file = Database(tmp_path / "state", (*MIGRATIONS, "CREATE TABLE future (x)"))
    file.read("SELECT 1")
    file.close()
    ask("abcd1234")
    assert ask.code == 2
    assert "are of a newer version" in ask.complaint


def test_records_of_an_older_version_are_told_as_not_read(ask: Asked, tmp_path: Path) -> None:
    """The answer may differ: who is blocked is unknown."""
    with closing(Database(tmp_path / "state", MIGRATIONS[:-1])) as file:
        file.write([("INSERT INTO blocked_players (id, blocked_at) VALUES ('pest', 1)", [()])])
    assert "is of an older version and was not read" in ask("--name", "Pest", "--clock", "3+0")["note"]


def test_an_address_that_is_none_is_an_unknown_challenge(ask: Asked) -> None:
    assert "challenge http://[x is unknown" in ask("http://[x")["note"]
    assert ask.code == 1


def test_records_of_an_older_version_are_none_yet(ask: Asked, tmp_path: Path) -> None:
    file = Database(tmp_path / "state", MIGRATIONS[:1])
    file.read("SELECT 1")
    file.close()
    assert ask("--clock", "3+0")["answer"] == "would be accepted"


@pytest.mark.parametrize(
    "words",
    [
        "", "--from bot", "abcd1234 --clock 3+0", "abcd1234 --from bot", "abcd1234 --rated",
        "abcd1234 --variant atomic", "abcd1234 --fen x",
    ],
)  # fmt: skip
def test_questions_without_sense_are_exit_code_two(ask: Asked, words: str) -> None:
    ask(*words.split())
    assert ask.code == 2
    assert ask.complaint.startswith("lichessbot explain: expected ")
    assert ask.complaint.endswith(" (see `lichessbot explain --help`)\n")
    assert ask.complaint.count("\n") == 1


def test_standard_chess_from_another_position_is_from_position(ask: Asked, tmp_path: Path) -> None:
    configure(tmp_path, "variants: [standard]")
    odds = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"
    told = ask("--clock", "3+0", "--fen", odds)
    assert told["challenge"].startswith("casual 3+0 (blitz) fromPosition, from ")
    assert told["odds"] == "White plays without a queen"
    assert told["answer"] == "would be declined: standard"
    told = ask("--clock", "3+0", "--rated", "--fen", STARTING_FEN)
    assert told["challenge"].startswith("rated 3+0 (blitz) standard, from ")
    assert told["answer"] == "would be accepted"
    start = "rkbnnrqb/pppppppp/8/8/8/8/PPPPPPPP/RKBNNRQB w KQkq - 0 1"
    assert " chess960, from" in ask("--clock", "3+0", "--rated", "--variant", "chess960", "--fen", start)["challenge"]
    for variant in ("standard", "fromPosition"):
        ask("--clock", "3+0", "--rated", "--variant", variant, "--fen", odds)
        assert ask.code == 2
        assert ask.complaint.startswith("lichessbot explain: --rated: Lichess does not rate fromPosition games (see")


@pytest.mark.parametrize(
    ("words", "challenge"),
    [
        ("--clock 3+2 --from bot:1900 --rated", "rated 3+2 (blitz) standard, from a bot rated 1900"),
        ("--days 1", "casual 1 day per move (correspondence) standard, from a human rated 1500"),
        ("--unlimited --name Ada", "casual unlimited (correspondence) standard, from a human named Ada rated 1500"),
    ],
)
def test_the_challenge_is_told_as_it_was_understood(ask: Asked, words: str, challenge: str) -> None:
    assert ask(*words.split())["challenge"] == challenge


def test_an_anonymous_player_has_no_name(ask: Asked) -> None:
    assert ask("--clock", "3+0", "--from", "anonymous")["challenge"].endswith(" standard, from an anonymous player")
    ask("--clock", "3+0", "--from", "anonymous", "--name", "Ada")
    assert ask.code == 2
    assert ask.complaint.startswith("lichessbot explain: --name: an anonymous player has no name (see")


def test_two_lengths_of_one_game_are_named(ask: Asked) -> None:
    ask("--clock", "3+2", "--days", "2")
    assert ask.code == 2
    assert ask.complaint.startswith("lichessbot explain: --clock and --days exclude each other (see")


@pytest.mark.parametrize(
    "words",
    [
        "--clock 3", "--clock 3+0 --days 3", "--days 15", "--from cat --clock 3+0", "--from bot:high --clock 3+0",
        "--variant checkers --clock 3+0", "--name no!body --clock 3+0",
    ],
)  # fmt: skip
def test_invalid_words_are_exit_code_two(words: str) -> None:
    assert main(["explain", *words.split()]) == 2


def test_a_report_tells_what_a_bot_accepts_and_declines(ask: Asked, tmp_path: Path, store: Store) -> None:
    terms = Terms(Variant.STANDARD, ExactClock(60, 1), rated=False)
    now = time.time()
    Declines(store).declined("rival", terms, DeclineReason.TOO_FAST, ChallengeFilter.FINE, now)
    BotGames(store).add(BotGame("game0001", "rival", "blitz", Colour.WHITE, by_our_challenge=True, began_at=now))
    BotGames(store).add(BotGame("game0002", "rival", "rapid", Colour.WHITE, by_our_challenge=False, began_at=now))
    written(store, tmp_path)
    today = time.strftime("%Y-%m-%d", time.localtime(now))
    told = ask("--bot", "Rival")
    assert told["accepts"] == f"blitz (once, on {today})"
    assert told["declines"] == f"1+1 is too fast (tooFast, once, on {today})"
    assert told["rests"].startswith("not challenged to bullet games until ")
    assert ask.code == 0
    assert ask("--bot", "Stranger")["note"].startswith("no challenge of ours to Stranger is known in ")
    assert ask.code == 1


@pytest.mark.parametrize("words", [("abcd1234",), ("--clock", "3+0"), ("--from", "bot:1900"), ("--rated",)])
def test_a_report_stands_alone(ask: Asked, words: tuple[str, ...]) -> None:
    ask("--bot", "Rival", *words)
    expected = "lichessbot explain: expected --bot alone (see `lichessbot explain --help`)\n"
    assert (ask.code, ask.complaint) == (2, expected)
