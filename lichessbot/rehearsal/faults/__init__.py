"""What can go wrong between a bot and Lichess, and what each fault cost.

Knows every fault (`catalogue`), when it strikes (`schedule`), how it strikes connections, requests, lines and events,
whether a client keeps Lichess's rules (`client_checks`), and what each fault cost (`accounting`).
Must not know: the `rehearse` command and its opponents.
Offers: `catalogue`, `schedule`, `connection_faults`, `accounting`, and `fault_injector`, which combines all faults.
"""

__all__ = ["accounting", "catalogue", "connection_faults", "fault_injector", "schedule"]
