"""The state of the embedded Lichess: accounts, challenges, games, and events.

Lives on one event loop, where every method is called, so nothing needs a lock. The HTTP routes and the house bots call
it. Observers are called with everything that happens.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from engine.facade import STARTING_FEN, Board, chess960_fen
from lichessbot.rehearsal.rules.accounts import Account, Accounts, Grant
from lichessbot.rehearsal.rules.arenas import Arena
from lichessbot.rehearsal.rules.challenges import (
    CHESS960_STARTS,
    Challenge,
    ChallengeBook,
    Terms,
    check_parties,
    settled_terms,
)
from lichessbot.rehearsal.rules.clock import Correspondence, RealTime, TimeControl
from lichessbot.rehearsal.rules.enums import ChallengeStatus, Color, ColorChoice, DeclineReason, Source, Status, Variant
from lichessbot.rehearsal.rules.errors import NotFound, Refused
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.ids import new_id
from lichessbot.rehearsal.rules.quotas import Quotas
from lichessbot.rehearsal.rules.repeats import Repeats
from lichessbot.rehearsal.rules.setup import GameSetup
from lichessbot.rehearsal.rules.teams import Team
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms, wall_ms
from lichessbot.rehearsal.server import payloads
from lichessbot.rehearsal.server.arena_runner import ArenaRunner
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.payloads import Json
from lichessbot.rehearsal.server.streams import LineStream, StreamBook, Writing, one_line

MAX_GAMES = 200             # of one player at a time; further challenges are not created
MAX_REAL_TIME_GAMES = 100


@dataclass(frozen=True)
class EventStreamOpened:
    account: Account


@dataclass(frozen=True)
class EventStreamClosed:
    account: Account


@dataclass(frozen=True)
class ChallengeMade:
    challenge: Challenge


@dataclass(frozen=True)
class ChallengeSettled:
    """The challenge was accepted, declined or canceled."""

    challenge: Challenge


@dataclass(frozen=True)
class GameStarted:
    session: GameSession


@dataclass(frozen=True)
class GameChanged:
    session: GameSession


@dataclass(frozen=True)
class GameEnded:
    session: GameSession


SiteEvent = (
    EventStreamOpened | EventStreamClosed | ChallengeMade | ChallengeSettled | GameStarted | GameChanged | GameEnded
)


class Site:
    """The embedded Lichess behind its HTTP front."""

    def __init__(self, url: str, *, timing: Timing | None = None, seed: int | None = 0) -> None:
        self.url = url
        self.timing = timing or Timing()
        self.accounts = Accounts()
        self.challenges = ChallengeBook(self.timing.challenge_expiry_s)
        self.quotas = Quotas(self.timing)
        # By the first four fields of the FEN, as in an exported game without `fen`.
        self.cloud_evaluations: dict[str, dict[str, object]] = {}
        self.teams: dict[str, Team] = {}
        self._repeats = Repeats()
        self._random = random.Random(seed)
        self._sessions: dict[str, GameSession] = {}
        self.arena_runner = ArenaRunner(self.timing, self.quotas, self._start_arena_game)
        self._event_streams: StreamBook[Grant] = StreamBook()
        self._challenge_streams: StreamBook[str] = StreamBook()
        self._observers: list[Callable[[SiteEvent], None]] = []
        self._writing: Callable[[str | None], Writing] = lambda _game_id: one_line

    def observe(self, observer: Callable[[SiteEvent], None]) -> None:
        """Call `observer` with everything that happens from now on."""
        self._observers.append(observer)

    def write_with(self, writing: Callable[[str | None], Writing]) -> None:
        """Write streams with `writing` of their game (None: the event stream) from now on."""
        self._writing = writing

    # Accounts and games.

    def is_online(self, account: Account) -> bool:
        """Return whether an event stream of the account is open; house bots are always online."""
        return account.is_house or any(grant.account is account for grant, _ in self._event_streams)

    def session(self, game_id: str) -> GameSession:
        if game_id not in self._sessions:
            raise NotFound("No such game")
        return self._sessions[game_id]

    def games_of(self, account: Account) -> list[GameSession]:
        """Return the running games of `account`, most urgent first: its turn, then the least time left."""
        now_ms = monotonic_ms()

        def urgency(session: GameSession) -> tuple[bool, int]:
            color = session.game.setup.player_color(account)
            return session.game.turn is not color, session.game.clock.remaining_ms(color, now_ms)

        running = (session for session in self._sessions.values() if not session.game.is_over)
        return sorted((it for it in running if it.game.setup.color_of(account) is not None), key=urgency)

    # Streams of events and of challenges.

    def open_event_stream(self, grant: Grant, writing: Writing | None = None) -> LineStream:
        """Open an event stream, which first replays what runs and ends an older one of the token.

        Its lines are written like those of all streams unless `writing` says how.
        """
        account = grant.account
        now_ms = monotonic_ms()
        games = [
            payloads.game_start(session.game, session.game.setup.player_color(account), now_ms)
            for session in self.games_of(account)
        ]
        waiting = [
            payloads.challenge_event(self.challenge_shape(challenge))
            for challenge in self.challenges.incoming(account, now_ms)
        ]
        stream = LineStream(self.timing.tick_s, [*games, *waiting], writing or self._writing(None))
        self._event_streams.open(grant, stream)
        self._notify(EventStreamOpened(account))
        return stream

    def close_event_stream(self, grant: Grant, stream: LineStream) -> None:
        if self._event_streams.close(grant, stream):
            self._notify(EventStreamClosed(grant.account))

    def open_challenge_stream(self, challenge: Challenge) -> LineStream:
        """Open a stream that keeps a challenge from expiring."""
        challenge.kept_alive = True
        opening = self.challenge_shape(challenge, challenge.challenger)
        stream = LineStream(self.timing.challenge_keep_alive_s, [opening])
        self._challenge_streams.open(challenge.id, stream)
        return stream

    def close_challenge_stream(self, challenge: Challenge, stream: LineStream) -> None:
        challenge.kept_alive = False
        challenge.seen_at_ms = monotonic_ms()
        self._challenge_streams.close(challenge.id, stream)

    def end_streams(self) -> None:
        """End every stream cleanly."""
        self.end_event_streams()
        self._challenge_streams.end_all()
        for session in self._sessions.values():
            session.end_streams()

    def restart(self) -> None:
        """End all streams and add time to the clocks, like a restart of the site."""
        self.end_streams()
        for session in self._sessions.values():
            session.outlive_restart()

    def end_event_streams(self) -> None:
        self._event_streams.end_all()

    # Challenges.

    def challenge_shape(self, challenge: Challenge, reader: Account | None = None) -> Json:
        """Return the JSON of a challenge, with its direction if there is one `reader`."""
        direction = None if reader is None else "out" if challenge.challenger is reader else "in"
        status = self.challenges.status(challenge, monotonic_ms())
        return payloads.challenge(challenge, status, self.url, direction)

    def shown_challenge(self, challenge_id: str, reader: Account) -> Json:
        """Return the JSON of a challenge of `reader`, with the game's full id once there is a game. Raises NotFound."""
        challenge = self.challenges.get(challenge_id)
        if challenge is None or reader not in (challenge.challenger, challenge.target):
            raise NotFound
        shape = self.challenge_shape(challenge, reader)
        session = self._sessions.get(challenge_id)
        if session is not None:
            shape["fullId"] = session.game.setup.full_id(challenge.color_of(reader))
        return shape

    def challenge(self, challenger: Account, target_name: str, terms: Terms) -> Challenge:
        """Create a challenge and tell both players. Raises ApiError."""
        target = self.accounts.get(target_name)
        if target is None:
            raise Refused(f"No such user: {target_name}")
        terms = settled_terms(terms, by_bot=challenger.is_bot)
        check_parties(terms, challenger, target)
        self.quotas.spend(challenger, target, monotonic_ms())
        self.quotas.check_bot_game(challenger, target, monotonic_ms())
        if any(self._plays_too_much(account, terms) for account in (challenger, target)):
            raise Refused("Challenge not created")
        return self.invite(challenger, target, terms)

    def invite(self, challenger: Account, target: Account, terms: Terms, rematch_of: str | None = None) -> Challenge:
        """Create a challenge on any terms, also with a clock that Lichess does not offer, and tell both players."""
        color, now_ms = self._color(terms.color), monotonic_ms()
        challenge = Challenge(new_id(), terms, challenger, target, color, now_ms, rematch_of)
        self.challenges.add(challenge)
        event = payloads.challenge_event(self.challenge_shape(challenge), terms)
        self._notify(ChallengeMade(challenge))
        self._tell_both(challenge, event)
        return challenge

    def offer_rematch(self, game: Game, by: Account) -> Challenge:
        """Offer a rematch with swapped colours, which arrives as a challenge."""
        setup, color = game.setup, game.setup.player_color(by)
        opponent = setup.account(color.other)
        fen = setup.initial_fen if setup.variant is Variant.FROM_POSITION else None
        terms = Terms(setup.variant, setup.time_control, setup.rated, ColorChoice(color.other.value), fen)
        return self.invite(by, opponent, terms, rematch_of=setup.id)

    def accept(self, challenge_id: str, account: Account) -> None:
        challenge = self.challenges.acceptable(challenge_id, account)
        self.quotas.check_bot_game(account, challenge.challenger, monotonic_ms())
        challenge.settled = ChallengeStatus.ACCEPTED
        self._settle(challenge)
        players = {challenge.final_color: challenge.challenger, challenge.final_color.other: challenge.target}
        self._start_game(challenge.id, challenge.terms, players, Source.FRIEND)

    def decline(self, challenge_id: str, account: Account, reason: DeclineReason) -> None:
        challenge = self.challenges.decline(challenge_id, account, reason)
        self._settle(challenge)

    def cancel(self, challenge_id: str, account: Account) -> None:
        """Withdraw one's own challenge, decline another's, or abort the game that it became."""
        challenge = self.challenges.get(challenge_id)
        if challenge is not None and challenge.is_active and challenge.challenger is account:
            challenge.settled = ChallengeStatus.CANCELED
            self._settle(challenge)
        elif challenge is not None and challenge.is_active and challenge.target is account:
            self.decline(challenge_id, account, DeclineReason.GENERIC)
        else:
            self._cancel_game(challenge_id, account)

    # Parts.

    def _cancel_game(self, game_id: str, account: Account) -> None:
        session = self._sessions.get(game_id)
        if session is None or session.game.is_over or session.game.setup.color_of(account) is None:
            raise NotFound
        if not session.game.is_abortable:
            raise Refused("Missing opponentToken")
        session.abort()

    def _settle(self, challenge: Challenge) -> None:
        """Tell everybody that a challenge is settled; what follows an acceptance is the event of its game."""
        shape = self.challenge_shape(challenge)
        if challenge.settled is not ChallengeStatus.ACCEPTED:
            self._tell_both(challenge, payloads.challenge_settled(shape))
        for challenge_id, stream in self._challenge_streams:
            if challenge_id == challenge.id:
                stream.write(payloads.challenge_done(shape))
                stream.end()
        self._notify(ChallengeSettled(challenge))

    def _start_game(
        self,
        game_id: str,
        terms: Terms,
        players: Mapping[Color, Account],
        source: Source,
        tournament_id: str | None = None,
    ) -> GameSession:
        variant, initial_fen = self._start_position(terms)
        setup = GameSetup(
            id=game_id,
            white=players[Color.WHITE],
            black=players[Color.BLACK],
            variant=variant,
            time_control=self._in_our_days(terms.time_control),
            initial_fen=initial_fen,
            rated=terms.rated,
            source=source,
            created_at_ms=wall_ms(),
            rules=terms.rules,
            tournament_id=tournament_id,
        )
        session = GameSession(Game(setup, monotonic_ms()), self.timing, self._writing(game_id), self._on_change)
        self._sessions[game_id] = session
        self.quotas.note_game(setup.white, setup.black, monotonic_ms())
        self._tell_players(session, payloads.game_start)
        self._notify(GameStarted(session))
        return session

    def _start_arena_game(self, arena: Arena, white: Account, black: Account) -> GameSession:
        terms = Terms(arena.terms.variant, arena.terms.clock, arena.terms.rated)
        players = {Color.WHITE: white, Color.BLACK: black}
        return self._start_game(new_id(), terms, players, Source.ARENA, arena.id)

    def _in_our_days(self, control: TimeControl) -> TimeControl:
        if isinstance(control, Correspondence):
            return replace(control, day_ms=round(1000 * self.timing.day_s))
        return control

    def _start_position(self, terms: Terms) -> tuple[Variant, str]:
        """Return variant and start position; From Position with the standard start is standard."""
        if terms.variant is Variant.CHESS960:
            return terms.variant, terms.fen or chess960_fen(self._random.randrange(CHESS960_STARTS))
        if terms.variant not in (Variant.STANDARD, Variant.FROM_POSITION):
            return terms.variant, Board(variant=terms.variant.key).fen()
        if terms.fen in (None, STARTING_FEN):
            return Variant.STANDARD, STARTING_FEN
        return terms.variant, terms.fen

    def _on_change(self, session: GameSession) -> None:
        game = session.game
        self.arena_runner.follow(session)
        if not game.is_over:
            self._notify(GameChanged(session))
            return
        if game.status is not Status.ABORTED:
            for color in Color:
                game.setup.account(color).count_game(color, game.winner)
            if self._repeats.note(game):
                game.is_rated = False
        self._tell_players(session, payloads.game_finish)
        self._notify(GameEnded(session))

    def _plays_too_much(self, account: Account, terms: Terms) -> bool:
        controls = [session.game.setup.time_control for session in self.games_of(account)]
        real_time = sum(isinstance(control, RealTime) for control in controls)
        is_real_time = isinstance(terms.time_control, RealTime)
        return len(controls) >= MAX_GAMES or (is_real_time and real_time >= MAX_REAL_TIME_GAMES)

    def _tell_players(self, session: GameSession, event: Callable[[Game, Color, int], Json]) -> None:
        for color in Color:
            self._tell(session.game.setup.account(color), event(session.game, color, monotonic_ms()))

    def _tell_both(self, challenge: Challenge, event: Json) -> None:
        self._tell(challenge.challenger, event)
        self._tell(challenge.target, event)

    def _tell(self, account: Account, event: Json) -> None:
        for grant, stream in self._event_streams:
            if grant.account is account:
                stream.write(event)

    def _notify(self, happening: SiteEvent) -> None:
        for observer in self._observers:
            observer(happening)

    def _color(self, choice: ColorChoice) -> Color:
        return self._random.choice(tuple(Color)) if choice is ColorChoice.RANDOM else Color(choice.value)
