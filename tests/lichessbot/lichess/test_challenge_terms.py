import pytest

from lichessbot.lichess.challenge_terms import Days, Terms, may_be_rated
from lichessbot.lichess.enums import ExactClock, Mode, Variant


def test_a_variant_has_one_rating_for_every_speed() -> None:
    clock = ExactClock(180, 0)
    assert Terms(Variant.STANDARD, clock, True).rating_category == "blitz"
    assert Terms(Variant.CHESS960, clock, True).rating_category == "chess960"
    assert Terms(Variant.STANDARD, Days(2), False).rating_category == "correspondence"
    assert Terms(Variant.STANDARD, ExactClock(15, 0), False).speed == "ultraBullet"


def test_terms_as_text() -> None:
    assert str(Terms(Variant.STANDARD, ExactClock(180, 2), True)) == "3+2 rated standard"
    assert str(Terms(Variant.CHESS960, ExactClock(30, 1), False)) == "0.5+1 casual chess960"
    assert str(Terms(Variant.STANDARD, Days(3), False)) == "3 d a move casual standard"
    assert Terms(Variant.STANDARD, Days(3), False).mode is Mode.CASUAL


@pytest.mark.parametrize(
    ("variant", "time_control", "is_rated"),
    [
        (Variant.STANDARD, ExactClock(0, 1), True),
        (Variant.STANDARD, Days(3), True),
        (Variant.ATOMIC, ExactClock(60, 0), True),
        (Variant.ATOMIC, ExactClock(0, 2), True),
        (Variant.ATOMIC, ExactClock(0, 1), False),
        (Variant.ATOMIC, ExactClock(15, 0), False),
        (Variant.ATOMIC, Days(3), False),
        (Variant.FROM_POSITION, ExactClock(180, 0), False),
    ],
)
def test_lichess_rates_variants_only_with_a_clock_that_is_not_too_short(
    variant: Variant, time_control: ExactClock | Days, is_rated: bool
) -> None:
    assert may_be_rated(variant, time_control) is is_rated
