"""Teams: who may join, spelled as the server does."""

from dataclasses import dataclass, field

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.errors import InvalidForm


@dataclass(eq=False)
class Team:
    """A team. With `confirms`, its leaders read a message from everybody who wants to join."""

    id: str
    password: str | None = None
    confirms: bool = False
    members: set[Account] = field(default_factory=set)
    requests: dict[Account, str] = field(default_factory=dict)

    def join(self, account: Account, password: str | None, message: str | None) -> None:
        """Become a member, or ask the leaders. Raises InvalidForm."""
        if account in self.members:
            return
        if self.password is not None and password != self.password:
            raise InvalidForm({"password": "Incorrect entry code."})
        if not self.confirms:
            self.members.add(account)
        elif message is None:
            raise InvalidForm({"message": "Request message required"})
        else:
            self.requests[account] = message
