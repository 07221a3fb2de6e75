"""Ids as Lichess writes them, and never a number in anybody's configuration."""

import yaml

from lichessbot.rehearsal.rules.arenas import ArenaTerms
from lichessbot.rehearsal.rules.ids import SECRET_LENGTH, new_id
from lichessbot.rehearsal.server.server import RehearsalServer

from .test_arenas import CLOCK


def test_an_id_is_text_to_yaml() -> None:
    ids = [new_id() for _ in range(2000)]
    assert [yaml.safe_load(it) for it in ids] == ids
    assert all(len(it) == 8 and it.isascii() and it.isalnum() and it[0].isalpha() for it in ids)
    assert len(set(ids)) == 2000
    assert len(new_id(SECRET_LENGTH)) == SECRET_LENGTH


def test_a_tournament_has_an_id_like_any_other(lichess: RehearsalServer) -> None:
    terms = ArenaTerms("Bots at Noon", CLOCK)
    arena_runner = lichess.site.arena_runner
    arenas = lichess.call(lambda: [arena_runner.open(terms, starts_in_s=60.0, lasts_s=1.0) for _ in range(50)])
    assert all(len(arena.id) == 8 and arena.id[0].isalpha() for arena in arenas)
