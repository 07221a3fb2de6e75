"""What can go wrong between a bot and Lichess, and what each fault cost.

Must not know: the `rehearse` command and its opponents.
"""

__all__ = ["accounting", "catalogue", "connection_faults", "fault_injector", "schedule"]
