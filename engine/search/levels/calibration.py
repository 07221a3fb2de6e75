"""The skill of each rating. Written by `lichessbot-engine calibrate --skills --write`."""

# From 4,338 games with these anchors:
# 1320: stockfish 'Skill Level=0' nodes=5000 rating=1320
# 1468: stockfish 'Skill Level=1' nodes=5000 rating=1468
# 1608: stockfish 'Skill Level=2' nodes=5000 rating=1608
# 1742: stockfish 'Skill Level=3' nodes=5000 rating=1742
# 1923: stockfish 'Skill Level=4' nodes=5000 rating=1923
# 2204: stockfish 'Skill Level=5' nodes=20000 rating=2204
# 2363: stockfish 'Skill Level=6' nodes=20000 rating=2363
# 2500: stockfish 'Skill Level=7' nodes=20000 rating=2500
# 2596: stockfish 'Skill Level=8' nodes=60000 rating=2596
# 2703: stockfish 'Skill Level=9' nodes=60000 rating=2703
# 2788: stockfish 'Skill Level=10' nodes=60000 rating=2788
RATED = (
    # rating, skill
    (417, 200.0),
    (430, 340.0),
    (579, 480.0),
    (676, 620.0),
    (736, 760.0),
    (901, 900.0),
    (1070, 1040.0),
    (1269, 1180.0),
    (1381, 1320.0),
    (1490, 1460.0),
    (1598, 1600.0),
    (1677, 1740.0),
    (1750, 1880.0),
    (1944, 2020.0),
    (2054, 2160.0),
    (2163, 2300.0),
    (2286, 2440.0),
    (2418, 2580.0),
    (2479, 2720.0),
    (2645, 2860.0),
    (2872, 3000.0),
)
