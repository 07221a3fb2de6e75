"""The page's files: read from the package, checked by the browser with an ETag before each use."""

from hashlib import sha256
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


class File(NamedTuple):
    content: bytes
    media_type: str
    etag: str


def find(folder: Traversable, path: str) -> File | None:
    """Return the file at a path below the folder, with slashes; None if there is none of a kind that pages use."""
    parts = path.split("/")
    if any(part.startswith(".") or not part or "\\" in part or "\0" in part for part in parts):
        return None
    media_type = TYPES.get("." + parts[-1].rpartition(".")[2].lower())
    if media_type is None:
        return None
    try:
        content = folder.joinpath(*parts).read_bytes()
    except OSError:
        return None  # a folder, or no file; or a name that is too long
    return File(content, media_type, f'"{sha256(content).hexdigest()[:32]}"')
