"""Neural inference and its network file, and which evaluation is in use.

Must not know: search, time, and how networks are trained.
"""

__all__ = ["eval_file", "net_file", "network", "processor"]
