"""Fits the weights of the evaluation to the results of the engine's own games. (chessprogramming wiki: Texel's Tuning)

`samples.py` turns positions into coefficients and follows the gradient, `tuner.py` runs the whole and writes
`engine/tuned.py`. Works on the evaluation of its own process alone; nothing that plays imports it.
"""
