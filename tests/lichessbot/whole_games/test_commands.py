"""The commands `check` and `upgrade` against the embedded Lichess."""

import subprocess

from engine.facade import describe_build
from lichessbot.rehearsal.rules.enums import Scope
from tests.fakes.arena import PATIENCE_S, Arena


def run(arena: Arena, *words: str, answer: str = "") -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        arena.command(*words), env=arena.environment(), input=answer, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert arena.token not in done.stdout + done.stderr
    return done


def test_check_reports_success_and_the_policies(arena: Arena) -> None:
    done = run(arena, "check")
    assert done.returncode == 0, done.stdout
    assert "ready to play" in done.stdout
    assert "the token of testbot is valid and has all scopes" in done.stdout
    assert "TestBot is a BOT account" in done.stdout
    assert f"the engine ({describe_build()}) plays" in done.stdout
    assert "would play up to 4 games at once" in done.stdout


def test_check_reports_folders_that_cannot_be_written_to(arena: Arena) -> None:
    (arena.folder / "notes").write_text("no folder")
    arena.configure("pgn_directory: notes/games\n")
    done = run(arena, "check")
    assert done.returncode == 0, "the bot plays all the same"
    assert "\nok    records are kept in " in done.stdout
    place = arena.folder / "notes"
    complaint = f"finished games cannot be kept in {place}/games: {place} is not a writable folder"
    assert f"\nnote  {complaint}\n" in done.stdout


def test_check_names_everything_that_is_wrong(arena: Arena) -> None:
    arena.bot.title = None
    arena.token = arena.site.accounts.issue_token(arena.bot, frozenset({Scope.BOT_PLAY}))
    done = run(arena, "check")
    assert done.returncode == 1
    assert "the token lacks the scopes challenge:read, challenge:write" in done.stdout
    assert "TestBot is not a BOT account" in done.stdout
    assert "not ready to play" in done.stdout


def test_check_recognises_an_unknown_token(arena: Arena) -> None:
    arena.token = "lip_unknown"
    done = run(arena, "check")
    assert done.returncode == 1
    assert "does not know the token" in done.stdout


def test_upgrade_asks_for_confirmation(arena: Arena) -> None:
    arena.bot.title = None
    for answer in ("", "y\n"):
        done = run(arena, "upgrade", answer=answer)
        assert done.returncode == 1
        assert "cannot be undone" in done.stdout
        assert not arena.bot.is_bot
    done = run(arena, "upgrade", answer="yes\n")
    assert done.returncode == 0
    assert arena.bot.is_bot


def test_upgrade_with_yes_does_not_ask(arena: Arena) -> None:
    arena.bot.title = None
    assert run(arena, "upgrade", "--yes").returncode == 0
    assert arena.bot.is_bot
    done = run(arena, "upgrade", "--yes")
    assert done.returncode == 0
    assert "already" in done.stdout


def test_upgrade_reports_a_refusal(arena: Arena) -> None:
    arena.bot.title = None
    arena.bot.wins = 1
    done = run(arena, "upgrade", "--yes")
    assert done.returncode == 1
    assert "You already have games played" in done.stdout
