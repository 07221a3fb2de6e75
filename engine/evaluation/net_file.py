"""The file format of a neural network, which training writes and inference reads.

The network looks at a position twice, as White and as Black see it, with the same weights. Each view sums the feature
weights of all pieces; the sums, clamped to 0..CLAMP and squared, are weighed into one score for the side to move.

    place     384 * (the piece is an enemy) + 64 * (pawn 0 .. king 5) + square, which is square ^ 56 in Black's view
    feature   T * place + threat, where `core/threats.py` says which threat; if T is 1, the threat is 0
    hidden    clamp(feature_bias + sum of feature_weights[feature], 0, CLAMP), for the side to move, then for the other
    output    sum(hidden * hidden * output_weights[bucket]) // CLAMP + output_bias[bucket]
    score     output * scale // (CLAMP * OUTPUT_UNIT), in centipawns; all divisions round down
    bucket    (pieces on the board - 2) // 4, at most 7, where there are eight, else 0

In the network of a variant, a piece in a pocket is a pawn on the last rank from its own side, on file a to e for pawn
to queen, and so is each check given, on file a. In racing kings Black's view leaves squares as they are.

All numbers are little-endian:

    offset  bytes  what
         0      8  MAGIC
         8      4  the version of the format: 2
        12      4  T, the number of threats: 8, or 1 for a network that does not know them, as those of variants
        16      4  H, the size of one view: a multiple of 32, 32 to 1024
        20      4  B, the number of output buckets: 1 or 8
        24      4  scale: the centipawns of an output of one
        28     32  SHA-256 of all other bytes of the file
        60      2  length of the name in bytes, then the name in UTF-8
                   feature_weights int8 [768 * T][H], feature_bias int16 [H], output_weights int16 [B][2 * H],
                   output_bias int32 [B]

Weights keep within the limits below, so that no sum of at most 52 pieces leaves 16 bits and hidden * weight never does.
Feature weights of 8 bits halve the memory that each evaluation reads, at the price of none above 0.5.
(chessprogramming wiki: NNUE, perspective networks with squared clipped ReLU)
"""

from __future__ import annotations

import hashlib
import struct
import sys
from array import array
from dataclasses import dataclass
from pathlib import Path

from engine.whole_file import write_whole

MAGIC = b"LBOTNET\0"
VERSION = 2
HEADER = struct.Struct("<8sIIIII")
DIGEST_SIZE = 32
NAME_LENGTH = struct.Struct("<H")
BODY = HEADER.size + DIGEST_SIZE

PLACES = 768
THREATS = 8                        # of a network that knows them
HIDDEN_STEP, HIDDEN_MOST = 32, 1024
BUCKETS = (1, 8)
SCALE_MOST = 10_000
NAME_BYTES_MOST = 64
CLAMP = 255                        # an activation of one, and of a feature weight too (QA)
OUTPUT_UNIT = 64                   # an output weight of one (QB)

FEATURE_WEIGHT_LIMIT = 127         # 0.498 as a fraction of CLAMP
FEATURE_BIAS_LIMIT = 16_383
OUTPUT_WEIGHT_LIMIT = 127          # 1.98 as a fraction of OUTPUT_UNIT
OUTPUT_BIAS_LIMIT = 10_000_000

BYTE, SHORT, INT = "b", "h", "i"   # `array` has 1, 2 and 4 bytes for these wherever Python runs


class InvalidNet(ValueError):
    """The network is unusable; the message says what was found and what was expected."""


@dataclass(frozen=True)
class Net:
    """A network. Raises InvalidNet when made of parts that do not fit together or exceed the limits."""

    name: str
    feature_weights: array[int]    # [768 * T][H]
    feature_bias: array[int]       # [H]
    output_weights: array[int]     # [B][2 * H]
    output_bias: array[int]        # [B]
    scale: int                     # centipawns of an output of one

    def __post_init__(self) -> None:
        check_shape(self.hidden, self.buckets)
        _check_scale(self.scale)
        check_name(self.name)
        features = PLACES * self.threats
        for what, kind, values, count, limit in (
            ("feature weights", BYTE, self.feature_weights, features * self.hidden, FEATURE_WEIGHT_LIMIT),
            ("feature biases", SHORT, self.feature_bias, self.hidden, FEATURE_BIAS_LIMIT),
            ("output weights", SHORT, self.output_weights, 2 * self.hidden * self.buckets, OUTPUT_WEIGHT_LIMIT),
            ("output biases", INT, self.output_bias, self.buckets, OUTPUT_BIAS_LIMIT),
        ):
            _check_values(what, kind, values, count, limit)

    @property
    def hidden(self) -> int:
        """Return the size of one view, H."""
        return len(self.feature_bias)

    @property
    def threats(self) -> int:
        """Return the number of threats for which a piece has weights, T."""
        return THREATS if len(self.feature_weights) == THREATS * PLACES * self.hidden else 1

    @property
    def buckets(self) -> int:
        """Return the number of sets of output weights, B."""
        return len(self.output_bias)


def encode(net: Net) -> bytes:
    """Return the content of the file."""
    name = net.name.encode()
    arrays = (net.feature_weights, net.feature_bias, net.output_weights, net.output_bias)
    body = NAME_LENGTH.pack(len(name)) + name + b"".join(map(_to_bytes, arrays))
    header = HEADER.pack(MAGIC, VERSION, net.threats, net.hidden, net.buckets, net.scale)
    return header + hashlib.sha256(header + body).digest() + body


def decode(content: bytes) -> Net:
    """Return the network of a file's content. Raises InvalidNet."""
    if not content.startswith(MAGIC):
        raise InvalidNet(f"not a network file: begins with {content[: len(MAGIC)]!r}, expected {MAGIC!r}")
    if len(content) < BODY + NAME_LENGTH.size:
        raise InvalidNet(f"cut off: {len(content)} bytes, expected at least {BODY + NAME_LENGTH.size}")
    _, version, threats, hidden, buckets, scale = HEADER.unpack_from(content)
    if version != VERSION:
        raise InvalidNet(f"version {version} of the file format, expected {VERSION}")
    if threats not in (1, THREATS):
        raise InvalidNet(f"{threats} threats, expected 1 or {THREATS}")
    check_shape(hidden, buckets)
    _check_scale(scale)
    (name_length,) = NAME_LENGTH.unpack_from(content, BODY)
    expected = file_size(threats, hidden, buckets, name_length)
    if len(content) != expected:
        raise InvalidNet(f"{len(content)} bytes, expected {expected} for {hidden} hidden and {buckets} outputs")
    body = memoryview(content)[BODY:]          # read in place: a copy has one and a half megabytes
    digest = hashlib.sha256(content[: HEADER.size])
    digest.update(body)
    if digest.digest() != content[HEADER.size : BODY]:
        raise InvalidNet("damaged: the content does not match its checksum")
    return _decode_body(body[NAME_LENGTH.size :], name_length, threats, hidden, buckets, scale)


def read(path: Path) -> Net:
    """Read a network. Raises InvalidNet with the file's name, also if the file does not exist."""
    try:
        if path.exists() and not path.is_file():
            raise InvalidNet("not a regular file")
        with path.open("rb") as file:
            return decode(file.read(LARGEST_FILE + 1))
    except InvalidNet as error:
        raise InvalidNet(f"{path}: {error}") from None
    except (OSError, ValueError) as error:             # ValueError: a null byte in the path
        reason = error.strerror if isinstance(error, OSError) else "the path contains a null byte"
        raise InvalidNet(f"{path}: cannot be read: {reason}") from None


def write(net: Net, path: Path) -> None:
    """Write the file atomically. Raises OSError."""
    write_whole(path, [encode(net)])


def file_size(threats: int, hidden: int, buckets: int, name_length: int) -> int:
    """Return the size of a file in bytes."""
    return BODY + NAME_LENGTH.size + name_length + (PLACES * threats + 2 + 4 * buckets) * hidden + 4 * buckets


LARGEST_FILE = file_size(THREATS, HIDDEN_MOST, max(BUCKETS), NAME_BYTES_MOST)


def _decode_body(body: memoryview, name_length: int, threats: int, hidden: int, buckets: int, scale: int) -> Net:
    """Return the network of a body of the right length. Raises InvalidNet."""
    try:
        name = str(body[:name_length], "utf-8")
    except UnicodeDecodeError:
        raise InvalidNet(f"the name is not UTF-8: {bytes(body[:name_length])!r}") from None
    offset = name_length
    arrays: list[array[int]] = []
    for kind, count in (
        (BYTE, PLACES * threats * hidden),
        (SHORT, hidden),
        (SHORT, 2 * hidden * buckets),
        (INT, buckets),
    ):
        values: array[int] = array(kind)
        end = offset + count * values.itemsize
        values.frombytes(body[offset:end])
        if sys.byteorder == "big":
            values.byteswap()
        arrays.append(values)
        offset = end
    feature_weights, feature_bias, output_weights, output_bias = arrays
    return Net(name, feature_weights, feature_bias, output_weights, output_bias, scale)


def _to_bytes(values: array[int]) -> bytes:
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values.tobytes()


def check_name(name: str) -> None:
    """Raise InvalidNet if the name is too long."""
    if len(name.encode()) > NAME_BYTES_MOST:
        raise InvalidNet(f"the name has {len(name.encode())} bytes, expected at most {NAME_BYTES_MOST}")


def check_shape(hidden: int, buckets: int) -> None:
    """Raise InvalidNet for an unsupported shape."""
    if hidden % HIDDEN_STEP or not HIDDEN_STEP <= hidden <= HIDDEN_MOST:
        raise InvalidNet(
            f"{hidden} hidden values, expected a multiple of {HIDDEN_STEP} from {HIDDEN_STEP} to {HIDDEN_MOST}"
        )
    if buckets not in BUCKETS:
        raise InvalidNet(f"{buckets} output buckets, expected {' or '.join(map(str, BUCKETS))}")


def _check_scale(scale: int) -> None:
    if not 1 <= scale <= SCALE_MOST:
        raise InvalidNet(f"scale {scale}, expected 1 to {SCALE_MOST}")


def _check_values(what: str, kind: str, values: array[int], count: int, limit: int) -> None:
    """Raise InvalidNet for a wrong type, count or range."""
    if values.typecode != kind or len(values) != count:
        raise InvalidNet(f"{len(values)} {what} of type {values.typecode!r}, expected {count} of {kind!r}")
    distinct = _distinct(values)
    low, high = min(distinct), max(distinct)
    if low < -limit or high > limit:
        raise InvalidNet(f"{what} from {low} to {high}, expected -{limit} to {limit}")


def _distinct(values: array[int]) -> set[int]:
    """Return the different values: few, so that their range takes much less time than that of all."""
    if values.typecode != BYTE:
        return set(values)
    content = values.tobytes()         # searched without a Python object for each of more than a million bytes
    return {value for value in range(-128, 128) if value & 255 in content}
