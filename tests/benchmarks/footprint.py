"""The time to start the engine and to import it, its resident memory, and how that grows with searches."""

from collections.abc import Iterator, Mapping
from itertools import cycle
from statistics import linear_regression, median
from time import perf_counter

from tests.benchmarks.children import ENGINE, Child
from tests.benchmarks.figures import Figures
from tests.engine.positions import PERFT
from tests.scripts import run_python

READY_BAR_MS = 150
GROWTH_BAR_KIB = 1024              # one arena of Python's allocator; over 10,000 searches a leak of 120 bytes shows
IMPORT = "from time import perf_counter as now; began = now(); import engine.facade; print(now() - began)"
FILLING_MS = 2000                  # until every page of a 16 MB table has been touched
SEARCH_NODES = 1000
SAMPLES = 50


def ready_ms(options: Mapping[str, str] | None = None) -> float:
    """Return the time from starting the process, which sets these options, to its answer to `isready`."""
    started = perf_counter()
    with Child(ENGINE, options):
        return (perf_counter() - started) * 1000


def import_ms() -> float:
    """Return the time to import the facade in a new interpreter."""
    return float(run_python(IMPORT)) * 1000


def measure_start(figures: Figures, runs: int) -> None:
    figures.section("Start")
    ready = median(ready_ms() for _ in range(runs))
    figures.bar("ready after start", f"{ready:.0f} ms", f"under {READY_BAR_MS} ms", ready < READY_BAR_MS)
    figures.line("import of engine.facade", f"{median(import_ms() for _ in range(runs)):.0f} ms")


def sizes_kib(child: Child, searches: int) -> Iterator[tuple[int, int]]:
    """Search positions in turn; yield the number of searches so far and the resident size, about SAMPLES times."""
    positions = cycle(PERFT)
    interval = max(1, searches // SAMPLES)
    for number in range(1, searches + 1):
        child.search(next(positions), f"nodes {SEARCH_NODES}")
        if number % interval == 0:
            yield number, child.resident_kib()


def measure_memory(figures: Figures, searches: int) -> None:
    """Measure the resident size and its growth, after the table is full and a tenth of the searches are over."""
    figures.section("Memory, resident")
    with Child(ENGINE, {"Hash": "16", "Threads": "2"}) as child:
        figures.line("after start", f"{child.resident_kib() / 1024:.1f} MiB")
        child.search(next(iter(PERFT)), f"movetime {FILLING_MS}")
        figures.line("after a search with 16 MB of hash", f"{child.resident_kib() / 1024:.1f} MiB")
        sizes = list(sizes_kib(child, searches))
    settled = sizes[len(sizes) // 10 :]
    slope = linear_regression(*zip(*settled, strict=True)).slope
    growth = settled[-1][1] - settled[0][1]
    figures.line("growth for each search, fitted", f"{slope * 1024:.1f} bytes", "with two threads")
    wanted = f"flat, under {GROWTH_BAR_KIB} KiB"
    figures.bar(f"growth over {searches} searches", f"{growth} KiB", wanted, growth < GROWTH_BAR_KIB)
