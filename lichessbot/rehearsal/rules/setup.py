"""What is settled before the first move of a game: who plays, at which board, with which clock."""

from dataclasses import dataclass

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.clock import TimeControl
from lichessbot.rehearsal.rules.enums import CastlingSpelling, Color, Rule, Source, Speed, Variant


@dataclass(frozen=True)
class Player:
    """Who sits at one side: an account, the built-in AI (a level), or somebody anonymous (neither)."""

    account: Account | None
    secret: str
    ai_level: int | None = None

    @property
    def is_bot(self) -> bool:
        return self.account is not None and self.account.is_bot

    @property
    def is_ai(self) -> bool:
        return self.ai_level is not None

    @property
    def allows_takebacks(self) -> bool:
        return self.account is not None and self.account.allows_takebacks

    @property
    def name(self) -> str:
        if self.account is not None:
            return self.account.name
        return f"Stockfish level {self.ai_level}" if self.is_ai else "Anonymous"


@dataclass(frozen=True)
class GameSetup:
    """What is settled before the first move."""

    id: str
    white: Player
    black: Player
    variant: Variant
    time_control: TimeControl
    initial_fen: str
    rated: bool
    source: Source
    created_at_ms: int            # since the epoch; everything else counts on the monotonic clock
    rules: frozenset[Rule] = frozenset()
    spelling: CastlingSpelling = CastlingSpelling.KING_TO_TARGET
    tournament_id: str | None = None

    def player(self, color: Color) -> Player:
        return self.white if color is Color.WHITE else self.black

    def full_id(self, color: Color) -> str:
        """Game id and the player's secret: 12 characters."""
        return self.id + self.player(color).secret

    def color_of(self, account: Account) -> Color | None:
        return next((color for color in Color if self.player(color).account is account), None)

    @property
    def is_bot_compatible(self) -> bool:
        """Bots play at bullet or slower (contract 7)."""
        return self.time_control.speed is not Speed.ULTRA_BULLET
