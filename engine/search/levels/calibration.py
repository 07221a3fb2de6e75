"""The skill of each rating. Written by `lichessbot-engine calibrate --write`."""

# Below 1100 from 6,052 games of 2026-11-25; above from 3,730 of 2026-11-28 with the network 2026-11-27d, in which the
# full search played with 594 nodes and more: what fewer are worth, and skill 2000 itself, is extrapolated. Anchors:
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
    (1152, 1159.7),
    (1323, 1352.4),
    (1437, 1484.1),
    (1608, 1634.6),
    (1763, 1874.0),
    (1876, 2000.0),
    (2023, 2100.0),
    (2138, 2200.0),
    (2268, 2300.0),
    (2381, 2400.0),
    (2495, 2591.8),
    (2649, 2791.1),
    (2760, 2985.9),
    (3025, 3612.5),
)
