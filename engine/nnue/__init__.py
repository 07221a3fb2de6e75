"""Knows neural inference, the network file, and which evaluation is in use.

Must not know: search, time, and how networks are trained.
Offers `network` (inference), `net_file` (the file format), `eval_file` (the choice of the evaluation) and `processor`
(vector instructions).
"""

__all__ = ["eval_file", "net_file", "network", "processor"]
