"""Writes a translation as a file of ours, with what the example says of each key and where its value comes from."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lichessbot.config.explanations import explanations
from lichessbot.config.migration.translation import Translation
from lichessbot.config.yaml_file import KeyPath, dotted, dumped, in_one_line
from lichessbot.log import inert

_WIDTH: Final = 120
_HEAD: Final = (
    "Translated from {old}, a configuration of {program}, by `lichessbot config migrate`.\n"
    "Keys that are not here have their defaults: `lichessbot config example` explains every key.\n"
    "`lichessbot check --config FILE` says whether everything works and what the bot would do.\n"
)


def write(found: Translation, old: str) -> str:
    """Return the text of the file; `old` is the name of the file that was translated."""
    lines = [f"# {line}" for line in _HEAD.format(old=old, program=found.program).splitlines()]
    for line in (*_section(found, found.values, ()), *_left_out(found, old)):
        if line or not (lines[-1] == "" or lines[-1].endswith(":")):
            lines.append(line)
    return "\n".join(lines) + "\n"


def _section(
    found: Translation, values: Mapping[str, Any], path: KeyPath, last: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield the lines of a section; its keys in the order of the example. `last`: the explanation above it."""
    order = {key: number for number, key in enumerate(explanations())}
    indent = "  " * len(path)
    for name in sorted(values, key=lambda name: order.get(dotted((*path, name)), len(order))):
        here, value = (*path, name), values[name]
        explanation = explanations().get(dotted(here), ())
        if explanation != last:  # else it stands above the key before, or above the section
            yield ""
            yield from (f"{indent}# {line}".rstrip() for line in explanation)
        last = explanation
        if isinstance(value, dict) and value and any(key.startswith(f"{dotted(here)}.") for key in order):
            yield from ([] if explanation else [""])
            yield f"{indent}{in_one_line(name)}:"
            yield from _section(found, value, here, explanation)
            last = ()
        else:
            yield from _value(found, value, here)


def _said(found: Translation, path: KeyPath) -> str:
    """Return what to say of a value beside it."""
    origin = dotted(found.origins.get(path, ()))
    return inert("; ".join(filter(None, (origin if origin != dotted(path) else "", found.remarks.get(path, "")))))


def _value(found: Translation, value: Any, path: KeyPath) -> Iterator[str]:
    """Yield the lines of a value: one if it fits, or one for each entry."""
    indent, said = "  " * (len(path) - 1), _said(found, path)
    key, remark = f"{indent}{in_one_line(path[-1])}:", f"  # {said}" if said else ""
    entries = isinstance(value, dict) and bool(value)
    if not entries and len(f"{key} {in_one_line(value)}{remark}") <= _WIDTH:
        yield f"{key} {in_one_line(value)}{remark}"
        return
    yield f"{key}{remark}"
    if entries:
        for name, inner in value.items():
            yield from _value(found, inner, (*path, name))
    elif isinstance(value, list):
        for item in value:
            block = dumped([item], in_flow_style=None, width=_WIDTH)
            # In flow style a list of plain values is one line.
            text = block if block.startswith("- ") else f"- {in_one_line(item)}"
            yield from textwrap.indent(text, f"{indent}  ").splitlines()
    else:
        yield f"{indent}  {in_one_line(value)}"


def _left_out(found: Translation, old: str) -> Iterator[str]:
    """Yield the list of keys without a counterpart."""
    if not found.left_out:
        return
    yield ""
    yield f"# Left out of {old}:"
    for it in sorted(found.left_out, key=lambda it: it.line):
        text = inert(f"line {it.line}: {it.key}: {it.reason}")
        yield from textwrap.wrap(text, _WIDTH, initial_indent="#   ", subsequent_indent="#     ")
