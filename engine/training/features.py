# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Records as a net sees them: which of its 768 inputs are on for either side, and what the position was worth.

A record is four words of 64 bits: the occupied squares, twice sixteen men of four bits each, and the rest. Records stay
packed in memory, 32 bytes each, and are taken apart whenever they are needed: that costs little beside the arithmetic
of the net. Knows `records.py`'s layout and nothing of nets. (chessprogramming wiki: NNUE)
"""

from __future__ import annotations

import random
import sys
from array import array

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES, lsb, popcount, u64
from cython.cimports.engine.core.pieces import KIND_OF, KINDS, KING, NO_PIECE, NO_SQUARE, ROOK
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.evaluation.evaluate import evaluate

from engine.core.position_setup import set_up

if not cython.compiled:
    from math import exp, log

WORDS = 4                          # of a record
MAX_PIECES = cython.declare(cython.int, 32)
SEVEN_RANKS = cython.declare(cython.int, 56)
HOMES_WHITE = cython.declare(cython.int, 3)        # a king and a rook on White's first rank, see `home`
HOMES_BLACK = cython.declare(cython.int, 12)
SETTLED = cython.declare(cython.int, 2)            # of the side's byte: no castling right is left, see `records.py`
LATER_KEPT = cython.declare(cython.double, 0.9)    # of hindsight: each position weighs so much of the one before it
SUREST = cython.declare(cython.double, 0.9999)     # share of the point; what promises more has no score


# --- Taking a record apart -------------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def piece_at(words: u64[::1], first: cython.longlong, index: cython.int) -> cython.int:
    """The piece that the record at `first` names as number `index`."""
    return cython.cast(cython.int, (words[first + 1 + (index >> 4)] >> (4 * (index & 15))) & 15)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def home(piece: cython.int, square: cython.int) -> cython.int:
    """A bit for a king or a rook on its own first rank, 0 for all else."""
    kind: cython.int = KIND_OF[piece]
    if kind != KING and kind != ROOK:
        return 0
    if piece < KINDS:
        return (1 if kind == KING else 2) if square < 8 else 0
    return (4 if kind == KING else 8) if square >= SEVEN_RANKS else 0


def read_men(words: u64[::1], record: cython.int, mirrored: cython.bint, men: cython.p_int) -> cython.int:
    """Enter the inputs of all men: 32 as White sees the board, then 32 as Black does; returns how many.

    An input is 64 times the piece, our own pawn to king and then theirs, plus the square, counted from our side.
    `mirrored`: with the files from h to a, unless somebody might still castle: no mirrored game has that right.
    """
    first: cython.longlong = cython.cast(cython.longlong, record) * WORDS
    squares: u64 = words[first]
    count: cython.int = 0
    homes: cython.int = 0
    while squares:
        square: cython.int = lsb(squares)
        piece: cython.int = piece_at(words, first, count)
        homes |= home(piece, square)
        men[count] = 64 * piece + square
        men[MAX_PIECES + count] = 64 * (piece + KINDS if piece < KINDS else piece - KINDS) + (square ^ 56)
        squares &= squares - 1
        count += 1
    if mirrored and (settled(words[first + 3]) or not may_castle(homes)):
        index: cython.int
        for index in range(count):
            men[index] ^= 7
            men[MAX_PIECES + index] ^= 7
    return count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def may_castle(homes: cython.int) -> cython.bint:
    """Does either side have its king and a rook on its first rank, as far as their bits tell?"""
    return homes & HOMES_WHITE == HOMES_WHITE or homes & HOMES_BLACK == HOMES_BLACK


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def settled(last_word: u64) -> cython.bint:
    """Does the record say that nobody may castle any more?"""
    return (last_word >> 24) & SETTLED != 0


def black_to_move(last_word: u64) -> cython.bint:
    """Is Black to move?"""
    return (last_word >> 24) & 1 != 0


def expected(logits: cython.double) -> cython.double:
    """The logistic function: from an advantage to the share of the point it promises."""
    return 1 / (1 + exp(-logits))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def white_score(last_word: u64) -> cython.int:
    """The score of the search, White's view."""
    score: cython.int = cython.cast(cython.int, last_word & 0xFFFF)
    return score - 0x10000 if score >= 0x8000 else score


def target(last_word: u64, trust: cython.double, unit: cython.double) -> cython.double:
    """What the position should promise the side to move.

    `trust` in the score of the search, `unit` centipawns being one logistic unit, the rest in the game's result.
    """
    result: cython.int = cython.cast(cython.int, (last_word >> 16) & 0xFF)
    hope: cython.double = trust * expected(white_score(last_word) / unit) + (1 - trust) * result / 2.0
    return 1 - hope if black_to_move(last_word) else hope


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def next_random(state: u64) -> u64:
    """The next of a series of numbers that look random; none of them is 0."""
    state ^= (state << 13) & ALL_SQUARES
    state ^= state >> 7
    return state ^ ((state << 17) & ALL_SQUARES)


# --- For Python callers ----------------------------------------------------------------------------------------------


def pack(content: bytes) -> array[int]:
    """The words of records."""
    words = array("Q", content)
    if sys.byteorder == "big":
        words.byteswap()
    return words


def first_invalid(words: u64[::1]) -> int:
    """The number of the first record that is none, -1 if all are sound; nothing else here looks again."""
    record: cython.longlong
    index: cython.int
    for record in range(len(words) // WORDS):
        count: cython.int = popcount(words[WORDS * record])
        last: u64 = words[WORDS * record + 3]
        if count > MAX_PIECES or (last >> 16) & 0xFF > 2 or (last >> 24) & 0xFF > 3:
            return record
        kings: cython.int = 0
        for index in range(count):
            piece: cython.int = piece_at(words, WORDS * record, index)
            if piece >= NO_PIECE:
                return record
            kings += 1 if piece == KING else 100 if piece == KINDS + KING else 0
        if kings != 101:
            return record
    return -1


def add_hindsight(words: u64[::1], weight: cython.double, unit: cython.double) -> None:
    """Blend into the scores of whole games, with a weight of 0 to 1, what came later in them.

    That is a mean of the later scores, the nearer ones weighing more, and at the end of the game its result. Later
    searches have seen further. `unit` centipawns are one logistic unit. (Sutton: Temporal differences, TD(lambda))
    """
    record: cython.longlong
    later: cython.double = 0
    game_after: u64 = 0
    count: cython.longlong = len(words) // WORDS
    for record in range(count - 1, -1, -1):
        last: u64 = words[WORDS * record + 3]
        if record == count - 1 or last >> 32 != game_after:
            later = ((last >> 16) & 0xFF) / 2.0
        game_after = last >> 32
        hope: cython.double = expected(white_score(last) / unit)
        blend: cython.double = (1 - weight) * hope + weight * later
        later = LATER_KEPT * later + (1 - LATER_KEPT) * hope
        blend = blend if blend < SUREST else SUREST
        blend = blend if blend > 1 - SUREST else 1 - SUREST
        score: cython.int = round(unit * log(blend / (1 - blend)))
        words[WORDS * record + 3] = last >> 16 << 16 | (score & 0xFFFF)


def inputs(words: u64[::1], record: cython.int, mirrored: cython.bint) -> tuple[list[int], list[int]]:
    """For tests: the inputs that are on, as White and as Black sees the board."""
    men = cython.declare(cython.int[64])
    if not cython.compiled:
        men = [0] * 64
    count: cython.int = read_men(words, record, mirrored, men)
    white = [men[index] for index in range(count)]
    return white, [men[MAX_PIECES + index] for index in range(count)]


def shuffled(count: cython.int, seed: cython.int, epoch: cython.int) -> array[int]:
    """The records 0 to `count` in random order, each doubled and one more if it is to be mirrored.

    A record that is mirrored in one epoch is not in the next. (Fisher and Yates; Marsaglia: Xorshift RNGs)
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


def hand_written_scores(words: u64[::1]) -> array[float]:
    """What the hand-written evaluation says of each record, in centipawns for the side to move."""
    record: cython.int
    count: cython.int = len(words) // WORDS
    scores = array("d", bytes(8 * count))
    for record in range(count):
        board = [NO_PIECE] * 64
        men: u64 = words[WORDS * record]
        index: cython.int = 0
        while men:
            board[lsb(men)] = piece_at(words, WORDS * record, index)
            men &= men - 1
            index += 1
        position = Position()
        set_up(position, board, black_to_move(words[WORDS * record + 3]), [NO_SQUARE] * 4, NO_SQUARE, 0)
        scores[record] = evaluate(position)
    return scores


def recorded_scores(words: u64[::1]) -> array[float]:
    """What the search said of each record, in centipawns for the side to move."""
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
    """The mean squared error of some scores, `scores_unit` of them being one logistic unit, see `target`."""
    total: cython.double = 0
    record: cython.int
    count: cython.int = len(words) // WORDS
    for record in range(count):
        error: cython.double = expected(scores[record] / scores_unit) - target(words[WORDS * record + 3], trust, unit)
        total += error * error
    return total / max(1, count)
