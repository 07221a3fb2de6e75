#!/usr/bin/env python3
"""Keep the published files of other projects in `lichessbot/static/vendor` as the list there names them.

`versions.json` names each package's version, licence, archive, and the files taken from it, with their checksums. This
script needs only Python and, unless it compares, the npm registry.
"""

import argparse
import base64
import hashlib
import http.client
import io
import json
import sys
import tarfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

VENDOR = Path(__file__).resolve().parent.parent / "lichessbot" / "static" / "vendor"
REGISTRY = "https://registry.npmjs.org"
TIMEOUT_S = 60
LARGEST_ANSWER = 20_000_000

Package = dict[str, Any]


class VendorError(Exception):
    """What is wrong, where, and what to do about it."""


def read_list(vendor: Path) -> list[Package]:
    try:
        packages: list[Package] = json.loads((vendor / "versions.json").read_text())
    except (OSError, ValueError) as error:
        raise VendorError(f"{vendor / 'versions.json'} cannot be read: {error}") from None
    return packages


def write_list(vendor: Path, packages: list[Package]) -> None:
    (vendor / "versions.json").write_text(json.dumps(packages, indent=2) + "\n")


def local_path(vendor: Path, package: Package, name: str) -> Path:
    """Return where a file of a package lies: all of them in the package's folder, without folders of their own."""
    return vendor / str(package["folder"]) / Path(name).name


def get(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            body: bytes = answer.read(LARGEST_ANSWER)
    except urllib.error.HTTPError as error:
        raise VendorError(f"{url} was answered with {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise VendorError(f"{url} cannot be fetched: {getattr(error, 'reason', error)}") from None
    return body


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def unpack(package: Package) -> dict[str, bytes]:
    """Return the listed files of a package by name, from the archive that the list names."""
    archive = get(package["source"])
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
    if integrity != package["integrity"]:
        raise VendorError(f"{package['source']} has the checksum {integrity}, not {package['integrity']} as listed")
    contents = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for name in package["files"]:
            try:
                file = tar.extractfile(f"package/{name}")
            except KeyError:
                file = None
            if file is None:
                raise VendorError(f"{package['source']} has no file {name}; name what replaces it in versions.json")
            contents[name] = file.read()
    return contents


def fetch(vendor: Path) -> None:
    """Fetch every package again. Nothing is written unless all checksums are as listed."""
    fetched = [(package, unpack(package)) for package in read_list(vendor)]
    for package, contents in fetched:
        for name, content in contents.items():
            if (found := sha256(content)) != package["files"][name]:
                raise VendorError(f"{name} of {package['name']} is not the listed file: its checksum is {found}")
    for package, contents in fetched:
        for name, content in contents.items():
            path = local_path(vendor, package, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def compare(vendor: Path) -> list[str]:
    """Return what differs between the folder and the list, in words."""
    found = {path for path in vendor.rglob("*") if path.is_file()} - {vendor / "versions.json"}
    wrong = []
    for package in read_list(vendor):
        for name, expected in package["files"].items():
            path = local_path(vendor, package, name)
            if path not in found:
                wrong.append(f"{path} is missing")
            elif sha256(path.read_bytes()) != expected:
                wrong.append(f"{path} is not the published file of {package['name']} {package['version']}")
            found.discard(path)
    return wrong + [f"{path} is not in versions.json" for path in sorted(found)]


def take(vendor: Path, name: str, version: str) -> None:
    """Replace a listed package by another version (`latest` too) and write its checksums into the list."""
    packages = read_list(vendor)
    package = next((it for it in packages if name in (it["name"], it["folder"])), None)
    if package is None:
        known = ", ".join(it["folder"] for it in packages)
        raise VendorError(f"{name} is not in versions.json, which has {known}")
    published = json.loads(get(f"{REGISTRY}/{package['name']}/{version}"))
    package |= {"version": published["version"], "licence": published["license"]}
    package |= {"source": published["dist"]["tarball"], "integrity": published["dist"]["integrity"]}
    package["files"] = {file: sha256(content) for file, content in unpack(package).items()}
    write_list(vendor, packages)
    fetch(vendor)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare the files with the list; needs no network")
    parser.add_argument("--take", nargs=2, metavar=("NAME", "VERSION"), help="take another version of a package")
    parser.add_argument("--folder", type=Path, default=VENDOR, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    try:
        if arguments.check:
            if wrong := compare(arguments.folder):
                raise VendorError("\n".join(wrong) + "\nFetch them again: python deploy/vendor.py")
        elif arguments.take:
            take(arguments.folder, *arguments.take)
        else:
            fetch(arguments.folder)
    except VendorError as error:
        print(f"vendor.py: {error}", file=sys.stderr)
        return 1
    for package in read_list(arguments.folder):
        print(f"{package['name']} {package['version']}, {package['licence']}, {len(package['files'])} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
