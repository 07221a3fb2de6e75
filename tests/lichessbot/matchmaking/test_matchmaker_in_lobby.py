"""The matchmaker in a lobby whose outbox sends nothing: what it asks, whom it challenges, what the log says."""

import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from lichessbot.config import Config
from lichessbot.errors import RateLimited, Unreachable
from lichessbot.lichess.answers import BotUser, UserStatus
from lichessbot.lichess.commands import (
    AcceptChallenge,
    CancelChallenge,
    CommandDone,
    CommandFailed,
    CreateChallenge,
    DeclineChallenge,
    ReadBots,
    ReadRatings,
    ReadStatuses,
)
from lichessbot.lichess.enums import Colour, DeclineReason, GameStatus
from lichessbot.lichess.models import ChallengeDeclined, GameFull, GameInfo
from lichessbot.matchmaking.known_bots import BotGame, BotGames
from lichessbot.storage.database import Database, read_only
from lichessbot.storage.store import LimitedAction, Store
from tests.lichessbot.lobby_bench import AT_ONCE, US, Hall, Outbox, challenged, echoed, game_with, lobby_of
from tests.lichessbot.matchmaking.test_rematch import finished
from tests.patience import until

BLITZ = {"challenge_variant": "standard", "challenge_initial_time": [180], "challenge_increment": [0]}


def test_an_attempt_that_fails_names_the_error(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    hall = Hall(store)
    hall.hear(ReadRatings(), US)
    error = RateLimited(timedelta(minutes=1), "Too many requests")
    hall.lobby.command_answered(CommandFailed(ReadBots(), error))
    assert f'match.none reason="{error}"' in caplog.text


def test_the_pause_after_failed_attempts_grows(store: Store) -> None:
    hall = Hall(store)
    pauses_min = []
    for _ in range(6):
        hall.lobby.command_answered(CommandFailed(ReadBots(), Unreachable("timed out")))
        pauses_min.append(round((hall.lobby.wake_at - time.monotonic()) / 60))
    assert pauses_min == [1, 2, 4, 8, 10, 10]


def test_the_first_attempt_waits_for_the_idle_minutes_of_the_configuration(store: Store) -> None:
    config = Config.model_validate({"matchmaking": {"allow_matchmaking": True, "challenge_timeout": 30}})
    before, before_epoch_s = time.monotonic(), time.time()
    lobby = lobby_of(store, Outbox(), [], config, replace(AT_ONCE, challenge_minute=timedelta(minutes=1)))
    assert before + 1800 <= lobby.wake_at <= time.monotonic() + 1800
    assert before_epoch_s + 1799 <= lobby.describe().matchmaking.next_attempt_epoch_s <= time.time() + 1801


@pytest.mark.parametrize("selection", ["sequential", "cyclic"])
def test_while_all_bots_of_the_first_kind_play_one_of_the_next_kind_is_challenged(
    store: Store, selection: str
) -> None:
    strong = {"opponent_min_rating": 3000, "opponent_rating_difference": None}
    keys = {"allow_matchmaking": True, "selection": selection, "overrides": {"strong": strong}, **BLITZ}
    hall = Hall(store, Config.model_validate({"matchmaking": keys}))
    hall.hear(ReadRatings(), US)
    champion = {"id": "champion", "username": "Champion", "perfs": {"blitz": {"rating": 3100}}}
    rival = {"id": "rival", "username": "Rival"}
    hall.hear(ReadBots(), tuple(map(BotUser.model_validate, (champion, rival))))
    playing, free = UserStatus(id="rival", online=True, playing=True), UserStatus(id="champion", online=True)
    hall.hear(ReadStatuses(("rival", "champion")), (playing, free))
    assert hall.outbox.sent[-1].opponent == "champion"


def test_rematches_that_waited_too_long_for_an_open_challenge_are_logged(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    config = Config.model_validate({"matchmaking": {"allow_matchmaking": True}, "rematch": {"offer": "all"}})
    hall = Hall(store, config, replace(AT_ONCE, rematch_black_waits=timedelta(0), rematch_patience=timedelta(0)))
    hall.find_a_rival()
    for number in (1, 2):
        hall.lobby.game_over(finished(id=f"game000{number}", black={"id": f"player{number}"}))
    until(lambda: hall.lobby.tick() or caplog.text.count("rematch.not_offered") == 2)
    for number in (1, 2):
        fields = f"game=game000{number} opponent=player{number}"
        assert f'{fields} reason="another challenge was open or about to be sent"' in caplog.text


@pytest.mark.parametrize(("plies", "is_challenged"), [(0, True), (1, False)])
def test_a_bot_that_accepted_and_never_moved_is_left_alone(store: Store, plies: int, is_challenged: bool) -> None:
    """It got the second game of the pair at once, and another slot and bot game were lost."""
    hall = Hall(store)
    game = finished(status=GameStatus.ABORTED, black={"id": "rival", "title": "BOT"})
    hall.lobby.game_over(replace(game, plies=plies))
    hall.hear(ReadRatings(), US)
    hall.hear(ReadBots(), (BotUser(id="rival", username="Rival"),))
    assert isinstance(hall.outbox.sent[-1], ReadStatuses) is is_challenged


@pytest.mark.parametrize(("is_declined", "counted"), [(False, 1), (True, 0)])
def test_a_rematch_counts_even_if_it_was_withdrawn_as_it_may_still_begin(
    store: Store, is_declined: bool, counted: int
) -> None:
    config, outbox = Config.model_validate({"rematch": {"offer": "all"}}), Outbox()
    lobby = lobby_of(store, outbox, [], config, replace(AT_ONCE, rematch_black_waits=timedelta(0)))
    lobby.game_over(finished())
    lobby.tick()
    ours = echoed("anna").challenge
    lobby.command_answered(CommandDone(outbox.sent[-1], ours))
    if is_declined:
        lobby.challenge_event(ChallengeDeclined(challenge=ours), time.monotonic())
    else:
        lobby.pause()
        lobby.command_answered(CommandDone(CancelChallenge(ours.id)))
    assert store.times_done(ours.id, LimitedAction.REMATCH) == counted


@pytest.mark.parametrize(("slots", "is_withdrawn"), [(2, False), (1, True)])
def test_a_challenge_that_has_no_slot_after_a_reload_is_withdrawn(store: Store, slots: int, is_withdrawn: bool) -> None:
    keys = {"allow_matchmaking": True, "allow_during_games": True, **BLITZ}
    before, after = (
        Config.model_validate({"challenge": {"concurrency": it}, "matchmaking": keys}) for it in (3, slots)
    )
    hall = Hall(store, before)
    hall.games.append(game_with("BOT Rival"))
    ours = hall.challenge_a_rival()
    hall.lobby.reload(after)
    assert (hall.outbox.sent[-1] == CancelChallenge(ours.id)) is is_withdrawn


# The last game of the day


def opened(game_id: str, opponent: str, title: str = "BOT", **facts: int) -> GameFull:
    state = {"moves": "", "wtime": 1, "btime": 1, "status": "started"}
    players = {"white": {"id": "us"}, "black": {"id": opponent, "title": title}}
    return GameFull.model_validate({"id": game_id, "variant": {"key": "standard"}, "state": state, **players, **facts})


def play_a_rival(hall: Hall) -> None:
    """Begin the game that a challenge of ours becomes."""
    game_id = hall.challenge_a_rival().id
    hall.lobby.game_started(game_with("BOT Rival", game_id))
    hall.lobby.game_opened(opened(game_id, "rival"))


def test_only_games_that_came_of_our_challenges_use_up_our_share(store: Store, tmp_path: Path) -> None:
    hall = Hall(store)
    hall.lobby.game_opened(opened("wxyz0001", "other"))
    play_a_rival(hall)
    store.close()
    assert read_only(tmp_path, "SELECT id, ours FROM bot_games") == [("wxyz0001", 0), ("to-rival", 1)]


def test_only_games_against_bots_are_counted_from_the_moment_they_began(store: Store, tmp_path: Path) -> None:
    lobby, before_s = lobby_of(store, Outbox(), []), time.time()
    lobby.game_opened(opened("wxyz0001", "anna", title="IM"))
    lobby.game_opened(opened("wxyz0002", "rival", createdAt=1_700_000_000_000))
    lobby.game_opened(opened("wxyz0003", "other", createdAt=int(before_s * 1000) + 3_600_000))
    store.close()
    began, ahead = read_only(tmp_path, "SELECT id, began_at FROM bot_games ORDER BY id")
    assert began == ("wxyz0002", 1_700_000_000)
    assert ahead[0] == "wxyz0003"
    assert before_s <= ahead[1] <= time.time(), "though the clock of Lichess is ahead of ours"


@pytest.mark.parametrize(("colour", "is_soon"), [("pairs", True), ("white", False)])
def test_only_the_second_game_of_a_pair_follows_a_single_game_and_the_first(
    tmp_path: Path, colour: str, is_soon: bool
) -> None:
    single = BotGame("wxyz0001", "other", "blitz", Colour.WHITE, by_our_challenge=True, began_at=time.time() - 3600)
    with closing(Store(Database(tmp_path))) as store:
        BotGames(store).add(single)
    keys = {"allow_matchmaking": True, "bot_games_per_day": 5, "challenge_color": colour, **BLITZ}
    with closing(Store(Database(tmp_path))) as store:
        hall = Hall(store, Config.model_validate({"matchmaking": keys}))
        play_a_rival(hall)
        next_at = hall.lobby.describe().matchmaking.next_attempt_epoch_s
    assert next_at is not None
    assert (next_at < time.time() + 600) is is_soon


def test_a_game_counts_before_its_own_stream_has_said_who_plays(store: Store) -> None:
    """In these seconds another bot got a game beyond the limit."""
    outbox, games = Outbox(), list[GameInfo]()
    keys = {"challenge": {"concurrency": 3}, "matchmaking": {"bot_games_per_day": 1}}
    lobby = lobby_of(store, outbox, games, Config.model_validate(keys))
    lobby.challenge_event(challenged("wxyz0001", id="rival", title="BOT"), time.monotonic())
    lobby.game_started(game_with("BOT Rival", "wxyz0001"))
    games.append(game_with("BOT Rival", "wxyz0001"))
    lobby.challenge_event(challenged("wxyz0002", id="other", title="BOT"), time.monotonic())
    assert outbox.sent == [AcceptChallenge("wxyz0001"), DeclineChallenge("wxyz0002", DeclineReason.LATER)]
    lobby.challenge_event(challenged("wxyz0003", id="ann"), time.monotonic())
    assert outbox.sent[-1] == AcceptChallenge("wxyz0003"), "humans are not limited"


def test_a_game_whose_stream_has_said_who_plays_counts_once(store: Store) -> None:
    outbox, games = Outbox(), [game_with("BOT Rival", "wxyz0001")]
    keys = {"challenge": {"concurrency": 3}, "matchmaking": {"bot_games_per_day": 2}}
    lobby = lobby_of(store, outbox, games, Config.model_validate(keys))
    lobby.game_opened(opened("wxyz0001", "rival"))
    lobby.challenge_event(challenged("wxyz0002", id="other", title="BOT"), time.monotonic())
    assert outbox.sent == [AcceptChallenge("wxyz0002")]


def test_a_game_that_begins_while_a_bot_is_chosen_may_be_the_last_one(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    matchmaking = {"allow_matchmaking": True, "allow_during_games": True, "bot_games_per_day": 1, **BLITZ}
    matchmaking["bot_games_for_challengers"] = 0
    hall = Hall(store, Config.model_validate({"challenge": {"concurrency": 3}, "matchmaking": matchmaking}))
    hall.hear(ReadRatings(), US)
    hall.hear(ReadBots(), (BotUser(id="rival", username="Rival"),))
    hall.lobby.game_opened(opened("wxyz0001", "other"))
    hall.hear(ReadStatuses(("rival",)), (UserStatus(id="rival", online=True),))
    assert not any(isinstance(command, CreateChallenge) for command in hall.outbox.sent)
    assert "match.none reason=\"1 of 1 bot games" in caplog.text
