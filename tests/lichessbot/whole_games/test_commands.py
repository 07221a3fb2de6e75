"""The commands `check` and `upgrade` against the embedded Lichess."""

import subprocess

import pytest
from click.testing import CliRunner

from engine.facade import describe_build
from lichessbot.cli.main import cli
from lichessbot.errors import ExitCode, Unreachable
from lichessbot.lichess.answers import Account
from lichessbot.lichess.client import LichessClient
from lichessbot.rehearsal.rules.accounts import BOT_SCOPES
from lichessbot.rehearsal.rules.enums import Scope
from lichessbot.rehearsal.rules.teams import Team
from tests.fakes.arena import IDLE_ENGINE, PATIENCE_S, Arena


def test_check_reports_success_and_the_policies(arena: Arena) -> None:
    arena.bot.bio = "Plays."
    done = arena.tell("check", "--strict")
    assert done.returncode == 0, done.stdout
    assert "ready to play" in done.stdout
    assert "the token of testbot is valid and has all scopes" in done.stdout
    assert "TestBot is a BOT account" in done.stdout
    assert f"the engine ({describe_build()}) plays" in done.stdout
    assert "would play up to 4 games at once" in done.stdout


def test_check_reports_folders_that_cannot_be_written_to(arena: Arena) -> None:
    arena.bot.bio = "Plays."
    (arena.folder / "notes").write_text("no folder")
    arena.configure("pgn_directory: notes/games\n", engine=IDLE_ENGINE)
    done = arena.tell("check")
    assert done.returncode == 0, "the bot plays all the same"
    assert "\nok    records are kept in " in done.stdout
    place = arena.folder / "notes"
    complaint = f"finished games cannot be kept in {place}/games: {place} is not a writable folder"
    assert f"\nnote  {complaint}\n" in done.stdout
    strict = arena.tell("check", "--strict")
    assert strict.returncode == 1
    assert "FAIL  1 note, and --strict allows none\n" in strict.stdout
    assert strict.stdout.endswith("FAIL  not ready to play\n")


def test_check_names_everything_that_is_wrong(arena: Arena) -> None:
    arena.bot.title = None
    arena.token = arena.site.accounts.issue_token(arena.bot, frozenset({Scope.BOT_PLAY}))
    arena.configure(engine=IDLE_ENGINE)
    done = arena.tell("check")
    assert done.returncode == 1
    assert "the token lacks the scopes challenge:read, challenge:write" in done.stdout
    assert "TestBot is not a BOT account" in done.stdout
    assert "not ready to play" in done.stdout


def test_check_recognises_an_unknown_token(arena: Arena) -> None:
    arena.token = "lip_unknown"
    arena.configure(engine=IDLE_ENGINE)
    done = arena.tell("check")
    assert done.returncode == 1
    assert "does not know the token" in done.stdout


def test_upgrade_asks_for_confirmation(arena: Arena) -> None:
    arena.bot.title = None
    runner = CliRunner(env=arena.environment(), catch_exceptions=False)
    for answer, agrees in (("", False), ("y\n", False), ("yes\n", True)):
        done = runner.invoke(cli, arena.words("upgrade"), input=answer, standalone_mode=False)
        assert done.return_value == (ExitCode.OK if agrees else ExitCode.FAILED)
        assert "cannot be undone" in done.output
        assert arena.bot.is_bot is agrees


def test_upgrade_takes_a_closed_input_for_no_answer(arena: Arena) -> None:
    arena.bot.title = None
    command = ["sh", "-c", 'exec "$@" <&-', "sh", *arena.command("upgrade")]
    done = subprocess.run(
        command, env=arena.environment(), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 1
    assert done.stdout.endswith("Nothing was changed.\n")
    assert not arena.bot.is_bot


def test_upgrade_with_yes_does_not_ask(arena: Arena) -> None:
    arena.bot.title = None
    assert arena.tell("upgrade", "--yes").returncode == 0
    assert arena.bot.is_bot
    done = arena.tell("upgrade", "--yes")
    assert done.returncode == 0
    assert "already" in done.stdout


def test_upgrade_reports_a_refusal(arena: Arena) -> None:
    arena.bot.title = None
    arena.bot.wins = 1
    done = arena.tell("upgrade", "--yes")
    assert done.returncode == 1
    assert "You already have games played" in done.stdout


def test_an_upgrade_whose_answer_is_lost_is_not_called_undone(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(api: LichessClient) -> None:
        raise Unreachable("the connection was reset")

    monkeypatch.setattr(LichessClient, "account", lambda api: Account(id="hal", username="Hal"))
    monkeypatch.setattr(LichessClient, "upgrade_to_bot", lose)
    runner = CliRunner(env=arena.environment(), catch_exceptions=False)
    done = runner.invoke(cli, arena.words("upgrade", "--yes"), standalone_mode=False)
    assert done.return_value == ExitCode.FAILED
    assert f"Whether Hal was upgraded is unknown: {arena.site.url}: the connection was reset\n" in done.output
    assert "Nothing was changed" not in done.output


def test_a_team_is_joined(arena: Arena) -> None:
    arena.token = arena.site.accounts.issue_token(arena.bot, BOT_SCOPES | {Scope.TEAM_WRITE})
    reds, blues, greens = Team("reds"), Team("blues", password="sesame"), Team("greens", confirms=True)
    arena.server.call(lambda: arena.site.teams.update({team.id: team for team in (reds, blues, greens)}))
    assert arena.tell("team", "join", "Reds").stdout == "joined team reds\n"
    assert reds.members == {arena.bot}
    refused = arena.tell("team", "join", f"{arena.site.url}/team/blues", "--password", "guess")
    assert (refused.returncode, refused.stdout) == (1, "team blues: 400: password: Incorrect entry code.\n")
    assert arena.tell("team", "join", "blues", "--password", "sesame").returncode == 0
    assert blues.members == {arena.bot}
    assert arena.tell("team", "join", "greens").stdout == "team greens: 400: message: Request message required\n"
    text = "We would like to play for the greens."
    done = arena.tell("team", "join", "greens", "--message", text)
    assert done.stdout == "asked the leaders of team greens to join\n"
    assert (greens.members, greens.requests) == (set(), {arena.bot: text})
    assert arena.tell("team", "join", "nobody").stdout == "team nobody: 404: Not found\n"


def test_a_token_that_may_not_join_teams_is_named(arena: Arena) -> None:
    done = arena.tell("team", "join", "reds")
    assert done.returncode == 1
    assert done.stdout == "team reds: the token lacks the scope team:write: make a new one with it\n"
