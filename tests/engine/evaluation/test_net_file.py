"""The file of a network: it comes back as it was written, and what is damaged or foreign is refused with the reason."""

from array import array
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.evaluation import net_file
from engine.evaluation.net_file import BODY, MAGIC, InvalidNet, decode, encode, read, write
from tests.engine.nets import random_net

SMALL = random_net(seed=1, hidden=32, buckets=1)
CONTENT = encode(SMALL)
TEXTS = st.text(max_size=net_file.NAME_BYTES_MOST // 4)


@settings(max_examples=20, deadline=None)
@given(
    name=TEXTS,
    hidden=st.sampled_from((32, 64, 96)),
    buckets=st.sampled_from((1, 8)),
    threats=st.sampled_from((1, 8)),
    scale=st.integers(1, 10_000),
)
def test_a_network_comes_back_as_it_was_written(
    name: str, hidden: int, buckets: int, threats: int, scale: int
) -> None:
    net = replace(random_net(2, hidden, buckets, threats), name=name, scale=scale)
    content = encode(net)
    assert decode(content) == net
    assert content[8] == 2
    assert content[12] == threats
    assert len(content) == net_file.file_size(threats, hidden, buckets, len(name.encode()))


def test_a_file_is_written_whole_without_a_temporary_file(tmp_path: Path) -> None:
    write(SMALL, tmp_path / "small.net")
    assert read(tmp_path / "small.net") == SMALL
    assert [path.name for path in tmp_path.iterdir()] == ["small.net"]


def test_the_bytes_stand_where_the_format_says() -> None:
    net = random_net(seed=3, hidden=32, buckets=8)
    content = encode(net)
    assert content[:28] == MAGIC + bytes([2, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0, 8, 0, 0, 0, 144, 1, 0, 0])
    start = BODY + 2 + len(net.name)
    assert int.from_bytes(content[start : start + 1], signed=True) == net.feature_weights[0]
    assert int.from_bytes(content[-4:], "little", signed=True) == net.output_bias[7]


@settings(max_examples=200, deadline=None)
@given(offset=st.integers(0, len(CONTENT) - 1), bit=st.integers(0, 7))
def test_no_bit_can_be_flipped_unseen(offset: int, bit: int) -> None:
    damaged = bytearray(CONTENT)
    damaged[offset] ^= 1 << bit
    with pytest.raises(InvalidNet):
        decode(bytes(damaged))


@settings(max_examples=100, deadline=None)
@given(length=st.integers(0, len(CONTENT) - 1))
def test_a_file_cut_off_anywhere_is_refused(length: int) -> None:
    with pytest.raises(InvalidNet):
        decode(CONTENT[:length])


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=200))
def test_garbage_is_refused(content: bytes) -> None:
    for garbage in (content, MAGIC + content):
        with pytest.raises(InvalidNet):
            decode(garbage)


@pytest.mark.parametrize(
    ("offset", "value", "problem"),
    [
        (0, 0x41, "not a network file: begins with b'ABOTNET"),
        (8, 1, "version 1 of the file format, expected 2"),
        (12, 2, "2 threats, expected 1 or 8"),
        (16, 33, "33 hidden values, expected a multiple of 32 from 32 to 1024"),
        (20, 2, "2 output buckets, expected 1 or 8"),
        (27, 1, "scale 16777616, expected 1 to 10000"),
        (12, 8, "bytes, expected 196874 for 32 hidden and 1 outputs"),
        (16, 64, "bytes, expected 49610 for 64 hidden and 1 outputs"),
        (64, 0, "damaged: the content does not match its checksum"),
    ],
)
def test_what_is_wrong_is_named(offset: int, value: int, problem: str) -> None:
    damaged = bytearray(CONTENT)
    damaged[offset] = value
    with pytest.raises(InvalidNet) as refused:
        decode(bytes(damaged))
    assert problem in str(refused.value)


@pytest.mark.parametrize("trailing", [b"\0", b"more"])
def test_bytes_too_many_are_refused(trailing: bytes) -> None:
    with pytest.raises(InvalidNet, match="bytes, expected"):
        decode(CONTENT + trailing)


@pytest.mark.parametrize(
    ("part", "value", "problem"),
    [
        ("feature_weights", -128, "feature weights from -128 to .*, expected -127 to 127"),
        ("feature_bias", -16_384, "feature biases from -16384"),
        ("output_weights", 128, "output weights"),
        ("output_bias", 10_000_001, "output biases"),
    ],
)
def test_weights_that_could_overflow_are_refused(part: str, value: int, problem: str) -> None:
    values: array[int] = getattr(SMALL, part)[:]
    values[-1] = value
    with pytest.raises(InvalidNet, match=problem):
        replace(SMALL, **{part: values})


def test_parts_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(InvalidNet, match=r"31 output weights|63 output weights"):
        replace(SMALL, output_weights=SMALL.output_weights[:-1])
    with pytest.raises(InvalidNet, match="of type 'i', expected 32 of 'h'"):
        replace(SMALL, feature_bias=array("i", SMALL.feature_bias))
    with pytest.raises(InvalidNet, match="the name has 66 bytes, expected at most 64"):
        replace(SMALL, name="ä" * 33)
    with pytest.raises(InvalidNet, match="scale 0, expected 1 to 10000"):
        replace(SMALL, scale=0)


def test_an_unreadable_file_says_why(tmp_path: Path) -> None:
    with pytest.raises(InvalidNet, match=r"nowhere\.net: cannot be read: No such file"):
        read(tmp_path / "nowhere.net")
    with pytest.raises(InvalidNet, match="not a regular file"):
        read(tmp_path)
    with pytest.raises(InvalidNet, match="cannot be read: the path contains a null byte"):
        read(Path("a\0b"))
    huge = tmp_path / "huge.net"
    with huge.open("wb") as file:
        file.write(CONTENT)
        file.truncate(1 << 40)     # sparse: it must not be read to its end
    with pytest.raises(InvalidNet, match=r"huge\.net: \d+ bytes, expected"):
        read(huge)


def test_a_net_of_256_with_threats_is_smaller_than_two_megabytes() -> None:
    assert net_file.file_size(8, 256, 8, net_file.NAME_BYTES_MOST) < 2_000_000
