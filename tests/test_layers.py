"""A module imports only from rows above its own, and nobody reaches where he must not."""

import ast
import sys
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Rows from the bottom up; a room may import rooms of the rows above its own line, never of its own.
ROWS = {
    "engine": (
        (
            "_build", "bitboard", "display", "memory", "net_file", "pairs", "params", "pieces", "processor", "score",
            "syzygy_file", "tuned",
        ),
        ("attacks", "move", "outcome", "zobrist", "weights", "workers", "syzygy_codes"),
        ("piece_square", "kpk", "syzygy_index"),
        ("position",),
        ("cycles", "fen", "movegen", "network", "pawns", "records", "syzygy_table"),
        ("perft", "endings", "see", "syzygy", "threats"),
        ("evaluate", "counting"),
        ("transposition", "history", "clock", "board", "eval_file", "style", "tuning"),
        ("ordering", "pruning", "notation", "polyglot", "tablebase", "meter", "line", "game", "pgn_words"),
        ("quiescence", "referee", "selection", "pgn", "book"),
        ("search",),
        ("deepening",),
        ("facade", "games", "harvest"),
        ("selfplay", "match"),
        ("learning",),
        ("bench", "lessons"),
        ("uci", "workshop", "growing"),
        ("terminal",),
        ("librarian",),
        ("__main__",),
    ),
    "lichessbot": (
        ("errors", "backoff", "vocabulary", "waits", "journal", "credentials", "systemd"),
        ("config", "events", "courtesy", "terms"),
        ("parsing",),
        ("replies",),
        ("messages", "clock", "overhead", "state_file", "reload", "occupancy", "profiles", "engine_options"),
        ("api", "archive", "engine_process", "guest_book", "actions", "slots", "waiting"),
        ("store", "streams", "errands", "owed_move", "pondering", "stream_watch", "self_test"),
        ("verdict", "takebacks", "absence", "thinking"),
        ("sources", "repertoire"),
        ("challenges", "conversation", "diary", "game", "gate", "letters", "opponents", "player_lists", "score_sheet"),
        ("game_task", "matchmaking", "quota", "reconciler", "resumption"),
        ("proposal", "reception", "roster", "tournaments"),
        ("matchmaker",),
        ("lobby",),
        ("supervisor", "check", "explain", "invitation", "registration", "upgrade"),
        ("rehearsal",),
        ("__main__",),
    ),
}


def imports(path: Path) -> set[str]:
    """Every module or name a file imports, wherever the import stands; Cython's `cimports` count as ordinary ones."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("cython.cimports.") for name in names}


def rooms_imported(path: Path, package: str) -> set[str]:
    """The rooms of a package that a file imports."""
    known = set(chain.from_iterable(ROWS[package]))
    parts = (name.split(".") for name in imports(path))
    return {part[1] for part in parts if part[0] == package and len(part) > 1 and part[1] in known}


def files(*patterns: str) -> list[Path]:
    return sorted(chain.from_iterable(ROOT.glob(pattern) for pattern in patterns))


@pytest.mark.parametrize("package", ROWS)
def test_every_room_stands_in_one_row(package: str) -> None:
    listed = list(chain.from_iterable(ROWS[package]))
    found = {path.stem for path in files(f"{package}/*.py")} | {
        path.parent.name for path in files(f"{package}/*/__init__.py")
    }
    assert sorted(listed) == sorted(found - {"__init__"})


@pytest.mark.parametrize("package", ROWS)
def test_a_room_imports_only_from_rows_above_its_own(package: str) -> None:
    above: set[str] = set()
    for row in ROWS[package]:
        for room in row:
            for path in files(f"{package}/{room}.py", f"{package}/{room}/**/*.py"):
                assert rooms_imported(path, package) - {room} <= above, f"{path.relative_to(ROOT)} reaches down"
        above |= set(row)


def test_the_engine_knows_nothing_of_the_daemon() -> None:
    for path in files("engine/**/*.py"):
        assert not [name for name in imports(path) if name.split(".")[0] == "lichessbot"], path


def test_the_daemon_knows_only_the_engines_facade() -> None:
    for path in files("lichessbot/**/*.py"):
        names = {name for name in imports(path) if name.split(".")[0] == "engine"}
        assert all(name.startswith("engine.facade.") for name in names), path


def test_the_embedded_server_shares_nothing_with_the_daemon() -> None:
    for path in files("lichessbot/rehearsal/**/*.py"):
        names = {name for name in imports(path) if name.split(".")[0] == "lichessbot"}
        assert all(name.startswith("lichessbot.rehearsal") for name in names), path


def test_python_chess_plays_no_part() -> None:
    for path in files("engine/**/*.py", "lichessbot/**/*.py"):
        assert not [name for name in imports(path) if name.split(".")[0] == "chess"], path


def test_asyncio_stays_in_the_web_server() -> None:
    for path in files("engine/**/*.py", "lichessbot/*.py"):
        assert not [name for name in imports(path) if name.split(".")[0] == "asyncio"], path


def test_only_declared_packages_are_imported() -> None:
    runtime = {"berserk", "yaml", "pydantic", "pydantic_core", "requests", "urllib3", "starlette", "uvicorn", "rich"}
    build = {"cython", "setuptools"}
    for path in files("engine/**/*.py", "lichessbot/**/*.py"):
        tops = {name.split(".")[0] for name in imports(path)} - set(sys.stdlib_module_names)
        assert tops <= runtime | build | {"engine", "lichessbot"}, path
