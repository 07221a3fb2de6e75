"""The published files of other projects are as the list names them, and the script notices what differs."""

import base64
import hashlib
import importlib.util
import io
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
VENDOR = ROOT / "lichessbot" / "static" / "vendor"


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "deploy" / "vendor.py", "--check", "--folder", folder]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)


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


# What needs the registry, with a registry of the test's own


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, vendor: Path) -> Any:
    """The script as a module; its registry has the vendored files as version 99.0.0, with one of them changed."""
    spec = importlib.util.spec_from_file_location("vendor", ROOT / "deploy" / "vendor.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec.loader.exec_module(module)
    package = next(it for it in module.read_list(vendor) if it["folder"] == "uplot")
    contents = {name: module.local_path(vendor, package, name).read_bytes() for name in package["files"]}
    contents["dist/uPlot.esm.js"] += b"// newer\n"
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, content in contents.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive.getvalue()).digest()).decode()
    source = "https://registry.npmjs.org/uplot/-/uplot-99.0.0.tgz"
    published = {"version": "99.0.0", "license": "MIT", "dist": {"tarball": source, "integrity": integrity}}
    answers = {source: archive.getvalue(), "https://registry.npmjs.org/uplot/latest": json.dumps(published).encode()}
    # The other packages are not asked for.
    module.write_list(vendor, [package])
    for folder in ("chessground", "pgn-viewer"):
        shutil.rmtree(vendor / folder)
    answers[package["source"]] = archive.getvalue()
    monkeypatch.setattr(module, "get", answers.__getitem__)
    return module


def test_another_version_is_taken_with_its_checksums(script: Any, vendor: Path) -> None:
    script.take(vendor, "uplot", "latest")
    assert script.read_list(vendor)[0]["version"] == "99.0.0"
    assert (vendor / "uplot" / "uPlot.esm.js").read_bytes().endswith(b"// newer\n")
    assert script.compare(vendor) == []
    (vendor / "uplot" / "LICENSE").write_text("mine")
    script.fetch(vendor)
    assert script.compare(vendor) == []


def test_an_archive_with_another_checksum_is_refused(script: Any, vendor: Path) -> None:
    before = (vendor / "uplot" / "uPlot.esm.js").read_bytes()
    with pytest.raises(script.VendorError, match=r"has the checksum sha512-\S+, not sha512-\S+ as listed"):
        script.fetch(vendor)
    assert (vendor / "uplot" / "uPlot.esm.js").read_bytes() == before


def test_a_package_that_is_not_listed_is_named(script: Any, vendor: Path) -> None:
    with pytest.raises(script.VendorError, match=r"uplotte is not in versions\.json, which has uplot"):
        script.take(vendor, "uplotte", "latest")
