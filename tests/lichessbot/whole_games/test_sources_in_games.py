"""Whole games with move sources that answer, fail, hang or lie, and openings that do not repeat."""

from pathlib import Path

import chess
import pytest

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.opponents import GreedyOpponent
from lichessbot.rehearsal.rules.enums import Color, ColorChoice, Variant
from lichessbot.rehearsal.server.game_session import GameSession
from tests.fakes.arena import IDLE_ENGINE, Arena, judge
from tests.fakes.oracle import Manner, Oracle, favourites
from tests.lichessbot.move_sources.test_local import book

ENGINE = "engine: {hash_mb: 1, depth: 3, move_overhead_ms: 30"
SOURCES = """, own_book: false, online_moves: {{explorer_url: {url}, tablebase_url: {url}, chessdb_url: {url},
  max_out_of_book_moves: 500, chessdb_book: {{enabled: true, min_time: 1}},
  lichess_cloud_analysis: {{enabled: true, min_time: 1}},
  lichess_opening_explorer: {{enabled: true, min_time: 1, source: lichess}},
  online_egtb: {{enabled: true, min_time: 1}}}}
"""


class FirstMove(GreedyOpponent):
    """Always plays the same move in the same position."""

    def choose(self, board: Board, clocks: Limits) -> str:
        return min(board.legal_moves())


def configure(arena: Arena, extra: str, *, time_scale: float = 20.0) -> None:
    """Write the usual configuration with `extra` keys in the section `engine`.

    Sources get a minute for an answer, if the clock allows it.
    """
    arena.time_scale = time_scale
    arena.configure(depth=3)
    path = arena.folder / "config.yml"
    text = path.read_text()
    assert ENGINE in text
    path.write_text(text.replace(ENGINE, ENGINE + extra))


def our_moves(arena: Arena, session: GameSession) -> list[str]:
    ours = session.game.setup.color_of(arena.bot)
    return list(session.game.moves)[0 if ours is Color.WHITE else 1 :: 2]


def test_the_moves_of_the_sources_are_played(arena: Arena, oracle: Oracle) -> None:
    configure(arena, SOURCES.format(url=oracle.url))
    free = arena.begin_a_game(5, color=ColorChoice.BLACK, base_s=1800)
    assert our_moves(arena, arena.started[0])[0] == favourites(chess.Board())[0]
    assert arena.logged("source.move")
    assert "engine.move" not in arena.log()
    assert set(oracle.paths) == {"/cdb.php"}
    free.set()


@pytest.mark.parametrize(
    "manner",
    [
        Manner.HANGING,
        Manner.LYING,
        *(
            pytest.param(manner, marks=pytest.mark.long)
            for manner in Manner
            if manner not in (Manner.HANGING, Manner.LYING, Manner.HELPFUL)
        ),
    ],
)
def test_bad_sources_cost_no_game(
    arena: Arena, oracle: Oracle, manner: Manner
) -> None:
    oracle.manner, oracle.elsewhere = manner, oracle.url
    configure(arena, SOURCES.format(url=oracle.url), time_scale=1.0)
    arena.start()
    for number, color in enumerate((ColorChoice.WHITE, ColorChoice.BLACK)):
        arena.challenge(arena.player(f"Greedy{number}"), color=color, base_s=60)
    arena.until_ended(2)
    assert arena.stop() == 0
    for table in arena.ended:
        judge(table)
        assert table.game.winner is table.game.setup.color_of(arena.bot)
    assert oracle.paths
    assert "source.move" not in arena.log()


def test_an_online_tablebase_limits_the_choice_of_the_engine(arena: Arena, oracle: Oracle) -> None:
    online = f"{{tablebase_url: '{oracle.url}', online_egtb: {{enabled: true, min_time: 1, move_quality: suggest}}}}"
    configure(arena, f", online_moves: {online}")
    arena.start()
    fen = "8/8/8/4k3/8/8/4K3/4R3 w - - 0 1"
    arena.challenge(
        arena.player("Greedy"), color=ColorChoice.BLACK, variant=Variant.FROM_POSITION, fen=fen, base_s=1800
    )
    arena.until(lambda: len(arena.started) == 1)
    arena.until_plies(arena.started[0], 1)
    assert our_moves(arena, arena.started[0])[0] in ("e1a1", "e1b1")
    assert arena.logged("source.move")


def test_local_tablebases_win_a_won_game(arena: Arena, tables: Path) -> None:
    configure(arena, f", lichess_bot_tbs: {{syzygy: {{enabled: true, paths: ['{tables}']}}}}")
    arena.start()
    fen = "8/8/8/4k3/8/8/4K3/4R3 w - - 0 1"
    arena.challenge(
        arena.player("Greedy"), color=ColorChoice.BLACK, variant=Variant.FROM_POSITION, fen=fen, base_s=1800
    )
    arena.until_ended(1)
    assert arena.stop() == 0
    (table,) = arena.ended
    assert table.game.winner is Color.WHITE
    assert arena.logged("source.move", times=len(our_moves(arena, table)))


def play_against_fixed_replies(arena: Arena, games: int, extra: str) -> list[tuple[str, ...]]:
    """Return the moves of this many games with the same colours."""
    configure(arena, extra)
    arena.start()
    for number in range(games):
        arena.until(lambda: len(arena.started) - len(arena.ended) < 4)
        arena.challenge(arena.player(f"Same{number}", FirstMove), color=ColorChoice.BLACK, base_s=60)
        arena.until(lambda number=number: len(arena.started) > number)  # type: ignore[misc]
    arena.until_ended(games, 300)
    assert arena.stop() == 0
    return [tuple(table.game.moves) for table in arena.ended]


@pytest.mark.parametrize("games", [4, pytest.param(50, marks=pytest.mark.long)])
@pytest.mark.parametrize("extra", ["", ", own_book: false"])
def test_no_two_games_against_fixed_replies_are_equal(
    arena: Arena, games: int, extra: str
) -> None:
    played = play_against_fixed_replies(arena, games, extra)
    assert len(set(played)) == games


def test_what_was_played_is_remembered_over_a_restart(arena: Arena) -> None:
    played = set()
    for number in range(2):
        configure(arena, ", own_book: false")
        arena.start()
        arena.challenge(arena.player(f"Same{number}", FirstMove), color=ColorChoice.BLACK, base_s=60)
        arena.until_ended(number + 1)
        assert arena.stop() == 0
        played.add(tuple(arena.ended[-1].game.moves))
    assert len(played) == 2


def test_a_profile_has_a_book_of_its_own(arena: Arena) -> None:
    book(arena.folder / "odd.bin", a2a4=1)
    configure(arena, ", own_book: false")
    config = arena.folder / "config.yml"
    with_book = "{own_book: true, polyglot: {enabled: true, book: {standard: odd.bin}}}"
    config.write_text(f"{config.read_text()}profiles: [{{when: {{opponent: bot}}, engine: {with_book}}}]\n")
    arena.start()
    for number, title in enumerate([None, "BOT"]):
        arena.challenge(arena.player(f"Player{number}", title=title), color=ColorChoice.BLACK, base_s=1800)
        arena.until_ended(number + 1)
    assert our_moves(arena, arena.ended[0])[0] != "a2a4"
    assert our_moves(arena, arena.ended[1])[0] == "a2a4"
    assert arena.logged("source=polyglot moves=", times=1)


def test_a_damaged_book_is_logged_and_fails_the_check_and_costs_no_game(arena: Arena) -> None:
    (arena.folder / "damaged.bin").write_bytes(bytes(17))
    configure(arena, ", polyglot: {enabled: true, book: {standard: damaged.bin}}")
    checked = arena.tell("check")
    assert checked.returncode == 1
    assert "damaged.bin: 17 bytes are not whole entries of 16" in checked.stdout
    assert "would first look for a move in: polyglot, own_book" in checked.stdout
    arena.start()
    assert arena.logged("book.unusable", times=1)
    arena.challenge(arena.player("Greedy"))
    arena.until_ended(1)
    judge(arena.ended[0])


def test_a_server_that_is_down_fails_only_a_strict_check(arena: Arena, oracle: Oracle) -> None:
    oracle.manner = Manner.FAILING
    server = f"online_moves: {{explorer_url: {oracle.url}, lichess_opening_explorer: {{enabled: true}}}}"
    configure(arena, f", {IDLE_ENGINE}, {server}")
    checked = arena.tell("check")
    assert "note  lichess_opening_explorer does not answer: 500" in checked.stdout
    assert checked.returncode == 0, checked.stdout
    assert arena.tell("check", "--strict").returncode == 1


def test_cloud_evaluations_are_requested_from_lichess(arena: Arena) -> None:
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
    arena.site.cloud_evaluations[start] = {"knodes": 500, "depth": 40, "pvs": [{"moves": "g2g4 d7d5", "cp": -90}]}
    cloud = "lichess_cloud_analysis: {enabled: true, min_time: 1}"
    configure(arena, f", own_book: false, online_moves: {{{cloud}}}")
    arena.start()
    arena.challenge(arena.player("Greedy"), color=ColorChoice.BLACK, base_s=1800)
    arena.until_ended(1)
    assert our_moves(arena, arena.ended[0])[0] == "g2g4"
    judge(arena.ended[0])
