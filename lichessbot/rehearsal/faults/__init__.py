"""What can go wrong between a bot and Lichess, and what each fault cost.

Knows every fault (`catalogue`), when it strikes (`schedule`), how connections, requests, lines and events are
disturbed, whether a client keeps the rules of Lichess (`client_checks`), and the costs of faults (`accounting`).
Must not know: the `rehearse` command and its opponents.
Offers: `catalogue`, `schedule`, `connection_faults`, `accounting`, and `fault_injector`, which combines all faults.
"""

__all__ = ["accounting", "catalogue", "connection_faults", "fault_injector", "schedule"]
