"""Challenges that wait, are withdrawn, declined or repeated: the daemon in front of the embedded Lichess."""

import signal

import pytest

from lichessbot.cli.main import main
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import Correspondence, Unlimited
from lichessbot.rehearsal.rules.enums import ChallengeStatus, Color, ColorChoice, DeclineReason, Variant
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms
from tests.fakes.arena import IDLE_ENGINE, PATIENCE_S, Arena, judge
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess

QUICKLY = 0.25      # a challenge then waits for a slot for 3 s
PATIENTLY = 10.0    # and then for two minutes, so that none is declined before the test goes on


@pytest.fixture
def timing() -> Timing:
    return Timing(tick_s=1.0, challenge_expiry_s=2 * PATIENCE_S)


def take_the_only_slot(arena: Arena, rules: str = "", time_scale: float = PATIENTLY, engine: str = "") -> Account:
    """Start a game whose opponent never moves."""
    arena.time_scale = time_scale
    arena.configure(concurrency=1, depth=2, abort_time=600, rules=rules, engine=engine)
    arena.start()
    sleeper = arena.player("Sleeper", None)
    arena.challenge(sleeper, color=ColorChoice.WHITE, base_s=600)
    arena.until(lambda: "game.state" in arena.log())
    return sleeper


def give_it_back(arena: Arena) -> None:
    session = arena.started[0]
    arena.server.call(lambda: session.abort())


def status(arena: Arena, challenge_id: str) -> ChallengeStatus | None:
    return arena.site.challenges.get(challenge_id).settled


def wait_for_a_slot(arena: Arena, challenger: Account, **terms: int) -> str:
    challenge_id = arena.challenge(challenger, **terms)  # type: ignore[arg-type]
    arena.until(lambda: f"challenge.wait challenge={challenge_id}" in arena.log())
    return challenge_id


# Waiting


def test_a_queued_challenge_is_accepted_when_a_game_ends(arena: Arena) -> None:
    take_the_only_slot(arena)
    wait_for_a_slot(arena, arena.player("Greedy"))
    give_it_back(arena)
    arena.until_ended(2)
    judge(arena.ended[1])
    assert arena.most_at_once == 1


def test_a_withdrawn_challenge_is_forgotten(arena: Arena) -> None:
    take_the_only_slot(arena)
    fickle = arena.player("Fickle")
    canceled = wait_for_a_slot(arena, fickle)
    arena.server.call(lambda: arena.site.cancel(canceled, fickle))
    arena.until(lambda: f"challenge.canceled challenge={canceled} waited=True" in arena.log())
    give_it_back(arena)
    arena.challenge(arena.player("Greedy"))
    arena.until_ended(2)
    judge(arena.ended[1])
    assert status(arena, canceled) is ChallengeStatus.CANCELED
    assert f"challenge.accepting challenge={canceled}" not in arena.log()


def test_a_queued_challenge_that_times_out_is_declined_and_takes_no_slot(arena: Arena) -> None:
    take_the_only_slot(arena, time_scale=QUICKLY)
    late = wait_for_a_slot(arena, arena.player("Late"))
    arena.until(lambda: arena.decline_reason(late) is DeclineReason.LATER)
    assert arena.logged("no slot became free within 3 s")
    give_it_back(arena)
    arena.challenge(arena.player("Greedy"))
    arena.until_ended(2)
    judge(arena.ended[1])


def test_a_signal_declines_queued_challenges(arena: Arena) -> None:
    take_the_only_slot(arena, engine=IDLE_ENGINE)
    waiting = wait_for_a_slot(arena, arena.player("Greedy"))
    arena.signal(signal.SIGTERM)
    arena.until(lambda: arena.decline_reason(waiting) is DeclineReason.LATER)
    give_it_back(arena)
    assert arena.wait_for_exit() == 0


# Rules


def test_each_decline_names_the_rule_that_decided(arena: Arena) -> None:
    arena.bot.rating = 2000
    arena.configure(
        depth=2,
        rules="time_controls: [bullet, blitz, 10+0, correspondence], min_days: 2, max_days: 5, "
        "variants: [standard, chess960], max_estimated_game_duration: 14, rating_difference: 700, "
        "max_simultaneous_games_per_user: 1, block_list: [VILLAIN], "
        "bot: {allow_list: [Friend], bullet_requires_increment: true}",
    )
    arena.start()

    def days(name: str, control: Correspondence | Unlimited) -> str:
        return arena.propose(arena.player(name, None), Terms(Variant.STANDARD, control))

    expected = {
        arena.challenge(arena.player("Rapid"), base_s=540): DeclineReason.TIME_CONTROL,
        arena.challenge(arena.player("Long"), base_s=240, increment_s=5): DeclineReason.TOO_SLOW,
        arena.challenge(arena.player("Weak", rating=1299)): DeclineReason.GENERIC,
        arena.challenge(arena.player("Villain")): DeclineReason.GENERIC,
        arena.challenge(arena.player("Stranger", title="BOT"), increment_s=1): DeclineReason.GENERIC,
        arena.challenge(arena.player("Friend", title="BOT"), base_s=60): DeclineReason.TOO_FAST,
        arena.challenge(arena.player("Horde"), variant=Variant.HORDE): DeclineReason.VARIANT,
        arena.challenge(exact := arena.player("Exact", None), base_s=600): None,
        days("OneDay", Correspondence(1)): DeclineReason.TOO_FAST,
        days("TwoDays", Correspondence(2)): None,
        days("Week", Correspondence(7)): DeclineReason.TOO_SLOW,
        days("Forever", Unlimited()): DeclineReason.TOO_SLOW,
    }
    arena.until(lambda: all(arena.is_settled(it) for it in expected))
    assert {it: arena.decline_reason(it) for it in expected} == expected
    second = arena.challenge(exact, base_s=600)
    arena.until(lambda: arena.decline_reason(second) is DeclineReason.LATER)


def test_one_bot_is_accepted_only_so_often_also_over_a_restart(arena: Arena) -> None:
    arena.configure(depth=2, rules="max_recent_bot_challenges: 1, recent_bot_challenge_age: 3600")
    arena.start()
    eager = arena.player("Eager", title="BOT")
    arena.challenge(eager)
    arena.until_ended(1)
    assert arena.stop() == 0
    arena.start()
    again = arena.challenge(eager)
    arena.until(lambda: arena.decline_reason(again) is DeclineReason.LATER)
    arena.challenge(arena.player("Other", title="BOT"))
    arena.until_ended(2)


def test_block_lists_on_the_web_count_and_delay_no_answer(arena: Arena, lichess: ScriptedLichess) -> None:
    arena.time_scale = QUICKLY
    lichess.answer("/hanging", Reply(lines=[b"nobody\n"], end=End.STALL))
    lichess.answer("/huge", Reply(lines=[b"greedy\n" * 8192] * 1830))
    lichess.answer("/good", Reply(body="Villain\n"))
    addresses = ", ".join(f"{lichess.url}/{name}" for name in ("hanging", "huge", "good"))
    arena.configure(depth=2, rules=f"online_block_list: [{addresses}]")
    arena.start()
    arena.until(lambda: "list.fetched" in arena.log())
    villain = arena.challenge(arena.player("Villain"))
    arena.until(lambda: arena.decline_reason(villain) is DeclineReason.GENERIC)
    arena.challenge(arena.player("Greedy"))
    arena.until_ended(1)
    judge(arena.ended[0])
    arena.until(lambda: arena.log().count("list.failed") >= 2)


def test_a_shared_file_blocks_for_a_time_and_is_read_again_while_we_run(arena: Arena) -> None:
    arena.time_scale = QUICKLY
    shared = arena.folder / "shared.txt"
    shared.write_text("Villain until 2999-12-31  # slow\nGreedy until 2020-01-01\n")
    arena.configure(depth=2, rules="block_list_files: shared.txt")
    arena.start()
    arena.until(lambda: "list.fetched" in arena.log())
    villain = arena.player("Villain")
    refused = arena.challenge(villain)
    arena.until(lambda: arena.decline_reason(refused) is DeclineReason.GENERIC)
    arena.challenge(arena.player("Greedy"))
    arena.until_ended(1)
    shared.write_text("# nobody\n")
    arena.until(lambda: arena.log().count("list.fetched") >= 2)
    arena.challenge(villain)
    arena.until_ended(2)


# Rematches, and what is remembered


def test_a_rematch_is_a_challenge_like_any_other_and_we_offer_none(arena: Arena) -> None:
    arena.configure(depth=2)
    arena.start()
    player = arena.player("Greedy")
    arena.challenge(player, color=ColorChoice.WHITE)
    arena.until_ended(1)
    rematch = arena.server.call(lambda: arena.site.offer_rematch(arena.ended[0].game, player))
    arena.until_ended(2)
    assert arena.logged(f"challenge.accept challenge={rematch.id} ")
    assert arena.logged(f" rematch_of={arena.ended[0].game.setup.id} ")
    judge(arena.ended[1])
    assert arena.ended[1].game.setup.color_of(player) is Color.BLACK
    assert arena.site.challenges.outgoing(arena.bot, monotonic_ms()) == []


def test_explain_shows_a_challenge_while_the_daemon_runs(
    arena: Arena, capsys: pytest.CaptureFixture[str]
) -> None:
    sleeper = take_the_only_slot(arena, "max_rating: 2000", engine=IDLE_ENGINE)
    strong = arena.challenge(arena.player("Strong", rating=2001))
    arena.until(lambda: arena.decline_reason(strong) is DeclineReason.GENERIC)
    taken = arena.started[0].game.setup.id

    def explain(*words: str) -> str:
        main(["explain", *words, "--config", str(arena.folder / "config.yml")])
        return capsys.readouterr().out

    arena.until(lambda: "answer: declined: generic" in explain(strong))
    assert "rule: challenge.max_rating = 2000" in explain(strong)
    assert "answer: accepted" in explain(f"{arena.site.url}/{taken}")
    told = explain("--clock", "3+0")
    assert "now: slots taken: 1 of 1" in told
    assert "answer: would wait" in told
    arena.server.call(lambda: arena.started[0].abort())
    arena.until(lambda: "now: slots taken: 0 of 1" in explain("--clock", "3+0"))
    assert "answer: would be accepted" in explain("--name", sleeper.name, "--clock", "3+0")
