"""PNG files with few colours: a screenshot as small as a README should carry."""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RGB, RGBA = 2, 6
ALIKE = 150

Colour = bytes


def with_few_colours(png: bytes, colours: int = 48) -> bytes:
    """Return a screenshot of Chromium (8 bits for each channel, not interlaced) with a few of its colours only."""
    width, height, pixels = _pixels(png)
    counted = Counter(pixels)
    palette = _palette([colour for colour, _ in counted.most_common()], colours)
    nearest = {colour: bytes([_nearest(colour, palette)]) for colour in counted}
    rows = [b"".join(nearest[pixel] for pixel in pixels[y * width : (y + 1) * width]) for y in range(height)]
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    chunks = [(b"IHDR", header), (b"PLTE", b"".join(palette)), (b"IDAT", data), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += length + 12


def _pixels(png: bytes) -> tuple[int, int, list[Colour]]:
    """Return width, height and the colours of all pixels by rows, without transparency."""
    found = list(_chunks(png))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", found[0][1])
    assert (depth, interlaced) == (8, 0)
    step = {RGB: 3, RGBA: 4}[kind]
    data = zlib.decompress(b"".join(content for name, content in found if name == b"IDAT"))
    pixels: list[Colour] = []
    above = bytearray(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        row = _unfiltered(data[start], bytearray(data[start + 1 : start + 1 + width * step]), above, step)
        pixels += [bytes(row[x : x + 3]) for x in range(0, width * step, step)]
        above = row
    return width, height, pixels


def _unfiltered(kind: int, row: bytearray, above: bytearray, step: int) -> bytearray:
    """Undo one of the filters of PNG, by which a row was stored as differences."""
    for index in range(len(row)):
        left = row[index - step] if index >= step else 0
        up, corner = above[index], above[index - step] if index >= step else 0
        guess = (0, left, up, (left + up) // 2, _paeth(left, up, corner))[kind]
        row[index] = (row[index] + guess) & 255
    return row


def _paeth(left: int, up: int, corner: int) -> int:
    distances = [(abs(up - corner), left), (abs(left - corner), up), (abs(left + up - 2 * corner), corner)]
    return min(distances, key=lambda it: it[0])[1]


def _palette(colours: list[Colour], number: int) -> list[Colour]:
    """Return this many of the colours, which are the most frequent first, all of them different enough to matter."""
    palette: list[Colour] = []
    for colour in colours:
        if len(palette) < number and all(_distance(colour, other) > ALIKE for other in palette):
            palette.append(colour)
    return palette


def _distance(one: Colour, other: Colour) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _nearest(colour: Colour, palette: list[Colour]) -> int:
    return min(range(len(palette)), key=lambda index: _distance(colour, palette[index]))
