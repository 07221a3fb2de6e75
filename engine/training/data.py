"""The data that a network is trained on: the newest positions of some shards, with whole games held out."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from engine.evaluation.eval_file import STANDARD
from engine.selfplay import records
from engine.selfplay.records import RECORD, InvalidRecord
from engine.training.features import add_hindsight, first_invalid, pack, played

WORDS = RECORD.size // 8           # 64-bit words per record


@dataclass(frozen=True)
class Data:
    """Packed records, see `features.py`, to train on and to validate with; all of standard chess, or all of a variant.

    `origin` identifies the data: it changes with the name and the size of any shard.
    """

    training: array[int]
    held_out: array[int]
    games: int
    origin: str
    is_of_variant: bool = False

    @property
    def training_count(self) -> int:
        return len(self.training) // WORDS

    @property
    def held_out_count(self) -> int:
        return len(self.held_out) // WORDS


def load(
    paths: Sequence[Path], newest: int, hindsight: float = 0.0, unit_cp: int = 1, *, only_played: bool = False
) -> Data:
    """Return the last positions of the shards, at least `newest` if there are as many, oldest first.

    `hindsight` and `unit_cp` are as for `add_hindsight`. `only_played`: without positions of search trees. Raises
    InvalidRecord for a damaged shard, and for too few games to hold out some.
    """
    training, held_out = array("Q"), array("Q")
    games, rules = 0, set[str]()
    chosen = newest_shards(paths, newest, only_played=only_played)
    for path in chosen:
        words = played(read_words(path)) if only_played else read_words(path)
        rules.update(map(records.rules_of, last_words(words)))
        if len(rules) > 1:
            raise InvalidRecord(f"{path}: games of {' and '.join(sorted(rules))} together, expected one of them")
        if hindsight > 0:
            add_hindsight(words, hindsight, unit_cp)
        begin = 0
        for game, same in groupby(map(records.game_of, last_words(words))):
            end = begin + WORDS * sum(1 for _ in same)
            target = held_out if records.is_held_out(path.stem, game) else training
            target.extend(words[begin:end])
            begin = end
            games += 1
    if not training or not held_out:
        raise InvalidRecord(f"too few games to train on some and hold out others ({games}): play more")
    return Data(training, held_out, games, _origin(chosen), rules != {STANDARD})


def last_words(words: array[int]) -> array[int]:
    """Return the fourth word of each record, which `records.py` reads."""
    return words[WORDS - 1 :: WORDS]


def newest_shards(paths: Sequence[Path], newest: int, *, only_played: bool = False) -> list[Path]:
    """Return the last shards, as many as hold this many positions; `only_played` is as for `load`."""
    chosen: list[Path] = []
    positions = 0
    for path in reversed(paths):
        if positions >= newest:
            break
        chosen.append(path)
        size = path.stat().st_size // RECORD.size
        positions += len(played(read_words(path))) // WORDS if only_played else size
    return chosen[::-1]


def read_words(path: Path) -> array[int]:
    """Return all records of a shard, packed. Raises InvalidRecord."""
    content = path.read_bytes()
    if len(content) % RECORD.size:
        raise InvalidRecord(f"{path}: ends within a record")
    words = pack(content)
    wrong = first_invalid(words)
    if wrong >= 0:
        raise InvalidRecord(f"{path}: record {wrong} is not a chess position with a score and a result")
    return words


def _origin(paths: Sequence[Path]) -> str:
    text = "\n".join(f"{path.name} {path.stat().st_size}" for path in paths)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
