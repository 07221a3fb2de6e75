"""Trains evaluations on records of self-play: the hand-written weights and networks.

Knows how weights, networks and win probabilities are fitted, checked and written; README.md explains the steps.
Must not know: protocols, the daemon and the command line; nothing that plays imports it.
Offers the tuner, the trainer, record statistics, the WDL fit, the loop of generations, and SPSA with its tunable build.
(chessprogramming wiki: Automated Tuning, NNUE)
"""

__all__ = ["data", "export", "generations", "spsa", "statistics", "trainer", "tunable", "tuner", "wdl_fit"]
