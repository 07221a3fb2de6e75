"""The static evaluation of variants."""

import pytest

from engine.evaluation.variant_evaluation import SIZES, VariantEvaluation
from engine.evaluation.variant_terms import CLASSES
from engine.evaluation.variant_weights import VALUES
from engine.facade import Board, evaluation
from tests.engine.variants.games import VARIANTS, random_games

MIRRORED = tuple(variant for variant in VARIANTS if variant not in ("horde", "racingKings"))


def mirrored(fen: str) -> str:
    """The same position with the colours exchanged."""
    board, turn, _, _, *rest = fen.split()
    ranks = board.split("/")
    pocket = f"/{ranks[8].swapcase()}" if len(ranks) > 8 else ""
    flipped = "/".join(rank.swapcase() for rank in reversed(ranks[:8]))
    checks = [f"+{word[3]}+{word[1]}" if word.startswith("+") else word for word in rest]
    return " ".join((flipped + pocket, "b" if turn == "w" else "w", "-", "-", *checks))


@pytest.mark.parametrize("variant", MIRRORED)
def test_both_colours_are_evaluated_alike(variant: str) -> None:
    for ply in list(random_games(variant, games=2, seed=3))[::7]:
        fen = ply.board.fen()
        if ply.moves and " - - " in fen:
            assert Board(fen, variant=variant).evaluate() == -Board(mirrored(fen), variant=variant).evaluate(), fen


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_terms_add_up_to_the_evaluation(variant: str) -> None:
    for ply in list(random_games(variant, games=2, seed=4))[::9]:
        parts = evaluation(ply.board)
        midgame = sum(term[0] - term[2] for term in parts.terms.values())
        endgame = sum(term[1] - term[3] for term in parts.terms.values())
        score = midgame * parts.phase + endgame * (parts.full_phase - parts.phase)
        assert abs(parts.score_cp - max(-9000, min(score / parts.full_phase, 9000))) < 1


def test_the_terms_of_more_pieces_than_any_game_has_are_shown() -> None:
    fen = "qqnqqRnq/PPPqkPqq/PqPqPqPq/PKPqPqPq/PPqPqPqP/PPqPqPqP/qPqPqPqq/qqqrqqqR w - - 0 1"
    assert "mobility" in evaluation(Board(fen, variant="atomic")).terms


@pytest.mark.parametrize(
    ("variant", "better", "worse"),
    [
        ("kingOfTheHill", "4k3/8/8/8/8/3K4/8/8 w - - 0 1", "4k3/8/8/8/8/8/8/3K4 w - - 0 1"),
        ("threeCheck", "4k3/8/8/8/8/8/8/R3K3 b - - 0 1 +2+0", "4k3/8/8/8/8/8/8/R3K3 b - - 0 1 +1+0"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[QN] w - - 0 1", "4k3/8/8/8/8/8/8/4K3[Q] w - - 0 1"),
        ("atomic", "4k3/3p4/8/8/8/8/8/R2QK3 w - - 0 1", "4k3/8/3p4/8/8/8/8/R2QK3 w - - 0 1"),
        ("horde", "4k3/8/PPP5/8/8/8/8/8 w - - 0 1", "4k3/8/8/PPP5/8/8/8/8 w - - 0 1"),
        ("racingKings", "8/8/2K5/8/8/8/6k1/8 w - - 0 1", "8/8/8/8/2K5/8/6k1/8 w - - 0 1"),
    ],
)
def test_what_a_variant_is_about_counts(variant: str, better: str, worse: str) -> None:
    assert Board(better, variant=variant).evaluate() > Board(worse, variant=variant).evaluate()


def test_every_variant_has_weights_that_fit() -> None:
    assert set(VALUES) == set(CLASSES) == set(VARIANTS)
    for values in VALUES.values():
        assert all(len(pairs) <= SIZES[name] for name, pairs in values.items())


def test_too_many_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="tempo: 2 weights, expected at most 1"):
        VariantEvaluation({"tempo": ((1, 1), (2, 2))})
