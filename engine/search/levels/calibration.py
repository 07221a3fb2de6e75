"""The skill of each rating. Written by `lichessbot-engine calibrate --write`."""

# From 6,052 games with these anchors:
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
    (301, 200.0),
    (308, 340.0),
    (615, 480.0),
    (774, 620.0),
    (941, 760.0),
    (1030, 900.0),
    (1100, 1040.0),
    (1217, 1180.0),
    (1313, 1320.0),
    (1473, 1460.0),
    (1630, 1600.0),
    (1711, 1740.0),
    (1804, 1880.0),
    (1901, 2020.0),
    (2059, 2160.0),
    (2219, 2300.0),
    (2320, 2440.0),
    (2392, 2580.0),
    (2487, 2720.0),
    (2611, 2860.0),
    (2710, 3000.0),
    (2742, 3140.0),
)
