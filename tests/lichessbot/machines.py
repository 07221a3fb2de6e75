"""Machines that tests share."""

from typing import Final

from lichessbot.uci.profiles import Machine

UNKNOWN_MACHINE: Final = Machine(None, None)
