"""Threads and time: every question is answered or not waited for, whatever a source does."""

import threading
import time
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue

import pytest

from lichessbot.config import EngineConfig
from lichessbot.inbox import Inbox
from lichessbot.move_sources.http import Hosts
from lichessbot.move_sources.models import Question, SourceAnswer, Suggestion
from lichessbot.move_sources.resolver import Kind, LimitedSource, MoveResolver
from tests.fakes.oracle import Manner, Oracle
from tests.lichessbot.move_sources.questions import question

GAME = "abcd1234"


class Hanging:
    """Never answers until let go, as a look-up of a name or a dead disk may."""

    name = "hanging"

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.asked = 0

    def find(self, question: Question, until: float) -> Suggestion | None:
        self.asked += 1
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
def resolver(hosts: Hosts, inbox: Inbox) -> Iterator[Opener]:
    """Make resolvers, and close them at the end."""
    opened: list[MoveResolver] = []

    def opener(config: EngineConfig, source: Hanging | None = None) -> MoveResolver:
        if source is None:
            made = MoveResolver.for_game(GAME, config, hosts, inbox.put)
        else:
            made = MoveResolver(GAME, [LimitedSource(Kind.BOOK, source)], 10, inbox.put)
        opened.append(made)
        return made

    yield opener
    for made in opened:
        made.close()


def explorer_at(oracle: Oracle) -> EngineConfig:
    explorer = {"enabled": True, "source": "lichess"}
    online = {"explorer_url": oracle.url, "max_retries": 0, "lichess_opening_explorer": explorer}
    return EngineConfig.model_validate({"own_book": False, "online_moves": online})


def next_answer(inbox: Inbox) -> SourceAnswer:
    report = inbox.get(timeout=5)
    assert isinstance(report, SourceAnswer)
    return report


def test_the_answer_comes_on_the_queue_with_whose_it_is(oracle: Oracle, resolver: Opener, inbox: Inbox) -> None:
    resolver(explorer_at(oracle)).ask(question("e2e4"))
    answer = next_answer(inbox)
    assert (answer.game_id, answer.search_id, answer.moves, answer.source) == (
        GAME, 1, ("a7a5",), "lichess_opening_explorer",
    )  # fmt: skip
    assert 0 < answer.took_s < 5


def test_the_book_the_bot_brings_answers_by_default(resolver: Opener, inbox: Inbox) -> None:
    resolver(EngineConfig()).ask(question())
    answer = next_answer(inbox)
    assert answer.source == "own_book"
    assert len(answer.moves) == 1


def test_no_thread_is_kept_for_questions_that_no_source_allows(inbox: Inbox, hanging: Hanging) -> None:
    made = MoveResolver(GAME, [LimitedSource(Kind.BOOK, hanging, max_depth=1)], 10, inbox.put)
    before = threading.active_count()
    made.ask(question("e2e4", "e7e5"))
    assert inbox.get_nowait() == SourceAnswer(GAME, 1), "it is there at once"
    assert (threading.active_count(), hanging.asked) == (before, 0)


@pytest.mark.parametrize("manner", [it for it in Manner if it is not Manner.HELPFUL])
def test_whatever_a_server_does_there_is_an_answer_in_time(
    oracle: Oracle, resolver: Opener, inbox: Inbox, manner: Manner
) -> None:
    oracle.manner, oracle.elsewhere = manner, oracle.url
    resolver(explorer_at(oracle)).ask(question("e2e4", patience_s=0.5))
    started = time.monotonic()
    assert next_answer(inbox).moves == ()
    assert time.monotonic() - started < 2.5


def test_a_source_that_hangs_does_not_keep_the_next_question_waiting(
    resolver: Opener, inbox: Inbox, hanging: Hanging
) -> None:
    made = resolver(EngineConfig(), hanging)
    for _ in range(5):
        made.ask(question())
    answers = [next_answer(inbox) for _ in range(2)]
    assert [answer.moves for answer in answers] == [(), ()]
    hanging.let_go.set()
    assert [next_answer(inbox).moves for _ in range(3)] == [("e2e4",)] * 3
    assert hanging.asked == 3


def test_after_the_end_of_the_game_nothing_is_said(resolver: Opener, inbox: Inbox, hanging: Hanging) -> None:
    made = resolver(EngineConfig(), hanging)
    made.ask(question())
    made.close()
    hanging.let_go.set()
    with pytest.raises(Empty):
        inbox.get(timeout=0.3)
    assert not any(worker.is_alive() for worker in made._workers)
