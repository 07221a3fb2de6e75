"""The rooms of the embedded Lichess import only from the rows above their own."""

import ast
import re
from pathlib import Path

from lichessbot import rehearsal

FOLDER = Path(rehearsal.__file__).parent


def rows() -> list[list[str]]:
    """The rows as the package's docstring draws them."""
    assert rehearsal.__doc__ is not None
    drawn = re.findall(r"^    (\w+(?: · \w+)*) ", rehearsal.__doc__, re.MULTILINE)
    return [row.split(" · ") for row in drawn]


def imported_rooms(room: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse((FOLDER / f"{room}.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "lichessbot.rehearsal":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lichessbot.rehearsal."):
            found.add(str(node.module).rpartition(".")[2])
    return found


def test_every_room_stands_in_one_row() -> None:
    listed = sorted(room for row in rows() for room in row)
    assert listed == sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def test_rooms_import_only_from_rows_above() -> None:
    above: set[str] = set()
    for row in rows():
        for room in row:
            assert imported_rooms(room) <= above, f"{room} reaches sideways or down"
        above |= set(row)
