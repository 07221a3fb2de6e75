# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Records as input of a network: the active inputs of either perspective, and the target.

A record is four words of 64 bits: the occupied squares, twice sixteen pieces of four bits, and the rest; in horde the
second word has the squares of White's pawns, and the third all other pieces. Records stay packed in memory, 32 bytes
each: unpacking costs little compared to the arithmetic of the network. (chessprogramming wiki: NNUE)
"""

from __future__ import annotations

import random
import sys
from array import array

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES, END_RANKS, bit, lsb, popcount, u64
from cython.cimports.engine.core.pieces import KIND_OF, KINDS, KING, NO_PIECE, NO_SQUARE, PAWN
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.threats import THREAT_BITS, THREATS, set_threats, threat_at
from cython.cimports.engine.evaluation.evaluate import evaluate

from engine.selfplay import records
from engine.selfplay.records import HORDE, RULES, Result

if not cython.compiled:
    from math import exp, log

    MAX_PIECES = 52                # of horde
    BOTH_VIEWS = 2 * MAX_PIECES

WORDS = 4                          # per record
MAX_LISTED = cython.declare(cython.int, 32)        # pieces of four bits in a record
PIECES_PER_WORD = cython.declare(cython.int, 16)
CANNOT_CASTLE = cython.declare(cython.int, records.CANNOT_CASTLE)
RACING_KINGS = cython.declare(cython.int, RULES.index("racingKings"))
RULES_OF_HORDE = cython.declare(cython.int, RULES.index(HORDE))
MOST_RULES = cython.declare(cython.int, len(RULES))
UNKNOWN = cython.declare(cython.int, int(Result.UNKNOWN))
NOTHING = cython.declare(cython.int, records.NOTHING)
LAMBDA = cython.declare(cython.double, 0.9)        # of TD(lambda): each later score weighs this much less
MAX_EXPECTED = cython.declare(cython.double, 0.9999)   # largest expected score that is turned back into centipawns


# --- Unpacking -------------------------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def piece_at(words: u64[::1], first: cython.longlong, index: cython.int) -> cython.int:
    """Return piece number `index` of the record at word `first`, counted from its second word on."""
    return cython.cast(cython.int, (words[first + 1 + (index >> 4)] >> (4 * (index & 15))) & 15)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def unlisted_pawns(words: u64[::1], first: cython.longlong) -> u64:
    """Return the squares of White's pawns in a record of horde, whose list of pieces lacks them; else none."""
    return words[first + 1] if rules_number(words[first + 3]) == RULES_OF_HORDE else 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def first_listed(words: u64[::1], first: cython.longlong) -> cython.int:
    """Return the number of the first piece in the list of a record."""
    return PIECES_PER_WORD if rules_number(words[first + 3]) == RULES_OF_HORDE else 0


def read_pieces(
    words: u64[::1], record: cython.int, mirrored: cython.bint, with_threats: cython.bint, pieces: cython.p_int
) -> cython.int:
    """Write the inputs of all pieces, MAX_PIECES for White's perspective, then as many for Black's.

    Returns the number of pieces. Without threats an input is a place: 64 times the piece, own pawn to king and then the
    opponent's, plus the square from the own side. `mirrored` swaps left and right, unless a castling right is left.
    A piece off the board is a pawn on the last rank, with a file for each kind.
    """
    first: cython.longlong = cython.cast(cython.longlong, record) * WORDS
    squares: u64 = words[first]
    rules: cython.int = rules_number(words[first + 3])
    flip: cython.int = 0 if rules == RACING_KINGS else 56      # in racing kings both see the board from White's side
    pawns: u64 = unlisted_pawns(words, first)
    listed: cython.int = first_listed(words, first)
    count: cython.int = 0
    piece: cython.int
    while squares:
        square: cython.int = lsb(squares)
        piece = PAWN               # White's
        if not pawns & bit(square):
            piece = piece_at(words, first, listed)
            listed += 1
        pieces[count] = 64 * piece + square
        pieces[MAX_PIECES + count] = 64 * (piece + KINDS if piece < KINDS else piece - KINDS) + (square ^ flip)
        squares &= squares - 1
        count += 1
    if mirrored and cannot_castle(words[first + 3]):
        index: cython.int
        for index in range(count):
            pieces[index] ^= 7
            pieces[MAX_PIECES + index] ^= 7
    if with_threats:
        add_threats(words, first, pieces)
    if rules and rules != RULES_OF_HORDE:
        while count < MAX_LISTED and piece_at(words, first, count) != NOTHING:
            piece = piece_at(words, first, count)
            pieces[count] = KIND_OF[piece] + (56 if piece < KINDS else 64 * KINDS)
            pieces[MAX_PIECES + count] = KIND_OF[piece] + (64 * KINDS if piece < KINDS else 56)
            count += 1
    return count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_threats(words: u64[::1], first: cython.longlong, pieces: cython.p_int) -> cython.void:
    """Turn the places of the record at word `first` into features: THREATS times the place, plus the threat."""
    squares_of = cython.declare(cython.ulonglong[12])
    bits = cython.declare(cython.ulonglong[3])
    if not cython.compiled:
        squares_of, bits = [0] * 12, [0] * THREAT_BITS
    index: cython.int
    for index in range(12):
        squares_of[index] = 0
    squares: u64 = words[first]
    index = 0
    while squares:
        squares_of[piece_at(words, first, index)] |= bit(lsb(squares))
        squares &= squares - 1
        index += 1
    set_threats(squares_of, words[first], bits, 0)
    squares = words[first]
    index = 0
    while squares:
        threat: cython.int = threat_at(bits, 0, lsb(squares))
        pieces[index] = THREATS * pieces[index] + threat
        pieces[MAX_PIECES + index] = THREATS * pieces[MAX_PIECES + index] + threat
        squares &= squares - 1
        index += 1


def cannot_castle(last_word: u64) -> cython.bint:
    """Return whether the record says that no castling right is left."""
    return (last_word >> 24) & CANNOT_CASTLE != 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def rules_number(last_word: u64) -> cython.int:
    """Return the number of the variant, 0 for standard chess."""
    return cython.cast(cython.int, last_word >> 26 & 0x3F)


def black_to_move(last_word: u64) -> cython.bint:
    """Return whether Black is to move."""
    return (last_word >> 24) & 1 != 0


def expected(logits: cython.double) -> cython.double:
    """Return the expected score of an advantage: the logistic function."""
    return 1 / (1 + exp(-logits))


def white_score(last_word: u64) -> cython.int:
    """Return the search score from White's view."""
    score: cython.int = cython.cast(cython.int, last_word & 0xFFFF)
    return score - 0x10000 if score >= 0x8000 else score


def result_of(last_word: u64) -> cython.int:
    """Return White's result in half points, or UNKNOWN."""
    return cython.cast(cython.int, (last_word >> 16) & 0xFF)


def target(last_word: u64, trust: cython.double, unit: cython.double) -> cython.double:
    """Return the target score of the side to move.

    `trust` is the weight of the search score, with `unit` centipawns per logistic unit; the result has the rest, if
    there is one.
    """
    prediction: cython.double = expected(white_score(last_word) / unit)
    if result_of(last_word) != UNKNOWN:
        prediction = trust * prediction + (1 - trust) * result_of(last_word) / 2.0
    return 1 - prediction if black_to_move(last_word) else prediction


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def next_random(state: u64) -> u64:
    """Return the next pseudo-random number; it is never 0."""
    state ^= (state << 13) & ALL_SQUARES
    state ^= state >> 7
    return state ^ ((state << 17) & ALL_SQUARES)


# --- For Python callers ----------------------------------------------------------------------------------------------


def pack(content: bytes) -> array[int]:
    """Return the words of these records."""
    words = array("Q", content)
    if sys.byteorder == "big":
        words.byteswap()
    return words


def first_invalid(words: u64[::1]) -> int:
    """Return the number of the first invalid record, -1 if there is none; no other function checks records."""
    record: cython.longlong
    index: cython.int
    for record in range(len(words) // WORDS):
        squares: u64 = words[WORDS * record]
        pawns: u64 = unlisted_pawns(words, WORDS * record)
        begin: cython.int = first_listed(words, WORDS * record)
        end: cython.int = begin + popcount(squares & ~pawns)
        last: u64 = words[WORDS * record + 3]
        if end > MAX_LISTED or not 2 <= popcount(squares) <= MAX_PIECES or pawns & ~squares:
            return record
        if result_of(last) > UNKNOWN or rules_number(last) >= MOST_RULES:
            return record
        of_variant: cython.bint = rules_number(last) != 0
        kings: cython.int = 0
        for index in range(begin, end):
            piece: cython.int = piece_at(words, WORDS * record, index)
            if piece >= NO_PIECE:
                return record
            if KIND_OF[piece] == PAWN and not of_variant and END_RANKS & bit(lsb(squares)):
                return record
            squares &= squares - 1
            kings += 1 if piece == KING else 100 if piece == KINDS + KING else 0
        if kings != 101 and not of_variant:
            return record
        for index in range(end, MAX_LISTED if of_variant else end):
            if piece_at(words, WORDS * record, index) in (NO_PIECE, NO_PIECE + 1, NO_PIECE + 2):
                return record
    return -1


def played(words: u64[::1]) -> array[int]:
    """Return the records with a result: those of positions in games, not in search trees."""
    kept = array("Q")
    record: cython.longlong
    for record in range(len(words) // WORDS):
        if result_of(words[WORDS * record + 3]) != UNKNOWN:
            kept.extend(words[WORDS * record : WORDS * record + WORDS])
    return kept


def add_hindsight(words: u64[::1], weight: cython.double, unit: cython.double) -> None:
    """Blend what came later in the game into each score, with a weight of 0 to 1.

    That is a mean of the later scores, nearer ones weighing more, and of the result. `unit` is the centipawns per
    logistic unit. Records without a result stay as they are. (Sutton: Temporal differences, TD(lambda))
    """
    record: cython.longlong
    later: cython.double = 0
    game_after: u64 = ALL_SQUARES      # no game has this number
    count: cython.longlong = len(words) // WORDS
    for record in range(count - 1, -1, -1):
        last: u64 = words[WORDS * record + 3]
        if result_of(last) == UNKNOWN:
            continue
        if last >> 32 != game_after:
            later = result_of(last) / 2.0
        game_after = last >> 32
        prediction: cython.double = expected(white_score(last) / unit)
        blend: cython.double = (1 - weight) * prediction + weight * later
        later = LAMBDA * later + (1 - LAMBDA) * prediction
        blend = blend if blend < MAX_EXPECTED else MAX_EXPECTED
        blend = blend if blend > 1 - MAX_EXPECTED else 1 - MAX_EXPECTED
        score: cython.int = round(unit * log(blend / (1 - blend)))
        words[WORDS * record + 3] = last >> 16 << 16 | (score & 0xFFFF)


def inputs(
    words: u64[::1], record: cython.int, mirrored: cython.bint, with_threats: cython.bint = False
) -> tuple[list[int], list[int]]:
    """For tests: return the active inputs of White's and of Black's perspective."""
    pieces = cython.declare(cython.int[BOTH_VIEWS])
    if not cython.compiled:
        pieces = [0] * BOTH_VIEWS
    count: cython.int = read_pieces(words, record, mirrored, with_threats, pieces)
    white = [pieces[index] for index in range(count)]
    return white, [pieces[MAX_PIECES + index] for index in range(count)]


def shuffled(count: cython.int, seed: cython.int, epoch: cython.int) -> array[int]:
    """Return the numbers 0 to `count` in random order, each doubled, plus 1 if the record is to be mirrored.

    A record mirrored in one epoch is not mirrored in the next. (Fisher and Yates; Marsaglia: Xorshift RNGs)
    """
    order = array("i", bytes(4 * count))
    entries: cython.int[::1] = order
    state: u64 = random.Random(f"order {seed} {epoch}").getrandbits(64) | 1
    coins: u64 = random.Random(f"mirror {seed}").getrandbits(64) | 1
    index: cython.int
    for index in range(count):
        coins = next_random(coins)
        entries[index] = 2 * index + cython.cast(cython.int, ((coins >> 32) + epoch) & 1)
    for index in range(count - 1, 0, -1):
        state = next_random(state)
        other: cython.int = cython.cast(cython.int, (state >> 16) % (index + 1))
        entry: cython.int = entries[index]
        entries[index] = entries[other]
        entries[other] = entry
    return order


def position_of(words: u64[::1], record: cython.int) -> Position:
    """Return the position of a record of standard chess, without castling rights and en passant."""
    board = [NO_PIECE] * 64
    pieces: u64 = words[WORDS * record]
    index: cython.int = 0
    while pieces:
        board[lsb(pieces)] = piece_at(words, WORDS * record, index)
        pieces &= pieces - 1
        index += 1
    position = Position()
    position.set_up(board, black_to_move(words[WORDS * record + 3]), [NO_SQUARE] * 4, NO_SQUARE, 0)
    return position


def hand_written_scores(words: u64[::1]) -> array[float]:
    """Return the hand-written evaluation of each record, in centipawns for the side to move."""
    record: cython.int
    count: cython.int = len(words) // WORDS
    scores = array("d", bytes(8 * count))
    for record in range(count):
        scores[record] = evaluate(position_of(words, record))
    return scores


def recorded_scores(words: u64[::1]) -> array[float]:
    """Return the search score of each record, in centipawns for the side to move."""
    record: cython.int
    count: cython.int = len(words) // WORDS
    scores = array("d", bytes(8 * count))
    for record in range(count):
        last: u64 = words[WORDS * record + 3]
        scores[record] = -white_score(last) if black_to_move(last) else white_score(last)
    return scores


def loss_of_scores(
    words: u64[::1], scores: cython.double[::1], scores_unit: cython.double, trust: cython.double, unit: cython.double
) -> float:
    """Return the mean squared error of these scores, with `scores_unit` per logistic unit, see `target`."""
    total: cython.double = 0
    record: cython.int
    count: cython.int = len(words) // WORDS
    for record in range(count):
        error: cython.double = expected(scores[record] / scores_unit) - target(words[WORDS * record + 3], trust, unit)
        total += error * error
    return total / max(1, count)
