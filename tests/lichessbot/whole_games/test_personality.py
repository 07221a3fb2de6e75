"""A bot with a personality that takes odds games only: the daemon against the embedded Lichess."""

from lichessbot.rehearsal.players.start_positions import odds_fen
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.enums import Color, ColorChoice, DeclineReason, Variant
from tests.fakes.arena import Arena

PERSONALITY = """\
greeting:
  name: Captain
  hello: "Ahoy {opponent}, {name} here."
  goodbye: "Bye."
  goodbye_won: "Well fought, {opponent}!"
"""


def test_a_bot_with_a_personality_gives_the_odds_it_is_configured_for(arena: Arena) -> None:
    (arena.folder / "captain.yml").write_text(PERSONALITY)
    arena.configure("personality: captain.yml\n", rules="odds: [queen, pawn]")
    arena.start()
    human = arena.player("Hilda", None)
    rook = odds(arena, human, "rook")
    arena.until(lambda: arena.is_settled(rook))
    assert arena.decline_reason(rook) is DeclineReason.VARIANT
    assert arena.logged("challenge.odds = [queen, pawn]")
    odds(arena, human, "queen")
    arena.until(lambda: arena.started and arena.started[0].game.ply == 1)
    game = arena.started[0].game
    arena.until(lambda: [line.text for line in game.chat] == ["Ahoy Hilda, Captain here."])
    arena.server.call(lambda: arena.started[0].play(Color.BLACK, "e7e6"))
    arena.until(lambda: game.ply == 3)
    arena.server.call(lambda: arena.started[0].resign(Color.BLACK))
    arena.until(lambda: [line.text for line in game.chat][1:] == ["Well fought, Hilda!"])


def odds(arena: Arena, human: Account, piece: str) -> str:
    """A challenge to a game in which the bot is White and gives this piece."""
    fen = odds_fen(piece, Color.WHITE)
    return arena.challenge(human, color=ColorChoice.BLACK, variant=Variant.FROM_POSITION, fen=fen)
