"""The engine's commands as processes, at a terminal or through pipes."""

import sys

COMMAND = [sys.executable, "-P", "-m", "engine"]
TIMEOUT_S = 200
