"""Games for tests of the rules."""

from dataclasses import replace

from engine.facade import STARTING_FEN
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import Color, Source, Variant
from lichessbot.rehearsal.rules.game import Game, GameState, Line
from lichessbot.rehearsal.rules.setup import GameSetup

WHITE, BLACK = Color.WHITE, Color.BLACK

BOT = Account("Ada", 0, title="BOT", allows_takebacks=False)
HUMAN = Account("Hal", 0)
OTHER_HUMAN = Account("Eve", 0)

SETUP = GameSetup(
    id="gamegame",
    white=BOT,
    black=HUMAN,
    variant=Variant.STANDARD,
    time_control=RealTime(60, 0),
    initial_fen=STARTING_FEN,
    rated=False,
    source=Source.FRIEND,
    created_at_ms=0,
)
HUMANS = replace(SETUP, white=HUMAN, black=OTHER_HUMAN)


def game(setup: GameSetup = SETUP, moves: list[str] | None = None, fen: str | None = None) -> Game:
    """A game in which `moves` were made without any time passing."""
    if fen is not None:
        setup = replace(setup, variant=Variant.FROM_POSITION, initial_fen=fen)
    it = Game(setup, 0)
    for move in moves or []:
        it.play(it.turn, move, 0)
    return it


def states(lines: list[Line]) -> list[GameState]:
    return [line for line in lines if isinstance(line, GameState)]
