"""The lobby: how games come about, by whoever challenges us, by challenges of our own, by tournaments.

For the main thread. Knows who has a claim to a slot, and in which order: who waits comes before whom we would
challenge, humans before bots. Each of the three ways is a room of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lichessbot.challenges.handler import ChallengeHandler, Premises
from lichessbot.challenges.player_lists import Emit, PlayerLists
from lichessbot.config import Config
from lichessbot.errors import RateLimited
from lichessbot.lichess.commands import (
    AcceptChallenge,
    CommandDone,
    CommandFailed,
    DeclineChallenge,
    MatchCommand,
    OutgoingCommand,
    TournamentCommand,
)
from lichessbot.lichess.models import (
    Account,
    ChallengeCanceled,
    ChallengeDeclined,
    ChallengeReceived,
    GameFull,
    GameInfo,
    StreamLine,
)
from lichessbot.lichess.outbox import Outbox
from lichessbot.matchmaking.matchmaker import Matchmaker, Situation
from lichessbot.storage.records import ListFetched
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from lichessbot.tournaments import Tournaments

LobbyCommand = AcceptChallenge | DeclineChallenge | OutgoingCommand


@dataclass(frozen=True)
class View:
    """The house as it is at this moment."""

    config: Config
    our_id: str
    games: Sequence[GameInfo]
    stopping: bool


class Lobby:
    """Everything that may become a game."""

    def __init__(self, outbox: Outbox, emit: Emit, store: Store, timeouts: Timeouts, proxy: str | None) -> None:
        self._lists = PlayerLists(store, emit, timeouts, proxy)
        self._handler = ChallengeHandler(outbox, store, timeouts, self._lists)
        self._matchmaker = Matchmaker(outbox, store, timeouts, self._lists, self._handler.keep_for_ours)
        self._tournaments = Tournaments(outbox, store, timeouts)

    def __len__(self) -> int:
        """How many games are about to start."""
        return len(self._handler)

    @property
    def is_clear(self) -> bool:
        """Whether nothing more can come of what was begun here."""
        return not (len(self._handler) or len(self._matchmaker) or self._tournaments.leaving)

    def wake_at(self, view: View) -> float | None:
        """When `tick` has something to do."""
        moments = (
            self._handler.wake_at,
            self._matchmaker.wake_at(self._situation(view)),
            self._tournaments.wake_at,
        )
        return min((moment for moment in moments if moment is not None), default=None)

    def status(self, config: Config) -> str:
        """In words; nothing if there is nothing to say."""
        return self._matchmaker.status(config)

    def waiting(self, config: Config) -> Sequence[str]:
        """The names of those who wait for a slot, who goes first first."""
        return self._handler.waiting(config.challenge)

    # From the first moment to the last

    def open(self, account: Account, config: Config) -> None:
        """We know who we are."""
        self._watch_lists(config)
        self._matchmaker.introduce(account)
        self._tournaments.want(config.tournaments)

    def reload(self, config: Config) -> None:
        self._watch_lists(config)
        self._tournaments.want(config.tournaments)

    def stop(self) -> None:
        """No new games: whatever we asked for is taken back."""
        self._matchmaker.stop()
        self._tournaments.stop()

    def close(self) -> None:
        self._lists.close()

    def _watch_lists(self, config: Config) -> None:
        self._lists.watch((*config.challenge.online_block_list, *config.matchmaking.online_block_list))

    # What happens

    def tick(self, view: View) -> None:
        """A game may have ended: then somebody who waits can begin."""
        playing = {info.game_id for info in view.games}
        self._tournaments.tick(playing.__contains__)
        if self._handler.has_waiting:
            self._matchmaker.give_way()
            self._handler.serve(self._premises(view))
        self._matchmaker.tick(self._situation(view))

    def hear(self, event: StreamLine, received_at: float, view: View) -> None:
        """A challenge was made, taken back or declined."""
        match event:
            case ChallengeReceived(challenge=challenge):
                if challenge.challenger is not None and challenge.challenger.id == view.our_id:
                    self._matchmaker.challenge_echoed(challenge)
                else:
                    self._handler.consider(event, received_at, self._premises(view))
            case ChallengeCanceled(challenge=challenge):
                self._handler.canceled(challenge)
            case ChallengeDeclined(challenge=challenge):
                self._handler.settled(challenge.id)
                self._matchmaker.challenge_declined(challenge, self._situation(view))

    def game_started(self, game: GameInfo, view: View) -> None:
        self._handler.game_started(game.game_id)
        self._matchmaker.game_started(game.game_id, self._situation(view))
        if game.tournament_id is not None:
            self._tournaments.game_started(game.tournament_id, game.game_id)

    def game_told(self, full: GameFull) -> None:
        """The stream of a game says who plays."""
        self._matchmaker.note_game(full)

    def game_finished(self, game_id: str) -> None:
        self._tournaments.game_finished(game_id)

    def list_fetched(self, fetched: ListFetched) -> None:
        self._lists.heard(fetched)

    def hear_answer(self, command: LobbyCommand, report: CommandDone | CommandFailed, view: View) -> None:
        """To a command that was sent from here."""
        if isinstance(command, MatchCommand):
            self._matchmaker.hear(report, self._situation(view))
        elif isinstance(command, TournamentCommand):
            self._tournaments.hear(report)
        elif isinstance(report, CommandDone):
            self._handler.answer_arrived(command)
        else:
            self._handler.answer_failed(command, report)
            if isinstance(report.error, RateLimited):
                self._matchmaker.hear_limit(report.error, view.config)

    # A look at the games in progress

    def has_doubt(self) -> bool:
        """Whether a challenge should have become a game by now."""
        return self._handler.has_doubt()

    def untold_games(self) -> list[GameInfo]:
        """Games that should be in progress, of which we hear nothing at all."""
        return self._handler.untold_games()

    def compare(self, games: Sequence[GameInfo], asked_at: float, view: View) -> None:
        """What a look at the games in progress, begun at `asked_at`, saw: of some of them we may not have been told."""
        for info in games:
            self.game_started(info, view)
        self._handler.compare(games, asked_at)

    # The slots

    def _premises(self, view: View) -> Premises:
        """As they are for whoever challenges us."""
        return Premises(
            view.config.challenge,
            view.our_id,
            view.games,
            view.stopping,
            ours=(*self._matchmaker.guests, *self._tournaments.guests),
            to_bots=lambda: self._matchmaker.objection_to_bots(
                view.config, self._handler.humans_until, self._handler.bots_expected
            ),
        )

    def _situation(self, view: View) -> Situation:
        """As it is for a challenge of ours."""
        playing = Premises(view.config.challenge, view.our_id, view.games)
        ours = (*self._matchmaker.guests, *self._tournaments.guests)
        games = self._handler.occupancy(playing)
        free = games.joined_by(ours).free_slots(view.config.challenge, for_bot=True)
        humans_until = math.inf if self._handler.has_waiting else self._handler.humans_until
        return Situation(
            view.config,
            games.clocked_games,
            0 if view.stopping else free,
            humans_until,
            has_room_for_days=games.correspondence_games < view.config.challenge.max_correspondence_games,
        )
