"""The tunable numbers of evaluation, search and clock, with unit and sane range. Nothing is computed here.

The weights of the evaluation are in `weights.py`, the numbers of limited strength in `levels/level.py`. A number that
compiled files use is also declared in `params.pxd`. `lichessbot-engine spsa` reads the bounds `sane LOW..HIGH` from the
comments. A value is a guess unless its line or section names a tuning run or games.
"""

# --- Evaluation: what is not a weight (see weights.py) ---------------------------------------------
PHASE_VALUE = (0, 3, 3, 5, 10, 0)  # [kind]: how much a piece counts towards the phase of the game
PHASE_SHIFT = 6                    # the full board's phase is 1 << 6, so that blending needs no division

ATTACK_UNITS = [0, 2, 2, 3, 4, 0]  # [kind] of a piece that attacks the squares around the king; sane 1..6
WEAK_SQUARE_UNITS = 1              # for each of these squares that only the king guards; sane 0..3
CHECK_UNITS = [0, 3, 2, 3, 3, 0]   # [kind] that can give a check which costs it nothing; sane 1..5

KNOWN_WIN = 800                    # cp above the material left; sane 500..2000
WIN_EDGE = 20                      # cp per step the bare king is nearer to the edge; sane 5..40
WIN_CORNER = 60                    # cp per step it is nearer to the corner where knight and bishop mate; sane 20..100
WIN_DISTANCE = 10                  # cp per step the kings are nearer to each other; sane 5..30
WIN_WITHOUT_PAWNS = 3              # times WIN_EDGE and WIN_DISTANCE, in endings of pieces against pieces; sane 1..4
WIN_PAWN_RANK = 20                 # cp per rank of the pawn in a won ending; sane 5..40

# How much an endgame advantage counts, in parts of SCALE_NORMAL:
SCALE_NORMAL = 64                  # in full
# The next two are what 20,000 and 66,000 positions of our games came to, by the scores of the network 2026-11-22e.
SCALE_NO_PAWNS = 4                 # if the stronger side has no pawns and is at most a minor piece ahead; sane 0..32
SCALE_BARE_BISHOPS = 7             # for each of its pawns, with only bishops of opposite colours; sane 2..12
SCALE_OPPOSITE_BISHOPS = 52        # with bishops of opposite colours and other pieces; sane 32..64
SCALE_PER_PAWN = 5                 # less for each pawn that the stronger side has short of four; sane 0..10
ENDGAME_PIECES = 16                # with more pieces and pawns a network's score counts in full; sane 10..20

NETWORK_LIMIT = 4000               # cp: limit of a network's score; a known win scores more; sane 2000..10000

VARIANT_LIMIT = 9000               # cp: limit of the terms' score in variants, far from a mate; sane 4000..12000
VARIANT_DECIDED = 1200             # cp of a variant's network: beyond it the terms show the way to win; sane 500..3000
VARIANT_ATTACK_UNITS = [0, 2, 2, 3, 3, 0]          # ATTACK_UNITS in variants; sane 1..6

STYLE_LIMIT = 300                  # cp: the most that a named style adds to a score; sane 100..500
STYLE_BEHIND = 0                   # cp: a side worse by more than this begins to count as behind; sane 0..100
STYLE_FAR_BEHIND = 150             # cp: ... and from here on as fully behind; sane 100..500

FIFTY_MOVES_FADING = 200           # a score is multiplied by (this - halfmove clock) / this; sane 150..400

# --- Search --------------------------------------------------------------------------------------------------------
# Numbers whose range is 20 or wider were tuned by games: 32 of them by 16,000 and again by 15,000, then all 49 by
# 10,120 (2026-11-25 and 27 in the log). LATE_MOVE_COUNT and NEGATIVE_EXTENSION were chosen by games (2026-11-24).
ASPIRATION_DEPTH = 5               # plies: from here on the window starts narrow; sane 3..8
ASPIRATION_WINDOW = 17             # cp to each side; sane 10..60
ASPIRATION_GROWTH = 97             # percent by which it grows on every failure; sane 20..200
ASPIRATION_LIMIT = 804             # cp: wider than this, the window is opened at once; sane 300..2000

EXCHANGE_VALUE = [100, 320, 330, 500, 950, 0]      # cp, [kind, pawn to king]: what counts in an exchange

INTERNAL_REDUCTION_DEPTH = 4       # plies: from here on a node without a table move is searched 1 ply less; sane 2..6

REVERSE_FUTILITY_DEPTH = 8         # plies: not tried above; sane 3..9
REVERSE_FUTILITY_MARGIN = 66       # cp per ply of depth; sane 40..150
REVERSE_FUTILITY_IMPROVING = 57    # cp less when improving; sane 0..150

NULL_MOVE_DEPTH = 3                # plies: not tried below; sane 2..4
NULL_MOVE_REDUCTION = 3429         # 1/1024 ply; sane 2000..5000
NULL_MOVE_REDUCTION_SLOPE = 301    # ... more for each ply of depth; sane 100..400
NULL_MOVE_SURPLUS = 242            # cp of evaluation above beta for one ply more; sane 100..300
NULL_MOVE_SURPLUS_LIMIT = 2482     # 1/1024 ply: no more than this for the surplus; sane 1024..5000
NULL_MOVE_VERIFICATION_DEPTH = 12  # plies: from here on a verification search confirms a null move; sane 8..16
NULL_MOVE_EVALUATION = 129         # cp that the evaluation must be above beta ...; sane 0..400
NULL_MOVE_SLOPE = 24               # ... less this for each ply of depth; sane 10..40

PROBCUT_DEPTH = 5                  # plies: not tried below; sane 4..7
PROBCUT_MARGIN = 203               # cp above beta; sane 100..250
PROBCUT_REDUCTION = 4              # plies by which the search that confirms a capture is shallower; sane 3..5

SINGULAR_DEPTH = 7                 # plies: not tried below; sane 5..9
SINGULAR_MARGIN = 32               # 1/16 cp per ply of depth that all other moves must stay below; sane 10..80
SINGULAR_TT_DEPTH = 3              # plies by which the table's score may be shallower than the node; sane 2..5
NEGATIVE_EXTENSION = 2             # plies for a table move above beta that is not singular; sane 1..3
EXTENSION_LIMIT = 2                # times the root's depth: no move is extended from this ply on; sane 1..4

HINDSIGHT_REDUCTION = 2            # plies: a reply is reduced too if the last move was by this or more ...; sane 1..4
HINDSIGHT_MARGIN = 190             # cp: ... and lost more than this of evaluation; sane 100..300

LATE_MOVE_DEPTH = 2                # plies: no move is reduced below; sane 2..4
LATE_MOVE_COUNT = 1                # moves searched in full before any is reduced; sane 1..6
LATE_MOVE_BASE = 1404              # 1/1024 ply; sane 0..2500
LATE_MOVE_SLOPE = 561              # 1/1024 ply, times ln(depth) ln(move number); sane 200..800
REDUCE_CUT_NODE = 715              # 1/1024 ply more where a cutoff is expected; sane 0..2500
REDUCE_NOT_IMPROVING = 943         # ... where the evaluation does not improve; sane 0..2000
REDUCE_TT_TACTICAL = 503           # ... if the table's move is a capture or promotion; sane 0..1500
REDUCE_LESS_ON_PV = 633            # 1/1024 ply less on the principal variation; sane 0..2000
REDUCE_LESS_ON_TT_PV = 846         # ... where an earlier principal variation came by; sane 0..2000
REDUCE_LESS_IF_FORCED = 988        # ... if the node is forced: in check, or in a variant by its rules; sane 0..2000
REDUCE_BAD_CAPTURE = -248          # 1/1024 ply more (negative: less) for captures that lose material; sane -1500..1500
DEEPER_MARGIN = 63                 # cp above alpha: a reduced move is searched again a ply deeper; sane 30..120
LATE_MOVE_HISTORY = 8105           # history points that change a reduction by one ply; sane 4000..20000

MOVE_COUNT_DEPTH = 8               # plies: above, late quiet moves are not skipped by their number; sane 4..10
MOVE_COUNT_BASE = 6498             # 1/1024: quiet moves are skipped after this many moves ...; sane 1000..10000
MOVE_COUNT_SLOPE = 1087            # ... more for each ply of depth, squared; sane 500..2000
MOVE_COUNT_NOT_IMPROVING = 612     # ... of 1024 of these if not improving; sane 300..1000
FUTILITY_DEPTH = 8                 # plies, after reduction; sane 5..10
FUTILITY_BASE = 84                 # cp; sane 50..150
FUTILITY_MARGIN = 47               # cp per ply; sane 30..150
EXCHANGE_PRUNING_DEPTH = 8         # plies; sane 6..10
QUIET_EXCHANGE_MARGIN = 80         # cp per ply that a quiet move may lose by exchange; sane 30..150
CAPTURE_EXCHANGE_MARGIN = 96       # cp per ply that a capture may lose; sane 60..150

TT_CUTOFF_CLOCK = 90               # half-moves without progress: from here on the table ends no node; sane 80..98
REPLACEMENT_AGE = 4                # plies of depth that one search of age costs a table entry; sane 1..8
PROBE_DEPTH = 2                    # plies left: nearer to the leaves the search probes no tablebase; guess, sane 1..6

DELTA_MARGIN = 203                 # cp: a capture that stays this far below alpha is not tried; sane 100..300
FORCED_PLIES = 4                   # plies of the quiescence search in which forced captures are followed; sane 2..12

HISTORY_LIMIT = 11112              # move statistics stay within +- this; sane 4096..12000
BUTTERFLY_WEIGHT = 78              # 1/64: weights in the score of a quiet move; sane 20..128
CONTINUATION_1_WEIGHT = 59         # of its history after the move before it; sane 20..128
CONTINUATION_2_WEIGHT = 74         # ... after the one two plies earlier; sane 20..128
CONTINUATION_4_WEIGHT = 40         # ... after the one four plies earlier; sane 0..96
PAWN_HISTORY_WEIGHT = 63           # ... with the pawns on the board; sane 20..128
HISTORY_BONUS = 318                # points per ply of depth; sane 80..500
HISTORY_BONUS_LIMIT = 2293         # sane 1000..4000
HISTORY_MALUS = 176                # the same for moves tried before without success; sane 80..300
HISTORY_MALUS_LIMIT = 1270         # sane 1000..2500
GOOD_CAPTURE_HISTORY = 97          # points of capture history for which a good capture may lose 1 cp; sane 30..200
HISTORY_RISE = 8                   # points for a quiet move per cp that the evaluation rose; sane 2..20
HISTORY_RISE_LIMIT = 1058          # and no more than these; sane 500..2000
CORRECTION_LIMIT = 62              # cp: none of the three corrections is larger; sane 30..120
PAWN_CORRECTION = 48               # 1/64: weight of the correction by pawns; sane 20..128
PIECE_CORRECTION = 60              # ... of those by each side's pieces; sane 20..128
CORRECTION_SCALE = 256             # corrections are kept in parts of a centipawn, this many to one
CORRECTION_DEPTH_LIMIT = 16        # plies: deeper searches weigh no more; sane 8..24
CORRECTION_WEIGHT = 294            # a correction moves by error * min(depth + 1, that limit) / this; sane 128..512

# --- WDL: how search scores turn into wins, draws and losses, see wdl.py ------------------------------
# Fitted on 2026-11-23 by `lichessbot-engine records --wdl` to 11,790,939 positions of 205,844 of our games, 1,000
# nodes a move by the network 2026-11-22f.
WDL_EVEN = 275                     # cp that win half of the games with 16 pieces and pawns; sane 100..500
WDL_EVEN_PIECES = -135             # cp more with 32 pieces and pawns, as many less with none; sane -250..250
WDL_SPREAD = 142                   # cp of one logistic unit with 16 pieces and pawns; sane 100..400
WDL_SPREAD_PIECES = 31             # cp more with 32 pieces and pawns, as many less with none; sane -100..100
WDL_LIMIT = 1420                   # cp that a boundless lead counts as; sane 500..5000

# --- Time ----------------------------------------------------------------------------------------------------------
# The first four were chosen by games at a simulated clock (2026-11-29 in the log).
MOVES_LEFT = 34                    # moves we expect still to play ...; sane 20..40
MOVES_LEFT_PER_PIECE = 50          # ... in hundredths more for each piece and pawn on the board; sane 0..100
MOVES_LEFT_PER_MOVE = 60           # ... in hundredths fewer for each move of the game so far; sane 0..100
LEAST_MOVES_LEFT = 10              # ... but at least these; sane 8..20
NO_INCREMENT_PERCENT = 130         # of these moves without an increment that pays for the overhead; sane 100..200
NO_INCREMENT_LEAST = 36            # ... but at least these, each of which costs the overhead; sane 25..60
HARD_FACTOR = 4                    # the hard deadline, in soft deadlines; sane 2..6
HARD_PERCENT = 35                  # part of the clock one move may cost at most; sane 10..60
LAST_MOVE_PERCENT = 80             # the same for the last move before more time is added; sane 60..95
SCRAMBLE_MOVES = 200               # moves that must fit into a clock too short for their overhead; sane 100..400
NEXT_DEPTH_PERCENT = 90            # of the soft deadline gone: too late to begin another depth; sane 30..100

# How the soft deadline adapts, see time_manager.py; all in percent.
STEADY_PERCENT = (160, 130, 110, 95, 85, 80)   # [depths in a row with the same best move]; sane 50..250
SCORE_TREND_LIMIT = 50             # cp: a bigger rise or drop counts as this much; sane 20..100
SCORE_TREND_PERCENT = 80           # for each centipawn of drop, in hundredths; sane 0..150
SHARE_BASE = 150                   # of the soft deadline, if the best move took no nodes ...; sane 120..200
SHARE_PERCENT = 80                 # ... less this / 100 for each percent of the nodes that it took; sane 0..150
SOFT_PERCENT_MIN = 40              # bounds of the adapted soft deadline, in percent; sane 20..80
SOFT_PERCENT_MAX = 300             # sane 150..400
