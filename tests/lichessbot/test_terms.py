import pytest

from lichessbot.terms import Clock, Days, Terms, speed_of
from lichessbot.vocabulary import Mode, Variant


@pytest.mark.parametrize(
    ("base_s", "increment_s", "speed"),
    [
        (29, 0, "ultraBullet"),
        (30, 0, "bullet"),
        (0, 1, "bullet"),
        (179, 0, "bullet"),
        (180, 0, "blitz"),
        (60, 3, "blitz"),
        (300, 5, "rapid"),
        (1500, 0, "classical"),
        (10800, 180, "classical"),
        (10800, 300, "correspondence"),
    ],
)
def test_the_speed_is_that_of_base_and_forty_increments(base_s: int, increment_s: int, speed: str) -> None:
    assert speed_of(base_s, increment_s) == speed


def test_a_variant_has_a_rating_of_its_own_whatever_the_speed() -> None:
    clock = Clock(180, 0)
    assert Terms(Variant.STANDARD, clock, True).rating_category == "blitz"
    assert Terms(Variant.CHESS960, clock, True).rating_category == "chess960"
    assert Terms(Variant.STANDARD, Days(2), False).rating_category == "correspondence"


def test_terms_read_as_people_write_them() -> None:
    assert str(Terms(Variant.STANDARD, Clock(180, 2), True)) == "3+2 rated standard"
    assert str(Terms(Variant.CHESS960, Clock(30, 1), False)) == "0.5+1 casual chess960"
    assert str(Terms(Variant.STANDARD, Days(3), False)) == "3 d a move casual standard"
    assert Terms(Variant.STANDARD, Days(3), False).mode is Mode.CASUAL
