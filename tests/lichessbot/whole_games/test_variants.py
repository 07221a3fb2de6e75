"""The variants of Lichess, played by an engine that announces them, in front of the embedded Lichess."""

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import chess.pgn
import pytest

from lichessbot.rehearsal.players.start_positions import FROM_POSITION_FENS
from lichessbot.rehearsal.rules.enums import DeclineReason, Status, Variant
from lichessbot.rehearsal.server.export import pgn
from tests.fakes import variant_engine
from tests.fakes.arena import Arena

ENGINE = f"command: [{sys.executable}, {variant_engine.__file__}, {{manner}}]"
FAIRY = os.environ.get("FAIRY_STOCKFISH")
ENDS = {Status.MATE, Status.STALEMATE, Status.DRAW, Status.VARIANT_END}
# Draws that Lichess finds and python-chess does not: closed positions, and bishops of opposite colours in antichess.
WITH_MORE_DRAWS = {"Atomic", "Antichess", "Horde"}


def read(text: str) -> chess.pgn.Game:
    """Return a game in PGN, of which python-chess knows every move."""
    game = chess.pgn.read_game(io.StringIO(text))
    assert game.errors == []
    return game


def variant_of(game: chess.pgn.Game) -> str:
    return game.headers.get("Variant", "Standard")


def judge(game: chess.pgn.Game) -> None:
    """Check that a game has ended by the rules of its variant, as python-chess sees it."""
    variant, result = variant_of(game), game.headers["Result"]
    outcome = game.end().board().outcome(claim_draw=True)
    is_known = outcome is not None or variant not in WITH_MORE_DRAWS
    assert (outcome.result() if outcome else None) == (result if is_known else None), (variant, result)
    assert is_known or result == "1/2-1/2"
    assert game.headers["Termination"] == "Normal"


def test_an_engine_plays_every_variant_that_it_announces(arena: Arena) -> None:
    arena.configure("pgn_directory: games\n", concurrency=len(Variant), engine=ENGINE.format(manner="fairy"))
    arena.start()
    for number, variant in enumerate(Variant):
        fen = FROM_POSITION_FENS[0] if variant is Variant.FROM_POSITION else None
        arena.challenge(arena.player(f"Greedy{number}"), variant=variant, fen=fen, base_s=1800)
    arena.until_ended(len(Variant), patience_s=300.0)
    assert {session.game.status for session in arena.ended} <= ENDS
    assert arena.stop() == 0
    for session in arena.ended:
        judge(read(pgn(session.game, arena.site.url)))
    written = [read(path.read_text()) for path in (arena.folder / "games").iterdir()]
    assert sorted(map(variant_of, written)) == sorted(variant.display_name for variant in Variant)
    told = set(re.findall(r'line="plays (\w+)"', arena.log()))
    assert told == set(variant_engine.FAIRY) & set(variant_engine.BOARDS) - {"giveaway"}


@pytest.mark.long
@pytest.mark.skipif(FAIRY is None, reason="needs FAIRY_STOCKFISH, the path of Fairy-Stockfish")
@pytest.mark.parametrize("variant", Variant, ids=lambda variant: variant.key)
def test_fairy_stockfish_plays_twenty_games_of_each_variant(tmp_path: Path, variant: Variant) -> None:
    config, games = tmp_path / "config.yml", tmp_path / "games.pgn"
    config.write_text(f"challenge: {{concurrency: 4}}\nengine: {{command: [{FAIRY}], hash_mb: 16, depth: 6}}\n")
    rehearse = [sys.executable, "-P", "-m", "lichessbot", "rehearse", "--variant", variant.key, "--games", "20"]
    options = ["--concurrency", "4", "--clock", "60+0", "--config", str(config), "--pgn", str(games)]
    done = subprocess.run([*rehearse, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    texts = games.read_text().strip().split("\n\n[")
    assert len(texts) == 20
    for text in texts:
        game = read(f"[{text.removeprefix('[')}\n")
        assert variant_of(game) == variant.display_name
        judge(game)


def test_the_bot_moves_in_a_variant_whose_engine_dies(arena: Arena) -> None:
    arena.configure(rules="variants: [standard, crazyhouse]", engine=ENGINE.format(manner="dying"))
    arena.start()
    arena.challenge(arena.player("Greedy"), variant=Variant.CRAZYHOUSE)

    def sources() -> list[str]:
        return re.findall(r' by=us .* source=(\w+|"only move")\n', arena.log())

    arena.until(lambda: sources().count("fallback") >= 2)
    assert set(sources()) <= {"fallback", '"only move"'}


@pytest.mark.parametrize("errors_are_expected", [True])
def test_a_variant_that_the_engine_does_not_announce_ends_the_start_with_one_line(arena: Arena) -> None:
    arena.configure(
        "profiles: [{when: {variant: crazyhouse}, engine: {depth: 3}}]\n",
        rules="variants: [chess960, atomic, threeCheck]",
        engine=ENGINE.format(manner="few"),
    )
    arena.spawn()
    assert arena.wait_for_exit() == 2
    knows = "variants that Variants (few) (engine) announces (standard, chess960, fromPosition, atomic, horde)"
    file = arena.folder / "config.yml"
    for line in (
        f"{file}:4: challenge.variants: expected {knows}, found threeCheck",
        f"{file}:6: profiles #1.when.variant: expected {knows}, found crazyhouse",
    ):
        assert [it for it in arena.log().splitlines() if "engine.unfit" in it and line in it]
        assert f"FAIL  {line}" in arena.tell("check").stdout


def test_by_default_the_bot_accepts_what_its_engine_announces_now(arena: Arena) -> None:
    arena.configure(engine=ENGINE.format(manner="fairy"))
    arena.start()
    arena.configure(engine=ENGINE.format(manner="few"), depth=3)
    arena.signal(signal.SIGHUP)
    arena.until(lambda: arena.log().count("engine.good") == 2)
    refused = arena.challenge(arena.player("First"), variant=Variant.CRAZYHOUSE)
    arena.until(lambda: arena.is_settled(refused))
    assert arena.decline_reason(refused) is DeclineReason.VARIANT
    arena.challenge(arena.player("Second"), variant=Variant.ATOMIC)
    arena.until_ended(1)
    arena.configure(rules="variants: [standard, racingKings]", engine=ENGINE.format(manner="few"))
    arena.signal(signal.SIGHUP)
    kept = "engine, profiles, challenge.variants, matchmaking"
    arena.until(lambda: f'reload.engines_refused kept="{kept}"' in arena.log())
    arena.challenge(arena.player("Third"), variant=Variant.ATOMIC)
    arena.until_ended(2)
    why = arena.tell("explain", "--clock", "3+2", "--variant", "racingKings").stdout
    assert "would be declined: variant" in why
    assert arena.stop() == 0
