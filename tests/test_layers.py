"""The architecture, proven by reading the imports: rows of packages, and the doors into each.

`ROWS` is the one list of what stands where. A package imports only from rows above its own, and others enter it only
through the modules that its `__init__.py` names in `__all__`.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent

# From the foundations down: an entry is a package or a module of its root.
ROWS: dict[str, tuple[tuple[str, ...], ...]] = {
    "engine": (
        ("_build", "_plain", "accuracy", "core", "nearest", "progress", "whole_file"),
        ("evaluation", "variants"),
        ("board",),
        ("book", "pgn", "syzygy"),
        ("search",),
        ("facade", "uci_words"),
        ("uci", "bench", "lessons", "selfplay"),
        ("training", "terminal"),
        ("cli",),
    ),
    "lichessbot": (
        ("errors", "backoff", "log", "systemd", "timeouts", "rehearsal"),
        ("lichess", "storage", "control"),
        ("config", "connection"),
        ("uci", "challenges", "arena_entry"),
        ("move_sources", "matchmaking", "tournaments"),
        ("inbox", "lobby"),
        ("games", "notify"),
        ("daemon", "recorded_games"),
        ("cli",),
    ),
    "lichessbot.rehearsal": (
        ("rules",),
        ("server",),
        ("faults",),
        ("players", "browser"),
        ("cli",),
    ),
}
MOST_ROWS = 9
MOST_PACKAGES = MOST_MODULES_OF_A_ROOT = 12
MOST_MODULES = 15
MOST_LINES = 450
MOST_LINES_OF_A_FUNCTION = 70
GENERATED = {"engine/evaluation/tuned.py", "engine/evaluation/variant_weights.py"}


def folder(package: str) -> Path:
    return ROOT / package.replace(".", "/")


@cache
def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def files(*patterns: str) -> list[Path]:
    found = sorted(chain.from_iterable(ROOT.glob(pattern) for pattern in patterns))
    assert found, f"no file is {patterns}"
    return found


@dataclass(frozen=True)
class Facts:
    """What is known of a file. Its syntax tree is not kept: the garbage collector would visit all of them often."""

    imports: frozenset[str]
    """Every module or name it imports, wherever the import stands; Cython's `cimports` count as ordinary ones."""
    functions: tuple[tuple[str, int], ...]
    """Every function and how many lines it has."""


@cache
def facts(path: Path) -> Facts:
    names: set[str] = set()
    functions: list[tuple[str, int]] = []
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or TESTS in path.parents, f"{path}: a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append((node.name, (node.end_lineno or node.lineno) - node.lineno + 1))
    return Facts(frozenset(name.removeprefix("cython.cimports.") for name in names), tuple(functions))


def imports(path: Path) -> frozenset[str]:
    return facts(path).imports


def statements(block: ast.AST) -> Iterator[ast.AST]:
    """Every statement inside a block, at any depth. A walk that looks at expressions, too, takes ten times as long."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        for inner in getattr(block, name, ()):
            yield inner
            yield from statements(inner)


def entries_imported(path: Path, root: str) -> set[str]:
    """The packages and modules of a root that a file imports."""
    known = set(chain.from_iterable(ROWS[root]))
    below = (name.removeprefix(f"{root}.").split(".")[0] for name in imports(path) if name.startswith(f"{root}."))
    return set(below) & known


def entries(root: str) -> tuple[set[str], set[str]]:
    """The packages and the modules that a root holds; `__main__` only starts the program and may import anything."""
    packages = {path.parent.name for path in folder(root).glob("*/__init__.py")}
    modules = {path.stem for path in folder(root).glob("*.py")} - {"__init__", "__main__"}
    return packages, modules


def packages() -> list[str]:
    """Every package below a root, with its dotted name; a root inside a root counts as one of its packages."""
    return [f"{root}.{name}" for root in ROWS for name in sorted(entries(root)[0])]


def offers(package: str) -> list[str]:
    """What `__all__` of a package names."""
    for node in ast.parse((folder(package) / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


@pytest.mark.parametrize("root", ROWS)
def test_every_entry_stands_in_one_row(root: str) -> None:
    found_packages, found_modules = entries(root)
    listed, found = list(chain.from_iterable(ROWS[root])), found_packages | found_modules
    assert sorted(listed) == sorted(found), f"ROWS: add, remove or name once {found ^ set(listed) or sorted(listed)}"
    assert len(ROWS[root]) <= MOST_ROWS
    assert len(found_packages) <= MOST_PACKAGES, found_packages
    assert len(found_modules) <= MOST_MODULES_OF_A_ROOT, found_modules


@pytest.mark.parametrize("root", ROWS)
def test_a_package_imports_only_from_rows_above_its_own(root: str) -> None:
    above: set[str] = set()
    base = folder(root).relative_to(ROOT)
    for row in ROWS[root]:
        for entry in row:
            for path in files(f"{base}/{entry}.py", f"{base}/{entry}/**/*.py"):
                wrong = entries_imported(path, root) - {entry} - above
                assert not wrong, f"{path.relative_to(ROOT)} imports {wrong}, not from a row above its own"
        above |= set(row)


@pytest.mark.parametrize("package", packages())
def test_a_package_is_entered_only_by_what_it_offers(package: str) -> None:
    allowed = set(offers(package))
    for path in files("engine/**/*.py", "lichessbot/**/*.py"):
        if not module_name(path).startswith(package):
            used = {name.removeprefix(f"{package}.") for name in imports(path) if name.startswith(f"{package}.")}
            wrong = {name.split(".")[0] for name in used} - allowed
            assert not wrong, f"{path.relative_to(ROOT)} imports {wrong}, not in __all__ of {package}"


@pytest.mark.parametrize("package", packages())
def test_a_package_says_what_it_knows_and_offers(package: str) -> None:
    text = ast.get_docstring(ast.parse((folder(package) / "__init__.py").read_text())) or ""
    for words in (("Knows",), ("Must not know",), ("Offers", "offers")):
        assert any(word in text for word in words), f"the docstring of {package} does not say {words[0]!r}"
    assert offers(package), f"{package} has no __all__"


@pytest.mark.parametrize("package", packages())
def test_the_modules_of_a_package_import_each_other_without_a_cycle(package: str) -> None:
    paths = {module_name(path): path for path in folder(package).rglob("*.py") if path.name != "__init__.py"}
    graph = {}
    for name, path in paths.items():
        found = imports(path)
        graph[name] = {other for other in paths if any(f"{it}.".startswith(f"{other}.") for it in found)}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"{package}: {error.args[1]}")


@pytest.mark.parametrize("package", packages())
def test_a_package_is_small(package: str) -> None:
    modules = [path for path in folder(package).glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES, f"{package} has {len(modules)} modules, at most {MOST_MODULES}"


def test_files_and_functions_are_small() -> None:
    for path in files("engine/**/*.py", "lichessbot/**/*.py", "tests/**/*.py"):
        name = str(path.relative_to(ROOT))
        length = len(path.read_text().splitlines())
        assert length <= MOST_LINES or name in GENERATED, f"{name} has {length} lines, at most {MOST_LINES}"
        for function, lines in facts(path).functions:
            assert lines <= MOST_LINES_OF_A_FUNCTION, (
                f"{name}: {function} has {lines} lines, at most {MOST_LINES_OF_A_FUNCTION}"
            )


def test_the_daemon_knows_only_the_engines_facade_its_drawing_of_boards_and_its_version() -> None:
    doors = ("engine.facade.", "engine.terminal.board_view.", "engine.__version__")
    for path in files("lichessbot/**/*.py"):
        wrong = [name for name in imports(path) if name.split(".")[0] == "engine" and not name.startswith(doors)]
        assert not wrong, f"{path} imports {wrong}"


def test_the_embedded_server_shares_nothing_with_the_daemon() -> None:
    for path in files("lichessbot/rehearsal/**/*.py"):
        ours = [name for name in imports(path) if name.split(".")[0] == "lichessbot"]
        wrong = [name for name in ours if not name.startswith("lichessbot.rehearsal")]
        assert not wrong, f"{path} imports {wrong}"


def test_sql_stands_only_in_the_storage() -> None:
    statement = re.compile(r"\b(SELECT|INSERT (OR \w+ )?INTO|DELETE FROM|UPDATE \w+ SET|PRAGMA)\b|\w = \?")
    for path in files("lichessbot/**/*.py"):
        if not module_name(path).startswith("lichessbot.storage"):
            assert "sqlite3" not in imports(path), path
            assert not statement.search(path.read_text()), path


def test_asyncio_stays_in_the_web_servers() -> None:
    servers = ("lichessbot/rehearsal/", "lichessbot/control/web/")
    for path in files("engine/**/*.py", "lichessbot/**/*.py"):
        if not str(path.relative_to(ROOT)).startswith(servers):
            assert not [name for name in imports(path) if name.split(".")[0] == "asyncio"], path


def test_only_declared_packages_are_imported_and_the_engine_knows_nothing_of_the_daemon() -> None:
    """In particular not python-chess, which only the tests use."""
    web = {"berserk", "requests", "urllib3", "starlette", "uvicorn", "prometheus_client"}
    runtime = web | {"click", "pydantic", "pydantic_core", "rich", "yaml"}
    build, extras = {"cython", "Cython", "setuptools"}, {"distributed", "zstandard"}
    declared = {*sys.stdlib_module_names, *runtime, *build, *extras, "engine"}
    for pattern, allowed in (("engine/**/*.py", declared), ("lichessbot/**/*.py", declared | {"lichessbot"})):
        for path in files(pattern):
            wrong = {name.split(".")[0] for name in imports(path)} - allowed
            assert not wrong, f"{path} imports {wrong}"
