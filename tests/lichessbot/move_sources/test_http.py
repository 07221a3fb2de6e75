"""Asking a server: what comes back, how long it is paused after failures, and who sees the token."""

import threading
import time
from dataclasses import replace
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import pytest
from pydantic import SecretStr

from lichessbot.backoff import doubled
from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable
from lichessbot.lichess.client import Access
from lichessbot.lichess.rate_limiter import Purpose, RateLimiter
from lichessbot.move_sources.http import Host, HostPaused, Hosts, Request
from lichessbot.move_sources.models import Explorer, parse
from tests.fakes.oracle import Manner, Oracle
from tests.lichessbot.move_sources.conftest import TIMEOUTS, TOKEN
from tests.patience import until

FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
parse_explorer = partial(parse, Explorer)
BAD_MANNERS = [
    Manner.FAILING, Manner.HANGING, Manner.TRICKLING, Manner.NULL, Manner.HUGE, Manner.PAGE, Manner.REDIRECTING,
    Manner.BROKEN, Manner.LEAVING,
]  # fmt: skip
ENDLESS = (Manner.HANGING, Manner.TRICKLING)


def request(seconds: float = 20.0, retries: int = 0, *, with_token: bool = False) -> Request:
    return Request("/masters", {"fen": FEN}, time.monotonic() + seconds, retries, with_token)


def host_at(address: str, home: str = "https://lichess.org") -> Host:
    return Host(address, Access(home, SecretStr(TOKEN), TIMEOUTS))


def test_a_good_answer_is_read(oracle: Oracle, hosts: Hosts) -> None:
    assert len(hosts.at(oracle.url).ask(request(), parse_explorer).moves) == 20


@pytest.mark.parametrize("manner", BAD_MANNERS)
def test_a_misbehaving_server_gives_an_error_in_time(oracle: Oracle, hosts: Hosts, manner: Manner) -> None:
    oracle.manner, oracle.elsewhere = manner, oracle.url
    seconds = 1.0 if manner in ENDLESS else 60.0
    while not oracle.paths:     # a busy machine may have no time left to ask
        with pytest.raises(Unreachable):
            Hosts(hosts.access, RateLimiter(TIMEOUTS)).at(oracle.url).ask(request(seconds), parse_explorer)
        seconds *= 5.0
    assert len(oracle.paths) == 1


@pytest.mark.parametrize(
    ("manner", "asked"),
    [(Manner.LEAVING, 3), (Manner.FAILING, 1), (Manner.REDIRECTING, 1), (Manner.HUGE, 1), (Manner.BROKEN, 1)],
)
def test_only_a_question_without_an_answer_is_asked_again(
    oracle: Oracle, hosts: Hosts, manner: Manner, asked: int
) -> None:
    oracle.manner = manner
    with pytest.raises(Unreachable):
        hosts.at(oracle.url).ask(request(retries=2), parse_explorer)
    assert len(oracle.paths) == asked


def test_a_question_whose_answer_may_grow_is_not_repeated_when_its_time_is_over(oracle: Oracle, hosts: Hosts) -> None:
    oracle.manner = Manner.HANGING
    it = Request("/player", {"fen": FEN}, time.monotonic() + 1.0, retries=2, growing=True)
    with pytest.raises(Unreachable):
        hosts.at(oracle.url).ask(it, parse_explorer)
    assert len(oracle.paths) <= 1


def test_a_server_that_failed_rests_for_all_games_and_is_asked_again_later(oracle: Oracle, hosts: Hosts) -> None:
    host = hosts.at(oracle.url)
    oracle.manner = Manner.FAILING
    with pytest.raises(Unreachable):
        host.ask(request(), parse_explorer)
    oracle.manner = Manner.HELPFUL
    with pytest.raises(HostPaused):
        hosts.at(oracle.url).ask(request(), parse_explorer)
    host._paused_until -= TIMEOUTS.source_rest.total_seconds()
    assert host.ask(request(), parse_explorer).moves
    assert len(oracle.paths) == 2


def test_a_server_that_had_hardly_any_time_does_not_rest(oracle: Oracle, hosts: Hosts) -> None:
    oracle.manner = Manner.HANGING
    with pytest.raises(Unreachable):
        hosts.at(oracle.url).ask(request(0.2), parse_explorer)
    oracle.manner = Manner.HELPFUL
    assert hosts.at(oracle.url).ask(request(), parse_explorer).moves


def test_a_server_that_had_hardly_any_time_after_other_games_does_not_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    monkeypatch.setattr("lichessbot.move_sources.http.time.monotonic", lambda: now)
    host = host_at("https://explorer.lichess.org")

    def wait_for_other_games(timeout: float) -> bool:
        nonlocal now
        now += 19.9
        return True

    def late(asked: Request) -> bytes:
        raise Unreachable("timed out")

    monkeypatch.setattr(host, "_permits", SimpleNamespace(acquire=wait_for_other_games, release=lambda: None))
    monkeypatch.setattr(host, "_get", late)
    for _ in range(2):
        with pytest.raises(Unreachable):
            host.ask(request(), parse_explorer)


def test_failures_of_two_games_at_the_same_moment_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    host, failure = host_at("https://explorer.lichess.org"), Unreachable("timed out")
    other_game = threading.Thread(target=host._note_failure, args=[failure])

    def meanwhile(shortest: timedelta, times: int, longest: timedelta) -> timedelta:
        if other_game.ident is None:
            other_game.start()
            other_game.join(0.1)    # it waits for its turn
        return doubled(shortest, times, longest)

    monkeypatch.setattr("lichessbot.move_sources.http.doubled", meanwhile)
    host._note_failure(failure)
    other_game.join()
    assert host._failures == 1


def test_the_pause_grows_with_each_failure_in_a_row(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    monkeypatch.setattr("lichessbot.move_sources.http.time.monotonic", lambda: now)
    host = host_at(oracle.url)
    rests = []
    for _ in range(12):
        host._paused_until = now
        host._note_failure(Unreachable("gone"))
        host._note_failure(Unreachable("gone for another game"))
        rests.append(host._paused_until - now)
    assert rests[:3] == pytest.approx([20, 40, 80])
    assert rests[-1] == pytest.approx(TIMEOUTS.source_rest_ceiling.total_seconds())


@pytest.mark.parametrize(("manner", "error"), [(Manner.LIMITED, RateLimited), (Manner.FORBIDDING, Refused)])
def test_a_server_that_refuses_requests_is_not_asked_again(
    oracle: Oracle, hosts: Hosts, manner: Manner, error: type[ApiError]
) -> None:
    oracle.manner = manner
    with pytest.raises(error):
        hosts.at(oracle.url).ask(request(retries=2), parse_explorer)
    hosts.at(oracle.url)._paused_until -= TIMEOUTS.source_rest.total_seconds()
    with pytest.raises(HostPaused):
        hosts.at(oracle.url).ask(request(), parse_explorer)
    assert len(oracle.paths) == 1


def test_the_pause_a_server_asks_for_is_kept(oracle: Oracle, hosts: Hosts) -> None:
    oracle.manner = Manner.LIMITED
    with pytest.raises(RateLimited) as caught:
        hosts.at(oracle.url).ask(request(), parse_explorer)
    assert caught.value.pause == timedelta(hours=1)


def test_the_pause_doubles_with_each_429_in_a_row(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    monkeypatch.setattr("lichessbot.move_sources.http.time.monotonic", lambda: now)
    host = host_at(oracle.url)
    pauses = []
    for _ in range(12):
        host._paused_until = now
        host._note_failure(RateLimited(timedelta(seconds=50), "slow down"))
        pauses.append(host._paused_until - now)
    assert pauses[:3] == pytest.approx([50, 100, 200])
    assert pauses[-1] == pytest.approx(TIMEOUTS.source_rest_ceiling.total_seconds())


def test_a_quota_that_is_named_holds_nothing_else_back(monkeypatch: pytest.MonkeyPatch) -> None:
    rate_limiter = RateLimiter(TIMEOUTS)
    host = Host("https://lichess.org", Access("https://lichess.org", SecretStr(TOKEN), TIMEOUTS), rate_limiter)

    def limited(request: Request) -> bytes:
        raise RateLimited(timedelta(seconds=500), "slow down", "cloudEval.day")

    monkeypatch.setattr(host, "_get", limited)
    with pytest.raises(RateLimited):
        host.ask(request(), parse_explorer)
    assert rate_limiter.ask(Purpose.OTHER) == 0


def test_each_429_holds_everything_else_back(oracle: Oracle) -> None:
    rate_limiter = RateLimiter(TIMEOUTS)
    host = Hosts(Access(oracle.url, SecretStr(TOKEN), TIMEOUTS), rate_limiter).at(oracle.url)
    unknown = replace(request(), path="/unknown")
    held_back = []
    for manner in (Manner.LIMITED, Manner.LIMITED, Manner.HELPFUL, Manner.LIMITED):
        oracle.manner = manner
        host._paused_until = rate_limiter._not_before = time.monotonic()
        with pytest.raises(Refused if manner is Manner.HELPFUL else RateLimited):
            host.ask(unknown, parse_explorer)
        held_back.append(rate_limiter.ask(Purpose.OTHER) > 30)
    assert held_back == [True, True, False, True]


def test_a_429_is_one_before_its_text_is_complete(oracle: Oracle) -> None:
    rate_limiter = RateLimiter(TIMEOUTS)
    oracle.manner = Manner.LIMITED_TRICKLING
    host = Hosts(Access(oracle.url, SecretStr(TOKEN), TIMEOUTS), rate_limiter).at(oracle.url)
    with pytest.raises(RateLimited):
        host.ask(request(2.0), parse_explorer)
    assert rate_limiter.ask(Purpose.OTHER) > 0


def test_during_a_pause_of_lichess_no_evaluation_is_requested(oracle: Oracle) -> None:
    rate_limiter = RateLimiter(TIMEOUTS)
    rate_limiter.hold_back(timedelta(seconds=60))
    hosts = Hosts(Access(oracle.url, SecretStr(TOKEN), TIMEOUTS), rate_limiter)
    with pytest.raises(HostPaused):
        hosts.at(oracle.url).ask(request(), parse_explorer)
    assert oracle.paths == []


def test_once_the_budget_of_a_day_is_used_up_no_evaluation_is_requested(oracle: Oracle) -> None:
    rate_limiter = RateLimiter(TIMEOUTS)
    while rate_limiter.ask(Purpose.CLOUD) == 0.0:
        pass
    hosts = Hosts(Access(oracle.url, SecretStr(TOKEN), TIMEOUTS), rate_limiter)
    with pytest.raises(HostPaused, match="is not asked now: rate limit"):
        hosts.at(oracle.url).ask(request(), parse_explorer)
    assert oracle.paths == []


def test_a_pause_of_lichess_that_begins_meanwhile_ends_the_repetitions(oracle: Oracle) -> None:
    class LimitedMeanwhile(RateLimiter):
        def ask(self, purpose: Purpose) -> float:
            wait_s = super().ask(purpose)
            self.hold_back(timedelta(seconds=60))
            return wait_s

    hosts = Hosts(Access(oracle.url, SecretStr(TOKEN), TIMEOUTS), LimitedMeanwhile(TIMEOUTS))
    oracle.manner = Manner.LEAVING
    with pytest.raises(Unreachable):
        hosts.at(oracle.url).ask(request(retries=2), parse_explorer)
    assert len(oracle.paths) == 1


def test_a_refusal_keeps_the_connection(oracle: Oracle, hosts: Hosts) -> None:
    host = hosts.at(oracle.url)
    for _ in range(3):
        with pytest.raises(Refused):
            host.ask(Request("/unknown", {}, time.monotonic() + 20.0), parse_explorer)
        host.ask(request(), parse_explorer)
    assert len(oracle.paths) == 6
    assert oracle.connections == 1


def test_the_requests_to_one_server_are_limited(oracle: Oracle, hosts: Hosts) -> None:
    oracle.manner = Manner.HANGING
    host = hosts.at(oracle.url)
    failures: list[ApiError] = []

    def ask(seconds: float) -> None:
        try:
            host.ask(request(seconds), parse_explorer)
        except ApiError as error:
            failures.append(error)

    def asking(number: int, seconds: float) -> list[threading.Thread]:
        threads = [threading.Thread(target=ask, args=(seconds,)) for _ in range(number)]
        for thread in threads:
            thread.start()
        return threads

    served = asking(4, 120.0)
    until(lambda: len(oracle.paths) >= 4, lambda: oracle.paths)
    for thread in asking(3, 0.5):
        thread.join(60)
    assert [type(error) for error in failures] == [HostPaused] * 3
    assert len(oracle.paths) == 4
    oracle.over.set()
    for thread in served:
        thread.join(60)
    assert [isinstance(error, Unreachable) for error in failures[3:]] == [True] * 4


# The token


@pytest.mark.parametrize(
    ("address", "home", "may"),
    [
        ("https://explorer.lichess.org", "https://lichess.org", True),
        ("https://lichess.org", "https://lichess.org", True),
        ("https://explorer.lichess.ovh", "https://lichess.org", False),
        ("https://evillichess.org", "https://lichess.org", False),
        ("https://lichess.org.evil.com", "https://lichess.org", False),
        ("http://explorer.lichess.org", "https://lichess.org", False),
        ("http://127.0.0.1:9000", "http://127.0.0.1:8000", True),
        ("http://127.0.0.1:9000", "https://lichess.org", False),
    ],
)
def test_the_token_belongs_to_one_domain(address: str, home: str, may: bool) -> None:
    assert host_at(address, home).may_see_token is may


def test_the_token_is_sent_only_to_the_lichess_explorer(oracle: Oracle, hosts: Hosts) -> None:
    hosts.at(oracle.url).ask(request(with_token=True), parse_explorer)
    hosts.at(oracle.url).ask(request(), parse_explorer)
    elsewhere = Hosts(replace(hosts.access, url="https://lichess.org"), RateLimiter(TIMEOUTS))
    elsewhere.at(oracle.url).ask(request(with_token=True), parse_explorer)
    assert oracle.tokens == [f"Bearer {TOKEN}", None, None]


def test_a_redirect_is_not_followed_and_gets_no_token(oracle: Oracle, hosts: Hosts) -> None:
    thief = Oracle()
    oracle.manner, oracle.elsewhere = Manner.REDIRECTING, thief.url
    with pytest.raises(Unreachable, match=f"^the server redirects to {thief.url}, which is not followed$"):
        hosts.at(oracle.url).ask(request(with_token=True), parse_explorer)
    assert thief.paths == []
    thief.close()


def test_a_password_in_the_users_netrc_is_not_sent(
    oracle: Oracle, hosts: Hosts, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("HOME", str(home))
    hosts.at(oracle.url).ask(request(), parse_explorer)
    assert oracle.tokens == [None]


def test_no_compressed_answer_is_requested(oracle: Oracle, hosts: Hosts) -> None:
    host = hosts.at(oracle.url)
    assert host._session().headers["Accept-Encoding"] == "identity"
