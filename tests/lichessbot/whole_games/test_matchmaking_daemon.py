"""The unchanged daemon challenges other bots at the embedded Lichess, and takes every kind of answer."""

import asyncio
import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lichessbot.rehearsal.players.house_bots import AnswerPolicy
from lichessbot.rehearsal.players.opponents import GreedyOpponent
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.arenas import Application, ArenaTerms
from lichessbot.rehearsal.rules.challenges import Challenge, Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import ChallengeStatus, Color, ColorChoice, DeclineReason, Scope, Variant
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.rehearsal.server.site import ChallengeMade, SiteEvent
from lichessbot.rehearsal.server.streams import one_line
from lichessbot.storage.database import read_only
from tests.fakes import variant_engine
from tests.fakes.arena import BOT, IDLE_ENGINE, PATIENCE_S, Arena, inspected

# The waits for Lichess are a tenth: a minute of the config lasts 6 s, a challenge stays open for 2.5 s.
SCALE = 0.1
CONFIG = """\
url: {url}
state_dir: state
challenge: {{concurrency: {concurrency}, variants: [standard]}}
engine: {{hash_mb: 1, depth: 2, move_overhead_ms: 30{engine}}}
abort_time: 600
matchmaking: {matchmaking}
"""


class SeekingArena(Arena):
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

    def seek(self, *, concurrency: int = 1, engine: str = "", **keys: object) -> None:
        keys = {"allow_matchmaking": True, "challenge_timeout": 1, "challenge_initial_time": [60]} | keys
        values = {"concurrency": concurrency, "engine": engine and f", {engine}", "matchmaking": json.dumps(keys)}
        (self.folder / "config.yml").write_text(CONFIG.format(url=self.site.url, **values))

    def rival(self, name: str, policy: AnswerPolicy, opponent: type[GreedyOpponent] = GreedyOpponent) -> Account:
        account = self.player(name, None, title="BOT")
        return self.hire(account, opponent, policy)

    def sent(self) -> list[str]:
        """Whom the bot has challenged, in order."""
        lines = (line for line in self.log().splitlines() if " match.challenge " in line)
        return [line.split("opponent=")[1].split()[0] for line in lines]


@pytest.fixture
def seeking(tmp_path: Path) -> Iterator[SeekingArena]:
    timing = Timing(tick_s=0.3, challenge_expiry_s=PATIENCE_S, day_s=12.0)
    with RehearsalServer(timing=timing) as server:
        seeking = SeekingArena(server, tmp_path)
        with inspected(seeking):
            yield seeking
        assert " ERROR " not in seeking.log()


ACCEPTS = AnswerPolicy()


# Matchmaking


def test_a_pair_of_games_is_played_white_first_also_over_a_restart(seeking: SeekingArena) -> None:
    seeking.rival("Willing", ACCEPTS)
    seeking.player("Silent", title="BOT").bio = ""
    seeking.player("Person")
    seeking.seek()
    seeking.start()
    seeking.until_ended(1)
    seeking.until(lambda: "game.over" in seeking.log())
    assert seeking.stop() == 0
    seeking.start()
    seeking.until_ended(2)
    assert [session.game.setup.color_of(seeking.bot) for session in seeking.ended] == [Color.WHITE, Color.BLACK]
    assert set(seeking.sent()) == {"willing"}


def test_a_token_that_can_only_play_is_enough_to_challenge_and_to_be_challenged(seeking: SeekingArena) -> None:
    """As lichess-bot's instructions have it made."""
    seeking.token = seeking.site.accounts.issue_token(seeking.bot, frozenset({Scope.BOT_PLAY}))
    seeking.rival("Deaf", AnswerPolicy(ignores=True))
    seeking.seek()
    seeking.start()
    seeking.until(lambda: "match.unanswered" in seeking.log())
    seeking.challenge(seeking.player("Human"))
    seeking.until_ended(1)
    assert seeking.logged("token.scope_missing scope=challenge:read", 1)


def test_a_human_gets_the_slot_of_our_open_challenge(seeking: SeekingArena) -> None:
    human, terms = seeking.player("Human"), Terms(Variant.STANDARD, RealTime(180, 0))

    def challenge_at_once(happening: SiteEvent) -> None:
        """Our challenge is not open for long: a test that stood still would come too late."""
        if isinstance(happening, ChallengeMade) and happening.challenge.challenger is seeking.bot:
            asyncio.get_running_loop().call_soon(seeking.site.challenge, human, BOT, terms)

    seeking.server.call(lambda: seeking.site.observe(challenge_at_once))
    seeking.rival("Deaf", AnswerPolicy(ignores=True))
    seeking.seek()
    seeking.start()
    seeking.until_ended(1)
    assert seeking.ended[0].game.setup.color_of(seeking.site.accounts.get("human")) is not None
    assert seeking.logged("match.withdrawn")
    assert seeking.logged("challenge.wait")


def test_a_used_up_daily_quota_declines_bots_and_not_humans(seeking: SeekingArena) -> None:
    seeking.seek(allow_matchmaking=False, bot_games_per_day=1)
    seeking.start()
    seeking.challenge(seeking.player("First", title="BOT"))
    seeking.until_ended(1)
    seeking.until(lambda: "game.over" in seeking.log())
    second = seeking.challenge(seeking.player("Second", title="BOT"))
    seeking.until(lambda: seeking.decline_reason(second) is DeclineReason.LATER)
    seeking.challenge(seeking.player("Human"))
    seeking.until_ended(2)


# `lichessbot challenge`


def told(seeking: SeekingArena, *words: str) -> tuple[int, list[str]]:
    """Exit code and lines of a command beside the daemon."""
    done = seeking.tell(*words)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_a_player_is_challenged_to_games_with_both_colours(seeking: SeekingArena) -> None:
    seeking.seek(allow_matchmaking=False)
    seeking.start()
    seeking.player("Friend")
    code, lines = told(seeking, "challenge", "Friend", "--clock", "1+0", "--games", "2")
    assert code == 0
    assert [session.game.setup.color_of(seeking.bot) for session in seeking.ended] == [Color.WHITE, Color.BLACK]
    assert [line.split()[:2] for line in lines] == [["game", "1"], ["game", "1"], ["game", "2"], ["game", "2"]]
    starts, results = lines[::2], lines[1::2]
    ids = [session.game.setup.id for session in seeking.ended]
    assert starts == [f"game {number} {id_}: started, {seeking.site.url}/{id_}" for number, id_ in enumerate(ids, 1)]
    assert all(any(word in line for word in ("won", "lost", "drawn")) for line in results)
    assert not seeking.ended[0].game.setup.rated


def test_a_challenge_that_is_declined_or_not_answered_is_reported(seeking: SeekingArena) -> None:
    seeking.seek(allow_matchmaking=False)
    offline = "TestBot is not online, so nobody would play: start `lichessbot run` first"
    assert told(seeking, "challenge", "Nobody") == (1, [offline])
    seeking.start()
    assert told(seeking, "challenge", "Nobody") == (1, ["Nobody: 400: No such user: Nobody"])
    seeking.rival("Busy", AnswerPolicy(declines=DeclineReason.LATER))
    code, lines = told(seeking, "challenge", "Busy", "--rated")
    assert (code, lines[0].partition(": ")[2]) == (1, "declined, reason later")
    seeking.rival("Deaf", AnswerPolicy(ignores=True))
    code, lines = told(seeking, "challenge", "Deaf", "--color", "black", "--variant", "chess960")
    assert (code, lines[0].partition(": ")[2]) == (1, "no answer, withdrawn")
    last = seeking.made[-1]
    assert last.settled is ChallengeStatus.CANCELED
    assert (last.terms.color.value, last.terms.variant) == ("black", Variant.CHESS960)


def test_a_blocked_player_is_not_challenged(seeking: SeekingArena) -> None:
    seeking.seek(allow_matchmaking=False, engine=IDLE_ENGINE)
    config = seeking.folder / "config.yml"
    config.write_text(config.read_text().replace("challenge: {", "challenge: {block_list: [Rude], "))
    seeking.start()
    assert told(seeking, "challenge", "Rude") == (2, [f"{config}:3: challenge.block_list: names Rude"])
    assert told(seeking, "block", "Friend")[0] == 0
    blocked = "Friend is blocked; `lichessbot unblock Friend` undoes that"
    seeking.until(lambda: read_only(seeking.folder / "state", "SELECT 1 FROM blocked_players") != [])
    assert told(seeking, "challenge", "Friend") == (2, [blocked])
    assert seeking.made == []


def test_a_challenged_player_is_played_even_if_all_slots_are_taken(seeking: SeekingArena) -> None:
    seeking.seek(allow_matchmaking=False)
    seeking.start()
    seeking.challenge(seeking.player("Sleeper", None), color=ColorChoice.WHITE, base_s=600)
    seeking.until(lambda: "game.join" in seeking.log())
    seeking.player("Friend")
    code, lines = told(seeking, "challenge", "Friend", "--clock", "1+0")
    assert (code, len(lines)) == (0, 2)
    assert len(seeking.ended) == 1


def test_a_correspondence_challenge_stays_open_after_the_command(seeking: SeekingArena) -> None:
    seeking.seek(allow_matchmaking=False, engine=IDLE_ENGINE)
    seeking.start()
    seeking.rival("Deaf", AnswerPolicy(ignores=True))
    code, lines = told(seeking, "challenge", "Deaf", "--days", "2")
    assert code == 0
    assert lines[0].endswith(": no answer yet, stays open; the daemon plays it once accepted")
    assert seeking.made[-1].settled is None


# Tournaments


def open_arena(seeking: SeekingArena, *, starts_in_s: float = 0.0, lasts_s: float = 600.0, **terms: object) -> str:
    settled = ArenaTerms("Bots at Noon", RealTime(60, 0), **terms)  # type: ignore[arg-type]
    arena_runner = seeking.site.arena_runner
    return seeking.server.call(lambda: arena_runner.open(settled, starts_in_s=starts_in_s, lasts_s=lasts_s)).id


def ours(seeking: SeekingArena) -> list[Game]:
    """The games of the bot that are over."""
    return [session.game for session in seeking.ended if session.game.setup.color_of(seeking.bot) is not None]


def keep_open(seeking: SeekingArena, arena_id: str) -> None:
    """Keep the end of a tournament ten seconds away until the bot has played in it, however slow the machine."""
    arena = seeking.site.arena_runner.arena(arena_id)

    def put_off() -> None:
        if not ours(seeking):
            arena.ends_ms = monotonic_ms() + 10_000
            asyncio.get_running_loop().call_later(0.1, put_off)

    seeking.server.call(put_off)


def enter(seeking: SeekingArena, arena_id: str, *names: str, password: str | None = None) -> None:
    application = Application(password)
    for name in names:
        account = seeking.rival(name, ACCEPTS)
        seeking.server.call(lambda account=account: seeking.site.arena_runner.join(arena_id, account, application))


def test_a_tournament_of_the_config_is_joined_played_and_left_at_the_end(seeking: SeekingArena) -> None:
    arena_id = open_arena(seeking, starts_in_s=2.0, password="sesame")
    keep_open(seeking, arena_id)
    seeking.seek(allow_matchmaking=False)
    config = seeking.folder / "config.yml"
    config.write_text(config.read_text() + f"tournaments: [{{id: {arena_id}, password: sesame}}]\n")
    seeking.start()
    seeking.until(lambda: f"tournament.joined tournament={arena_id}" in seeking.log())  # its start is known
    human = seeking.challenge(seeking.player("Human"))
    seeking.until(lambda: seeking.decline_reason(human) is DeclineReason.LATER)
    enter(seeking, arena_id, "One", "Two", password="sesame")
    seeking.until(lambda: ours(seeking))
    seeking.until(lambda: "tournament.over" in seeking.log())
    assert {game.setup.tournament_id for game in ours(seeking)} == {arena_id}
    assert "sesame" not in seeking.log()


def test_a_game_in_an_arena_is_found_though_the_event_stream_does_not_show_it(seeking: SeekingArena) -> None:
    """Lichess gives a few seconds for the first move, and the event stream may be down for longer."""

    def without_game_starts(line: dict[str, object]) -> list[bytes]:
        return [] if line.get("type") == "gameStart" else one_line(line)

    seeking.server.call(lambda: seeking.site.write_with(lambda game_id: one_line if game_id else without_game_starts))
    arena_id = open_arena(seeking)
    seeking.seek(allow_matchmaking=False)
    config = seeking.folder / "config.yml"
    config.write_text(config.read_text() + f"tournaments: [{{id: {arena_id}}}]\n")
    seeking.start()
    seeking.until(lambda: "tournament.joined" in seeking.log())
    enter(seeking, arena_id, "One")
    seeking.until(lambda: seeking.started)
    (session,) = seeking.started
    began_at = time.monotonic()
    seeking.until(lambda: session.game.ply >= 2)
    assert time.monotonic() - began_at < 0.5 * seeking.site.timing.arena_first_move_s


def test_after_a_late_first_move_the_bot_joins_the_tournament_again(seeking: SeekingArena) -> None:
    arena_id = open_arena(seeking)
    entries = seeking.site.arena_runner.arena(arena_id).entries
    seeking.seek(allow_matchmaking=False)
    config = seeking.folder / "config.yml"
    config.write_text(config.read_text() + f"tournaments: [{{id: {arena_id}}}]\n")
    seeking.start()
    seeking.until(lambda: "tournament.joined" in seeking.log())
    seeking.server.call(lambda: entries[seeking.bot]).here = False    # as a late first move does
    enter(seeking, arena_id, "One")
    seeking.until(lambda: entries[seeking.bot].here)
    seeking.until(lambda: seeking.started)


def test_a_tournament_is_entered_by_a_command_survives_a_restart_and_is_left_by_a_command(
    seeking: SeekingArena,
) -> None:
    arena_id = open_arena(seeking)
    seeking.seek(allow_matchmaking=False)
    code, lines = told(seeking, "tournament", arena_id)
    assert code == 0
    assert lines[0].startswith("will enter for Bots at Noon, which runs for ")
    assert "no daemon uses" in lines[0]
    seeking.start()
    seeking.until(lambda: "tournament.joined" in seeking.log())
    enter(seeking, arena_id, "One")
    seeking.until(lambda: seeking.started)
    seeking.until_ended(1)
    seeking.stop()
    assert seeking.logged("tournament.left")
    arena = seeking.site.arena_runner.arena(arena_id)
    assert not arena.entries[seeking.bot].here
    seeking.start()
    seeking.until(lambda: arena.entries[seeking.bot].here)
    assert told(seeking, "tournament", arena_id, "--leave", "--team", "ours")[0] == 2
    code, lines = told(seeking, "tournament", arena_id, "--leave")
    assert (code, lines) == (0, [f"left tournament {arena_id}; the daemon plays there no more"])
    seeking.until(lambda: seeking.log().count("tournament.left") >= 2)
    assert told(seeking, "tournament", "noSuch11") == (1, ["tournament noSuch11: 404: No such tournament"])


def test_a_running_daemon_is_told_of_a_tournament_entered_by_a_command(seeking: SeekingArena) -> None:
    arena_id = open_arena(seeking, teams={"reds": [seeking.bot]})
    seeking.seek(allow_matchmaking=False)
    seeking.start()
    assert told(seeking, "tournament", arena_id) == (1, [f"tournament {arena_id}: 400: Missing team"])
    code, lines = told(seeking, "tournament", f"{seeking.site.url}/tournament/{arena_id}", "--team", "reds")
    assert (code, lines[0].endswith("; the daemon plays there")) == (0, True)
    seeking.until(lambda: "tournament.joined" in seeking.log())
    assert "reload" not in seeking.log()


def test_an_arena_whose_variant_the_engine_does_not_play_is_not_joined(seeking: SeekingArena) -> None:
    crazyhouse, atomic = (open_arena(seeking, variant=variant) for variant in (Variant.CRAZYHOUSE, Variant.ATOMIC))
    seeking.seek(allow_matchmaking=False, engine=f"command: [{sys.executable}, {variant_engine.__file__}, few]")
    config = seeking.folder / "config.yml"
    config.write_text(f"{config.read_text()}tournaments: [{{id: {crazyhouse}}}, {{id: {atomic}}}]\n")
    seeking.start()
    seeking.until(lambda: f"tournament.joined tournament={atomic}" in seeking.log())
    plays = "standard, chess960, atomic, horde"
    why = f"expected a variant that the engine plays ({plays}), found crazyhouse"
    seeking.until(lambda: f'tournament.refused tournament={crazyhouse} error="{why}"' in seeking.log())
    assert seeking.bot not in seeking.site.arena_runner.arena(crazyhouse).entries
    assert told(seeking, "tournament", crazyhouse) == (2, [f"tournament {crazyhouse}: {why}"])
    assert seeking.bot not in seeking.site.arena_runner.arena(crazyhouse).entries


def test_an_arena_that_runs_is_joined_once_a_slot_is_free(seeking: SeekingArena) -> None:
    """Lichess pairs the bots in it unasked: the bot had one game more than it has slots."""
    arena_id = open_arena(seeking)
    enter(seeking, arena_id, "One")
    seeking.seek(allow_matchmaking=False)
    free = seeking.begin_a_game()
    config = seeking.folder / "config.yml"
    config.write_text(config.read_text() + f"tournaments: [{{id: {arena_id}}}]\n")
    seeking.signal(signal.SIGHUP)
    seeking.until(lambda: "tournament.waits" in seeking.log())
    entries = seeking.site.arena_runner.arena(arena_id).entries
    assert seeking.bot not in entries
    free.set()
    seeking.until(lambda: seeking.bot in entries)
    seeking.until_ended(2)
    assert seeking.most_at_once == 1


def test_a_tournament_joined_elsewhere_keeps_its_slot(seeking: SeekingArena) -> None:
    arena_id = open_arena(seeking)
    seeking.seek(allow_matchmaking=False)
    seeking.start()
    seeking.server.call(lambda: seeking.site.arena_runner.join(arena_id, seeking.bot, Application(pair_me=True)))
    enter(seeking, arena_id, "One")
    seeking.until_ended(2)
    assert seeking.log().count("tournament.found") == 1
