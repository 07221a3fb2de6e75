"""The pages' own files: small, without inline code, and with nothing that parses markup or reaches another host."""

import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parent.parent / "lichessbot" / "static"
OURS = sorted(path for path in STATIC.rglob("*") if path.is_file() and STATIC / "vendor" not in path.parents)
MOST_LINES_OF_SCRIPT = 1500
LONGEST_LINE = 120


def named(path: Path) -> str:
    return str(path.relative_to(STATIC))


def test_the_scripts_are_few() -> None:
    lines = sum(len(path.read_text().splitlines()) for path in OURS if path.suffix == ".js")
    assert lines <= MOST_LINES_OF_SCRIPT, f"{lines} lines"


@pytest.mark.parametrize("path", OURS, ids=named)
def test_lines_are_short(path: Path) -> None:
    assert [line for line in path.read_text().splitlines() if len(line) > LONGEST_LINE] == []


@pytest.mark.parametrize("path", [path for path in OURS if path.suffix == ".js"], ids=named)
def test_scripts_parse_no_markup_and_import_only_what_is_here(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|Function\(", text)
    assert "http:" not in text
    assert "https:" not in text
    for name in re.findall(r"(?:from|import) '([^']*)'", text):
        assert (path.parent / name).is_file(), name


@pytest.mark.parametrize("path", [path for path in OURS if path.suffix == ".html"], ids=named)
def test_pages_have_no_inline_code_and_no_outside_host(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|https?:", text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))


@pytest.mark.parametrize("path", [path for path in OURS if path.suffix == ".css"], ids=named)
def test_text_is_as_large_as_the_browser_is_told_to_show_it(path: Path) -> None:
    text = path.read_text()
    assert re.findall(r"font(?:-size)?:[^;]*\dpx", text) == []
    assert re.findall(r"@media [^{]*\dpx", text) == [], "what has room depends on the size of the text"
