# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Legal move generation with masks for checks and pins, so that no move has to be made and unmade.

(chessprogramming wiki: Checks and Pinned Pieces). The caller's array needs MAX_MOVES places from `start` on.
"""

import cython
from cython.cimports.engine.core.attacks import (
    BETWEEN,
    KING_ATTACKS,
    KNIGHT_ATTACKS,
    LINE,
    PAWN_ATTACKS,
    bishop_attacks,
    major_attacks,
    minor_attacks,
    pawn_attacks,
    piece_attacks,
    rook_attacks,
)
from cython.cimports.engine.core.bitboard import (
    ALL_SQUARES,
    END_RANKS,
    FILE_A,
    FILE_H,
    RANK_3,
    RANK_6,
    advance,
    bit,
    lsb,
    u64,
)
from cython.cimports.engine.core.move import (
    CAPTURE,
    CASTLING,
    DOUBLE_PUSH,
    DROP,
    EN_PASSANT,
    KING_PROMOTION,
    PROMOTION,
    QUIET,
    flag_of,
    from_square,
    is_capture,
    is_promotion,
    to_square,
)
from cython.cimports.engine.core.pieces import (
    BISHOP,
    KINDS,
    KING,
    KNIGHT,
    NO_SQUARE,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
)
from cython.cimports.engine.core.position import Position

if not cython.compiled:
    # No game position has more than 218 moves, and a test proves that none accepted by `fen.py` has more than 415.
    MAX_MOVES = 416


def attacked_squares(position: Position, by: cython.int, occupied: u64) -> u64:
    """Return every square the side `by` attacks, given the occupied squares."""
    first: cython.int = by * KINDS
    attacked: u64 = pawn_attacks(position.pieces[first + PAWN], by)
    attacked |= minor_attacks(position.pieces, first, occupied)
    return attacked | major_attacks(position.pieces, first, occupied)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_moves(moves: cython.p_int, end: cython.int, origin: cython.int, targets: u64, enemies: u64) -> cython.int:
    """Append one piece's moves, captures first; return the new end."""
    left: u64 = targets & enemies
    while left:
        moves[end] = origin | lsb(left) << 6 | CAPTURE << 12
        end += 1
        left &= left - 1
    left = targets & ~enemies
    while left:
        moves[end] = origin | lsb(left) << 6
        end += 1
        left &= left - 1
    return end


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_pawn_moves(
    moves: cython.p_int,
    end: cython.int,
    targets: u64,
    step: cython.int,
    flag: cython.int,
    king: cython.int,
    pinned: u64,
) -> cython.int:
    """Append the pawn moves that arrive on `targets` from `step` squares behind, a pinned pawn's only along its pin.

    Returns the new end.
    """
    origin: cython.int
    target: cython.int
    kind: cython.int
    while targets:
        target = lsb(targets)
        targets &= targets - 1
        origin = target - step
        if pinned >> origin & 1 and not LINE[king * 64 + origin] >> target & 1:
            continue
        if target < 8 or target >= 56:
            for kind in range(QUEEN - 1, KNIGHT - 2, -1):
                moves[end] = origin | target << 6 | (flag | PROMOTION | kind) << 12
                end += 1
        else:
            moves[end] = origin | target << 6 | flag << 12
            end += 1
    return end


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_all_pawn_moves(
    position: Position,
    moves: cython.p_int,
    end: cython.int,
    king: cython.int,
    allowed: u64,
    pinned: u64,
    tactical_only: cython.bint,
) -> cython.int:
    """Append captures, promotions, single and double steps onto `allowed` squares; return the new end.

    A tactical list holds captures and promotions only.
    """
    us: cython.int = position.side_to_move
    pawns: u64 = position.pieces[us * KINDS + PAWN]
    enemies: u64 = position.colours[us ^ 1] & allowed
    empty: u64 = ~position.occupied & ALL_SQUARES
    sign: cython.int = 1 if us == WHITE else -1
    left: u64 = (pawns & ~FILE_A) << 7 if us == WHITE else (pawns & ~FILE_H) >> 7      # as the side to move sees it
    right: u64 = (pawns & ~FILE_H) << 9 if us == WHITE else (pawns & ~FILE_A) >> 9
    single: u64 = advance(pawns, us) & empty
    double: u64 = advance(single & (RANK_3 if us == WHITE else RANK_6), us) & empty & allowed
    single &= allowed
    if tactical_only:
        single &= END_RANKS
        double = 0
    end = add_pawn_moves(moves, end, left & enemies, 7 * sign, CAPTURE, king, pinned)
    end = add_pawn_moves(moves, end, right & enemies, 9 * sign, CAPTURE, king, pinned)
    end = add_pawn_moves(moves, end, single, 8 * sign, QUIET, king, pinned)
    return add_pawn_moves(moves, end, double, 16 * sign, DOUBLE_PUSH, king, pinned)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_en_passant(position: Position, moves: cython.p_int, end: cython.int) -> cython.int:
    """Append the en passant captures; return the new end."""
    us: cython.int = position.side_to_move
    target: cython.int = position.en_passant
    pawns: u64 = PAWN_ATTACKS[(us ^ 1) * 64 + target] & position.pieces[us * KINDS + PAWN]
    while pawns:
        if position.en_passant_is_legal(lsb(pawns), target):
            moves[end] = lsb(pawns) | target << 6 | EN_PASSANT << 12
            end += 1
        pawns &= pawns - 1
    return end


def add_castling(
    position: Position, moves: cython.p_int, end: cython.int, attacked: u64, pinned: u64
) -> cython.int:
    """Append castling when not in check; return the new end.

    A rook that shields its king along the rank is pinned: castling would expose the king to check (Chess960 only).
    """
    king: cython.int = lsb(position.pieces[position.side_to_move * KINDS + KING])
    right: cython.int = position.side_to_move * 2
    last: cython.int = right + 2
    while right < last:
        if (
            position.castling_rights >> right & 1
            and not position.castling_empty[right] & position.occupied
            and not position.castling_safe[right] & attacked
            and not bit(position.castling_rook[right]) & pinned
        ):
            moves[end] = king | position.castling_rook[right] << 6 | CASTLING << 12
            end += 1
        right += 1
    return end


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_other_moves(
    position: Position,
    moves: cython.p_int,
    end: cython.int,
    king: cython.int,
    allowed: u64,
    pinned: u64,
    tactical_only: cython.bint,
) -> cython.int:
    """Append the moves of all pieces but the king onto `allowed` squares, and en passant; return the new end.

    Pinned pieces move only along their line through `king`.
    """
    us: cython.int = position.side_to_move
    first: cython.int = us * KINDS
    enemies: u64 = position.colours[us ^ 1]
    occupied: u64 = position.occupied
    end = add_all_pawn_moves(position, moves, end, king, allowed, pinned, tactical_only)
    if position.en_passant != NO_SQUARE:
        end = add_en_passant(position, moves, end)

    allowed &= enemies if tactical_only else ~position.colours[us]
    pieces: u64 = position.pieces[first + KNIGHT] & ~pinned
    origin: cython.int
    targets: u64
    while pieces:
        origin = lsb(pieces)
        end = add_moves(moves, end, origin, KNIGHT_ATTACKS[origin] & allowed, enemies)
        pieces &= pieces - 1
    pieces = position.pieces[first + BISHOP] | position.pieces[first + QUEEN]
    while pieces:
        origin = lsb(pieces)
        targets = bishop_attacks(origin, occupied) & allowed
        if pinned >> origin & 1:
            targets &= LINE[king * 64 + origin]
        end = add_moves(moves, end, origin, targets, enemies)
        pieces &= pieces - 1
    pieces = position.pieces[first + ROOK] | position.pieces[first + QUEEN]
    while pieces:
        origin = lsb(pieces)
        targets = rook_attacks(origin, occupied) & allowed
        if pinned >> origin & 1:
            targets &= LINE[king * 64 + origin]
        end = add_moves(moves, end, origin, targets, enemies)
        pieces &= pieces - 1
    return end


def generate(position: Position, moves: cython.p_int, start: cython.int, tactical_only: cython.bint) -> cython.int:
    """Write the legal moves to moves[start:] and return their end; only captures and promotions if asked."""
    us: cython.int = position.side_to_move
    first: cython.int = us * KINDS
    theirs: cython.int = (us ^ 1) * KINDS
    end: cython.int = start
    friends: u64 = position.colours[us]
    enemies: u64 = position.colours[us ^ 1]
    occupied: u64 = position.occupied
    king: cython.int = lsb(position.pieces[first + KING])
    diagonal: u64 = position.pieces[theirs + BISHOP] | position.pieces[theirs + QUEEN]
    straight: u64 = position.pieces[theirs + ROOK] | position.pieces[theirs + QUEEN]
    attacked: u64 = attacked_squares(position, us ^ 1, occupied ^ bit(king))
    targets: u64 = KING_ATTACKS[king] & ~friends & ~attacked
    if tactical_only:
        targets &= enemies
    end = add_moves(moves, end, king, targets, enemies)

    # In check only the king moves, or the checker is taken or its line is blocked.
    allowed: u64 = ALL_SQUARES
    in_check: cython.bint = attacked >> king & 1
    if in_check:
        checkers: u64 = position.attackers(king, us ^ 1, occupied)
        if checkers & (checkers - 1):
            return end
        allowed = checkers | BETWEEN[king * 64 + lsb(checkers)]

    # A pinned piece is alone between its king and an enemy slider.
    pinned: u64 = 0
    snipers: u64 = (bishop_attacks(king, enemies) & diagonal) | (rook_attacks(king, enemies) & straight)
    while snipers:
        between: u64 = BETWEEN[king * 64 + lsb(snipers)] & friends
        if between and not between & (between - 1):
            pinned |= between
        snipers &= snipers - 1

    end = add_other_moves(position, moves, end, king, allowed, pinned, tactical_only)
    if position.castling_rights >> us * 2 & 3 and not in_check and not tactical_only:
        end = add_castling(position, moves, end, attacked, pinned)
    return end


def add_unpinned_moves(
    position: Position, moves: cython.p_int, end: cython.int, allowed: u64, tactical_only: cython.bint
) -> cython.int:
    """Append the moves of all pieces but the king onto `allowed` squares, for variants with other rules of check.

    Returns the new end.
    """
    return add_other_moves(position, moves, end, 0, allowed, 0, tactical_only)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_generated(position: Position, move: cython.int) -> cython.bint:
    """Return whether the move is among the generated ones: slow, for the moves that `is_legal` cannot judge."""
    moves = cython.declare(cython.int[MAX_MOVES])
    end: cython.int = generate(position, moves, 0, False)
    index: cython.int
    for index in range(end):
        if moves[index] == move:
            return True
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_pawn_move(position: Position, move: cython.int) -> cython.bint:
    """Return whether the pawn on the move's origin can move so, ignoring checks. Not for en passant."""
    origin: cython.int = from_square(move)
    target: cython.int = to_square(move)
    us: cython.int = position.side_to_move
    step: cython.int = 8 if us == WHITE else -8
    if is_promotion(move) != (bit(target) & END_RANKS != 0):
        return False
    if is_capture(move):
        return PAWN_ATTACKS[us * 64 + origin] & bit(target) != 0
    if flag_of(move) == DOUBLE_PUSH:
        on_its_rank: cython.bint = origin >> 3 == (1 if us == WHITE else 6)
        return on_its_rank and target == origin + 2 * step and not position.occupied & bit(origin + step)
    return target == origin + step


def is_legal(position: Position, move: cython.int) -> cython.bint:
    """Return whether this move, perhaps of another position, is legal here."""
    origin: cython.int = from_square(move)
    target: cython.int = to_square(move)
    flag: cython.int = flag_of(move)
    us: cython.int = position.side_to_move
    kind: cython.int = position.board[origin] - us * KINDS
    if flag in (CASTLING, EN_PASSANT):
        return is_generated(position, move)
    # Two of these flags are of variants, and no move has the other one.
    if kind < PAWN or kind > KING or flag in (DROP, CAPTURE | CASTLING, CAPTURE | KING_PROMOTION):
        return False
    if is_capture(move) != (position.colours[us ^ 1] & bit(target) != 0) or position.colours[us] & bit(target):
        return False
    if kind == PAWN:
        if not is_pawn_move(position, move):
            return False
    elif flag not in (QUIET, CAPTURE) or not piece_attacks(kind, origin, position.occupied) & bit(target):
        return False
    king: cython.int = target if kind == KING else lsb(position.pieces[us * KINDS + KING])
    occupied: u64 = (position.occupied ^ bit(origin)) | bit(target)
    return not position.attackers(king, us ^ 1, occupied) & ~bit(target)


def legal_moves(position: Position) -> list[int]:
    """Return the legal moves, packed as in `move.py`."""
    moves = cython.declare(cython.int[MAX_MOVES])
    end: cython.int = generate(position, moves, 0, False)
    return [moves[index] for index in range(end)]
