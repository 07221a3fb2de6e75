"""How fast the full search is with a network, beside the hand-written evaluation in the same run.

    python -m tests.benchmarks.inference [--runs N] [--nodes N] [--net FILE ...]

Without FILE the networks count material, with 256 and 512 hidden values; both search the same tree. The portable build
of the inference and the one for this processor take turns with the hand-written evaluation; speeds are nodes for each
second of processor time on one thread, so that a busy machine harms them less. A figure is the median of the runs, a
ratio the median of the ratios of each turn. The exit code is 1 if a bar is missed.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from engine.evaluation.net_file import write
from tests.benchmarks.figures import Figures
from tests.benchmarks.footprint import ready_ms
from tests.engine.nets import material_net
from tests.scripts import run_python

SPEED_BAR = 2.0                    # M nodes/s with the largest network
READY_BAR_MS = 200
SIZES = (256, 512)

# Every fifth bench position, to this many nodes each; prints the build, the evaluation and M nodes/s.
SEARCH = """
import sys
from time import process_time
from engine.bench import POSITIONS
from engine.facade import Board, Engine, Limits, describe_build
engine = Engine()
engine.set_evaluation(sys.argv[1])
nodes, seconds = 0, 0.0
for fen in POSITIONS[::5]:
    engine.new_game()
    engine.set_position(Board(fen))
    began = process_time()
    nodes += engine.go(Limits(nodes=int(sys.argv[2]))).report.nodes
    seconds += process_time() - began
print(describe_build(), nodes / seconds / 1e6, sep=";")
"""


@dataclass(frozen=True)
class Side:
    """An evaluation and a build of the inference."""

    name: str
    evaluation: str
    portable: bool

    def search(self, nodes: int) -> tuple[str, float]:
        """Return the build that ran, and its speed in M nodes/s."""
        answer = run_python(SEARCH, self.evaluation, str(nodes), ENGINE_PORTABLE="1" if self.portable else "")
        build, speed = answer.split(";")
        return build, float(speed)


def measure_search(figures: Figures, files: list[Path], runs: int, nodes: int) -> None:
    figures.section("Search on one thread, M nodes/s of processor time; ratios to the hand-written evaluation")
    sides = [Side("hand-written", "none", False)]
    sides += [Side(path.stem, str(path), portable) for path in files for portable in (True, False)]
    turns = [[side.search(nodes) for side in sides] for _ in range(runs)]
    for index, side in enumerate(sides):
        speed = median(turn[index][1] for turn in turns)
        ratio = median(turn[index][1] / turn[0][1] for turn in turns)
        name = f"{side.name}, {turns[0][index][0]}" if index else side.name
        figure, remark = f"{speed:.2f} M/s", f"ratio {ratio:.2f}"
        if index == len(sides) - 1:
            figures.bar(name, figure, f"at least {SPEED_BAR} on an idle machine; {remark}", speed >= SPEED_BAR)
        else:
            figures.line(name, figure, remark)


def measure_start(figures: Figures, path: Path, runs: int) -> None:
    figures.section("Start")
    figures.line("ready, hand-written", f"{median(ready_ms({'EvalFile': 'none'}) for _ in range(runs)):.0f} ms")
    ready = median(ready_ms({"EvalFile": str(path)}) for _ in range(runs))
    figures.bar(f"ready, {path.stem}", f"{ready:.0f} ms", f"under {READY_BAR_MS} ms", ready < READY_BAR_MS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="turns of every comparison (7)")
    parser.add_argument("--nodes", type=int, default=200_000, help="of each search, of which there are ten (200000)")
    parser.add_argument("--net", type=Path, nargs="*", default=[], help="files of networks, the largest last")
    arguments = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        files: list[Path] = arguments.net or [Path(folder) / f"material {hidden}.net" for hidden in SIZES]
        if not arguments.net:
            for hidden, path in zip(SIZES, files, strict=True):
                write(material_net(hidden, 8), path)
        measure_search(figures, files, arguments.runs, arguments.nodes)
        measure_start(figures, files[-1], arguments.runs)
    return 0 if figures.all_met else 1


if __name__ == "__main__":
    sys.exit(main())
