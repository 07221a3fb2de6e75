# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The static evaluation: a sum of named terms, blended from midgame to endgame as pieces leave the board.

Each term is a function written for "us", called once per side, that returns a packed score. Attack sets that several
terms need are in the array `attacked_by`: `begin_attacks` and `mobility` fill it, so they come first, for both sides.
The sum is linear in the weights; the tuner relies on it. A network takes the place of the sum, but not that of known
endings and drawishness.
(chessprogramming wiki: Evaluation, Tapered Eval, Mobility, King Safety)
"""

import cython
from cython.cimports.engine.core.attacks import (
    KING_ATTACKS,
    KNIGHT_ATTACKS,
    bishop_attacks,
    pawn_attacks,
    piece_attacks,
    rook_attacks,
)
from cython.cimports.engine.core.bitboard import (
    DARK_SQUARES,
    RANKS_3_TO_5,
    RANKS_4_TO_6,
    advance,
    ahead,
    beside,
    bit,
    files_of,
    lsb,
    popcount,
    u64,
)
from cython.cimports.engine.core.params import (
    ATTACK_UNITS,
    CHECK_UNITS,
    NETWORK_LIMIT,
    PHASE_SHIFT,
    SCALE_NORMAL,
    WEAK_SQUARE_UNITS,
)
from cython.cimports.engine.core.pieces import (
    BISHOP,
    BLACK,
    KINDS,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
)
from cython.cimports.engine.core.position import PIECE_SQUARE, Position
from cython.cimports.engine.core.score import DRAW, NO_SCORE, endgame_of, midgame_of
from cython.cimports.engine.evaluation.endings import endgame_scale, known_result, scaled_for_drawishness
from cython.cimports.engine.evaluation.network import Accumulators, Network
from cython.cimports.engine.evaluation.pawns import PASSED_PAWNS, pawns_and_kings, relative
from cython.cimports.engine.evaluation.weights import MATERIAL, WEIGHTS

from engine.evaluation import pawns, weights
from engine.evaluation.weights import first_weight

if not cython.compiled:
    # `attacked_by`: [piece] the squares that all pieces of that kind attack. Further entries:
    ATTACKED = 12                  # [+ colour] squares that a side attacks, its king left out
    SAFE = 14                      # [+ colour] mobility area: no own pawn or king, no attack by a pawn
    UNITS = 17                     # [+ colour] a number, not a set: units of attack on the enemy king
    ATTACKED_BY_SIZE = 19          # with the passed pawns of both sides at PASSED_PAWNS (16)

MOST_UNITS = cython.declare(cython.int, 31)


# --- Attacks ---------------------------------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def begin_attacks(position: Position, attacked_by: cython.p_ulonglong, us: cython.int) -> cython.void:
    """Record what our pawns and king attack, and the squares safe for our pieces."""
    first: cython.int = us * KINDS
    them: cython.int = us ^ 1
    ours: u64 = position.pieces[first + PAWN]
    theirs: u64 = position.pieces[them * KINDS + PAWN]
    attacked_by[first + PAWN] = pawn_attacks(ours, us)
    attacked_by[first + KING] = KING_ATTACKS[position.king_square(us)]
    attacked_by[ATTACKED + us] = attacked_by[first + PAWN]
    attacked_by[SAFE + us] = ~(ours | position.pieces[first + KING] | pawn_attacks(theirs, them))
    attacked_by[UNITS + us] = 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def kind_mobility(
    position: Position, attacked_by: cython.p_ulonglong, us: cython.int, kind: cython.int, weight: cython.int
) -> cython.int:
    """Record what our pieces of one kind attack; return their mobility."""
    them: cython.int = us ^ 1
    pieces: u64 = position.pieces[us * KINDS + kind]
    zone: u64 = attacked_by[them * KINDS + KING]
    zone |= advance(zone, them)
    safe: u64 = attacked_by[SAFE + us]
    all_attacks: u64 = 0
    score: cython.int = 0
    while pieces:
        attacks: u64 = piece_attacks(kind, lsb(pieces), position.occupied)
        all_attacks |= attacks
        score += WEIGHTS[weight + popcount(attacks & safe)]
        if attacks & zone:
            attacked_by[UNITS + us] += ATTACK_UNITS[kind]
        pieces &= pieces - 1
    attacked_by[us * KINDS + kind] = all_attacks
    attacked_by[ATTACKED + us] |= all_attacks
    return score


# --- Terms -----------------------------------------------------------------------------------------------------------


KNIGHT_MOBILITY = cython.declare(cython.int, first_weight("knight_mobility"))
BISHOP_MOBILITY = cython.declare(cython.int, first_weight("bishop_mobility"))
ROOK_MOBILITY = cython.declare(cython.int, first_weight("rook_mobility"))
QUEEN_MOBILITY = cython.declare(cython.int, first_weight("queen_mobility"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def mobility(position: Position, attacked_by: cython.p_ulonglong, us: cython.int) -> cython.int:
    """Score the safe squares that each of our pieces attacks; this completes our part of `attacked_by`."""
    return (
        kind_mobility(position, attacked_by, us, KNIGHT, KNIGHT_MOBILITY)
        + kind_mobility(position, attacked_by, us, BISHOP, BISHOP_MOBILITY)
        + kind_mobility(position, attacked_by, us, ROOK, ROOK_MOBILITY)
        + kind_mobility(position, attacked_by, us, QUEEN, QUEEN_MOBILITY)
    )


BISHOP_PAIR = cython.declare(cython.int, first_weight("bishop_pair"))
BISHOP_PAWNS = cython.declare(cython.int, first_weight("bishop_pawns"))
OUTPOST = cython.declare(cython.int, first_weight("outpost"))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def outpost_ranks(us: cython.int) -> u64:
    """Return the fourth to sixth rank from our side."""
    return RANKS_3_TO_5 if us else RANKS_4_TO_6


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def minor_pieces(position: Position, attacked_by: cython.p_ulonglong, us: cython.int) -> cython.int:
    """Score the bishop pair, pawns on a bishop's colour, and outposts no enemy pawn can attack."""
    first: cython.int = us * KINDS
    them: cython.int = us ^ 1
    bishops: u64 = position.pieces[first + BISHOP]
    knights: u64 = position.pieces[first + KNIGHT]
    ours: u64 = position.pieces[first + PAWN]
    score: cython.int = 0
    if bishops & DARK_SQUARES:
        score += popcount(ours & DARK_SQUARES) * WEIGHTS[BISHOP_PAWNS]
    if bishops & ~DARK_SQUARES:
        score += popcount(ours & ~DARK_SQUARES) * WEIGHTS[BISHOP_PAWNS]
        if bishops & DARK_SQUARES:
            score += WEIGHTS[BISHOP_PAIR]
    supported: u64 = (knights | bishops) & attacked_by[first + PAWN] & outpost_ranks(us)
    if supported:
        supported &= ~ahead(beside(position.pieces[them * KINDS + PAWN]), them)
        score += popcount(supported & knights) * WEIGHTS[OUTPOST]
        score += popcount(supported & bishops) * WEIGHTS[OUTPOST + 1]
    return score


ROOK_HALF_OPEN = cython.declare(cython.int, first_weight("rook_half_open"))
ROOK_OPEN = cython.declare(cython.int, first_weight("rook_open"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rooks(position: Position, us: cython.int) -> cython.int:
    """Score our rooks on half-open and open files."""
    score: cython.int = 0
    pieces: u64 = position.pieces[us * KINDS + ROOK]
    while pieces:
        file: u64 = files_of(pieces & (~pieces + 1))
        if not file & position.pieces[us * KINDS + PAWN]:
            score += WEIGHTS[ROOK_HALF_OPEN if file & position.pieces[(us ^ 1) * KINDS + PAWN] else ROOK_OPEN]
        pieces &= pieces - 1
    return score


KING_ATTACK = cython.declare(cython.int, first_weight("king_attack"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def king_attack(position: Position, attacked_by: cython.p_ulonglong, us: cython.int) -> cython.int:
    """Score our attack on the enemy king from a table: two attackers are worth more than twice one.

    Units count the attackers, the squares that only the king guards, and the safe checks. Without an attacker the
    score is 0.
    """
    if attacked_by[UNITS + us] == 0:
        return 0
    first: cython.int = us * KINDS
    them: cython.int = us ^ 1
    king: cython.int = position.king_square(them)
    guarded: u64 = attacked_by[ATTACKED + them]
    units: cython.int = cython.cast(cython.int, attacked_by[UNITS + us])
    units += WEAK_SQUARE_UNITS * popcount(attacked_by[them * KINDS + KING] & attacked_by[ATTACKED + us] & ~guarded)
    free: u64 = ~(guarded | attacked_by[them * KINDS + KING] | position.colours[us])
    diagonals: u64 = bishop_attacks(king, position.occupied) & free
    lines: u64 = rook_attacks(king, position.occupied) & free
    if KNIGHT_ATTACKS[king] & free & attacked_by[first + KNIGHT]:
        units += CHECK_UNITS[KNIGHT]
    if diagonals & attacked_by[first + BISHOP]:
        units += CHECK_UNITS[BISHOP]
    if lines & attacked_by[first + ROOK]:
        units += CHECK_UNITS[ROOK]
    if (diagonals | lines) & attacked_by[first + QUEEN]:
        units += CHECK_UNITS[QUEEN]
    return WEIGHTS[KING_ATTACK + (units if units < MOST_UNITS else MOST_UNITS)]


THREAT_BY_PAWN = cython.declare(cython.int, first_weight("threat_by_pawn"))
THREAT_BY_MINOR = cython.declare(cython.int, first_weight("threat_by_minor"))
THREAT_BY_ROOK = cython.declare(cython.int, first_weight("threat_by_rook"))
HANGING = cython.declare(cython.int, first_weight("hanging"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def threats(position: Position, attacked_by: cython.p_ulonglong, us: cython.int) -> cython.int:
    """Score enemy pieces attacked by cheaper ones, and hanging pieces."""
    first: cython.int = us * KINDS
    them: cython.int = us ^ 1
    guarded: u64 = attacked_by[ATTACKED + them] | attacked_by[them * KINDS + KING]
    loose: u64 = position.colours[them] & (attacked_by[ATTACKED + us] | attacked_by[first + KING]) & ~guarded
    loose &= ~position.pieces[them * KINDS + PAWN]
    minors: u64 = attacked_by[first + KNIGHT] | attacked_by[first + BISHOP]
    score: cython.int = popcount(loose) * WEIGHTS[HANGING] if loose else 0
    kind: cython.int
    for kind in range(KNIGHT, KING):
        targets: u64 = position.pieces[them * KINDS + kind]
        if targets & attacked_by[ATTACKED + us]:
            score += popcount(targets & attacked_by[first + PAWN]) * WEIGHTS[THREAT_BY_PAWN + kind]
            score += popcount(targets & minors) * WEIGHTS[THREAT_BY_MINOR + kind]
            score += popcount(targets & attacked_by[first + ROOK]) * WEIGHTS[THREAT_BY_ROOK + kind]
    pawns_at_risk: u64 = position.pieces[them * KINDS + PAWN] & attacked_by[ATTACKED + us] & ~guarded
    if pawns_at_risk == 0:
        return score
    score += popcount(pawns_at_risk & minors) * WEIGHTS[THREAT_BY_MINOR + PAWN]
    score += popcount(pawns_at_risk & attacked_by[first + ROOK]) * WEIGHTS[THREAT_BY_ROOK + PAWN]
    return score


PASSED_BLOCKED = cython.declare(cython.int, first_weight("passed_blocked"))
PASSED_SAFE = cython.declare(cython.int, first_weight("passed_safe"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def passed_advance(position: Position, attacked_by: cython.p_ulonglong, us: cython.int) -> cython.int:
    """Score our passed pawns that are blocked or may safely advance."""
    score: cython.int = 0
    them: cython.int = us ^ 1
    danger: u64 = attacked_by[ATTACKED + them] | attacked_by[them * KINDS + KING]
    passed: u64 = attacked_by[PASSED_PAWNS] & position.pieces[us * KINDS + PAWN]
    while passed:
        square: cython.int = lsb(passed)
        rank: cython.int = relative(square, us) >> 3
        stop: u64 = advance(bit(square), us)
        if stop & position.occupied:
            score += WEIGHTS[PASSED_BLOCKED + rank]
        elif not stop & danger:
            score += WEIGHTS[PASSED_SAFE + rank]
        passed &= passed - 1
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def side_score(position: Position, attacked_by: cython.p_ulonglong, us: cython.int) -> cython.int:
    """Return the sum of one side's terms that need the whole of `attacked_by`: after `mobility` of both sides."""
    return (
        minor_pieces(position, attacked_by, us)
        + rooks(position, us)
        + king_attack(position, attacked_by, us)
        + threats(position, attacked_by, us)
        + passed_advance(position, attacked_by, us)
    )


def _side_terms(position: Position, side: cython.int) -> dict[str, int]:
    """Return the terms of one side by name, packed. Every summand of `side_score` needs a row here."""
    attacked_by = cython.declare(cython.ulonglong[ATTACKED_BY_SIZE])
    pawns_and_kings(position, attacked_by)
    begin_attacks(position, attacked_by, WHITE)
    begin_attacks(position, attacked_by, BLACK)
    moves = (mobility(position, attacked_by, WHITE), mobility(position, attacked_by, BLACK))
    material: cython.int = 0
    kind: cython.int
    for kind in range(KING):
        material += popcount(position.pieces[side * KINDS + kind]) * WEIGHTS[MATERIAL + kind]
    squares: cython.int = 0
    square: cython.int
    for square in range(64):
        if position.colours[side] & bit(square):
            squares += PIECE_SQUARE[position.board[square] * 64 + square]
    return {
        "material": material,
        "squares": (squares if side == WHITE else -squares) - material,
        "mobility": moves[side],
        **pawns.pawn_terms(position, side),
        "passed advance": passed_advance(position, attacked_by, side),
        "minor pieces": minor_pieces(position, attacked_by, side),
        "rooks": rooks(position, side),
        "king attack": king_attack(position, attacked_by, side),
        "threats": threats(position, attacked_by, side),
        "tempo": WEIGHTS[TEMPO] if position.side_to_move == side else 0,
    }


# --- The sum ---------------------------------------------------------------------------------------------------------


TEMPO = cython.declare(cython.int, first_weight("tempo"))


def balance(position: Position) -> cython.int:
    """Return the sum of all terms, White's less Black's, packed. It is linear in the weights."""
    attacked_by = cython.declare(cython.ulonglong[ATTACKED_BY_SIZE])
    score: cython.int = position.piece_square + pawns_and_kings(position, attacked_by)
    begin_attacks(position, attacked_by, WHITE)
    begin_attacks(position, attacked_by, BLACK)
    score += mobility(position, attacked_by, WHITE) - mobility(position, attacked_by, BLACK)
    score += side_score(position, attacked_by, WHITE) - side_score(position, attacked_by, BLACK)
    return score + (WEIGHTS[TEMPO] if position.side_to_move == WHITE else -WEIGHTS[TEMPO])


def endgame_part(position: Position, score: cython.int) -> cython.int:
    """Return how much of the endgame value counts, of params.SCALE_NORMAL."""
    return endgame_scale(position, WHITE if endgame_of(score) > 0 else BLACK)


def known_score(position: Position) -> cython.int:
    """Return the score of a known ending for the side to move, else NO_SCORE."""
    score: cython.int = known_result(position)
    return -score if position.side_to_move == BLACK and score != NO_SCORE else score


def evaluate(position: Position) -> cython.int:
    """Return the static score in centipawns for the side to move."""
    score: cython.int = known_score(position)
    if score != NO_SCORE:
        return score
    score = balance(position)
    part: cython.int = endgame_part(position, score)
    if position.side_to_move == BLACK:
        score = -score
    full: cython.int = 1 << PHASE_SHIFT
    phase: cython.int = position.phase if position.phase < full else full     # promotions may exceed the full board
    midgame: cython.int = midgame_of(score) * phase
    endgame: cython.int = endgame_of(score) * part // SCALE_NORMAL * (full - phase)
    return (midgame + endgame) >> PHASE_SHIFT


def evaluate_by_network(position: Position, accumulators: Accumulators, ply: cython.int) -> cython.int:
    """Return the static score of a network in centipawns for the side to move.

    Known endgames come first; a known win scores above anything the network returns.
    """
    known: cython.int = known_score(position)
    if known == NO_SCORE:
        return scaled_for_drawishness(position, accumulators.score(position, ply))
    if known == DRAW:
        return DRAW
    return known + NETWORK_LIMIT if known > DRAW else known - NETWORK_LIMIT


# --- For Python callers ----------------------------------------------------------------------------------------------


def phase_of(position: Position) -> tuple[int, int]:
    """Return the phase of the position and of the full board; their quotient is the weight of the midgame values."""
    full: cython.int = 1 << PHASE_SHIFT
    return min(position.phase, full), full


def is_known(position: Position) -> bool:
    """Return whether the position is a known ending, which is scored without the terms."""
    return known_result(position) != NO_SCORE


def network_score(position: Position, network: Network) -> int:
    """Return `evaluate_by_network` to Python callers."""
    return evaluate_by_network(position, Accumulators(network), 0)


def use_values(values: weights.Values) -> None:
    """Use these weights from now on. Positions set up before keep their old piece-square sum."""
    weights.set_values(values)
    pawns.forget()


def terms(position: Position) -> dict[str, tuple[int, int, int, int]]:
    """Return each term: White's midgame and endgame values, then Black's, all from their owner's view.

    The last term is what drawishness takes from the stronger side, or what a known ending changes.
    """
    white, black = _side_terms(position, WHITE), _side_terms(position, BLACK)
    parts = {
        name: (midgame_of(white[name]), endgame_of(white[name]), midgame_of(black[name]), endgame_of(black[name]))
        for name in white
    }
    midgame = sum(part[0] - part[2] for part in parts.values())
    endgame = sum(part[1] - part[3] for part in parts.values())
    known = known_result(position)
    if known != NO_SCORE:
        parts["known ending"] = (known - midgame, known - endgame, 0, 0)
        return parts
    loss = abs(endgame) - abs(endgame) * endgame_part(position, balance(position)) // SCALE_NORMAL
    parts["drawishness"] = (0, -loss, 0, 0) if endgame > 0 else (0, 0, 0, -loss)
    return parts
