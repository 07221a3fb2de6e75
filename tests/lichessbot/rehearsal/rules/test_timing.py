"""The waits of the embedded Lichess at another pace."""

from lichessbot.rehearsal.rules.timing import Timing


def test_waits_are_scaled_but_an_engine_starts_no_faster() -> None:
    real, quick, slow = Timing(), Timing().scaled(0.1), Timing().scaled(3.0)
    assert (quick.tick_s, slow.tick_s) == (real.tick_s * 0.1, real.tick_s * 3.0)
    assert (quick.first_moves_s, slow.first_moves_s) == (real.first_moves_s, real.first_moves_s * 3.0)
