"""What an operator changes in the lobby: pause, block, matchmaking, rechallenge. An outbox that sends nothing."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lichessbot.config import Config
from lichessbot.control.commands import CannotDo
from lichessbot.lichess.answers import ArenaInfo, BotUser, UserStatus
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.commands import (
    AcceptChallenge,
    CancelChallenge,
    CommandDone,
    CreateChallenge,
    DeclineChallenge,
    JoinTournament,
    LeaveTournament,
    ReadBots,
    ReadRatings,
    ReadStatuses,
    ReadTournament,
)
from lichessbot.lichess.enums import Colour, DeclineReason, ExactClock, Variant
from lichessbot.lichess.models import ChallengeCanceled, ChallengeDeclined, ChallengeReceived, GameInfo
from lichessbot.lobby import Lobby
from lichessbot.storage.database import Database
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store
from tests.lichessbot.lobby_bench import (
    ARENA,
    AT_ONCE,
    CONFIG,
    SEEKING,
    US,
    Hall,
    Outbox,
    challenged,
    echoed,
    game_with,
    lobby_of,
)
from tests.patience import until

BLITZ = Terms(Variant.STANDARD, ExactClock(180, 2), True)


def come(lobby: Lobby, *challenges: ChallengeReceived) -> None:
    for challenge in challenges:
        lobby.challenge_event(challenge, time.monotonic())


# Pause


def test_a_pause_declines_those_who_come_and_those_who_wait(store: Store) -> None:
    outbox, games = Outbox(), [game_with("Ann"), game_with("Ann")]
    lobby = lobby_of(store, outbox, games, Config.model_validate({"challenge": {"concurrency": 2}}))
    come(lobby, challenged("wxyz0001", id="ann"))
    assert lobby.waiting == ["ann"]
    lobby.pause()
    lobby.tick()
    come(lobby, challenged("wxyz0002", id="bob"))
    declined = [it for it in outbox.sent if isinstance(it, DeclineChallenge)]
    assert [(it.challenge_id, it.reason) for it in declined] == [
        ("wxyz0001", DeclineReason.LATER),
        ("wxyz0002", DeclineReason.LATER),
    ]
    entry = store.challenges.get("wxyz0002")
    assert (entry.rule, entry.because) == ("lichessbot pause", "the bot is paused")
    lobby.resume()
    games.clear()
    come(lobby, challenged("wxyz0003", id="bob"))
    assert isinstance(outbox.sent[-1], AcceptChallenge)


def read_arena(lobby: Lobby, outbox: Outbox) -> None:
    """Answer what the lobby asks first of an arena."""
    lobby.tick()
    look = ReadTournament(ARENA)
    assert outbox.sent[-1] == look
    lobby.command_answered(CommandDone(look, ArenaInfo(id=ARENA, secondsToFinish=600)))
    lobby.tick()


def test_a_pause_leaves_arenas_and_its_end_joins_them_again(store: Store) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [])
    read_arena(lobby, outbox)
    assert isinstance(outbox.sent[-1], JoinTournament)
    assert lobby.describe().tournaments == (ARENA,)
    lobby.command_answered(CommandDone(outbox.sent[-1]))
    lobby.pause()
    lobby.reload(CONFIG)
    lobby.command_answered(CommandDone(outbox.sent[-1]))
    lobby.tick()
    assert lobby.describe().tournaments == ()
    assert isinstance(outbox.sent[-1], LeaveTournament)
    assert not lobby.is_clear
    lobby.command_answered(CommandDone(outbox.sent[-1]))
    assert lobby.is_clear
    lobby.resume()
    read_arena(lobby, outbox)
    assert isinstance(outbox.sent[-1], JoinTournament)


def test_a_failing_engine_has_the_effect_of_a_pause(store: Store) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [])
    lobby.engines_fail("engine: no such program")
    assert lobby.describe().tournaments == ()
    come(lobby, challenged("wxyz0001", id="ann"))
    assert isinstance(outbox.sent[-1], DeclineChallenge)
    with pytest.raises(CannotDo, match="an engine fails: engine: no such program"):
        lobby.rechallenge(received=False)
    assert "once its engine works again (engine: no such program)" in lobby.join_tournament("wxyz5678", None, None)
    lobby.pause()
    lobby.engines_work()
    assert lobby.describe().tournaments == (), "the operator's pause lasts"
    lobby.engines_fail("engine: no such program")
    lobby.resume()
    assert lobby.describe().tournaments == ()
    lobby.engines_work()
    assert ARENA in lobby.describe().tournaments
    come(lobby, challenged("wxyz0002", id="ann"))
    assert isinstance(outbox.sent[-1], AcceptChallenge)


@pytest.mark.parametrize(
    ("hold", "go_on"),
    [(Lobby.pause, Lobby.resume), (lambda lobby: lobby.engines_fail("engine: it died"), Lobby.engines_work)],
    ids=["pause", "failing engine"],
)
def test_no_arena_is_joined_again_while_the_daemon_stops(
    store: Store, hold: Callable[[Lobby], object], go_on: Callable[[Lobby], None]
) -> None:
    lobby = lobby_of(store, Outbox(), [])
    hold(lobby)
    lobby.stop()
    go_on(lobby)
    assert lobby.describe().tournaments == ()


def test_an_arena_is_joined_and_left_by_commands(store: Store) -> None:
    games = [game_with("Ann")]
    lobby = lobby_of(store, Outbox(), games, Config())
    assert lobby.join_tournament(ARENA, None, None) == "the daemon plays there once a slot is free"
    games.clear()
    assert lobby.join_tournament(ARENA, None, None) == "the daemon plays there"
    assert lobby.describe().tournaments == (ARENA,)
    assert lobby.leave_tournament(ARENA) == "the daemon plays there no more"
    assert lobby.describe().tournaments == ()
    lobby.pause()
    assert "after `lichessbot resume`" in lobby.join_tournament(ARENA, None, None)
    lobby.stop()
    assert "after its next start" in lobby.join_tournament(ARENA, None, None)


def test_an_arena_of_the_configuration_is_not_left_by_a_command(store: Store) -> None:
    """The next reload would join it again."""
    lobby = lobby_of(store, Outbox(), [])
    with pytest.raises(CannotDo, match="lists the arena in `tournaments`"):
        lobby.leave_tournament(ARENA)
    assert lobby.describe().tournaments == (ARENA,)


def test_a_pause_begins_no_challenge_and_withdraws_the_open_one(store: Store) -> None:
    hall = Hall(store)
    hall.challenge_a_rival()
    hall.lobby.pause()
    assert hall.outbox.sent[-1] == CancelChallenge("to-rival")
    hall.lobby.command_answered(CommandDone(hall.outbox.sent[-1]))
    assert hall.lobby.describe().matchmaking.next_attempt_epoch_s is None
    with pytest.raises(CannotDo, match="the bot is paused"):
        hall.lobby.rechallenge(received=False)


# Matchmaking


def test_matchmaking_is_switched_until_the_next_switch_whatever_is_reloaded(store: Store) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], Config(), AT_ONCE)
    lobby.tick()
    assert outbox.sent == []
    assert lobby.switch_matchmaking(on=True).startswith("matchmaking is on until the next restart; next attempt at ")
    lobby.reload(Config())
    until(lambda: lobby.tick() or outbox.sent, "nobody is looked for")
    assert outbox.sent == [ReadRatings()]
    state = lobby.describe().matchmaking
    assert (state.is_on, state.is_on_in_config) == (True, False)
    assert lobby.switch_matchmaking(on=False) == "matchmaking is off until the next restart"
    lobby.reload(Config.model_validate({"matchmaking": {"allow_matchmaking": True}}))
    state = lobby.describe().matchmaking
    assert (state.is_on, state.is_on_in_config) == (False, True)


# Blocked players


def test_a_blocked_player_is_declined_also_after_a_restart(tmp_path: Path) -> None:
    store, outbox = Store(Database(tmp_path)), Outbox()
    lobby = lobby_of(store, outbox, [])
    assert lobby.block("Ann")
    assert not lobby.block("ann")
    store.close()
    store = Store(Database(tmp_path))
    lobby = lobby_of(store, outbox, [])
    assert lobby.describe().blocked == ("ann",)
    come(lobby, challenged("wxyz0001", id="ann"))
    assert outbox.sent == [DeclineChallenge("wxyz0001", DeclineReason.GENERIC)]
    assert store.challenges.get("wxyz0001").rule == "lichessbot block ann"
    assert lobby.unblock("ANN")
    assert not lobby.unblock("ann")
    come(lobby, challenged("wxyz0002", id="ann"))
    assert isinstance(outbox.sent[-1], AcceptChallenge)
    store.close()
    again = Store(Database(tmp_path))
    assert lobby_of(again, outbox, []).describe().blocked == ()
    again.close()


def test_a_blocked_bot_is_not_challenged_and_an_open_challenge_to_it_is_withdrawn(store: Store) -> None:
    hall = Hall(store)
    hall.challenge_a_rival()
    hall.lobby.block("Other")
    assert isinstance(hall.outbox.sent[-1], CreateChallenge)
    hall.lobby.block("Rival")
    assert hall.outbox.sent[-1] == CancelChallenge("to-rival")
    hall.lobby.command_answered(CommandDone(hall.outbox.sent[-1]))
    with pytest.raises(CannotDo, match="rival is blocked"):
        hall.lobby.rechallenge(received=False)


def test_a_bot_that_is_blocked_while_it_is_looked_at_is_not_challenged(store: Store) -> None:
    hall = Hall(store)
    hall.hear(ReadRatings(), US)
    hall.hear(ReadBots(), (BotUser.model_validate({"id": "rival", "username": "Rival"}),))
    hall.lobby.block("Rival")
    hall.hear(ReadStatuses(("rival",)), (UserStatus(id="rival", online=True),))
    assert not any(isinstance(command, CreateChallenge) for command in hall.outbox.sent)


@pytest.mark.parametrize(
    "matchmaking",
    [{"allow_matchmaking": False}, {"allow_matchmaking": True, "block_list": ["Rival"]}],
    ids=["off", "blocked"],
)
def test_a_reload_that_speaks_against_the_open_challenge_withdraws_it(
    store: Store, matchmaking: dict[str, Any]
) -> None:
    hall = Hall(store)
    hall.challenge_a_rival()
    hall.lobby.reload(SEEKING)
    assert isinstance(hall.outbox.sent[-1], CreateChallenge)
    hall.lobby.reload(Config.model_validate({"matchmaking": matchmaking}))
    assert hall.outbox.sent[-1] == CancelChallenge("to-rival")


def test_a_list_that_now_names_the_opponent_withdraws_the_open_challenge(store: Store, tmp_path: Path) -> None:
    file = str(tmp_path / "blocked.txt")
    hall = Hall(store)
    hall.challenge_a_rival()
    matchmaking = {"allow_matchmaking": True, "block_list_files": [file]}
    hall.lobby.reload(Config.model_validate({"matchmaking": matchmaking}))
    assert isinstance(hall.outbox.sent[-1], CreateChallenge)
    hall.lobby.block_list_fetched(PlayerList(file, frozenset({"rival"})))
    assert hall.outbox.sent[-1] == CancelChallenge("to-rival")
    hall.lobby.close()


def test_an_exception_to_that_list_keeps_the_challenge_open(store: Store, tmp_path: Path) -> None:
    file = str(tmp_path / "blocked.txt")
    hall = Hall(store)
    hall.challenge_a_rival()
    matchmaking = {"allow_matchmaking": True, "block_list_files": [file], "block_list_exceptions": ["Rival"]}
    hall.lobby.reload(Config.model_validate({"matchmaking": matchmaking}))
    hall.lobby.block_list_fetched(PlayerList(file, frozenset({"rival"})))
    assert isinstance(hall.outbox.sent[-1], CreateChallenge)
    hall.lobby.close()


def test_a_reload_without_matchmaking_keeps_a_challenge_that_the_operator_wants(store: Store) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], Config())
    come(lobby, echoed("friend"))
    lobby.rechallenge(received=False)
    come(lobby, echoed("friend"))
    lobby.reload(Config())
    assert outbox.sent == [CreateChallenge("friend", BLITZ)]
    lobby.switch_matchmaking(on=False)
    assert outbox.sent[1:] == [CancelChallenge("to-friend")]


def test_a_challenge_that_is_withdrawn_by_hand_does_not_count_against_the_bot(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    hall = Hall(store)
    hall.lobby.challenge_event(ChallengeCanceled(challenge=hall.challenge_a_rival()), time.monotonic())
    assert hall.lobby.describe().matchmaking.open_challenge is None
    assert "match.withdrawn" in caplog.text
    assert "match.declined" not in caplog.text


# Rechallenge


def test_the_last_opponent_is_challenged_again_to_the_same(store: Store) -> None:
    hall = Hall(store)
    ours = hall.challenge_a_rival()
    with pytest.raises(CannotDo, match="another challenge is open"):
        hall.lobby.rechallenge(received=False)
    hall.lobby.challenge_event(ChallengeDeclined(challenge=ours), time.monotonic())
    assert hall.lobby.rechallenge(received=False) == "will challenge rival: 3+2 rated standard"
    assert hall.outbox.sent[-1] == CreateChallenge("rival", BLITZ)
    state = hall.lobby.describe().matchmaking
    assert (state.open_challenge.opponent, state.last_opponent) == ("rival", "rival")


def test_a_challenge_by_another_program_can_be_repeated_too(store: Store) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], Config())
    with pytest.raises(CannotDo, match="nobody was challenged since the start"):
        lobby.rechallenge(received=False)
    come(lobby, echoed("friend"))
    assert lobby.rechallenge(received=False) == "will challenge friend: 3+2 rated standard"
    assert outbox.sent == [CreateChallenge("friend", BLITZ)]


@pytest.mark.parametrize(("theirs", "ours"), [("white", Colour.BLACK), ("black", Colour.WHITE), ("random", None)])
def test_a_challenge_that_was_received_is_returned_with_the_same_colours(
    store: Store, theirs: str, ours: Colour | None
) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], Config.model_validate({"challenge": {"max_base": 60}}))
    with pytest.raises(CannotDo, match="no challenge was received since the start"):
        lobby.rechallenge(received=True)
    received = challenged("wxyz0001", id="ann")
    received = received.model_copy(update={"challenge": received.challenge.model_copy(update={"color": theirs})})
    come(lobby, received)
    assert isinstance(outbox.sent[-1], DeclineChallenge)
    lobby.rechallenge(received=True)
    assert outbox.sent[-1] == CreateChallenge("ann", replace(BLITZ, rated=False, colour=ours))


@pytest.mark.parametrize(
    "control", [{"type": "clock", "limit": 180, "increment": 2}, {"type": "correspondence", "daysPerTurn": 2}]
)
def test_nobody_is_challenged_again_while_the_daemon_finishes(store: Store, control: dict[str, Any]) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], Config())
    come(lobby, echoed("friend", timeControl=control))
    lobby.stop()
    with pytest.raises(CannotDo, match="the daemon is finishing"):
        lobby.rechallenge(received=False)
    assert outbox.sent == []


def test_our_colour_is_kept_when_we_challenge_again(store: Store) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], Config())
    come(lobby, echoed("friend", color="black"))
    lobby.rechallenge(received=False)
    assert outbox.sent == [CreateChallenge("friend", replace(BLITZ, colour=Colour.BLACK))]


@pytest.mark.parametrize(
    "changes",
    [{"variant": {"key": "duck"}}, {"variant": {"key": "fromPosition"}}, {"timeControl": {"type": "unlimited"}}],
)
def test_a_challenge_that_we_never_make_is_not_repeated(store: Store, changes: dict[str, Any]) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], Config())
    come(lobby, echoed("friend"), echoed("other", **changes))
    assert lobby.describe().matchmaking.last_opponent == "other"
    with pytest.raises(CannotDo, match="the last challenge was one that the bot never makes"):
        lobby.rechallenge(received=False)
    by_other = echoed(US.id, challenger={"id": "other"}, **changes)
    come(lobby, echoed(US.id, challenger={"id": "ann"}), by_other)
    with pytest.raises(CannotDo, match="the last challenge was one that the bot never makes"):
        lobby.rechallenge(received=True)
    assert not any(isinstance(command, CreateChallenge) for command in outbox.sent)


def test_a_correspondence_challenge_that_is_made_again_stays_open(store: Store) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], Config(), AT_ONCE)
    by_days = echoed("friend", timeControl={"type": "correspondence", "daysPerTurn": 2}, speed="correspondence")
    come(lobby, by_days)
    lobby.rechallenge(received=False)
    (created,) = outbox.sent
    assert isinstance(created, CreateChallenge)
    lobby.command_answered(CommandDone(created, by_days.challenge))
    lobby.tick()
    assert outbox.sent == [created]
    assert lobby.describe().matchmaking.open_challenge is None


def test_no_challenge_is_repeated_in_a_variant_that_the_engine_does_not_play(store: Store) -> None:
    lobby = lobby_of(store, Outbox(), [], Config())
    lobby.playable = (Variant.STANDARD, Variant.ATOMIC)
    come(lobby, echoed("friend", variant={"key": "horde"}))
    with pytest.raises(CannotDo, match="the engine does not play horde"):
        lobby.rechallenge(received=False)
    come(lobby, echoed("friend", variant={"key": "atomic"}))
    assert lobby.rechallenge(received=False).endswith("atomic")


def test_nobody_is_challenged_again_without_a_slot(store: Store) -> None:
    games = list[GameInfo]()
    lobby = lobby_of(store, Outbox(), games, Config())
    come(lobby, echoed("friend"))
    games.append(game_with("Ann"))
    with pytest.raises(CannotDo, match="every slot is taken"):
        lobby.rechallenge(received=False)


def test_nobody_is_challenged_again_beyond_the_days_games_but_a_human_is(store: Store) -> None:
    outbox = Outbox()
    lobby = lobby_of(store, outbox, [], Config.model_validate({"matchmaking": {"bot_games_per_day": 0}}))
    come(lobby, echoed("rival", title="BOT"))
    with pytest.raises(CannotDo, match="a quota of Lichess or of matchmaking is used up: 0 of 0 bot games"):
        lobby.rechallenge(received=False)
    come(lobby, echoed("friend"))
    lobby.rechallenge(received=False)
    assert outbox.sent == [CreateChallenge("friend", BLITZ)]


# What is told


def test_the_lobby_tells_who_waits_and_what_is_used_up(store: Store) -> None:
    lobby = lobby_of(store, Outbox(), [game_with("Ann")], Config())
    began = time.monotonic()
    come(lobby, challenged("wxyz0001", id="ann", name="Ann", title="GM"))
    come(lobby, echoed("friend"), echoed("rival", title="BOT"))
    told = lobby.describe()
    (waiting,) = told.queue
    assert (waiting.challenger, waiting.title, waiting.time_control, waiting.rated) == ("Ann", "GM", "3+2", False)
    assert 0 <= waiting.waits_for_s <= time.monotonic() - began
    assert waiting.waits_for_s + waiting.expires_in_s == pytest.approx(12)
    games, challenges = told.limits
    assert (games.used, games.most, games.is_used_up) == (0, 100, False)
    assert (challenges.used, challenges.most, challenges.resumes_epoch_s) == (6, 180, None)
    assert (told.slots, told.starting, told.is_paused) == (1, 0, False)
