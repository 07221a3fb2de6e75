"""Machines that tests share."""

from typing import Final

from lichessbot.uci.machine import Machine

UNKNOWN_MACHINE: Final = Machine(None, None)
