"""The threads that ask sources: a source may hang, and its game may end meanwhile."""

import threading
import time
from collections.abc import Callable, Iterator
from queue import SimpleQueue

import pytest

from lichessbot.config import EngineConfig
from lichessbot.inbox import Inbox
from lichessbot.move_sources.http import Hosts
from lichessbot.move_sources.models import Question, SourceAnswer, Suggestion
from lichessbot.move_sources.resolver import Kind, LimitedSource, MoveResolver
from tests.fakes.oracle import Manner, Oracle
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess
from tests.lichessbot.move_sources.questions import question
from tests.lichessbot.move_sources.test_resolver import OPENING, Sayer, limited

GAME = "abcd1234"


class Hanging:
    """A source that hangs until let go."""

    name = "hanging"

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.asked = 0
        self.is_asked = threading.Semaphore(0)

    def find(self, question: Question, until: float) -> Suggestion | None:
        self.asked += 1
        self.is_asked.release()
        self.let_go.wait()
        return Suggestion(("e2e4",))


@pytest.fixture
def inbox() -> Inbox:
    return SimpleQueue()


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    source = Hanging()
    yield source
    source.let_go.set()


Opener = Callable[..., MoveResolver]


@pytest.fixture
def make(hosts: Hosts, inbox: Inbox) -> Iterator[Opener]:
    """Make resolvers, and close them at the end."""
    opened: list[MoveResolver] = []

    def opener(config: EngineConfig, source: Hanging | None = None) -> MoveResolver:
        if source is None:
            resolver = MoveResolver.for_game(GAME, config, hosts, inbox.put)
        else:
            resolver = MoveResolver(GAME, [LimitedSource(Kind.BOOK, source)], 10, inbox.put)
        opened.append(resolver)
        return resolver

    yield opener
    for resolver in opened:
        resolver.close()


def explorer_at(server: Oracle | ScriptedLichess, source: str = "lichess") -> EngineConfig:
    explorer = {"enabled": True, "source": source}
    online = {"explorer_url": server.url, "max_retries": 0, "lichess_opening_explorer": explorer}
    return EngineConfig.model_validate({"own_book": False, "online_moves": online})


def next_answer(inbox: Inbox) -> SourceAnswer:
    report = inbox.get(timeout=30)
    assert isinstance(report, SourceAnswer)
    return report


def test_the_answer_names_game_question_and_source(oracle: Oracle, make: Opener, inbox: Inbox) -> None:
    make(explorer_at(oracle)).ask(question("e2e4"))
    answer = next_answer(inbox)
    assert (answer.game_id, answer.search_id, answer.moves, answer.source) == (
        GAME, 1, ("a7a5",), "lichess_opening_explorer",
    )  # fmt: skip
    assert 0 < answer.took_s < 30


def test_the_own_book_answers_by_default(make: Opener, inbox: Inbox) -> None:
    make(EngineConfig()).ask(question())
    answer = next_answer(inbox)
    assert answer.source == "own_book"
    assert len(answer.moves) == 1


def test_a_question_that_no_source_allows_starts_no_thread(inbox: Inbox, hanging: Hanging) -> None:
    resolver = MoveResolver(GAME, [LimitedSource(Kind.BOOK, hanging, max_depth=1)], 10, inbox.put)
    before = set(threading.enumerate())
    assert resolver.ask(question("e2e4", "e7e5")) == SourceAnswer(GAME, 1)
    assert inbox.empty()
    assert set(threading.enumerate()) <= before
    assert hanging.asked == 0


@pytest.mark.parametrize("manner", [it for it in Manner if it is not Manner.HELPFUL])
def test_every_question_is_answered_in_time(
    oracle: Oracle, make: Opener, inbox: Inbox, manner: Manner
) -> None:
    oracle.manner, oracle.elsewhere = manner, oracle.url
    make(explorer_at(oracle)).ask(question("e2e4", patience_s=0.5))
    started = time.monotonic()
    assert next_answer(inbox).moves == ()
    assert time.monotonic() - started < 30.0, "some of these servers never end their answer"


@pytest.mark.parametrize("pauses", [[], [0.05, b"\n"] * 4000], ids=["then silent", "line by line"])
def test_what_arrived_of_a_growing_answer_is_given_while_it_can_be_used(
    lichess: ScriptedLichess, make: Opener, inbox: Inbox, pauses: list[bytes | float]
) -> None:
    lines = [b'{"moves":[{"uci":"e7e5","black":20}]}\n', *pauses]
    lichess.answer("/player", Reply(lines=lines, end=End.STALL))

    def is_given(patience_s: float) -> bool:
        make(explorer_at(lichess, "player")).ask(question("e2e4", patience_s=patience_s))
        answer = next_answer(inbox)
        return answer.moves == ("e7e5",) and answer.took_s < patience_s

    assert is_given(1.0) or is_given(9.0) or is_given(25.0), "only a busy machine needs more than a second"


def test_a_hanging_source_does_not_delay_the_next_question(
    make: Opener, inbox: Inbox, hanging: Hanging
) -> None:
    resolver = make(EngineConfig(), hanging)
    answers = [resolver.ask(question()) for _ in range(5)]
    assert answers == [None] * 3 + [SourceAnswer(GAME, 1)] * 2
    hanging.let_go.set()
    assert [next_answer(inbox).moves for _ in range(3)] == [("e2e4",)] * 3
    assert hanging.asked == 3


def test_games_that_follow_each_other_on_a_disk_that_hangs_do_not_pile_up_threads(
    make: Opener, inbox: Inbox, hanging: Hanging
) -> None:
    with_own_thread = make(EngineConfig())
    assert with_own_thread.ask(question()) is None
    assert next_answer(inbox).source == "own_book"
    started = 0
    for _ in range(10):
        resolver = make(EngineConfig(), hanging)
        while resolver.ask(question()) is None:
            started += hanging.is_asked.acquire(timeout=60.0)
        resolver.close()
    assert 9 <= started <= 14
    assert with_own_thread.ask(question()) is None
    assert next_answer(inbox).source == "own_book"
    hanging.let_go.set()
    for worker in MoveResolver._left_behind:
        worker.join(30.0)
    resolver = make(EngineConfig(), hanging)
    assert resolver.ask(question()) is None
    assert next_answer(inbox).moves == ("e2e4",)


def test_a_closed_resolver_answers_nothing(make: Opener, inbox: Inbox, hanging: Hanging) -> None:
    resolver = make(EngineConfig(), hanging)
    resolver.ask(question())
    assert hanging.is_asked.acquire(timeout=60.0)
    (worker,) = resolver._workers
    resolver.close()
    hanging.let_go.set()
    worker.join(60.0)
    assert not worker.is_alive()
    assert inbox.empty()


def test_a_source_without_moves_left_starts_no_thread(inbox: Inbox) -> None:
    sources = MoveResolver(GAME, [limited(Sayer("a", Suggestion(OPENING)), max_moves=0)], 10, inbox.put)
    before = set(threading.enumerate())
    assert sources.ask(question()) == SourceAnswer(GAME, 1)
    assert inbox.empty()
    assert set(threading.enumerate()) <= before


def test_a_question_whose_thread_cannot_be_started_is_for_the_engine(inbox: Inbox, no_thread_once: None) -> None:
    sources = MoveResolver(GAME, [limited(Sayer("a", Suggestion(("e2e4",))))], 10, inbox.put)
    assert sources.ask(question()) == SourceAnswer(GAME, 1)
    assert sources.ask(question()) is None
    assert inbox.get(timeout=30.0) == SourceAnswer(GAME, 1, ("e2e4",), "a")
    sources.close()
