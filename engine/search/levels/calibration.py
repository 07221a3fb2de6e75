"""The skill of each rating. Written by `lichessbot-engine calibrate --write`."""

RATED = (
    # rating, skill
    (600, 600.0),
    (2850, 2850.0),
)
