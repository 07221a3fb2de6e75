from lichessbot.lichess.challenge_terms import Days, Terms
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
