"""`python -m engine`: UCI on standard input and output; `python -m engine bench [DEPTH]`: the node signature."""

import sys

from engine.bench import DEFAULT_DEPTH, bench
from engine.uci import Uci

USAGE = "usage: lichessbot-engine [uci | bench [DEPTH]]"


def main() -> int:
    """Exit code 0, or 2 for arguments that make no sense."""
    match sys.argv[1:]:
        case [] | ["uci"]:
            Uci().run(sys.stdin)
        case ["bench"]:
            bench(DEFAULT_DEPTH)
        case ["bench", depth] if depth.isdecimal() and 1 <= int(depth) <= 30:
            bench(int(depth))
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
