"""The files of the page, and what is none of them."""

from pathlib import Path

import pytest

from lichessbot.control.web.static import find


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "static"
    (inside / "operator").mkdir(parents=True)
    for name in ("page.js", "page.css", "piece.svg", "index.html", "code.py", ".hidden.js", "README"):
        (inside / "operator" / name).write_text(name)
    (tmp_path / "secret.js").write_text("secret")
    (inside / "folder.js").mkdir()
    return inside


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("page.js", "text/javascript; charset=utf-8"),
        ("page.css", "text/css; charset=utf-8"),
        ("piece.svg", "image/svg+xml"),
        ("index.html", "text/html; charset=utf-8"),
    ],
)
def test_a_file_has_its_type_and_a_tag_that_follows_its_content(folder: Path, name: str, media_type: str) -> None:
    found = find(folder, f"operator/{name}")
    assert (found.content, found.media_type) == (name.encode(), media_type)
    assert (folder / "operator" / name).write_text("newer")
    assert find(folder, f"operator/{name}").etag != found.etag


@pytest.mark.parametrize(
    "path",
    [
        "../secret.js", "operator/../../secret.js", "operator/..", ".", "", "/", "//secret.js", "/etc/passwd",
        "operator", "operator/", "operator//page.js", "operator/./page.js", "operator/.hidden.js", "operator/code.py",
        "operator/README", "operator\\page.js", "..\\secret.js", "operator/page.js\0.css", "folder.js", "none.js",
        "operator/" + "x" * 5000 + ".js", "page.js/page.js", "operator/page.js/x.js",
    ],
)  # fmt: skip
def test_nothing_else_is_found(folder: Path, path: str) -> None:
    assert find(folder, path) is None
