"""The latest challenges by our account and to it, which the operator may have made again: `lichessbot rechallenge`.

Pure. Whether the challenge is sent, as slots and quotas allow, is decided elsewhere.
"""

from lichessbot.control.commands import CannotDo
from lichessbot.lichess.challenge_terms import Days, Terms
from lichessbot.lichess.enums import PROPOSABLE_VARIANTS, Colour
from lichessbot.lichess.models import Challenge
from lichessbot.matchmaking.selection import Proposal


class LastChallenges:
    """What `lichessbot rechallenge` makes again."""

    def __init__(self) -> None:
        self._sent: Challenge | None = None
        self._received: Challenge | None = None
        self._our_id = ""

    @property
    def opponent(self) -> str | None:
        """The player whom our account challenged last, with any program."""
        return None if self._sent is None else self._sent.destination.id or None

    def remember(self, challenge: Challenge, our_id: str) -> None:
        """Remember a challenge of which the event stream tells."""
        self._our_id = our_id
        if challenge.challenger.id == our_id:
            self._sent = challenge
        else:
            self._received = challenge

    def again(self, *, received: bool) -> Proposal:
        """Return the challenge to make: our latest again, or the return of the latest to us. Raises CannotDo."""
        challenge = self._received if received else self._sent
        if challenge is None:
            nothing = "no challenge was received" if received else "nobody was challenged"
            raise CannotDo(f"{nothing} since the start of the daemon")
        proposal = proposal_of(challenge, self._our_id)
        if proposal is None:
            raise CannotDo("the last challenge was one that the bot never makes, such as From Position or unlimited")
        return proposal


def proposal_of(challenge: Challenge, our_id: str) -> Proposal | None:
    """Return a challenge by us as one to make again, or one to us as one to return with the same colours.

    None if we never make such challenges.
    """
    is_ours = challenge.challenger.id == our_id
    them, control = challenge.destination if is_ours else challenge.challenger, challenge.time_control
    days = None if control.days_per_turn is None else Days(control.days_per_turn)
    time_control = control.clock or days
    variant = next((it for it in PROPOSABLE_VARIANTS if it == challenge.variant.key), None)
    if not them.id or time_control is None or variant is None:
        return None
    theirs = next((it for it in Colour if it == challenge.color), None)
    colour = theirs.other if theirs is not None and not is_ours else theirs
    return Proposal(them.id, Terms(variant, time_control, challenge.rated, colour), is_bot=them.is_bot)
