"""axe-core, which finds what keeps people from using a page: fetched once from the npm registry."""

import base64
import hashlib
import io
import os
import tarfile
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

ARCHIVE = "https://registry.npmjs.org/axe-core/-/axe-core-4.14.1.tgz"
INTEGRITY = "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
TIMEOUT_S = 30


class Unreachable(Exception):
    """The registry does not answer."""


def script(folder: Path) -> str:
    """Return axe-core, from the folder if it is there already. Raises Unreachable."""
    kept = folder / "axe-core-4.14.1.min.js"
    if not kept.exists():
        try:
            with urllib.request.urlopen(ARCHIVE, timeout=TIMEOUT_S) as answer:
                archive = answer.read()
        except (OSError, HTTPException) as error:
            raise Unreachable(f"axe-core cannot be fetched: {error}") from error
        found = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
        assert found == INTEGRITY
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            file = tar.extractfile("package/axe.min.js")
            assert file is not None
            part = kept.with_suffix(f".{os.getpid()}")       # two files of tests may fetch it at the same time
            part.write_bytes(file.read())
            part.rename(kept)
    return kept.read_text()


def serious(page: "Page", axe: str) -> list[str]:
    """Return what is serious or critical, in words. The page must be open without its content security policy."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    result: dict[str, Any] = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [
        f"{it['impact']}: {it['help']} ({it['id']}): {node['target']} {node['failureSummary']}"
        for it in result["violations"]
        if it["impact"] in ("serious", "critical")
        for node in it["nodes"]
    ]
