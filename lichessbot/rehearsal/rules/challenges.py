"""Challenges: which are allowed, and how they change.

Pure: monotonic milliseconds, ids and random colours are passed in. Must not know: streams.
"""

from dataclasses import dataclass, replace

from engine.facade import STARTING_FEN, Board, InvalidFen, chess960_fen
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.clock import RealTime, TimeControl
from lichessbot.rehearsal.rules.enums import ChallengeStatus, Color, ColorChoice, DeclineReason, Rule, Speed, Variant
from lichessbot.rehearsal.rules.errors import GLOBAL_FIELD, InvalidForm, NotFound, Refused

CHESS960_STARTS = 960


@dataclass(frozen=True)
class Terms:
    """What is proposed. `fen`: the start position, unless it is the one of the variant."""

    variant: Variant
    time_control: TimeControl
    rated: bool = False
    color: ColorChoice = ColorChoice.RANDOM
    fen: str | None = None
    rules: frozenset[Rule] = frozenset()


@dataclass(eq=False)
class Challenge:
    """A challenge of one player to another."""

    id: str
    terms: Terms
    challenger: Account
    target: Account
    final_color: Color                    # the challenger's
    seen_at_ms: int                       # created, or its keepAliveStream ended
    rematch_of: str | None                # the game that it is a rematch of
    kept_alive: bool = False              # a keepAliveStream is open
    settled: ChallengeStatus | None = None
    decline_reason: DeclineReason | None = None

    @property
    def is_active(self) -> bool:
        return self.settled is None

    def color_of(self, account: Account) -> Color:
        return self.final_color if account is self.challenger else self.final_color.other


def settled_terms(terms: Terms, *, by_bot: bool) -> Terms:
    """Return the terms as Lichess stores them. Raises InvalidForm; some terms are changed without an error."""
    clock = terms.time_control if isinstance(terms.time_control, RealTime) else None
    if clock is not None and clock.estimate_s == 0:
        raise InvalidForm({"clock": "Invalid clock"})
    if by_bot and clock is not None and clock.speed is Speed.ULTRA_BULLET:
        raise InvalidForm({GLOBAL_FIELD: "Invalid speed"})
    terms = _with_start(terms)
    without_clock = terms.variant is not Variant.STANDARD and clock is None
    if terms.rated and (terms.variant is Variant.FROM_POSITION or without_clock):
        raise InvalidForm({GLOBAL_FIELD: "can't be rated"})
    if clock is not None and terms.variant is not Variant.STANDARD and _is_too_fast_to_rate(clock):
        terms = replace(terms, rated=False)
    return terms


def check_parties(terms: Terms, challenger: Account, target: Account) -> None:
    """Raise Refused if these two cannot play on these terms."""
    if challenger is target:
        raise Refused("You cannot challenge yourself")
    if target.is_bot and terms.rules:
        raise Refused("Rules not applicable for bots")
    if target.is_bot and terms.time_control.speed is Speed.ULTRA_BULLET:
        raise Refused("Bots cannot play UltraBullet. Choose a slower time control.")


class ChallengeBook:
    """All challenges, also settled ones."""

    def __init__(self, expiry_s: float) -> None:
        self._expiry_s = expiry_s
        self._challenges: dict[str, Challenge] = {}

    def add(self, challenge: Challenge) -> None:
        """Add a challenge. An older one of the same pair that has not expired ends without an event."""
        for older in self.outgoing(challenge.challenger, challenge.seen_at_ms):
            if older.target is challenge.target:
                older.settled = ChallengeStatus.CANCELED
        self._challenges[challenge.id] = challenge

    def get(self, challenge_id: str) -> Challenge | None:
        return self._challenges.get(challenge_id)

    def status(self, challenge: Challenge, now_ms: int) -> ChallengeStatus:
        """Return the status. Unanswered real-time challenges go offline without an event, but can be accepted."""
        if challenge.settled is not None:
            return challenge.settled
        may_expire = isinstance(challenge.terms.time_control, RealTime) and not challenge.kept_alive
        has_expired = may_expire and now_ms - challenge.seen_at_ms >= 1000 * self._expiry_s
        return ChallengeStatus.OFFLINE if has_expired else ChallengeStatus.CREATED

    def incoming(self, account: Account, now_ms: int) -> list[Challenge]:
        """Return the open challenges to `account` that have not expired, oldest first."""
        return [c for c in self._created(now_ms) if c.target is account]

    def outgoing(self, account: Account, now_ms: int) -> list[Challenge]:
        """Return the open challenges of `account` that have not expired, oldest first."""
        return [c for c in self._created(now_ms) if c.challenger is account]

    def _created(self, now_ms: int) -> list[Challenge]:
        return [c for c in self._challenges.values() if self.status(c, now_ms) is ChallengeStatus.CREATED]

    def acceptable(self, challenge_id: str, account: Account) -> Challenge:
        """Return a challenge that `account` can accept. Raises NotFound or Refused."""
        challenge = self._challenges.get(challenge_id)
        if challenge is None or challenge.target is not account:
            raise NotFound
        match challenge.settled:
            case ChallengeStatus.ACCEPTED:
                raise NotFound
            case ChallengeStatus.CANCELED | ChallengeStatus.DECLINED as status:
                raise Refused(f"The challenge has been {status}.")
        if account.is_bot and challenge.terms.time_control.speed is Speed.ULTRA_BULLET:
            raise Refused("Game incompatible with a BOT account")
        return challenge

    def decline(self, challenge_id: str, account: Account, reason: DeclineReason) -> Challenge:
        challenge = self._challenges.get(challenge_id)
        if challenge is None or challenge.target is not account or not challenge.is_active:
            raise NotFound
        challenge.settled = ChallengeStatus.DECLINED
        challenge.decline_reason = reason
        return challenge


def _with_start(terms: Terms) -> Terms:
    """Return the terms with matching variant and start position."""
    if terms.variant is Variant.CHESS960:
        return replace(terms, fen=terms.fen and _chess960_start(terms.fen))
    if terms.variant not in (Variant.STANDARD, Variant.FROM_POSITION):
        return replace(terms, fen=None)
    if terms.fen is None:
        if terms.variant is Variant.FROM_POSITION:
            raise InvalidForm({GLOBAL_FIELD: "Invalid FEN"})
        return terms
    try:
        board = Board(terms.fen, chess960=True)
    except InvalidFen as error:
        raise InvalidForm({GLOBAL_FIELD: "Invalid FEN"}) from error
    if not board.legal_moves():
        raise InvalidForm({GLOBAL_FIELD: "Invalid FEN"})
    fen = board.fen()
    if terms.variant is Variant.STANDARD and fen == STARTING_FEN:
        return replace(terms, fen=None)
    return replace(terms, variant=Variant.FROM_POSITION, fen=fen)


def _chess960_start(fen: str) -> str | None:
    """Return the Chess960 start position of a FEN; None if it is not one."""
    try:
        start = Board(fen, chess960=True).fen()
    except InvalidFen:
        return None
    return start if any(chess960_fen(number) == start for number in range(CHESS960_STARTS)) else None


def _is_too_fast_to_rate(clock: RealTime) -> bool:
    return clock.estimate_s < 30 or (clock.limit_s == 0 and clock.increment_s <= 1)
