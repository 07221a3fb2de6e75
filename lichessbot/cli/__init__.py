"""The commands of `lichessbot`, a module for each or for a group, on click.

Knows options, exit codes and what the operator reads. Must not know chess or the API: each command calls what does the
work. Offers `main`.
"""

__all__ = ["main"]
