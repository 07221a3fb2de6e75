# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The static evaluation of variants: terms that all share, with weights of each variant, and a few terms of its own.

It resembles `evaluate.py` and is much shorter: variants are decided by tactics. The sum is linear in the weights, which
`variant_weights.py` has by variant; each is a packed midgame and endgame value. A term is written for "us" and called
once per side. `VariantNetwork` puts a network in the place of the terms.
"""

from collections.abc import Mapping, Sequence

import cython
from cython.cimports.engine.core.attacks import KING_ATTACKS, pawn_attacks, piece_attacks
from cython.cimports.engine.core.bitboard import advance, ahead, beside, bit, files_of, lsb, popcount, u64
from cython.cimports.engine.core.params import PHASE_SHIFT, VARIANT_ATTACK_UNITS, VARIANT_DECIDED, VARIANT_LIMIT
from cython.cimports.engine.core.pieces import BLACK, KIND_OF, KINDS, KING, PAWN, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import endgame_of, midgame_of, pack
from cython.cimports.engine.evaluation.network import FLIP_RANKS, AccumulatorCache, Network

# The terms and how many weights each has. Squares are numbered as in `weights.py`: kind * 32 + rank * 4 + file, a to d.
SIZES = {
    "material": 6,                 # [kind]
    "squares": 192,                # [kind, rank, file]
    "mobility": 5,                 # [kind] for each square attacked that no enemy pawn attacks
    "passed": 8,                   # [rank]
    "isolated": 1,
    "doubled": 1,
    "supported": 1,                # by another pawn
    "shelter": 4,                  # [own pawns beside and before the king]
    "king_attack": 16,             # [units]: attackers of the squares around the enemy king, and the unguarded squares
    "attacked_by_pawn": 1,         # for each enemy piece that a pawn attacks
    "hanging": 1,                  # for each enemy piece that is attacked and not guarded
    "tempo": 1,
    "own": 64,                     # the variant's own terms
}

if not cython.compiled:
    MAX_WEIGHTS = 352
    # `attacked_by`: [+ colour] what a side's pawns attack, all it attacks, the squares around its king; how strongly it
    # attacks the enemy's king.
    PAWN_ATTACKED, ATTACKED, ZONE, UNITS, ATTACKED_BY_SIZE = range(0, 10, 2)


def first_weight(name: str) -> int:
    """Return where the weights of a term begin."""
    names = list(SIZES)
    return sum([SIZES[earlier] for earlier in names[: names.index(name)]])


MATERIAL = cython.declare(cython.int, first_weight("material"))
SQUARES = cython.declare(cython.int, first_weight("squares"))
MOBILITY = cython.declare(cython.int, first_weight("mobility"))
PASSED = cython.declare(cython.int, first_weight("passed"))
ISOLATED = cython.declare(cython.int, first_weight("isolated"))
DOUBLED = cython.declare(cython.int, first_weight("doubled"))
SUPPORTED = cython.declare(cython.int, first_weight("supported"))
SHELTER = cython.declare(cython.int, first_weight("shelter"))
KING_ATTACK = cython.declare(cython.int, first_weight("king_attack"))
ATTACKED_BY_PAWN = cython.declare(cython.int, first_weight("attacked_by_pawn"))
HANGING = cython.declare(cython.int, first_weight("hanging"))
TEMPO = cython.declare(cython.int, first_weight("tempo"))
OWN = first_weight("own")
COUNT = sum(SIZES.values())
if COUNT > MAX_WEIGHTS:
    raise ImportError(f"variant_evaluation.pxd: MAX_WEIGHTS is {MAX_WEIGHTS}, expected at least {COUNT}")

Values = Mapping[str, Sequence[tuple[int, int]]]


@cython.cclass
class VariantEvaluation:
    """The evaluation of one variant. `goes_up`: both sides see the board from White's side."""

    def __init__(self, values: Values, goes_up: bool = False) -> None:
        """`values` are in centipawns; a term that is not named counts nothing. Raises ValueError for too many."""
        self.goes_up = goes_up
        for name, pairs in values.items():
            start = first_weight(name)
            if len(pairs) > SIZES[name]:
                raise ValueError(f"{name}: {len(pairs)} weights, expected at most {SIZES[name]}")
            for offset, (midgame, endgame) in enumerate(pairs):
                self.weights[start + offset] = pack(midgame, endgame)

    def python_evaluate(self, position: Position, extra: int) -> int:
        """Return `evaluate` to Python callers."""
        return self.evaluate(position, extra)

    def evaluate(self, position: Position, extra: u64) -> cython.int:
        """Return the static score in centipawns for the side to move; `extra` is that of the variant's position."""
        score: cython.int = self.balance(position, extra)
        if position.side_to_move == BLACK:
            score = -score
        full: cython.int = 1 << PHASE_SHIFT
        phase: cython.int = position.phase if position.phase < full else full
        score = (midgame_of(score) * phase + endgame_of(score) * (full - phase)) >> PHASE_SHIFT
        return VARIANT_LIMIT if score > VARIANT_LIMIT else -VARIANT_LIMIT if score < -VARIANT_LIMIT else score

    def pieces_off_board(self, extra: int) -> tuple[int, ...]:
        """Return the pieces that `count_off_board` counts."""
        counts = cython.declare(cython.int[12])
        if not cython.compiled:
            counts = [0] * 12
        self.count_off_board(extra, counts)
        return tuple([piece for piece in range(12) for _ in range(counts[piece])])

    def count_off_board(self, extra: u64, counts: cython.p_int) -> cython.void:
        """Write how many of each piece a network counts although they are not on the board."""
        piece: cython.int
        for piece in range(12):
            counts[piece] = 0

    def features(self, position: Position, extra: int) -> list[tuple[int, int]]:
        """Return the weights that count in a position, by index, and how often each counts for White."""
        kept = [self.weights[index] for index in range(COUNT)]
        found = []
        index: cython.int
        count: cython.int
        for index in range(COUNT):
            self.weights[index] = 0
        for index in range(COUNT):
            self.weights[index] = 1        # a midgame value of one centipawn
            count = self.balance(position, extra)
            if count:
                found.append((index, count))
            self.weights[index] = 0
        for index in range(COUNT):
            self.weights[index] = kept[index]
        return found

    def terms(self, position: Position, extra: int) -> dict[str, tuple[int, int, int, int]]:
        """Return each term: White's midgame and endgame values, then Black's, all from their owner's view."""
        attacked_by = cython.declare(cython.ulonglong[ATTACKED_BY_SIZE])
        self.begin_attacks(position, attacked_by)
        sums = (self.pieces(position, attacked_by, WHITE), self.pieces(position, attacked_by, BLACK))
        sides = [self._piece_terms(position, us, sums[us]) for us in range(2)]
        for us, terms in enumerate(sides):
            side: cython.int = us
            terms["pawns"] = self.pawns(position, side)
            terms["kings"] = self.kings(position, attacked_by, side)
            terms["threats"] = self.threats(position, attacked_by, side)
            terms["the variant's own"] = self.own_terms(position, extra, attacked_by, side)
            terms["tempo"] = self.weights[TEMPO] if position.side_to_move == us else 0
        white, black = sides
        return {
            name: (midgame_of(white[name]), endgame_of(white[name]), midgame_of(black[name]), endgame_of(black[name]))
            for name in white
        }

    def _piece_terms(self, position: Position, us: cython.int, whole: cython.int) -> dict[str, int]:
        """Return the summands of `pieces` by name; their sum is `whole`."""
        mobility: cython.int = whole           # as a C integer it is right even if too many pieces overflow `whole`
        material: cython.int = 0
        squares: cython.int = 0
        square: cython.int
        for square in range(64):
            if position.colours[us] & bit(square):
                kind: cython.int = KIND_OF[position.board[square]]
                material += self.weights[MATERIAL + kind]
                squares += self.weights[SQUARES + kind * 32 + self.place(square, us)]
        mobility -= material + squares
        return {"material": material, "squares": squares, "mobility": mobility}

    def balance(self, position: Position, extra: u64) -> cython.int:
        """Return the sum of all terms, White's less Black's, packed."""
        attacked_by = cython.declare(cython.ulonglong[ATTACKED_BY_SIZE])
        us: cython.int
        self.begin_attacks(position, attacked_by)
        score: cython.int = self.pieces(position, attacked_by, WHITE) - self.pieces(position, attacked_by, BLACK)
        for us in range(2):
            side: cython.int = self.pawns(position, us) + self.kings(position, attacked_by, us)
            side += self.threats(position, attacked_by, us) + self.own_terms(position, extra, attacked_by, us)
            score += side if us == WHITE else -side
        return score + (self.weights[TEMPO] if position.side_to_move == WHITE else -self.weights[TEMPO])

    def begin_attacks(self, position: Position, attacked_by: cython.p_ulonglong) -> cython.void:
        """Record what pawns attack, and the squares around the kings."""
        us: cython.int
        for us in range(2):
            king: u64 = position.pieces[us * KINDS + KING]
            attacked_by[PAWN_ATTACKED + us] = pawn_attacks(position.pieces[us * KINDS + PAWN], us)
            attacked_by[ATTACKED + us] = attacked_by[PAWN_ATTACKED + us]
            attacked_by[ZONE + us] = KING_ATTACKS[lsb(king)] | king if king else 0
            attacked_by[UNITS + us] = 0

    def place(self, square: cython.int, us: cython.int) -> cython.int:
        """Return the square as its owner numbers it for the weights, files mirrored."""
        file: cython.int = square & 7
        rank: cython.int = square >> 3
        if us == BLACK and not self.goes_up:
            rank = 7 - rank
        return rank * 4 + (file if file < 4 else 7 - file)

    def pieces(self, position: Position, attacked_by: cython.p_ulonglong, us: cython.int) -> cython.int:
        """Score material, squares and mobility; record what we attack."""
        score: cython.int = 0
        left: u64 = position.colours[us]
        safe: u64 = ~(position.colours[us] | attacked_by[PAWN_ATTACKED + (us ^ 1)])
        while left:
            square: cython.int = lsb(left)
            kind: cython.int = KIND_OF[position.board[square]]
            score += self.weights[MATERIAL + kind] + self.weights[SQUARES + kind * 32 + self.place(square, us)]
            if kind != PAWN:
                attacks: u64 = piece_attacks(kind, square, position.occupied)
                if kind != KING:
                    score += popcount(attacks & safe) * self.weights[MOBILITY + kind]
                    if attacks & attacked_by[ZONE + (us ^ 1)]:
                        attacked_by[UNITS + us] += VARIANT_ATTACK_UNITS[kind]
                attacked_by[ATTACKED + us] |= attacks
            left &= left - 1
        return score

    def pawns(self, position: Position, us: cython.int) -> cython.int:
        """Score passed, isolated, doubled and supported pawns."""
        ours: u64 = position.pieces[us * KINDS + PAWN]
        theirs: u64 = position.pieces[(us ^ 1) * KINDS + PAWN]
        score: cython.int = popcount(ours & pawn_attacks(ours, us)) * self.weights[SUPPORTED]
        score += popcount(ours & ahead(ours, us)) * self.weights[DOUBLED]
        score += popcount(ours & ~files_of(beside(ours))) * self.weights[ISOLATED]
        passed: u64 = ours & ~ahead(theirs | beside(theirs), us ^ 1)
        while passed:
            rank: cython.int = lsb(passed) >> 3
            score += self.weights[PASSED + (7 - rank if us == BLACK else rank)]
            passed &= passed - 1
        return score

    def kings(self, position: Position, attacked_by: cython.p_ulonglong, us: cython.int) -> cython.int:
        """Score the shelter of our king, and our attack on the enemy's: two attackers are worth more than twice one."""
        them: cython.int = us ^ 1
        score: cython.int = 0
        if attacked_by[ZONE + us]:
            front: u64 = attacked_by[ZONE + us] | advance(attacked_by[ZONE + us], us)
            pawns: cython.int = popcount(front & position.pieces[us * KINDS + PAWN])
            score = self.weights[SHELTER + (pawns if pawns < 3 else 3)]
        if attacked_by[UNITS + us]:
            units: cython.int = cython.cast(cython.int, attacked_by[UNITS + us])
            king: u64 = position.pieces[them * KINDS + KING]
            zone: u64 = attacked_by[ZONE + them] & ~king & ~attacked_by[PAWN_ATTACKED + them]
            units += popcount(zone & attacked_by[ATTACKED + us])
            score += self.weights[KING_ATTACK + (units if units < 15 else 15)]
        return score

    def threats(self, position: Position, attacked_by: cython.p_ulonglong, us: cython.int) -> cython.int:
        """Score enemy pieces that our pawns attack, and those that nothing guards."""
        them: cython.int = us ^ 1
        targets: u64 = position.colours[them] & attacked_by[ATTACKED + us] & ~position.pieces[them * KINDS + KING]
        pieces: u64 = targets & ~position.pieces[them * KINDS + PAWN]
        score: cython.int = popcount(targets & ~attacked_by[ATTACKED + them]) * self.weights[HANGING]
        return score + popcount(pieces & attacked_by[PAWN_ATTACKED + us]) * self.weights[ATTACKED_BY_PAWN]

    def own_terms(
        self, position: Position, extra: u64, attacked_by: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        """Score what matters in this variant only."""
        return 0


@cython.final
@cython.cclass
class VariantNetwork(VariantEvaluation):
    """The evaluation of one variant by a network, for one thread.

    A network tells who is winning, but not how to end a game that is won: beyond VARIANT_DECIDED the terms do.
    """

    def __init__(self, terms: VariantEvaluation, network: Network) -> None:
        VariantEvaluation.__init__(self, {}, terms.goes_up)
        self.terms = terms
        self.accumulators = AccumulatorCache(network, 0 if terms.goes_up else FLIP_RANKS)

    def evaluate(self, position: Position, extra: u64) -> cython.int:
        """Return the static score in centipawns for the side to move; `extra` is that of the variant's position."""
        self.terms.count_off_board(extra, self.off_board)
        score: cython.int = self.accumulators.score(position, self.off_board)
        if -VARIANT_DECIDED <= score <= VARIANT_DECIDED:
            return score
        by_terms: cython.int = self.terms.evaluate(position, extra) // 2
        if score > 0:
            return VARIANT_DECIDED + by_terms if by_terms > 0 else VARIANT_DECIDED
        return by_terms - VARIANT_DECIDED if by_terms < 0 else -VARIANT_DECIDED

    def count_off_board(self, extra: u64, counts: cython.p_int) -> cython.void:
        """Count as the terms' evaluation does."""
        self.terms.count_off_board(extra, counts)
