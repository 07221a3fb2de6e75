"""The review of a game that is over: accuracy, mistakes with better moves, and turning points.

Knows how our engine looks at the positions of a game (`analysis`), what follows from that (`review`), how it is said
(`words`), and when the daemon does it (`reviewer`). Nothing here knows of a game that still runs: during play, nobody
may hear what an engine thinks.
"""
