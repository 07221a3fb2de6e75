"""Play of limited strength: what a player of a given rating sees, how it judges, and how far it looks.

Knows the levels (`level`), their calibration, and the searches that play them (`level_player`). The full search knows
nothing of this package. `README.md` explains the model and has the measurements.
"""
