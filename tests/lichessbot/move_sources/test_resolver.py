"""Which sources are asked in which order, and that every question is answered in time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.book.opening_book import Entry, write
from engine.facade import OWN_BOOK, Board, Book, polyglot_key
from lichessbot.config import EngineConfig
from lichessbot.config.explanations import explanations
from lichessbot.config.sources import OnlineMovesConfig, OnlineSource
from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable
from lichessbot.lichess.enums import Variant
from lichessbot.log import EventLog
from lichessbot.move_sources.http import HostPaused, Hosts
from lichessbot.move_sources.models import Question, Suggestion, playable
from lichessbot.move_sources.online import ChessdbTables, LichessTables
from lichessbot.move_sources.resolver import Kind, LimitedSource, MoveResolver, sources_for
from tests.lichessbot.move_sources.questions import ROOK_ENDING, question
from tests.lichessbot.move_sources.test_local import book

SHUFFLED = ("g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1")


@dataclass
class Sayer:
    """A source with a given answer."""

    name: str
    answer: Suggestion | ApiError | None = None
    asked: list[Question] = field(default_factory=list)

    def find(self, question: Question, until: float) -> Suggestion | None:
        self.asked.append(question)
        if isinstance(self.answer, ApiError):
            raise self.answer
        return self.answer


def limited(source: Sayer, kind: Kind = Kind.ONLINE_OPENINGS, **limits: Any) -> LimitedSource:
    return LimitedSource(kind, source, **limits)


def resolver(*sources: LimitedSource, max_misses: int = 10) -> MoveResolver:
    return MoveResolver("abcd1234", sources, max_misses, lambda answer: None)


def consult(resolver: MoveResolver, asked: Question | None = None) -> tuple[tuple[str, ...], str] | None:
    answer = resolver.resolve(asked or question(patience_s=5.0))
    return (answer.moves, answer.source) if answer.moves else None


def test_the_first_source_that_knows_a_move_is_used() -> None:
    ignorant, knowing, late = Sayer("a"), Sayer("b", Suggestion(("e2e4",))), Sayer("c", Suggestion(("d2d4",)))
    assert consult(resolver(limited(ignorant), limited(knowing), limited(late))) == (("e2e4",), "b")
    assert (len(ignorant.asked), len(late.asked)) == (1, 0)


@pytest.mark.parametrize("moves", [("e2e5",), ("",), ("e7e5",), ("nonsense",), ("0000",), ("e1g1",)])
def test_a_source_with_illegal_moves_is_skipped(moves: tuple[str, ...]) -> None:
    sources = resolver(limited(Sayer("liar", Suggestion(moves))), limited(Sayer("b", Suggestion(("e2e4",)))))
    assert consult(sources) == (("e2e4",), "b")


def test_the_first_legal_move_counts_unless_the_engine_is_to_choose() -> None:
    moves = ("a1a8", "e2e4", "d2d4", "e2e4")
    assert consult(resolver(limited(Sayer("a", Suggestion(moves))))) == (("e2e4",), "a")
    assert consult(resolver(limited(Sayer("a", Suggestion(moves, choice=True))))) == (("e2e4", "d2d4"), "a")


def test_castling_from_a_source_is_spelled_as_in_the_game() -> None:
    fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    found = Suggestion(("e1h1",))
    for variant, move in ((Variant.STANDARD, "e1g1"), (Variant.FROM_POSITION, "e1h1")):
        assert playable(found, question(fen=fen, variant=variant).board, repeats=False).moves == (move,)


def test_openings_do_not_repeat_positions_but_tables_may() -> None:
    back = Suggestion(("f6g8",))
    asked = question("g1f3", "g8f6", "f3g1")
    assert consult(resolver(limited(Sayer("a", back))), asked) is None
    assert consult(resolver(limited(Sayer("a", back), repeats=True)), asked) == (("f6g8",), "a")


@pytest.mark.parametrize(("wdl", "move"), [(2, "d7d5"), (1, "d7d5"), (0, "f6g8"), (-1, "f6g8"), (-2, "f6g8")])
def test_a_table_that_does_not_know_the_game_repeats_no_won_position_for_the_third_time(wdl: int, move: str) -> None:
    tables = resolver(limited(Sayer("a", Suggestion(("f6g8", "d7d5"), wdl=wdl)), repeats=True))
    assert consult(tables, question(*SHUFFLED)) == ((move,), "a")
    assert consult(tables, question(*SHUFFLED[:3])) == (("f6g8",), "a"), "the second time, it may be the way to win"


def test_where_a_table_that_does_not_know_the_game_loses_a_repetition_draws() -> None:
    tables = resolver(limited(Sayer("a", Suggestion(("d7d5", "d7d6"), wdl=-2, choice=True)), repeats=True))
    saved, lost = (tables.resolve(question(*moves, patience_s=60.0)) for moves in (SHUFFLED, SHUFFLED[:3]))
    assert (saved.moves, saved.wdl) == (("f6g8",), 0)
    assert (lost.moves, lost.wdl) == (("d7d5", "d7d6"), -2)


@pytest.mark.parametrize(
    "error", [Unreachable("gone"), Refused(404, "no"), HostPaused("rests"), RateLimited(timedelta(days=7), "slow")]
)
def test_a_source_that_fails_is_skipped(error: ApiError) -> None:
    assert consult(resolver(limited(Sayer("a", error)), limited(Sayer("b", Suggestion(("e2e4",)))))) == (("e2e4",), "b")


# Out of book


def asked_after(answers: Sequence[Suggestion | ApiError | None], max_misses: int, kind: Kind) -> int:
    """Return how often a source with these answers was asked."""
    sayer = Sayer("a")
    them = resolver(limited(sayer, kind), max_misses=max_misses)
    for answer in answers:
        sayer.answer = answer
        consult(them)
    return len(sayer.asked)


def test_after_so_many_unknown_positions_no_opening_server_is_asked() -> None:
    assert asked_after([None] * 9, 3, Kind.ONLINE_OPENINGS) == 3
    assert asked_after([Refused(404, "unknown")] * 9, 3, Kind.ONLINE_OPENINGS) == 3


def test_tables_and_books_are_asked_without_limit() -> None:
    assert asked_after([None] * 9, 3, Kind.ONLINE_ENDINGS) == 9
    assert asked_after([None] * 9, 3, Kind.BOOK) == 9


def test_a_failure_does_not_count_as_an_unknown_position() -> None:
    assert asked_after([Unreachable("gone")] * 9, 3, Kind.ONLINE_OPENINGS) == 9
    assert asked_after([HostPaused("rests")] * 9, 3, Kind.ONLINE_OPENINGS) == 9


def test_a_429_counts_as_an_unknown_position() -> None:
    assert asked_after([RateLimited(timedelta(minutes=1), "slow")] * 9, 3, Kind.ONLINE_OPENINGS) == 3


def test_one_position_unknown_to_several_counts_once() -> None:
    first, second = Sayer("a"), Sayer("b")
    them = resolver(limited(first), limited(second), max_misses=2)
    for _ in range(5):
        consult(them)
    assert (len(first.asked), len(second.asked)) == (2, 2)


def test_no_source_is_asked_after_the_time_limit() -> None:
    sayer = Sayer("a", Suggestion(("e2e4",)))
    assert consult(resolver(limited(sayer)), question(patience_s=0.0)) is None
    assert sayer.asked == []


# Limits


@pytest.mark.parametrize(
    ("limits", "asked", "allowed"),
    [
        ({"min_time": 20}, question(remaining_s=19.9), False),
        ({"min_time": 20}, question(remaining_s=20.0), True),
        ({"min_time": 20}, question(remaining_s=None, initial_s=None), True),
        ({"max_time": 600}, question(initial_s=601.0), False),
        ({"max_time": 600}, question(initial_s=600.0), True),
        ({"max_time": 600}, question(remaining_s=None, initial_s=None), True),
        ({"max_depth": 1}, question("e2e4"), True),
        ({"max_depth": 1}, question("e2e4", "e7e5"), False),
        ({"max_depth": 0}, question(), False),
        ({"max_pieces": 3}, question(fen=ROOK_ENDING), True),
        ({"max_pieces": 7}, question(), False),
        ({"max_pieces": 7}, question(fen="4k3/8/8/8/8/8/8/4K2R w K - 0 1"), False),
        ({"variants": frozenset({"chess960"})}, question(), False),
        ({"variants": frozenset({"chess960"})}, question(variant=Variant.CHESS960), True),
    ],
)
def test_each_limit(limits: dict[str, Any], asked: Question, allowed: bool) -> None:
    assert limited(Sayer("a"), **limits).allows(asked) is allowed


def test_the_order_of_the_sources(hosts: Hosts, tmp_path: Path) -> None:
    keys = {name: field.annotation for name, field in OnlineMovesConfig.model_fields.items()}
    online = [name for name, kind in keys.items() if isinstance(kind, type) and issubclass(kind, OnlineSource)]
    explained = [key.split(".") for key in explanations() if key.startswith("engine.online_moves.")]
    assert [path[2] for path in explained if path[3:] == ["enabled"]] == online, "operators read the order there"
    config = EngineConfig.model_validate(
        {
            "polyglot": {"enabled": True, "book": {"standard": str(book(tmp_path / "b.bin", e2e4=1))}},
            "lichess_bot_tbs": {"syzygy": {"enabled": True, "paths": str(tmp_path)}},
            "online_moves": {name: {"enabled": True} for name in online},
        }
    )
    found = sources_for(config, hosts, EventLog())
    for variant in Variant:
        asked = [it.source.name for it in found if variant in it.variants]
        assert asked == [*config.sources_for(variant)], "`check` and `explain` tell the same"
    assert [it.source.name for it in found] == [
        "polyglot",
        "syzygy",
        "online_egtb",
        "chessdb_book",
        "lichess_cloud_analysis",
        "lichess_opening_explorer",
        "own_book",
    ]


@pytest.mark.parametrize(("name", "kind"), [("lichess", LichessTables), ("chessdb", ChessdbTables)])
def test_the_online_tablebase_is_the_configured_one(hosts: Hosts, name: str, kind: type) -> None:
    config = EngineConfig.model_validate({"online_moves": {"online_egtb": {"enabled": True, "source": name}}})
    assert isinstance(sources_for(config, hosts, EventLog())[0].source, kind)


def test_disabled_sources_are_not_asked(hosts: Hosts) -> None:
    assert sources_for(EngineConfig(own_book=False), hosts, EventLog()) == []
    assert not EngineConfig(own_book=False).sources
    assert EngineConfig().sources
    online = {"online_egtb": {"enabled": True}}
    assert EngineConfig.model_validate({"own_book": False, "online_moves": online}).sources


def test_the_depth_of_the_own_book_is_its_limit(hosts: Hosts) -> None:
    keys, (own,) = {entry.key for entry in Book(OWN_BOOK).entries()}, sources_for(EngineConfig(), hosts, EventLog())
    frontier, plies = [Board()], 0
    while frontier:
        children = {polyglot_key(it): it for board in frontier for it in map(board.after, board.legal_moves())}
        frontier, plies = [children[key] for key in keys & children.keys()], plies + 1
    assert own.max_depth == (plies + 1) // 2, "at the next move it knows nothing"


def test_each_variant_has_its_books(hosts: Hosts, tmp_path: Path) -> None:
    files = {
        "standard": str(book(tmp_path / "s.bin", e2e4=1)),
        "chess960": [str(book(tmp_path / "c.bin", d2d4=1))],
        "threeCheck": str(book(tmp_path / "t.bin", g1f3=1)),
    }
    config = EngineConfig.model_validate({"own_book": False, "polyglot": {"enabled": True, "book": files}})
    them = resolver(*sources_for(config, hosts, EventLog()))
    expected = {
        Variant.STANDARD: "e2e4", Variant.FROM_POSITION: "e2e4", Variant.CHESS960: "d2d4", Variant.THREE_CHECK: "g1f3",
    }  # fmt: skip
    for variant, move in expected.items():
        assert consult(them, question(variant=variant)) == ((move,), "polyglot")
    assert consult(them, question(variant=Variant.ATOMIC)) is None
    assert config.polyglot.files == tuple(tmp_path / f"{name}.bin" for name in "sct")


def test_a_book_of_crazyhouse_drops_pieces(hosts: Hosts, tmp_path: Path) -> None:
    board = Board("4k3/8/8/8/8/8/8/4K3[N] w - - 0 1", variant="crazyhouse")
    write(tmp_path / "house.bin", [Entry(polyglot_key(board), 1 << 12 | 0o5252, 1)])
    files = {"crazyhouse": str(tmp_path / "house.bin")}
    config = EngineConfig.model_validate({"polyglot": {"enabled": True, "book": files}})
    asked = Question(1, "crazyhouse", board, 300.0, 300.0, 5.0)
    assert consult(resolver(*sources_for(config, hosts, EventLog())), asked) == (("N@c6",), "polyglot")


# What a source gave before


OPENING = ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6")


def test_a_source_gives_at_most_max_moves_in_a_game() -> None:
    sources = resolver(limited(Sayer("a", Suggestion(OPENING)), max_moves=2), limited(Sayer("b", Suggestion(OPENING))))
    plies = (0, 2, 2, 0, 4)
    given = [consult(sources, question(*OPENING[:ply])) for ply in plies]
    assert given == [
        (("e2e4",), "a"),
        (("g1f3",), "a"),
        (("g1f3",), "a"),  # a position that is asked about again counts once
        (("e2e4",), "a"),
        (("f1b5",), "b"),
    ]


class Late(Sayer):
    """A source that answers when its time is over."""

    def find(self, question: Question, until: float) -> Suggestion | None:
        while time.monotonic() < until:
            time.sleep(0.01)
        return super().find(question, until)


def test_a_move_that_came_too_late_is_not_counted() -> None:
    sources = resolver(limited(Late("a", Suggestion(OPENING)), max_moves=1))
    consult(sources, question(patience_s=0.1))
    assert not sources._given["a"]


def test_a_source_for_games_without_a_book_is_not_asked_after_a_move_of_the_book() -> None:
    shelf, server = Sayer("polyglot"), Sayer("b", Suggestion(OPENING))
    sources = resolver(limited(shelf, Kind.BOOK), limited(server, only_without_book=True))
    assert consult(sources) == (("e2e4",), "b")
    shelf.answer = Suggestion(("g1f3",))
    assert consult(sources, question(*OPENING[:2])) == (("g1f3",), "polyglot")
    shelf.answer = None
    assert consult(sources, question(*OPENING[:4])) is None


def test_the_keys_of_a_source_are_its_limits(hosts: Hosts, tmp_path: Path) -> None:
    files = {"standard": str(book(tmp_path / "b.bin", e2e4=1))}
    keys = {"max_moves": 3, "allow_repetitions": True}
    cloud = {"enabled": True, "max_depth": 9, "only_without_book": True, **keys}
    config = EngineConfig.model_validate(
        {
            "own_book": False,
            "polyglot": {"enabled": True, "book": files, **keys},
            "online_moves": {"lichess_cloud_analysis": cloud, "chessdb_book": {"enabled": True}, "max_depth": 12},
        }
    )
    shelf, chessdb, clouds = sources_for(config, hosts, EventLog())
    assert (shelf.max_moves, shelf.repeats, shelf.only_without_book) == (3, True, False)
    assert (clouds.max_moves, clouds.repeats, clouds.only_without_book, clouds.max_depth) == (3, True, True, 9)
    assert (chessdb.max_moves, chessdb.repeats, chessdb.only_without_book, chessdb.max_depth) == (
        None, False, False, 12,
    )  # fmt: skip


def test_a_book_repeats_a_position_only_if_allowed(hosts: Hosts, tmp_path: Path) -> None:
    back = question("g1f3", "g8f6", "f3g1")
    file = book(tmp_path / "back.bin", "g1f3", "g8f6", "f3g1", f6g8=1)
    for allowed, expected in ((False, None), (True, (("f6g8",), "polyglot"))):
        polyglot = {"enabled": True, "book": {"standard": str(file)}, "allow_repetitions": allowed}
        config = EngineConfig.model_validate({"own_book": False, "polyglot": polyglot})
        assert consult(resolver(*sources_for(config, hosts, EventLog())), back) == expected


# Threads
