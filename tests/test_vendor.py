"""The published files of other projects are as the list names them, and the script notices what differs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
VENDOR = ROOT / "lichessbot" / "static" / "vendor"


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "deploy" / "vendor.py", "--check", "--folder", folder]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def vendor(tmp_path: Path) -> Path:
    return Path(shutil.copytree(VENDOR, tmp_path / "vendor"))


def test_every_file_is_the_published_one() -> None:
    done = check(VENDOR)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_package_names_its_licence_and_carries_its_text() -> None:
    for package in json.loads((VENDOR / "versions.json").read_text()):
        assert package["licence"] in ("GPL-3.0-or-later", "MIT")
        assert "LICENSE" in package["files"]
        assert package["source"].startswith("https://registry.npmjs.org/")


def test_an_edited_file_is_named(vendor: Path) -> None:
    with (vendor / "uplot" / "uPlot.esm.js").open("a") as file:
        file.write("\n")
    done = check(vendor)
    assert done.returncode == 1
    assert f"{vendor}/uplot/uPlot.esm.js is not the published file of uplot" in done.stderr


def test_a_missing_and_an_unlisted_file_are_named(vendor: Path) -> None:
    (vendor / "uplot" / "LICENSE").rename(vendor / "uplot" / "COPYING")
    done = check(vendor)
    assert done.returncode == 1
    assert f"{vendor}/uplot/LICENSE is missing" in done.stderr
    assert f"{vendor}/uplot/COPYING is not in versions.json" in done.stderr


def test_a_list_that_cannot_be_read_is_named(vendor: Path) -> None:
    (vendor / "versions.json").write_text("[")
    done = check(vendor)
    assert done.returncode == 1
    assert done.stderr.startswith(f"vendor.py: {vendor}/versions.json cannot be read: ")
