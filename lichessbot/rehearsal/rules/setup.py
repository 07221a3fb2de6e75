"""What is decided before the first move of a game: players, start position, clock."""

from dataclasses import dataclass

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.clock import TimeControl
from lichessbot.rehearsal.rules.enums import Color, Rule, Source, Variant
from lichessbot.rehearsal.rules.errors import NotFound


@dataclass(frozen=True)
class Player:
    """One side of a game."""

    account: Account
    secret: str

    @property
    def name(self) -> str:
        return self.account.name


@dataclass(frozen=True)
class GameSetup:
    """Everything about a game that does not change."""

    id: str
    white: Player
    black: Player
    variant: Variant
    time_control: TimeControl
    initial_fen: str
    rated: bool
    source: Source
    created_at_ms: int            # since the epoch; all other times are monotonic
    rules: frozenset[Rule] = frozenset()
    tournament_id: str | None = None

    def player(self, color: Color) -> Player:
        return self.white if color is Color.WHITE else self.black

    def account(self, color: Color) -> Account:
        return self.player(color).account

    def full_id(self, color: Color) -> str:
        """Return the game id and the player's secret: 12 characters."""
        return self.id + self.player(color).secret

    def player_color(self, account: Account) -> Color:
        """Return the colour that `account` plays. Raises NotFound if it is not a player."""
        color = self.color_of(account)
        if color is None:
            raise NotFound("Not your game")
        return color

    def color_of(self, account: Account) -> Color | None:
        """Return the colour that `account` plays; None if it is not a player."""
        return next((color for color in Color if self.account(color) is account), None)
