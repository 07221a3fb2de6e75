"""The unchanged daemon challenges other bots at the embedded Lichess, and takes every kind of answer."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lichessbot.cli.main import main
from lichessbot.rehearsal.players.house_bots import AnswerPolicy
from lichessbot.rehearsal.players.opponents import GreedyOpponent
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.arenas import Application, ArenaTerms
from lichessbot.rehearsal.rules.challenges import Challenge
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import ChallengeStatus, Color, ColorChoice, DeclineReason, Variant
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.rehearsal.server.site import ChallengeMade, SiteEvent
from lichessbot.rehearsal.server.streams import one_line
from lichessbot.storage.database import LOCK_NAME, Database, read_only
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store
from tests.fakes import variant_engine
from tests.fakes.arena import PATIENCE_S, Arena

# The waits for Lichess are a tenth: a minute of the config lasts 6 s, a challenge stays open for 2.5 s.
SCALE = 0.1
CONFIG = """\
url: {url}
state_dir: state
challenge: {{concurrency: {concurrency}, variants: [standard]}}
engine: {{hash_mb: 1, depth: 2, move_overhead_ms: 30}}
abort_time: 600
matchmaking: {matchmaking}
"""


class Match(Arena):
    """An arena whose bot looks for games by itself."""

    def __init__(self, server: RehearsalServer, folder: Path) -> None:
        self.made: list[Challenge] = []
        super().__init__(server, folder)

    def environment(self) -> dict[str, str]:
        return super().environment() | {"LICHESSBOT_TIME_SCALE": str(SCALE)}

    def _note(self, happening: SiteEvent) -> None:
        if isinstance(happening, ChallengeMade):
            self.made.append(happening.challenge)
        super()._note(happening)

    def seek(self, *, concurrency: int = 1, **keys: object) -> None:
        keys = {"allow_matchmaking": True, "challenge_timeout": 1, "challenge_initial_time": [60]} | keys
        text = CONFIG.format(url=self.site.url, concurrency=concurrency, matchmaking=json.dumps(keys))
        (self.folder / "config.yml").write_text(text)

    def rival(self, name: str, policy: AnswerPolicy, opponent: type[GreedyOpponent] = GreedyOpponent) -> Account:
        account = self.player(name, None, title="BOT")
        return self.hire(account, opponent, policy)

    def sent(self) -> list[str]:
        """Whom the bot has challenged, in order."""
        lines = (line for line in self.log().splitlines() if " match.challenge " in line)
        return [line.split("opponent=")[1].split()[0] for line in lines]


@pytest.fixture
def match(tmp_path: Path) -> Iterator[Match]:
    timing = Timing(tick_s=0.3, challenge_expiry_s=PATIENCE_S, day_s=12.0)
    with RehearsalServer(timing=timing) as server:
        match = Match(server, tmp_path)
        try:
            yield match
        finally:
            match.close()
        assert match.leftovers() == []
        log = match.log()
        assert match.token not in log
        assert "Traceback" not in log
        assert " ERROR " not in log


ACCEPTS = AnswerPolicy()


# Matchmaking


def test_a_pair_of_games_is_played_white_first_also_over_a_restart(match: Match) -> None:
    match.rival("Willing", ACCEPTS)
    match.player("Silent", title="BOT").bio = ""
    match.player("Person")
    match.seek()
    match.start()
    match.until_ended(1)
    match.until(lambda: "game.over" in match.log())
    assert match.stop() == 0
    match.start()
    match.until_ended(2)
    assert [session.game.setup.color_of(match.bot) for session in match.ended] == [Color.WHITE, Color.BLACK]
    assert set(match.sent()) == {"willing"}


def test_a_human_gets_the_slot_of_our_open_challenge(match: Match) -> None:
    match.rival("Deaf", AnswerPolicy(ignores=True))
    match.seek()
    match.start()
    match.until(lambda: " match.challenge " in match.log())
    match.until(lambda: any(it.challenger is match.bot for it in match.made))
    match.challenge(match.player("Human"))
    match.until_ended(1)
    assert match.ended[0].game.setup.color_of(match.site.accounts.get("human")) is not None
    assert match.logged("match.withdrawn")
    assert match.logged("challenge.wait")


def test_a_used_up_daily_quota_declines_bots_and_not_humans(match: Match) -> None:
    match.seek(allow_matchmaking=False, bot_games_per_day=1)
    match.start()
    match.challenge(match.player("First", title="BOT"))
    match.until_ended(1)
    match.until(lambda: "game.over" in match.log())
    second = match.challenge(match.player("Second", title="BOT"))
    match.until(lambda: match.decline_reason(second) is DeclineReason.LATER)
    match.challenge(match.player("Human"))
    match.until_ended(2)


# `lichessbot challenge`


def told(match: Match, *words: str) -> tuple[int, list[str]]:
    """Exit code and lines of a command beside the daemon."""
    done = match.tell(*words)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_a_player_is_challenged_to_games_with_both_colours(match: Match) -> None:
    match.seek(allow_matchmaking=False)
    match.start()
    match.player("Friend")
    code, lines = told(match, "challenge", "Friend", "--clock", "1+0", "--games", "2")
    assert code == 0
    assert [session.game.setup.color_of(match.bot) for session in match.ended] == [Color.WHITE, Color.BLACK]
    assert [line.split()[:2] for line in lines] == [["game", "1"], ["game", "1"], ["game", "2"], ["game", "2"]]
    starts, results = lines[::2], lines[1::2]
    ids = [session.game.setup.id for session in match.ended]
    assert starts == [f"game {number} {id_}: started, {match.site.url}/{id_}" for number, id_ in enumerate(ids, 1)]
    assert all(any(word in line for word in ("won", "lost", "drawn")) for line in results)
    assert not match.ended[0].game.setup.rated


def test_a_challenge_that_is_declined_or_not_answered_is_reported(match: Match) -> None:
    match.seek(allow_matchmaking=False)
    offline = "TestBot is not online, so nobody would play: start `lichessbot run` first"
    assert told(match, "challenge", "Nobody") == (1, [offline])
    match.start()
    assert told(match, "challenge", "Nobody") == (1, ["Nobody: 400: No such user: Nobody"])
    match.rival("Busy", AnswerPolicy(declines=DeclineReason.LATER))
    code, lines = told(match, "challenge", "Busy", "--rated")
    assert (code, lines[0].partition(": ")[2]) == (1, "declined, reason later")
    match.rival("Deaf", AnswerPolicy(ignores=True))
    code, lines = told(match, "challenge", "Deaf", "--color", "black", "--variant", "chess960")
    assert (code, lines[0].partition(": ")[2]) == (1, "no answer, withdrawn")
    last = match.made[-1]
    assert last.settled is ChallengeStatus.CANCELED
    assert (last.terms.color.value, last.terms.variant) == ("black", Variant.CHESS960)


def test_a_blocked_player_is_not_challenged(match: Match) -> None:
    match.seek(allow_matchmaking=False)
    config = match.folder / "config.yml"
    config.write_text(config.read_text().replace("challenge: {", "challenge: {block_list: [Rude], "))
    match.start()
    assert told(match, "challenge", "Rude") == (2, [f"{config}:3: challenge.block_list: names Rude"])
    assert told(match, "block", "Friend")[0] == 0
    blocked = "Friend is blocked; `lichessbot unblock Friend` undoes that"
    match.until(lambda: read_only(match.folder / "state", "SELECT 1 FROM blocked_players") != [])
    assert told(match, "challenge", "Friend") == (2, [blocked])
    assert match.made == []


@pytest.mark.parametrize("section", ["challenge", "matchmaking"])
def test_a_player_on_any_block_list_is_not_challenged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], section: str
) -> None:
    """The daemon, which reads these lists, need not run."""
    config, in_file, address = tmp_path / "config.yml", tmp_path / "blocked.txt", "https://example.com/list"
    in_file.write_text("# of several bots\nrude\nFormer until 2020-01-01\n")
    lists = f"{{block_list: [Pest], block_list_files: [blocked.txt], online_block_list: ['{address}']}}"
    config.write_text(f"token: lip_0123456789abcdef\nurl: http://127.0.0.1:9\nstate_dir: state\n{section}: {lists}\n")
    with closing(Store(Database(tmp_path / "state"))) as store:
        store.note_player_list(PlayerList(address, frozenset({"cheat"})))

    def answer(name: str) -> str:
        assert main(["challenge", name, "--config", str(config)]) != 0
        return "".join(capsys.readouterr())

    assert answer("Pest") == f"{config}:4: {section}.block_list: names Pest\n"
    assert answer("Rude") == f"{config}:4: {section}.block_list_files: {in_file} names Rude\n"
    assert answer("Cheat") == f"{config}:4: {section}.online_block_list: {address} names Cheat\n"
    assert "block_list" not in answer("Former"), "not any more"


def test_a_challenged_player_is_played_even_if_all_slots_are_taken(match: Match) -> None:
    match.seek(allow_matchmaking=False)
    match.start()
    match.challenge(match.player("Sleeper", None), color=ColorChoice.WHITE, base_s=600)
    match.until(lambda: "game.join" in match.log())
    match.player("Friend")
    code, lines = told(match, "challenge", "Friend", "--clock", "1+0")
    assert (code, len(lines)) == (0, 2)
    assert len(match.ended) == 1


def test_a_correspondence_challenge_stays_open_after_the_command(match: Match) -> None:
    match.seek(allow_matchmaking=False)
    match.start()
    match.rival("Deaf", AnswerPolicy(ignores=True))
    code, lines = told(match, "challenge", "Deaf", "--days", "2")
    assert code == 0
    assert lines[0].endswith(": no answer yet, stays open; the daemon plays it once accepted")
    assert match.made[-1].settled is None


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["challenge", "x/../y"], "expected a player's name on Lichess, found 'x/../y'"),
        (["challenge", "Bob", "--clock", "3"], "expected MINUTES+SECONDS such as 3+2 or 0.5+1, found '3'"),
        (["challenge", "Bob", "--clock", "3.3+0"], "the base should be 0, 15, 30"),
        (["challenge", "Bob", "--days", "4"], "days should be one of 1, 2, 3"),
        (["challenge", "Bob", "--games", "0"], "0 is not in the range 1<=x<=100"),
        (["tournament", "too-short"], "expected the id of an arena, 8 letters and digits"),
        (["team", "join", "a/../b"], "expected the id of a team, the end of its address, found 'a/../b'"),
        (["team", "join", "reds", "--message", "Hi!"], "expected at least 30 characters, found 3"),
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


# Tournaments


def open_arena(match: Match, *, starts_in_s: float = 0.0, lasts_s: float = 600.0, **terms: object) -> str:
    settled = ArenaTerms("Bots at Noon", RealTime(60, 0), **terms)  # type: ignore[arg-type]
    arena_runner = match.site.arena_runner
    return match.server.call(lambda: arena_runner.open(settled, starts_in_s=starts_in_s, lasts_s=lasts_s)).id


def ours(match: Match) -> list[Game]:
    """The games of the bot that are over."""
    return [session.game for session in match.ended if session.game.setup.color_of(match.bot) is not None]


def keep_open(match: Match, arena_id: str) -> None:
    """Keep the end of a tournament ten seconds away until the bot has played in it, however slow the machine."""
    arena = match.site.arena_runner.arena(arena_id)

    def put_off() -> None:
        if not ours(match):
            arena.ends_ms = monotonic_ms() + 10_000
            asyncio.get_running_loop().call_later(0.1, put_off)

    match.server.call(put_off)


def enter(match: Match, arena_id: str, *names: str, password: str | None = None) -> None:
    application = Application(password)
    for name in names:
        account = match.rival(name, ACCEPTS)
        match.server.call(lambda account=account: match.site.arena_runner.join(arena_id, account, application))


def test_a_tournament_of_the_config_is_joined_played_and_left_at_the_end(match: Match) -> None:
    arena_id = open_arena(match, starts_in_s=2.0, password="sesame")
    keep_open(match, arena_id)
    match.seek(allow_matchmaking=False)
    config = match.folder / "config.yml"
    config.write_text(config.read_text() + f"tournaments: [{{id: {arena_id}, password: sesame}}]\n")
    match.start()
    match.until(lambda: f"tournament.joined tournament={arena_id}" in match.log())  # its start is known
    human = match.challenge(match.player("Human"))
    match.until(lambda: match.decline_reason(human) is DeclineReason.LATER)
    enter(match, arena_id, "One", "Two", password="sesame")
    match.until(lambda: ours(match))
    match.until(lambda: "tournament.over" in match.log())
    assert {game.setup.tournament_id for game in ours(match)} == {arena_id}
    assert "sesame" not in match.log()


def test_a_game_in_an_arena_is_found_though_the_event_stream_does_not_show_it(match: Match) -> None:
    """Lichess gives a few seconds for the first move, and the event stream may be down for longer."""

    def without_game_starts(line: dict[str, object]) -> list[bytes]:
        return [] if line.get("type") == "gameStart" else one_line(line)

    match.server.call(lambda: match.site.write_with(lambda game_id: one_line if game_id else without_game_starts))
    arena_id = open_arena(match)
    match.seek(allow_matchmaking=False)
    config = match.folder / "config.yml"
    config.write_text(config.read_text() + f"tournaments: [{{id: {arena_id}}}]\n")
    match.start()
    match.until(lambda: "tournament.joined" in match.log())
    enter(match, arena_id, "One")
    match.until(lambda: match.started)
    (session,) = match.started
    began_at = time.monotonic()
    match.until(lambda: session.game.ply >= 2)
    assert time.monotonic() - began_at < 0.5 * match.site.timing.arena_first_move_s


def test_after_a_late_first_move_the_bot_joins_the_tournament_again(match: Match) -> None:
    arena_id = open_arena(match)
    entries = match.site.arena_runner.arena(arena_id).entries
    match.seek(allow_matchmaking=False)
    config = match.folder / "config.yml"
    config.write_text(config.read_text() + f"tournaments: [{{id: {arena_id}}}]\n")
    match.start()
    match.until(lambda: "tournament.joined" in match.log())
    match.server.call(lambda: entries[match.bot]).here = False    # as a late first move does
    enter(match, arena_id, "One")
    match.until(lambda: entries[match.bot].here)
    match.until(lambda: match.started)


def test_a_tournament_is_entered_by_a_command_survives_a_restart_and_is_left_by_a_command(match: Match) -> None:
    arena_id = open_arena(match)
    match.seek(allow_matchmaking=False)
    code, lines = told(match, "tournament", arena_id)
    assert code == 0
    assert lines[0].startswith("entered for Bots at Noon, which runs for ")
    assert "no daemon uses" in lines[0]
    match.start()
    match.until(lambda: "tournament.joined" in match.log())
    enter(match, arena_id, "One")
    match.until(lambda: match.started)
    match.until_ended(1)
    match.stop()
    assert match.logged("tournament.left")
    arena = match.site.arena_runner.arena(arena_id)
    assert not arena.entries[match.bot].here
    match.start()
    match.until(lambda: arena.entries[match.bot].here)
    assert told(match, "tournament", arena_id, "--leave", "--team", "ours")[0] == 2
    code, lines = told(match, "tournament", arena_id, "--leave")
    assert (code, lines) == (0, [f"left tournament {arena_id}; the daemon (process {match.process.pid}) was told"])
    match.until(lambda: match.log().count("tournament.left") >= 2)
    (match.folder / "state" / LOCK_NAME).write_text("1\n")        # as that of a daemon in a container
    code, lines = told(match, "tournament", arena_id)
    assert (code, lines[0].endswith("could not be told: send it SIGHUP")) == (1, True)
    assert told(match, "tournament", "noSuch11") == (1, ["tournament noSuch11: 404: No such tournament"])


def test_a_running_daemon_is_told_of_a_tournament_entered_by_a_command(match: Match) -> None:
    arena_id = open_arena(match, teams={"reds": [match.bot]})
    match.seek(allow_matchmaking=False)
    match.start()
    assert told(match, "tournament", arena_id) == (1, [f"tournament {arena_id}: 400: Missing team"])
    code, lines = told(match, "tournament", f"{match.site.url}/tournament/{arena_id}", "--team", "reds")
    assert (code, lines[0].endswith("was told")) == (0, True)
    match.until(lambda: "tournament.joined" in match.log())


def test_an_arena_whose_variant_the_engine_does_not_play_is_not_joined(match: Match) -> None:
    crazyhouse, atomic = (open_arena(match, variant=variant) for variant in (Variant.CRAZYHOUSE, Variant.ATOMIC))
    match.seek(allow_matchmaking=False)
    config = match.folder / "config.yml"
    command = f"command: [{sys.executable}, {variant_engine.__file__}, few]"
    text = config.read_text().replace("engine: {", f"engine: {{{command}, ")
    config.write_text(f"{text}tournaments: [{{id: {crazyhouse}}}, {{id: {atomic}}}]\n")
    match.start()
    match.until(lambda: f"tournament.joined tournament={atomic}" in match.log())
    plays = "standard, chess960, atomic, horde"
    why = f"expected a variant that the engine plays ({plays}), found crazyhouse"
    match.until(lambda: f'tournament.refused tournament={crazyhouse} error="{why}"' in match.log())
    assert match.bot not in match.site.arena_runner.arena(crazyhouse).entries
    assert told(match, "tournament", crazyhouse) == (2, [f"tournament {crazyhouse}: {why}"])
    assert match.bot not in match.site.arena_runner.arena(crazyhouse).entries


def test_a_tournament_joined_elsewhere_keeps_its_slot(match: Match) -> None:
    arena_id = open_arena(match)
    match.seek(allow_matchmaking=False)
    match.start()
    match.server.call(lambda: match.site.arena_runner.join(arena_id, match.bot, Application(pair_me=True)))
    enter(match, arena_id, "One")
    match.until_ended(2)
    assert match.log().count("tournament.found") == 1
