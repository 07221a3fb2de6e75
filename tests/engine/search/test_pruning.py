"""What a node takes from earlier nodes, seen in the plain mode, where each call can be watched."""

import json
from typing import Any

import pytest

from tests.scripts import run_python

WATCHED_SEARCH = """
import json
from engine.core.params import HINDSIGHT_MARGIN
from engine.core.score import NO_SCORE
from engine.facade import Board, Engine, Limits
from engine.search.pruning import Pruning
from engine.search.transposition import TranspositionTable, entry_pv

was_on_pv, stores, late_moves, hindsight = {}, [], [], []
store, reduction, hindsight_reduction = (
    TranspositionTable.store, Pruning.reduction, Pruning.hindsight_reduction
)


def watched_store(table, key, move, score, depth, bound, raw_eval, on_pv):
    stores.append((was_on_pv.get(key, False), bool(on_pv)))
    store(table, key, move, score, depth, bound, raw_eval, on_pv)
    was_on_pv[key] = bool(entry_pv(table.probe(key)))


def watched_reduction(pruning, move, number, depth, ply, on_pv):
    stack, plies = pruning.stack, []
    came_by = stack.tt_pv[ply]
    for stack.tt_pv[ply] in (False, True):
        plies.append(reduction(pruning, move, number, depth, ply, on_pv))
    stack.tt_pv[ply] = came_by
    late_moves.append(plies)
    return plies[came_by]


def watched_hindsight(pruning, depth, ply):
    stack, reduces = pruning.stack, bool(hindsight_reduction(pruning, depth, ply))
    before = stack.static_eval(ply - 1) if ply else NO_SCORE
    was_bad = before != NO_SCORE and before + stack.static_eval(ply) > HINDSIGHT_MARGIN
    hindsight.append((ply, depth, stack.reductions[ply - 1] if ply else 0, was_bad, reduces))
    return reduces


TranspositionTable.store = watched_store
Pruning.reduction = watched_reduction
Pruning.hindsight_reduction = watched_hindsight
engine = Engine(hash_mb=1)
engine.set_evaluation("none")
engine.set_position(Board("r1bqkbnr/ppp1pppp/8/5n2/5P2/4P2P/PP1P2P1/RNBQKBNR w KQkq - 1 2"))
engine.go(Limits(nodes=5_000))
print(json.dumps([stores, late_moves, hindsight]))
"""


@pytest.fixture(scope="module")
def watched() -> tuple[list[Any], list[Any], list[Any]]:
    """Return what was stored, how late moves were reduced, and which answers were reduced by hindsight."""
    stores, reductions, hindsight = json.loads(run_python(WATCHED_SEARCH, ENGINE_PURE="1"))
    return stores, reductions, hindsight


def test_the_table_remembers_who_was_on_the_principal_variation(watched: tuple[list[Any], ...]) -> None:
    stores = watched[0]
    assert [True, True] in stores
    assert [False, True] in stores
    assert [False, False] in stores
    assert [True, False] not in stores, "a later search with a null window forgot it"


def test_late_moves_are_reduced_less_where_a_principal_variation_came_by(watched: tuple[list[Any], ...]) -> None:
    reductions = watched[1]
    assert all(there in (elsewhere, elsewhere - 1) for elsewhere, there in reductions)
    late = [pair for pair in reductions if pair[0]]
    assert sum(elsewhere > there for elsewhere, there in late) > len(late) / 10


def test_the_answer_to_a_reduced_move_that_was_bad_is_reduced_too(watched: tuple[list[Any], ...]) -> None:
    answers = watched[2]
    for ply, depth, reduced_by, was_bad, reduces in answers:
        assert reduces == (ply > 0 and depth > 1 and reduced_by > 1 and was_bad)
    assert any(reduces for *_, reduces in answers)
