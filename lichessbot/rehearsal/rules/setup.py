"""What is decided before the first move of a game: players, start position, clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.clock import TimeControl
from lichessbot.rehearsal.rules.enums import Color, Rule, Source, Variant
from lichessbot.rehearsal.rules.errors import NotFound
from lichessbot.rehearsal.rules.ids import SECRET_LENGTH, new_id


def _new_secrets() -> dict[Color, str]:
    return {color: new_id(SECRET_LENGTH) for color in Color}


@dataclass(frozen=True)
class GameSetup:
    """Everything about a game that does not change."""

    id: str
    white: Account
    black: Account
    variant: Variant
    time_control: TimeControl
    initial_fen: str
    rated: bool
    source: Source
    created_at_ms: int            # since the epoch; all other times are monotonic
    rules: frozenset[Rule] = frozenset()
    tournament_id: str | None = None
    secrets: Mapping[Color, str] = field(default_factory=_new_secrets, repr=False)      # known to each player only

    def account(self, color: Color) -> Account:
        return self.white if color is Color.WHITE else self.black

    def full_id(self, color: Color) -> str:
        """Return the game id and the player's secret: 12 characters."""
        return self.id + self.secrets[color]

    def player_color(self, account: Account) -> Color:
        """Return the colour that `account` plays. Raises NotFound if it is not a player."""
        color = self.color_of(account)
        if color is None:
            raise NotFound("Not your game")
        return color

    def color_of(self, account: Account) -> Color | None:
        """Return the colour that `account` plays; None if it is not a player."""
        return next((color for color in Color if self.account(color) is account), None)
