"""Inputs of a network from records, mirroring, targets and hindsight."""

from array import array
from dataclasses import replace
from itertools import pairwise
from math import exp, log

import chess
import pytest

from engine.core.fen import parse_fen
from engine.evaluation.evaluate import evaluate
from engine.selfplay.records import RECORD, Result, Sample, encode, snapshot
from engine.training.features import (
    add_hindsight,
    first_invalid,
    hand_written_scores,
    inputs,
    loss_of_scores,
    pack,
    played,
    recorded_scores,
    shuffled,
)
from tests.engine.nets import slow_threats
from tests.engine.positions import Start, random_games
from tests.engine.shards import random_samples, words_of


def expected_inputs(sample: Sample, view: int) -> list[int]:
    """The inputs without threats, by the definition in `net_file.py`."""
    pieces = [(piece // 6, piece % 6, square) for square, piece in enumerate(sample.board) if piece < 12]
    return [384 * (colour != view) + 64 * kind + (square ^ 56 * view) for colour, kind, square in pieces]


def test_every_piece_is_an_input_of_both_perspectives() -> None:
    samples = random_samples(6, Start.CHESS960)
    words = pack(b"".join(map(encode, samples)))
    for number, sample in enumerate(samples):
        assert inputs(words, number, False) == (expected_inputs(sample, 0), expected_inputs(sample, 1))


def test_a_threat_tells_apart_the_inputs_of_a_place() -> None:
    samples = random_samples(6, Start.CHESS960)
    words = pack(b"".join(map(encode, samples)))
    for number, sample in enumerate(samples):
        threats = [threat for _, threat in sorted(slow_threats(sample.board).items())]
        for with_threats, without in zip(inputs(words, number, False, True), inputs(words, number, False), strict=True):
            assert with_threats == [8 * place + threat for place, threat in zip(without, threats, strict=True)]


@pytest.mark.parametrize(
    "fen",
    [
        "8/5k2/3p4/8/2R5/6PK/8/8 w - - 0 1",                           # kings off their first ranks
        "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 b - - 0 1",                 # no rook
    ],
)
def test_positions_without_castling_are_mirrored(fen: str) -> None:
    words = words_of(fen)
    mirrored = chess.Board(fen).transform(chess.flip_horizontal)
    assert sorted(inputs(words, 0, True)[0]) == sorted(inputs(words_of(mirrored.fen()), 0, False)[0])
    assert sorted(inputs(words, 0, True)[1]) == sorted(inputs(words_of(mirrored.fen()), 0, False)[1])
    assert inputs(words, 0, True) != inputs(words, 0, False)


@pytest.mark.parametrize("fen", ["4k3/8/8/8/8/8/8/4K2R w K - 0 1", "1rk5/8/8/8/8/8/8/4K3 w b - 0 1"])
def test_positions_with_castling_are_not_mirrored(fen: str) -> None:
    words = words_of(fen)
    assert inputs(words, 0, True) == inputs(words, 0, False)


def test_a_king_and_rook_at_home_are_mirrored_only_without_castling_rights() -> None:
    position, _ = parse_fen("4k3/8/8/8/8/8/8/4K2R w - - 0 1")
    sample = Sample(*snapshot(position), 0, Result.DRAWN, 0)
    for cannot_castle in (True, False):
        words = pack(encode(replace(sample, cannot_castle=cannot_castle)))
        assert (inputs(words, 0, True) != inputs(words, 0, False)) is cannot_castle


def test_invalid_records_are_found() -> None:
    sound = [encode(sample) for sample in random_samples(2)]
    assert first_invalid(pack(b"".join(sound))) == -1
    for offset, value in ((26, 4), (27, 32), (8, 0xFF)):
        broken = bytearray(sound[7])
        broken[offset] = value
        assert first_invalid(pack(b"".join([*sound[:7], bytes(broken), *sound[8:]]))) == 7
    of_variant = replace(random_samples(1)[0], variant="atomic")
    assert first_invalid(pack(encode(of_variant))) == -1
    assert first_invalid(pack(encode(replace(of_variant, board=(12,) * 63 + (5,))))) == 0, "a side has no piece"
    assert first_invalid(pack(encode(replace(of_variant, board=(5, 11) + (12,) * 62, off_board=(13,))))) == 0
    on_last_rank = words_of("4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    on_last_rank[0] |= 1 << 63         # the third piece is number 0, a pawn
    assert first_invalid(on_last_rank) == 0
    crowded = RECORD.pack(2**40 - 1, bytes(16), 0, 1, 0, 0)
    assert first_invalid(pack(crowded)) == 0


def test_invalid_records_of_horde_are_found() -> None:
    """They have 52 pieces at most, 16 of them no pawns of White's, whose squares are occupied."""
    sound = encode(replace(random_samples(1)[0], variant="horde", board=(0,) * 36 + (12,) * 12 + (6,) * 15 + (11,)))
    assert first_invalid(pack(sound)) == -1
    for pawns, others in ((2**36 - 1, 2**17 - 1), (2**37 - 1, 2**16 - 1), (1, 0)):
        record = RECORD.pack(pawns | others << 47, pawns.to_bytes(8, "little") + bytes(8), 0, 1, sound[27], 0)
        assert first_invalid(pack(record)) == 0
    outside = bytearray(sound)
    outside[8 + 5] |= 1                # a pawn on a6, which is not occupied
    assert first_invalid(pack(bytes(outside))) == 0


def test_the_target_blends_score_and_result_for_the_side_to_move() -> None:
    for side, sign in (("w", 1), ("b", -1)):
        words = words_of(f"4k3/8/8/8/8/8/4P3/4K3 {side} - - 0 1", score_cp=200, result=Result.WHITE_WON)
        hope = 0.75 / (1 + exp(-200 / 400)) + 0.25
        hope = hope if sign == 1 else 1 - hope
        assert loss_of_scores(words, array("d", [0.0]), 1.0, 0.75, 400.0) == pytest.approx((0.5 - hope) ** 2)


def test_without_a_result_the_score_is_the_target() -> None:
    words = words_of("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", score_cp=200, result=Result.UNKNOWN)
    hope = 1 - 1 / (1 + exp(-200 / 400))
    for trust in (1.0, 0.75, 0.0):
        assert loss_of_scores(words, array("d", [0.0]), 1.0, trust, 400.0) == pytest.approx((0.5 - hope) ** 2)


def test_hindsight_leaves_positions_of_search_trees_as_they_are() -> None:
    samples = [
        replace(sample, score_cp=150, result=Result.UNKNOWN if number % 3 else sample.result)
        for number, sample in enumerate(random_samples(3))
    ]
    everything = pack(b"".join(map(encode, samples)))
    of_games = played(everything)
    assert of_games.tobytes() == pack(b"".join(map(encode, samples[::3]))).tobytes()
    add_hindsight(everything, 0.4, 250)
    assert {score for number, score in enumerate(white_scores(everything)) if number % 3} == {150}
    add_hindsight(of_games, 0.4, 250)
    assert played(everything) == of_games
    assert white_scores(of_games) != [150] * len(samples[::3])


def white_scores(words: "array[int]") -> list[float]:
    sides = [word >> 24 & 1 for word in words[3::4]]
    return [-score if black else score for score, black in zip(recorded_scores(words), sides, strict=True)]


def test_hindsight_blends_later_scores_and_the_result() -> None:
    scores, results = [[120, -30, 500], [-900, 40]], [Result.WHITE_WON, Result.DRAWN]
    board = random_samples(1)[0]
    samples = [
        replace(board, score_cp=score, result=result, game=game)
        for game, (row, result) in enumerate(zip(scores, results, strict=True))
        for score in row
    ]
    words = pack(b"".join(map(encode, samples)))
    others = words[:]
    add_hindsight(words, 0.4, 250)
    found = [score if not board.black_to_move else -score for score in recorded_scores(words)]
    wanted = []
    for row, result in zip(scores, results, strict=True):
        hopes = [1 / (1 + exp(-score / 250)) for score in row]
        for number, hope in enumerate(hopes):
            after = hopes[number + 1 :]
            later = sum(0.1 * 0.9**distance * other for distance, other in enumerate(after))
            later += 0.9 ** len(after) * result / 2
            share = 0.6 * hope + 0.4 * later
            wanted.append(250 * log(share / (1 - share)))
    assert found == pytest.approx(wanted, abs=1)
    assert [word >> 16 for word in words[3::4]] == [word >> 16 for word in others[3::4]]
    assert (words[0::4], words[1::4], words[2::4]) == (others[0::4], others[1::4], others[2::4])


def test_hindsight_of_a_decided_game_fits_a_record() -> None:
    for result, sign in ((Result.WHITE_WON, 1), (Result.BLACK_WON, -1)):
        samples = [replace(random_samples(1)[0], score_cp=sign * 32000, result=result, black_to_move=False)]
        words = pack(b"".join(map(encode, samples)))
        add_hindsight(words, 0.5, 400)
        assert recorded_scores(words)[0] == pytest.approx(sign * 400 * log(0.9999 / 0.0001), abs=1)


def test_the_hand_written_score_is_for_the_side_to_move() -> None:
    ours = hand_written_scores(words_of("4k3/8/8/8/8/8/8/QQQ1K3 w - - 0 1"))[0]
    theirs = hand_written_scores(words_of("4k3/8/8/8/8/8/8/QQQ1K3 b - - 0 1"))[0]
    assert ours > 1000 > -1000 > theirs


def test_the_hand_written_score_of_a_record_is_that_of_the_position() -> None:
    for board in random_games(count=8, plies=60, start=Start.STANDARD, seed=5):
        assert hand_written_scores(words_of(board.fen()))[0] == evaluate(parse_fen(board.fen())[0])


def test_an_epoch_holds_every_record_once_and_the_next_mirrors_the_others() -> None:
    first, second = (shuffled(1000, 3, epoch) for epoch in (0, 1))
    assert sorted(entry >> 1 for entry in first) == sorted(entry >> 1 for entry in second) == list(range(1000))
    assert {entry ^ 1 for entry in first} == set(second)
    assert 400 < sum(entry & 1 for entry in first) < 600
    assert first != second
    assert sum(later >> 1 == (earlier >> 1) + 1 for earlier, later in pairwise(first)) < 20
    assert first == shuffled(1000, 3, 0)
    assert [entry >> 1 for entry in first] != [entry >> 1 for entry in shuffled(1000, 4, 0)]
