"""Controlling a running daemon: commands of the operator that arrive on a socket, and the status it answers with.

Knows: the commands (`commands`), the status as one tree of values (`status`), both ends of the socket (`server`,
`client`), the operator's page (`web`), what is counted for the status (`counters`), how the main thread answers
(`handler`), and how the process ends (`shutdown`).
Must not know: Lichess, engines and games; each part of the daemon describes itself in the values of `status`.
Offers: all its modules but `sockets`.
"""

__all__ = ["client", "commands", "counters", "handler", "server", "shutdown", "status", "web"]
