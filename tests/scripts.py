"""Programs that tests write and start."""

from pathlib import Path


def script(path: Path, text: str) -> str:
    """Write an executable script and return its path."""
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def silly(folder: Path, answer: str, pause_s: float = 0) -> str:
    """Return the command of a UCI engine that has one answer to every `go`."""
    return script(
        folder / "silly",
        "#!/bin/sh\nwhile read line; do case $line in\nuci) echo uciok;; isready) echo readyok;; quit) exit;;\n"
        f"go*) sleep {pause_s}; echo {answer!r};;\nesac; done\n",
    )
