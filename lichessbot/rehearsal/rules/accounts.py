"""Users and tokens. Must not know: games and HTTP."""

import secrets
from dataclasses import dataclass

from lichessbot.rehearsal.rules.enums import BOT_TITLE, Color, Scope

BOT_SCOPES = frozenset({Scope.BOT_PLAY, Scope.CHALLENGE_READ, Scope.CHALLENGE_WRITE})


@dataclass(eq=False)
class Account:
    """A user. The `id` is the lowercase name; compare ids, never names."""

    name: str
    created_at_ms: int
    title: str | None = None
    rating: int = 1500
    bio: str = ""
    allows_takebacks: bool = True
    is_house: bool = False          # a house bot: online without a stream
    wins: int = 0
    losses: int = 0
    draws: int = 0

    @property
    def id(self) -> str:
        return self.name.lower()

    @property
    def is_bot(self) -> bool:
        return self.title == BOT_TITLE

    @property
    def games_played(self) -> int:
        return self.wins + self.losses + self.draws

    def upgrade_to_bot(self) -> None:
        """Take the BOT title; the upgrade also switches takebacks off."""
        self.title = BOT_TITLE
        self.allows_takebacks = False

    def count_game(self, color: Color, winner: Color | None) -> None:
        """Count a finished game that this account played with `color`."""
        if winner is None:
            self.draws += 1
        elif winner is color:
            self.wins += 1
        else:
            self.losses += 1


@dataclass(eq=False)
class Grant:
    """The account of a token and its scopes."""

    account: Account
    scopes: frozenset[Scope]


class Accounts:
    """All users and tokens."""

    def __init__(self) -> None:
        self._by_id: dict[str, Account] = {}
        self._grants: dict[str, Grant] = {}

    def add(self, account: Account) -> Account:
        """Add an account, whose name must be new, and return it."""
        if account.id in self._by_id:
            raise ValueError(f"the name {account.name!r} is taken")
        self._by_id[account.id] = account
        return account

    def get(self, name: str) -> Account | None:
        return self._by_id.get(name.lower())

    def all(self) -> list[Account]:
        return list(self._by_id.values())

    def issue_token(self, account: Account, scopes: frozenset[Scope] = BOT_SCOPES) -> str:
        """Return a new token for `account`."""
        token = f"lip_{secrets.token_hex(12)}"
        self._grants[token] = Grant(account, scopes)
        return token

    def grant(self, token: str) -> Grant | None:
        return self._grants.get(token)
