# cython: language_level=3, boundscheck=False, wraparound=False
"""Which squares a piece or a side attacks: tables for pawn, knight and king, magic look-ups for the sliders.

A slider's attacks depend on the pieces in its way. The relevant ones are masked out, multiplied by a magic number
that gathers them in the top bits, and shifted down to an index. (chessprogramming wiki: Magic Bitboards)
"""

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES, advance, beside, bit, lsb, popcount, u64
from cython.cimports.engine.core.pieces import BISHOP, BLACK, KING, KNIGHT, QUEEN, ROOK, WHITE

if not cython.compiled:
    class _Magic:
        __slots__ = ("mask", "number", "offset", "shift")

    BISHOP_MAGIC = [_Magic() for _ in range(64)]
    ROOK_MAGIC = [_Magic() for _ in range(64)]
    SLIDER_ATTACKS = [0] * 107648
    KNIGHT_ATTACKS = [0] * 64
    KING_ATTACKS = [0] * 64
    PAWN_ATTACKS = [0] * 128       # [colour * 64 + square]: what a pawn of that colour attacks from there
    BETWEEN = [0] * 4096           # [a * 64 + b]: the squares strictly between, if a and b share a line
    LINE = [0] * 4096              # [a * 64 + b]: the whole line through both, from edge to edge

    def pawn_attacks(pawns: int, colour: int) -> int:
        """Return all squares that the pawns of that colour attack."""
        return advance(beside(pawns), colour)

    def bishop_attacks(square: int, occupied: int) -> int:
        """Return what a bishop attacks, up to and including the first piece in each direction."""
        magic = BISHOP_MAGIC[square]
        index = ((occupied & magic.mask) * magic.number & ALL_SQUARES) >> magic.shift
        return SLIDER_ATTACKS[magic.offset + index]

    def rook_attacks(square: int, occupied: int) -> int:
        """Return what a rook attacks, up to and including the first piece in each direction."""
        magic = ROOK_MAGIC[square]
        index = ((occupied & magic.mask) * magic.number & ALL_SQUARES) >> magic.shift
        return SLIDER_ATTACKS[magic.offset + index]

    def piece_attacks(kind: int, square: int, occupied: int) -> int:
        """Return what a piece other than a pawn attacks from a square."""
        if kind == KNIGHT:
            return KNIGHT_ATTACKS[square]
        if kind == KING:
            return KING_ATTACKS[square]
        if kind == BISHOP:
            return bishop_attacks(square, occupied)
        if kind == ROOK:
            return rook_attacks(square, occupied)
        return bishop_attacks(square, occupied) | rook_attacks(square, occupied)


KNIGHT_STEPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))       # (file, rank)
KING_STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))

# Found by trying sparse random numbers until no two occupancies with different attacks share an index; a test
# compares every entry with the walked attacks.
BISHOP_NUMBERS = (
    0x0045010808008680, 0x2002080204004898, 0x0210009A10400006, 0x0824050200810200,
    0x0006061105004090, 0x00010108C0000000, 0x0814040282104004, 0x0012012201106800,
    0x10823014100C1040, 0x0080C2088802808C, 0x0281108410404000, 0x0101212041826200,
    0x0020141028221058, 0x2201020202200202, 0x000082A801482000, 0x0000008401411044,
    0x0007103014300404, 0x0002091110010100, 0x42140012040C0808, 0x0800808802004020,
    0x90C4004210140000, 0x0800200900A01000, 0x00D0400201108810, 0x80820183814412A0,
    0x00A01008202202B4, 0x01C2021A09500402, 0x0084440208042400, 0x800400400C090100,
    0xBA10040010802100, 0xD182009006005000, 0x5011021001009004, 0x0020420200510400,
    0x0292104000468800, 0x00043009091C0500, 0x0280441000020025, 0x0042820080080080,
    0x0440101010010040, 0x1000900100808080, 0x0108108120089800, 0x0044010200012682,
    0xC002500420900400, 0x0040482210710800, 0x0002060024000200, 0x0281020A44000800,
    0xA0021200A4000200, 0x0001301000840840, 0x2868500108444220, 0x0004111041000200,
    0x8044020842080200, 0x0000220104210200, 0x0000021201044000, 0x0000280884040028,
    0x4012114010858003, 0x0000081004082B88, 0x3892700508208002, 0x00220A041B060400,
    0x0812020284014881, 0x010434A282103100, 0x0490400824020800, 0x4A20002C00208800,
    0x000000A011020200, 0x4002940A02482202, 0x5100100202140406, 0x02102000840540C1,
)
ROOK_NUMBERS = (
    0x008000908064C000, 0x0040200040001000, 0x0180100080A0010A, 0x8880041000800800,
    0x1200100201200804, 0x0200020004011008, 0x2180010000800600, 0x0200005088210204,
    0x0400800040008021, 0x0400400020005000, 0x8240801000200080, 0x8611001004200900,
    0x008180800C001800, 0x0100800200800400, 0x0A02000102000408, 0x8020802300104280,
    0x0080004000402000, 0xE010104000402000, 0x0800808010002000, 0xA280210008100100,
    0x0001818014000800, 0xA002010100080400, 0x0080240001020870, 0x0001020004048845,
    0x0081826280004004, 0x2020810900284000, 0x0200100080802000, 0x0200080080100080,
    0x8083080100100500, 0x4406000901000400, 0x0005020080800100, 0x0090204200008114,
    0x0010400094800420, 0x0900804000802002, 0x0201001841002000, 0x4100080080801000,
    0x4540040080800800, 0x0002001004040020, 0x0281195814001002, 0x1240800040800100,
    0x0880042000524004, 0x02C080410206002C, 0x0801200241050010, 0x8400080010008080,
    0x0008000500090010, 0x0082009084020008, 0x4012000108020004, 0x9000104D08860004,
    0x2004204114800100, 0x0148802112400300, 0x0202842000100880, 0x001B080080900080,
    0x001A002008100600, 0x0004008004020080, 0x5181000600040300, 0x0000044401128A00,
    0x8044110480002441, 0x2008110084402202, 0x90806005090010C1, 0x000420310A004A42,
    0x0023001004020801, 0x0882001008040102, 0x000230088118020C, 0x0000019025040042,
)


@cython.cfunc
@cython.exceptval(check=False)
def _ray(square: cython.int, file_step: cython.int, rank_step: cython.int, occupied: u64, rim: cython.bint) -> u64:
    """Return the squares in one direction up to the first piece, without the edge square unless `rim`."""
    file: cython.int = (square & 7) + file_step
    rank: cython.int = (square >> 3) + rank_step
    squares: u64 = 0
    reached: u64
    while 0 <= file <= 7 and 0 <= rank <= 7:
        if not rim and not (0 <= file + file_step <= 7 and 0 <= rank + rank_step <= 7):
            break
        reached = bit(rank * 8 + file)
        squares |= reached
        if occupied & reached:
            break
        file += file_step
        rank += rank_step
    return squares


@cython.cfunc
@cython.exceptval(check=False)
def _walk(square: cython.int, diagonal: cython.bint, occupied: u64, rim: cython.bint) -> u64:
    """Return what a bishop (diagonal) or rook attacks, walked square by square."""
    if diagonal:
        return (_ray(square, 1, 1, occupied, rim) | _ray(square, 1, -1, occupied, rim)
                | _ray(square, -1, 1, occupied, rim) | _ray(square, -1, -1, occupied, rim))
    return (_ray(square, 1, 0, occupied, rim) | _ray(square, -1, 0, occupied, rim)
            | _ray(square, 0, 1, occupied, rim) | _ray(square, 0, -1, occupied, rim))


def _fill_sliders(diagonal: cython.bint, numbers: tuple, offset: cython.int) -> int:
    """Fill the tables of one kind of slider from `offset` on; return the first free offset."""
    square: cython.int
    index: cython.int
    shift: cython.int
    mask: u64
    occupied: u64
    number: u64
    product: u64
    for square in range(64):
        mask = _walk(square, diagonal, 0, False)
        number = numbers[square]
        shift = 64 - popcount(mask)
        if diagonal:
            BISHOP_MAGIC[square].mask, BISHOP_MAGIC[square].number = mask, number
            BISHOP_MAGIC[square].shift, BISHOP_MAGIC[square].offset = shift, offset
        else:
            ROOK_MAGIC[square].mask, ROOK_MAGIC[square].number = mask, number
            ROOK_MAGIC[square].shift, ROOK_MAGIC[square].offset = shift, offset
        occupied = 0
        while True:                # every subset of the mask (chessprogramming wiki: Carry-Rippler)
            product = occupied * number
            if not cython.compiled:
                product &= ALL_SQUARES
            index = offset + (product >> shift)
            SLIDER_ATTACKS[index] = _walk(square, diagonal, occupied, True)
            occupied = (occupied - mask) & mask
            if occupied == 0:
                break
        offset += 1 << (64 - shift)
    return offset


def _steps(square: int, steps: tuple) -> int:
    """Return the squares one step away that are on the board."""
    squares = 0
    for file_step, rank_step in steps:
        file, rank = (square & 7) + file_step, (square >> 3) + rank_step
        if 0 <= file <= 7 and 0 <= rank <= 7:
            squares |= bit(rank * 8 + file)
    return squares


def _fill_leapers() -> None:
    square: cython.int
    for square in range(64):
        KNIGHT_ATTACKS[square] = _steps(square, KNIGHT_STEPS)
        KING_ATTACKS[square] = _steps(square, KING_STEPS)
        PAWN_ATTACKS[WHITE * 64 + square] = _steps(square, ((-1, 1), (1, 1)))
        PAWN_ATTACKS[BLACK * 64 + square] = _steps(square, ((-1, -1), (1, -1)))


def _fill_lines() -> None:
    a: cython.int
    b: cython.int
    kind: cython.int
    ends: u64
    for a in range(64):
        for b in range(64):
            ends = bit(a) | bit(b)
            for kind in (BISHOP, ROOK):
                if piece_attacks(kind, a, 0) & bit(b):
                    LINE[a * 64 + b] = (piece_attacks(kind, a, 0) & piece_attacks(kind, b, 0)) | ends
                    BETWEEN[a * 64 + b] = piece_attacks(kind, a, ends) & piece_attacks(kind, b, ends)


_fill_leapers()
_fill_sliders(False, ROOK_NUMBERS, _fill_sliders(True, BISHOP_NUMBERS, 0))
_fill_lines()


def minor_attacks(pieces: cython.p_ulonglong, first: cython.int, occupied: u64) -> u64:
    """Return what the knights and bishops of a side attack.

    `pieces` has the squares of each piece, White's pawns to king and then Black's; `first` is the number of the side's
    pawns.
    """
    attacked: u64 = 0
    left: u64 = pieces[first + KNIGHT]
    while left:
        attacked |= KNIGHT_ATTACKS[lsb(left)]
        left &= left - 1
    left = pieces[first + BISHOP]
    while left:
        attacked |= bishop_attacks(lsb(left), occupied)
        left &= left - 1
    return attacked


def major_attacks(pieces: cython.p_ulonglong, first: cython.int, occupied: u64) -> u64:
    """Return what the rooks, queens and kings of a side attack."""
    attacked: u64 = 0
    left: u64 = pieces[first + ROOK] | pieces[first + QUEEN]
    while left:
        attacked |= rook_attacks(lsb(left), occupied)
        left &= left - 1
    left = pieces[first + QUEEN]
    while left:
        attacked |= bishop_attacks(lsb(left), occupied)
        left &= left - 1
    left = pieces[first + KING]
    while left:
        attacked |= KING_ATTACKS[lsb(left)]
        left &= left - 1
    return attacked


def slider_attacks(square: int, occupied: int, diagonal: bool) -> tuple[int, int]:
    """Return the attacks of a bishop (diagonal) or rook by table and by walking, for the test that compares them."""
    table: u64 = bishop_attacks(square, occupied) if diagonal else rook_attacks(square, occupied)
    return table, _walk(square, diagonal, occupied, True)


def distance(a: cython.int, b: cython.int) -> cython.int:
    """Return how many moves a king needs between two squares on an empty board."""
    files: cython.int = (a & 7) - (b & 7)
    ranks: cython.int = (a >> 3) - (b >> 3)
    files = files if files >= 0 else -files
    ranks = ranks if ranks >= 0 else -ranks
    return files if files > ranks else ranks
