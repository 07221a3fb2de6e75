"""What the example says of each key: the one place where keys are explained."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final

# `on` is in quotes, as without them some programs read it as true.
_KEY: Final = re.compile(r"""( *)"?(\w+)"?:""")


def example() -> str:
    """Return the example configuration."""
    return files("lichessbot.config").joinpath("example.yml").read_text(encoding="utf-8")


@cache
def explanations() -> dict[str, tuple[str, ...]]:
    """Return the lines of explanation of every key of the example, dotted, in its order."""
    return dict(_explained(example().splitlines()))


def _explained(lines: Iterable[str]) -> Iterable[tuple[str, tuple[str, ...]]]:
    path: list[str] = []
    comment: list[str] = []
    after_key = False
    for line in lines:
        text = line.strip()
        if text.startswith("#"):
            comment = [] if after_key else comment
            comment.append(text.removeprefix("#").removeprefix(" "))
            after_key = False
        elif found := _KEY.match(line):
            # Keys that follow each other share the explanation above the first one.
            indent, key = len(found[1]) // 2, found[2]
            path = [*path[:indent], key]
            yield ".".join(path), tuple(comment)
            after_key = True
        else:
            comment, after_key = [], False
