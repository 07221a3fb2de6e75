"""`python -m lichessbot`, and the console script `lichessbot`."""

import sys

from lichessbot.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
