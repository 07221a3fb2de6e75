# cython: language_level=3
"""Every tunable number of the engine, with unit and sane range. Nothing is computed here.

All are guesses from chess lore until a tuning run or games say otherwise; then the line says so.
"""

# --- Evaluation, centipawns ----------------------------------------------------------------------------------------
TEMPO = 12                         # for having the move; sane 0..30

# [kind, pawn to king]: value in the midgame and endgame, and how much it counts towards the phase of the game.
MIDGAME_VALUE = (90, 320, 335, 480, 970, 0)
ENDGAME_VALUE = (110, 300, 320, 530, 950, 0)
PHASE_VALUE = (0, 3, 3, 5, 10, 0)
PHASE_SHIFT = 6                    # the full board's phase is 1 << 6, so that blending needs no division

# A piece's square is worth its rank's bonus plus its file's, each sane -60..150. Ranks from the own first to the last,
# files from the edge to the centre (a and h, b and g, c and f, d and e).
MIDGAME_RANKS = (
    (0, -8, -4, 6, 14, 30, 60, 0),             # pawn: space, and the promotion that nears
    (-30, -16, 0, 10, 18, 22, 6, -20),         # knight: outposts
    (-16, 2, 8, 8, 10, 8, 0, -8),              # bishop: off the back rank
    (0, -6, -8, -6, 0, 6, 18, 8),              # rook: the seventh
    (-4, 2, 2, 0, -2, 2, 4, 4),                # queen: not out too early
    (18, 2, -24, -44, -56, -60, -60, -60),     # king: at home behind its pawns
)
MIDGAME_FILES = (
    (-10, -2, 0, 12),
    (-24, -8, 4, 10),
    (-8, 2, 2, 4),
    (-6, -2, 4, 10),
    (-6, -2, 2, 4),
    (10, 18, -6, -14),                         # king: castled
)
ENDGAME_RANKS = (
    (0, -6, -2, 6, 22, 55, 100, 0),            # pawn: passed or soon to be
    (-20, -8, 2, 8, 10, 6, -6, -20),
    (-10, -2, 2, 4, 4, 2, -2, -6),
    (-6, -6, -2, 2, 4, 6, 10, 6),
    (-22, -12, 0, 10, 16, 14, 10, 4),
    (-34, -14, 2, 14, 20, 18, 6, -20),         # king: a fighting piece now
)
ENDGAME_FILES = (
    (4, 4, 0, -4),                             # pawn: outside passed pawns
    (-18, -6, 4, 8),
    (-6, 0, 2, 4),
    (0, 0, 0, 0),
    (-10, -2, 6, 10),
    (-18, -4, 8, 14),
)

# --- Search --------------------------------------------------------------------------------------------------------
EXCHANGE_VALUE = [100, 320, 330, 500, 950, 0]      # cp, [kind, pawn to king]: what counts in an exchange

ASPIRATION_DEPTH = 5               # plies: from here on the window starts narrow; sane 3..8
ASPIRATION_WINDOW = 25             # cp to each side, doubled on every failure; sane 10..60
ASPIRATION_LIMIT = 1000            # cp: wider than this, the window is opened at once; sane 300..2000

NULL_MOVE_DEPTH = 3                # plies: not tried below; sane 2..4
NULL_MOVE_REDUCTION = 3            # plies; sane 2..4
NULL_MOVE_DIVISOR = 4              # one ply more for every so many plies of depth; sane 3..8

REVERSE_FUTILITY_DEPTH = 6         # plies: not tried above; sane 3..9
REVERSE_FUTILITY_MARGIN = 90       # cp per ply of depth; sane 50..200

LATE_MOVE_DEPTH = 3                # plies: no move is reduced below; sane 2..4
LATE_MOVE_COUNT = 3                # moves searched in full before any is reduced; sane 2..6
LATE_MOVE_BASE = 60                # hundredths of a ply; sane 0..150
LATE_MOVE_SLOPE = 45               # hundredths of a ply, times ln(depth) ln(move number); sane 20..80

HISTORY_LIMIT = 16384              # move statistics stay within +- this; sane 4096..32768

# --- Time ----------------------------------------------------------------------------------------------------------
MOVES_TO_GO = 28                   # moves we expect to play with what is on the clock; sane 20..50
HARD_FACTOR = 4                    # the hard deadline, in soft deadlines; sane 2..6
HARD_PERCENT = 35                  # part of the clock one move may cost at most; sane 10..60
SCRAMBLE_MOVES = 200               # moves that must fit into a clock too short for their overhead; sane 100..400
NEXT_DEPTH_PERCENT = 55            # of the soft deadline gone: too late to begin another depth; sane 30..100

# How the soft deadline bends, see clock.py; all in percent.
STEADY_PERCENT = (160, 130, 110, 95, 85, 80)   # [depths in a row with the same best move]; sane 50..250
SCORE_TREND_LIMIT = 50             # cp: a bigger rise or drop counts as this much; sane 20..100
SCORE_TREND_PERCENT = 80           # for each centipawn of drop, in hundredths; sane 0..150
SHARE_BASE = 150                   # for a best move that took no nodes at all; sane 120..200
SHARE_PERCENT = 80                 # less for each percent of the nodes, in hundredths; sane 0..150
BEND_LEAST = 40                    # sane 20..80
BEND_MOST = 300                    # sane 150..400
