"""Names, titles and chat with terminal escapes, bidi marks and 10,000 characters: whatever shows them is inert."""

import unicodedata

from lichessbot.rehearsal.rules.enums import ChatRoom, Color
from tests.fakes.arena import Arena

ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\x00\x7f"
BIDI = "\u202e\u2066\u200f\ufeff"
HOSTILE = f"Eve{ESCAPES}{BIDI}\u2028game=forged\n" + "x" * 10_000
LONGEST_LINE = 1000


def harmful(text: str) -> set[str]:
    """Return the characters that move a cursor, reorder text or end a line, but for the line feed itself."""
    return {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs") and char != "\n"}


def told(arena: Arena, *words: str) -> str:
    done = arena.tell(*words)
    return done.stdout + done.stderr


def test_hostile_text_is_inert_in_log_records_and_games(arena: Arena) -> None:
    games = arena.folder / "games"
    arena.configure(f"pgn_directory: {games}\n", depth=1, concurrency=1)
    arena.start()
    eve = arena.player(HOSTILE, title=f"GM{ESCAPES}{BIDI}")
    challenge_id = arena.challenge(eve, base_s=180)
    arena.until(lambda: arena.started)
    session = arena.started[0]
    seat = session.game.setup.color_of(eve) or Color.WHITE
    for room in ChatRoom:
        arena.server.call(lambda room=room: session.say(seat, room, f"!{HOSTILE}"[:140]))
    arena.until_ended(1)
    arena.until(lambda: list(games.glob("*.pgn")))
    assert arena.stop() == 0
    written = "".join(path.read_text() for path in games.glob("*.pgn"))
    shown = {"log": arena.log(), "explain": told(arena, "explain", challenge_id), "games": written}
    for place, text in shown.items():
        assert not harmful(text), place
        assert max(map(len, text.splitlines())) <= LONGEST_LINE, place
        assert "\ngame=forged" not in text
        assert "forged" in text, f"{place} says nothing of it"
