"""Learns evaluations from the engine's own games. (chessprogramming wiki: Automated Tuning, NNUE)

The hand-written one: `samples.py` turns positions into coefficients and follows the gradient, `tuner.py` runs the whole
and writes `engine/tuned.py`. A neural one: `data.py` gathers positions, `survey.py` counts them, `features.py` turns
them into inputs, `float_net.py` computes, `training.py` decides what is learnt when, `production.py` writes the net,
its card and, by `curve.py`, the picture of its losses. `outcomes.py` learns what scores mean: how often a game is won,
drawn and lost. Works on the evaluation of its own process alone; nothing that plays imports it.

Knows how weights and networks are learnt from records. Must not know: protocols and the daemon.
"""

__all__ = ["data", "export", "generations", "statistics", "trainer", "tuner", "wdl_fit"]
