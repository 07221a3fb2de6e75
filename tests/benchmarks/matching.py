"""Games of the daemon with `strength: match_opponent` against people of all ratings: are they even?

    python -m tests.benchmarks.matching [--games 216] [--concurrency 4] [--clock 120+1] [--seed N]
        [--time-scale 1]

The people are our own engine at the level of their rating, so this proves that the level reaches the engine and that
nothing else of the daemon makes the bot stronger or weaker; how well levels fit ratings, `lichessbot-engine calibrate`
measures. Each band of 200 points should score 35 to 65 %. Chance alone takes a band of 22 games out of that in one of
six cases, one of 100 games in one of 500: a band fails if its 95 % interval lies outside, and 900 games decide.
They are played in rehearsals of 36 games, two against each rating. On a busy machine, where engines start slowly, a
larger `--time-scale` gives them time.
"""

import argparse
import math
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping

from engine.selfplay.sprt import Z_95
from tests.benchmarks.figures import Figures

BAND = 200
RATINGS = range(850, 2600, 100)     # two in each band
BATCH = 2 * len(RATINGS)
BANDS = range(800, 2600, BAND)
LEAST, MOST = 35.0, 65.0
_SCORE = re.compile(r"against (\d+): \d+ games, (\d+) won, (\d+) drawn, (\d+) lost")

Results = tuple[int, int, int]      # won, drawn, lost


def read(lines: Iterable[str]) -> Mapping[int, Results]:
    """Return the results of rehearsals by band."""
    bands: dict[int, Results] = {}
    for line in lines:
        if found := _SCORE.search(line):
            rating, *counts = map(int, found.groups())
            band = BANDS.start + (rating - BANDS.start) // BAND * BAND
            won, drawn, lost = (a + b for a, b in zip(bands.get(band, (0, 0, 0)), counts, strict=True))
            bands[band] = won, drawn, lost
    return bands


def interval(results: Results) -> tuple[float, float, float]:
    """Return the score in percent, and its 95 % interval (Wilson's, with draws as half a win)."""
    games = sum(results)
    share, z = (results[0] + results[1] / 2) / games, Z_95
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    half = z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games)) / (1 + z * z / games)
    return 100 * share, 100 * (middle - half), 100 * (middle + half)


def report(bands: Mapping[int, Results], wanted: int) -> bool:
    """Print a line for each band; return whether all games were played and no band is uneven."""
    figures = Figures()
    figures.section("score of the bot by the rating of its opponents")
    for band in BANDS:
        results = bands.get(band, (0, 0, 0))
        score, low, high = interval(results) if sum(results) else (0.0, 0.0, 0.0)
        counts = "+{} ={} -{}".format(*results)
        name = f"{band}-{band + BAND - 1}: {counts}"
        even = high >= LEAST and low <= MOST
        wanted_text = f"{LEAST:.0f}-{MOST:.0f} %{'' if LEAST <= score <= MOST else ', within the interval'}"
        figures.bar(name, f"{score:.1f} % ({low:.0f}-{high:.0f})", wanted_text, even)
    played = sum(sum(results) for results in bands.values())
    figures.bar("games", str(played), str(wanted), played == wanted)
    return figures.all_met


def rehearse(arguments: argparse.Namespace, seed: int) -> list[str]:
    """Play two games against each rating, and return what the rehearsal printed."""
    levels = ",".join(map(str, RATINGS))
    command = [sys.executable, "-P", "-m", "lichessbot", "rehearse", "--strength", "match_opponent"]
    command += ["--opponent", f"level:{levels}", "--games", str(BATCH), "--seed", str(seed)]
    command += ["--concurrency", str(arguments.concurrency), "--clock", arguments.clock]
    command += ["--time-scale", arguments.time_scale]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as it:
        for line in it.stdout:
            lines.append(line)
            print(line, end="", flush=True)
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=216, help="how many games, rounded up (216)")
    parser.add_argument("--concurrency", type=int, default=4, help="games at a time (4)")
    parser.add_argument("--clock", default="120+1", help="seconds and increment (120+1)")
    parser.add_argument("--seed", type=int, default=0, help="of the opponents (0)")
    parser.add_argument("--time-scale", default="1", help="factor of every wait but the clocks (1)")
    arguments = parser.parse_args()
    lines: list[str] = []
    batches = -(-arguments.games // BATCH)
    for batch in range(batches):
        lines += rehearse(arguments, arguments.seed + batch)
        is_good = report(read(lines), BATCH * (batch + 1))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
