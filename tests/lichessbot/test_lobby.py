"""The three ways to a game side by side: what one of them knows counts for the others. An outbox that sends nothing."""

import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue

import pytest

from lichessbot.config import Config
from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.lichess.answers import ArenaInfo
from lichessbot.lichess.commands import (
    AcceptChallenge,
    CancelChallenge,
    ChallengeAnswer,
    CommandDone,
    CommandFailed,
    CreateChallenge,
    DeclineChallenge,
    JoinTournament,
    LeaveTournament,
    ReadOutgoing,
    ReadTournament,
)
from lichessbot.lichess.enums import Colour, DeclineReason, GameStatus
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.lichess.models import ChallengeDeclined, GameFull, GameInfo
from lichessbot.lobby import Lobby
from lichessbot.storage.database import Database
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from tests.lichessbot.lobby_bench import (
    ARENA,
    AT_ONCE,
    US,
    Hall,
    Outbox,
    challenged,
    echoed,
    game_with,
    lobby_of,
)
from tests.patience import PATIENCE_S


def test_a_game_found_in_the_list_takes_no_second_slot(store: Store) -> None:
    outbox, games = Outbox(), list[GameInfo]()
    lobby = lobby_of(store, outbox, games)
    lobby.tick()
    look, join = ReadTournament(ARENA), JoinTournament(ARENA, None, None)
    lobby.command_answered(CommandDone(look, ArenaInfo(id=ARENA, secondsToFinish=600)))
    lobby.tick()
    assert outbox.sent == [look, join]
    lobby.command_answered(CommandDone(join))
    game = game_with("Rival", tournamentId=ARENA)
    lobby.playing_listed([game], time.monotonic())
    games.append(game)
    lobby.challenge_event(challenged("wxyz9876", id="ann"), time.monotonic())
    assert outbox.sent[-1] == AcceptChallenge("wxyz9876")


def test_a_game_of_an_arena_that_may_have_begun_unseen_has_the_list_read(store: Store) -> None:
    lobby = lobby_of(store, Outbox(), [], timeouts=AT_ONCE)
    lobby.tick()
    lobby.command_answered(CommandDone(ReadTournament(ARENA), ArenaInfo(id=ARENA, secondsToFinish=600)))
    assert not lobby.should_read_playing()
    lobby.tick()
    lobby.command_answered(CommandDone(JoinTournament(ARENA, None, None)))
    assert lobby.should_read_playing()


def test_a_list_without_a_game_that_is_overdue_frees_its_slot(store: Store) -> None:
    lobby = lobby_of(store, Outbox(), [], timeouts=AT_ONCE)
    lobby.challenge_event(challenged("wxyz9876", id="ann"), time.monotonic())
    lobby.command_answered(CommandDone(AcceptChallenge("wxyz9876")))
    assert lobby.should_read_playing()
    assert len(lobby) == 1
    lobby.playing_listed([], time.monotonic())
    assert len(lobby) == 0


def test_a_waiting_challenge_that_another_program_declines_waits_no_more(store: Store) -> None:
    outbox, games = Outbox(), [game_with("Ann")]
    lobby = lobby_of(store, outbox, games, Config())
    waiting = challenged("wxyz9876", id="bob")
    lobby.challenge_event(waiting, time.monotonic())
    assert [it.challenge_id for it in lobby.describe().queue] == ["wxyz9876"]
    lobby.challenge_event(ChallengeDeclined(challenge=waiting.challenge), time.monotonic())
    games.clear()
    lobby.tick()
    assert outbox.sent == []
    status = lobby.describe()
    assert (status.queue, status.last_challenges[-1].decision) == ((), "declined")


def test_an_arena_that_was_left_during_a_game_stays_left_after_a_restart(tmp_path: Path) -> None:
    config = Config.model_validate({})
    game = game_with("Rival", tournamentId=ARENA)
    with closing(Store(Database(tmp_path))) as store:
        lobby = lobby_of(store, Outbox(), [game], config)
        lobby.game_started(game)
        store.note_game(game.game_id, "Rival")
        assert ARENA in lobby.describe().tournaments
    with closing(Store(Database(tmp_path))) as store:
        lobby = lobby_of(store, Outbox(), [game], config)
        lobby.playing_listed([game], time.monotonic())
        assert ARENA in lobby.describe().tournaments
        lobby.leave_tournament(ARENA)
    with closing(Store(Database(tmp_path))) as store:
        lobby = lobby_of(store, Outbox(), [game], config)
        lobby.playing_listed([game], time.monotonic())
        assert lobby.describe().tournaments == ()


@pytest.mark.parametrize("reserved", [0, 1])
def test_the_bot_is_in_an_arena_only_while_a_slot_is_free(store: Store, reserved: int) -> None:
    """A slot that is reserved for humans serves too."""
    challenge = {"concurrency": 1, "games_reserved_for_humans": reserved}
    config = Config.model_validate({"challenge": challenge, "tournaments": [{"id": ARENA}]})
    games, outbox = [game_with("Ann")], Outbox()
    lobby = lobby_of(store, outbox, games, config)
    lobby.tick()
    running = ArenaInfo(id=ARENA, secondsToFinish=3600)
    lobby.command_answered(CommandDone(ReadTournament(ARENA), running))
    for _ in range(2):
        lobby.tick()
    assert outbox.sent[1:] == [LeaveTournament(ARENA)]
    lobby.command_answered(CommandDone(LeaveTournament(ARENA)))
    lobby.tick()
    lobby.command_answered(CommandDone(ReadTournament(ARENA), running))
    lobby.tick()
    assert len(outbox.sent) == 3
    games.clear()
    lobby.tick()
    assert outbox.sent[3:] == [JoinTournament(ARENA, None, None)]


def test_a_list_whose_thread_cannot_be_started_is_read_later(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture, no_thread_once: None
) -> None:
    """The bot stayed deaf, as the rest of its start was left out."""
    file = tmp_path / "blocked.txt"
    file.write_text("villain\n")
    config = Config.model_validate({"challenge": {"block_list_files": [str(file)]}})
    inbox: SimpleQueue[PlayerList] = SimpleQueue()
    lobby = Lobby(config, Outbox(), inbox.put, store, Timeouts(), None, list)  # type: ignore[arg-type]
    lobby.open(US, config)
    assert "thread.not_started" in caplog.text
    lobby.tick()
    assert inbox.get(timeout=PATIENCE_S).names == {"villain"}
    lobby.close()


def test_of_two_bots_that_wait_one_gets_the_days_last_game(store: Store) -> None:
    outbox = Outbox()
    config = Config.model_validate({"challenge": {"concurrency": 2}, "matchmaking": {"bot_games_per_day": 1}})
    games = [game_with("Ann", game_id) for game_id in ("abcd1234", "abcd5678")]
    lobby = lobby_of(store, outbox, games, config)
    for number in (1, 2):
        came = challenged(f"wxyz987{number}", id=f"rival{number}", title="BOT")
        lobby.challenge_event(came, time.monotonic())
    assert outbox.sent == []
    games.clear()
    lobby.tick()
    assert sorted(type(it).__name__ for it in outbox.sent) == ["AcceptChallenge", "DeclineChallenge"]


@pytest.mark.parametrize(
    ("preference", "next_one", "declined"),
    [("none", "machine1", "person01"), ("bot", "machine1", "person01"), ("human", "person01", "machine1")],
)
def test_of_a_human_and_a_bot_for_one_slot_exactly_one_gets_it(
    store: Store, preference: str, next_one: str, declined: str
) -> None:
    """Both were declined: the human as the last in order, and the bot to keep the slot for that human."""
    outbox, games = Outbox(), [game_with("Ann")]
    lobby = lobby_of(store, outbox, games, Config.model_validate({"challenge": {"preference": preference}}))
    for came in (challenged("machine1", id="robo", title="BOT", rating="2500"), challenged("person01", id="bob")):
        lobby.challenge_event(came, time.monotonic())
    lobby.tick()
    assert outbox.sent == [DeclineChallenge(declined, DeclineReason.LATER)]
    games.clear()
    lobby.tick()
    assert outbox.sent[1:] == [AcceptChallenge(next_one)]


@pytest.mark.parametrize(("preference", "declined"), [("none", True), ("human", True), ("bot", False)])
def test_a_human_who_found_no_slot_comes_before_bots_unless_bots_are_preferred(
    store: Store, preference: str, declined: bool
) -> None:
    outbox, games = Outbox(), [game_with("Ann")]
    config = Config.model_validate({"challenge": {"preference": preference}})
    lobby = lobby_of(store, outbox, games, config, replace(Timeouts(), challenge_wait=timedelta(0)))
    lobby.challenge_event(challenged("person01", id="bob"), time.monotonic())
    lobby.tick()
    games.clear()
    lobby.challenge_event(challenged("machine1", id="robo", title="BOT"), time.monotonic())
    assert outbox.sent[0] == DeclineChallenge("person01", DeclineReason.LATER)
    assert isinstance(outbox.sent[1], DeclineChallenge) is declined


@pytest.mark.parametrize(
    ("command", "is_quota"), [(AcceptChallenge("c1"), True), (DeclineChallenge("c1", DeclineReason.LATER), False)]
)
def test_a_429_to_an_acceptance_pauses_matchmaking_and_one_to_a_decline_does_not(
    store: Store, caplog: pytest.LogCaptureFixture, command: ChallengeAnswer, is_quota: bool
) -> None:
    lobby = lobby_of(store, Outbox(), [])
    lobby.command_answered(CommandFailed(command, RateLimited(timedelta(minutes=1), "Too many requests")))
    assert ("quota" in caplog.text) is is_quota


# Challenges of our own


def goes_unanswered(hall: Hall) -> None:
    command = hall.outbox.sent[-1]
    assert isinstance(command, CreateChallenge | ReadOutgoing)
    hall.lobby.command_answered(CommandFailed(command, Unreachable("timed out"), perhaps_done=True))
    hall.lobby.tick()


def test_no_challenge_is_sent_if_a_game_began_during_the_choice(store: Store) -> None:
    hall = Hall(store)
    hall.games.append(game_with("Ann"))
    hall.find_a_rival()
    assert not any(isinstance(command, CreateChallenge) for command in hall.outbox.sent)
    assert hall.lobby.describe().matchmaking.next_step.startswith("games are running"), "the choice is over"


def test_stopping_does_not_wait_for_a_challenge_in_an_outage(store: Store) -> None:
    hall = Hall(store)
    hall.find_a_rival()
    goes_unanswered(hall)
    hall.lobby.stop()
    assert not hall.lobby.is_clear
    for _ in range(3):
        goes_unanswered(hall)
    assert hall.lobby.is_clear


def test_stopping_looks_for_the_game_of_an_accepted_challenge(store: Store) -> None:
    """Lichess refuses to withdraw it: it may have been accepted just now."""
    hall = Hall(store)
    canceled = CancelChallenge(hall.challenge_a_rival().id)
    hall.lobby.stop()
    assert hall.outbox.sent[-1] == canceled
    hall.lobby.command_answered(CommandFailed(canceled, Refused(404, "Not found")))
    assert not hall.lobby.is_clear
    assert hall.lobby.should_read_playing()


def test_stopping_leaves_arenas_but_does_not_wait_for_it_in_an_outage(store: Store) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [])
    lobby.tick()
    lobby.command_answered(CommandDone(ReadTournament(ARENA), ArenaInfo(id=ARENA, secondsToFinish=600)))
    lobby.stop()
    lobby.tick()
    assert outbox.sent[-1] == LeaveTournament(ARENA)
    assert not lobby.is_clear
    lobby.command_answered(CommandFailed(LeaveTournament(ARENA), Unreachable("502")))
    assert lobby.is_clear


def test_an_open_challenge_gives_its_slot_to_a_challenger_who_waits(store: Store) -> None:
    hall = Hall(store, Config.model_validate({"matchmaking": {"allow_matchmaking": True}}))
    canceled = CancelChallenge(hall.challenge_a_rival().id)
    hall.lobby.challenge_event(challenged("wxyz9876", id="ann"), time.monotonic())
    hall.lobby.tick()
    assert hall.outbox.sent[-1] == canceled


def test_the_withdrawal_of_a_challenge_that_was_accepted_is_not_sent(store: Store) -> None:
    """It would abort the game."""
    hall = Hall(store)
    canceled = CancelChallenge(hall.challenge_a_rival().id)
    hall.lobby.pause()
    assert hall.outbox.sent[-1] == canceled
    hall.lobby.game_started(game_with("BOT Rival", canceled.challenge_id))
    assert hall.outbox.withdrawn == [canceled]


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_rematch_that_crosses_ours_is_accepted_though_each_player_may_have_one_game(
    store: Store, concurrency: int
) -> None:
    challenge = {"concurrency": concurrency, "max_simultaneous_games_per_user": 1}
    config = Config.model_validate({"challenge": challenge, "rematch": {"offer": "all"}})
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], config, replace(Timeouts(), rematch_black_waits=timedelta(0)))
    players = {"white": {"id": "us"}, "black": {"id": "ann"}, "clock": {"initial": 180_000, "increment": 2000}}
    state = {"moves": "", "wtime": 1, "btime": 1, "status": "started"}
    full = GameFull.model_validate({"id": "abcd1234", "variant": {"key": "standard"}, "state": state, **players})
    lobby.game_over(FinishedGame(full, Colour.WHITE, GameStatus.MATE, Colour.WHITE, 40, was_watched=True))
    lobby.tick()
    (created,) = outbox.sent
    assert isinstance(created, CreateChallenge)
    lobby.command_answered(CommandDone(created, echoed("ann").challenge))
    lobby.challenge_event(challenged("wxyz9876", id="ann"), time.monotonic())
    canceled = CancelChallenge("to-ann")
    assert outbox.sent[1] == canceled
    lobby.command_answered(CommandDone(canceled))
    lobby.tick()
    assert outbox.sent[2:] == [AcceptChallenge("wxyz9876")]


@pytest.mark.parametrize(
    ("error", "rests"),
    [
        (Refused(401, "No such token"), False),
        (Refused(403, "Missing scope: challenge:write"), False),
        (Refused(400, "Rival does not accept challenges"), True),
    ],
)
def test_a_denied_token_says_nothing_of_the_bot_we_challenged(store: Store, error: Refused, rests: bool) -> None:
    hall = Hall(store)
    hall.find_a_rival()
    created = hall.outbox.sent[-1]
    hall.lobby.command_answered(CommandFailed(created, error))
    assert bool(hall.lobby._matchmaker._declines.rests_until("rival", created.terms, time.time())) is rests


# What a bot that challenges us hears when the day's games are used up


def test_the_limit_of_lichess_is_not_said_to_be_a_key_of_the_config(store: Store) -> None:
    lobby = lobby_of(store, Outbox(), [], Config())
    accept = AcceptChallenge("wxyz9876")
    error = RateLimited(timedelta(hours=1), "You played 100 games against other bots", quota="bot.vsBot.day")
    lobby.command_answered(CommandFailed(accept, error))
    objection = lobby.snapshot().objection_to_bots
    assert objection.rule == "Lichess's limit of bot games"
    assert objection.because.startswith("0 of 100 bot games, resumes ")


def test_the_last_game_of_the_day_is_kept_for_the_bot_that_we_challenge(store: Store) -> None:
    hall = Hall(store)
    keys = {"allow_matchmaking": True, "bot_games_per_day": 1, "bot_games_for_challengers": 0}
    hall.lobby.reload(Config.model_validate({"matchmaking": keys}))
    assert hall.lobby.snapshot().objection_to_bots is None
    hall.find_a_rival()
    assert isinstance(hall.outbox.sent[-1], CreateChallenge)
    objection = hall.lobby.snapshot().objection_to_bots
    assert objection.rule == "matchmaking.bot_games_per_day = 1"
    assert objection.because == "the games left today are about to begin"


def test_an_open_challenge_to_a_human_takes_no_game_of_a_bot(store: Store) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], Config.model_validate({"matchmaking": {"bot_games_per_day": 1}}))
    lobby.challenge_event(challenged("wxyz9876", id="ann"), time.monotonic())
    lobby.game_started(game_with("Ann", "wxyz9876"))
    lobby.rechallenge(received=True)
    assert isinstance(outbox.sent[-1], CreateChallenge)
    assert lobby.snapshot().objection_to_bots is None


@pytest.mark.parametrize(("speed", "is_last"), [("blitz", True), ("correspondence", False)])
def test_a_game_of_correspondence_that_goes_on_is_none_of_todays(store: Store, speed: str, is_last: bool) -> None:
    config = Config.model_validate({"matchmaking": {"bot_games_per_day": 1}})
    lobby = lobby_of(store, Outbox(), [game_with("BOT Rival", speed=speed)], config)
    assert (lobby.snapshot().objection_to_bots is not None) == is_last


# What the log says of challenges that fail


@pytest.mark.parametrize(("filter_", "is_told"), [("none", False), ("fine", True)])
@pytest.mark.parametrize(
    ("event", "error"),
    [
        ("match.refused", Refused(400, "Rival does not accept challenges")),
        ("match.unanswered", None),
        ("match.declined", None),
    ],
)
def test_a_rest_is_logged_only_if_there_is_one(
    store: Store, caplog: pytest.LogCaptureFixture, filter_: str, is_told: bool, event: str, error: Refused | None
) -> None:
    caplog.set_level("INFO")
    hall = Hall(store)
    hall.lobby.reload(Config.model_validate({"matchmaking": {"allow_matchmaking": True, "challenge_filter": filter_}}))
    if error is not None:
        hall.find_a_rival()
        hall.lobby.command_answered(CommandFailed(hall.outbox.sent[-1], error))
    elif event == "match.unanswered":
        hall.lobby.command_answered(CommandDone(CancelChallenge(hall.challenge_a_rival().id)))
    else:
        hall.lobby.challenge_event(ChallengeDeclined(challenge=hall.challenge_a_rival()), time.monotonic())
    lines = [line for line in caplog.messages if line.split()[0].startswith(("match.declined", "match.refused", event))]
    assert [line.split()[0] for line in lines] == [event]
    assert ("rests_until=" in lines[0]) is is_told
