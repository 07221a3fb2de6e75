import gc
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from lichessbot.errors import UnreadableLine
from lichessbot.lichess import models as events
from lichessbot.lichess import parsing
from lichessbot.lichess.answers import Account
from lichessbot.lichess.enums import Colour, GameStatus

DATA = Path(__file__).parents[2] / "data" / "lichess"
# A folder of recorded or published payloads, named as ours are, to be tried in addition.
MORE_EXAMPLES = os.environ.get("LICHESS_EXAMPLES")


def read(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def account_event(line: object) -> events.StreamLine:
    return parsing.parse_account_event(json.dumps(line).encode())


def game_event(line: object) -> events.StreamLine:
    return parsing.parse_game_event(json.dumps(line).encode())


def check_payload(path: Path) -> None:
    """Parse a payload with the model that its file name gives, and check that the type is known."""
    text = path.read_bytes()
    if path.name.startswith("event-"):
        assert not isinstance(parsing.parse_account_event(text), events.UnknownEvent)
    elif path.name.startswith("game-"):
        assert not isinstance(parsing.parse_game_event(text), events.UnknownEvent)
    elif path.name.startswith(("error-", "issue-")):
        assert parsing.parse_error(text).text
    elif path.name.startswith(("account", "user-public", "bot-online")):
        assert parsing.validated(Account, json.loads(text)).id
    elif path.name.startswith("challenge-ai"):
        assert events.GameInfo.model_validate_json(text).game_id
    elif path.name.startswith(("challenge-create", "challenge-open", "challenge-outgoing")):
        assert events.Challenge.model_validate_json(text).id
    elif path.name == "token-test.json":
        for token, info in json.loads(text).items():
            assert (parsing.parse_token_test({token: info}, token) is None) == (info is None)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.name)
def test_every_shape_parses(path: Path) -> None:
    check_payload(path)


@pytest.mark.skipif(MORE_EXAMPLES is None, reason="LICHESS_EXAMPLES names no folder")
def test_every_payload_of_another_collection_parses() -> None:
    no_events = {"game-export.json", "game-chat-get.json"}
    paths = sorted(path for path in Path(MORE_EXAMPLES or "").glob("*.json") if path.name not in no_events)
    assert paths
    for path in paths:
        check_payload(path)


def test_a_challenge_is_read() -> None:
    event = account_event(read("event-challenge.json"))
    assert isinstance(event, events.ChallengeReceived)
    challenge = event.challenge
    assert (challenge.id, challenge.speed, challenge.rated) == ("Qm3xT7ab", "blitz", True)
    assert (challenge.time_control.limit, challenge.time_control.increment) == (180, 2)
    assert (challenge.challenger.id, challenge.challenger.is_bot) == ("ferdinand", False)
    assert challenge.destination.is_bot


def test_what_is_shown_of_a_challenge_is_inert() -> None:
    hostile = "\x1b[2J\u202e" + "x" * 10_000
    line = read("event-challenge.json")
    line["challenge"] |= {"status": hostile, "speed": hostile, "variant": {"key": hostile}}
    line["challenge"]["timeControl"] = {"type": hostile}
    line["challenge"]["challenger"] |= {"id": hostile, "name": hostile, "title": hostile}
    event = account_event(line)
    assert isinstance(event, events.ChallengeReceived)
    it = event.challenge
    for shown in (it.status, it.speed, it.variant.key, str(it.time_control), it.challenger.name, it.challenger.title):
        assert shown.isprintable()
        assert len(shown) < 400


def test_a_challenger_may_be_null() -> None:
    event = account_event(read("event-challenge-anonymous.json"))
    assert isinstance(event, events.ChallengeReceived)
    assert event.challenge.challenger == events.ANONYMOUS
    assert event.challenge.time_control.limit is None
    assert event.compat.bot


@pytest.mark.parametrize("changes", [{"variant": None}, {"timeControl": 3}, {"speed": None}, {"rated": "perhaps"}])
def test_of_a_malformed_challenge_its_id_and_its_challenger_remain(changes: dict[str, Any]) -> None:
    line = read("event-challenge.json")
    line["challenge"] |= changes
    event = account_event(line)
    assert isinstance(event, events.UnreadableChallenge)
    assert (event.challenge.id, event.challenge.challenger.id) == ("Qm3xT7ab", "ferdinand")
    assert event.problem.startswith(f"ChallengeReceived: challenge.{next(iter(changes))}: ")


def test_the_end_of_a_challenge_is_known_by_its_id() -> None:
    challenge = {"id": "Qm3xT7ab", "variant": "standard", "declineReasonKey": "later"}
    event = account_event({"type": "challengeDeclined", "challenge": challenge})
    assert isinstance(event, events.ChallengeDeclined)
    assert (event.challenge.id, event.challenge.decline_reason_key) == ("Qm3xT7ab", "later")
    canceled = parsing.parse_account_event(b'{"type":"challengeCanceled","challenge":{"id":"Qm3xT7ab"}}')
    assert isinstance(canceled, events.ChallengeCanceled)


@pytest.mark.parametrize("challenge", [None, "?", {}, {"id": "../account"}, {"id": []}])
def test_a_challenge_without_an_id_is_unreadable(challenge: object) -> None:
    with pytest.raises(UnreadableLine, match=r"^(ChallengeReceived|Challenge): "):
        account_event({"type": "challenge", "challenge": challenge})


def test_the_built_in_ai_has_no_id() -> None:
    event = account_event(read("event-gameStart-ai.json"))
    assert isinstance(event, events.GameStart)
    assert event.game.opponent.id is None
    full = game_event(read("game-gameFull-ai.json"))
    assert (full.white.id, str(full.white), full.clock) == (None, "AI-3", None)


def test_an_anonymous_player_has_neither_id_nor_name() -> None:
    assert str(events.Player()) == "anonymous"


def test_an_id_in_capitals_is_the_same_user() -> None:
    line = read("game-gameFull.json")
    full = game_event({**line, "white": {"id": "TestBot", "name": "TestBot"}})
    account = parsing.validated(Account, {"id": "TESTBOT", "username": "TestBot"})
    assert full.colour_of(account.id) is Colour.WHITE


def test_status_is_an_object_in_the_event_stream_and_a_name_in_the_game_stream() -> None:
    finish, state = account_event(read("event-gameFinish.json")), game_event(read("game-gameState-over.json"))
    assert isinstance(finish, events.GameFinish)
    assert (finish.game.status, finish.game.winner) == (GameStatus.OUT_OF_TIME, Colour.BLACK)
    assert (state.status, state.winner) == (GameStatus.MATE, Colour.WHITE)


def test_games_in_progress_have_no_id_but_a_game_id() -> None:
    (info,) = parsing.parse_playing(read("playing.json")["nowPlaying"])
    assert info.game_id == "Hk29dLmq"
    assert info.compat.bot


@pytest.mark.parametrize("unreadable", [None, 5, {}, {"gameId": None}])
def test_one_unreadable_game_hides_no_other_in_progress(unreadable: object) -> None:
    games = parsing.parse_playing([unreadable, {"gameId": "abcd1234"}, unreadable])
    assert [info.game_id for info in games] == ["abcd1234"]


@pytest.mark.parametrize("unreadable", [None, 5, {}, {"id": None}])
def test_one_unreadable_user_or_challenge_hides_no_other(unreadable: object) -> None:
    """One challenge by hand kept ours from being found and withdrawn, and one user kept the bot from any challenge."""
    users = parsing.parse_statuses([unreadable, {"id": "rival", "online": True}])
    sent = parsing.parse_outgoing({"out": [unreadable, read("challenge-outgoing.json")]})
    assert ([it.id for it in users], len(sent)) == (["rival"], 1)
    for parse, body in ((parsing.parse_statuses, [unreadable]), (parsing.parse_outgoing, {"out": [unreadable]})):
        with pytest.raises(UnreadableLine):
            parse(body)


def test_a_game_id_may_have_either_key() -> None:
    info = events.GameInfo.model_validate({"id": "abcd1234", "variant": {"key": "standard"}})
    assert info.game_id == "abcd1234"


def test_an_unknown_status_counts_as_over() -> None:
    line = {**read("game-gameState.json"), "status": "quantumCollapse"}
    assert game_event(line).status.is_over


@pytest.mark.parametrize("status", [20, True, [], {}, {"id": 20}, {"name": 20}])
def test_a_status_without_a_name_does_not_end_a_game(status: object) -> None:
    line = {**read("game-gameState.json"), "status": status}
    with pytest.raises(UnreadableLine):
        game_event(line)


def test_each_stream_may_have_the_other_shape_of_a_status() -> None:
    state = parsing.validated(events.GameState, {"moves": "", "status": {"id": 20, "name": "started"}})
    info = events.GameInfo.model_validate({"id": "abcd1234", "variant": {"key": "standard"}, "status": "mate"})
    assert (state.status, info.status) == (GameStatus.STARTED, GameStatus.MATE)


@pytest.mark.parametrize(
    ("status", "over"), [("created", False), ("started", False), ("aborted", True), ("draw", True)]
)
def test_a_game_is_over_unless_created_or_started(status: str, over: bool) -> None:
    assert GameStatus(status).is_over is over


@pytest.mark.parametrize("variant", [None, "standard", {}, {"key": None}, []])
def test_a_game_whose_variant_cannot_be_read_is_played_as_standard_chess(variant: object) -> None:
    full = game_event({**read("game-gameFull.json"), "variant": variant})
    start = account_event({"type": "gameStart", "game": {"id": "abcd1234", "variant": variant}})
    assert full.variant.key == start.game.variant.key == "standard"


def test_an_unknown_type_is_no_error() -> None:
    for line in (b'{"type":"confetti","colour":1}', b"{}", b'{"type":null}', b'{"type":7}', b"\xef\xbb\xbf{}\r"):
        assert isinstance(parsing.parse_account_event(line), events.UnknownEvent)
        assert isinstance(parsing.parse_game_event(line), events.UnknownEvent)


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Pause the garbage collector, as a finalizer of another test cannot run on an exhausted stack."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize(
    "line",
    [b"", b"<html>", b"[1]", b'"text"', b"null", b'{"type":', b"\xff\xfe", b"[" * 100_000, b'{"type":"gameState"}'],
)
def test_an_unreadable_line_raises_unreadable_line(line: bytes) -> None:
    with pytest.raises(UnreadableLine):
        parsing.parse_game_event(line)


@pytest.mark.parametrize("game_id", ["../../account", "a b", "", "x" * 50, "a?b"])
def test_an_id_that_could_change_an_address_is_unreadable(game_id: str) -> None:
    with pytest.raises(UnreadableLine):
        account_event({"type": "gameStart", "game": {"gameId": game_id, "variant": {"key": "standard"}}})


def nulls_in_turn(data: Any) -> list[Any]:
    """Yield every copy of a payload in which one value, at any depth, is null."""
    if not isinstance(data, dict):
        return []
    copies: list[Any] = [{**data, key: None} for key in data]
    for key, value in data.items():
        copies += [{**data, key: copy} for copy in nulls_in_turn(value)]
    return copies


@pytest.mark.parametrize("name", [path.name for path in sorted(DATA.glob("event-*.json"))])
def test_a_null_anywhere_parses_or_is_unreadable(name: str) -> None:
    for data in nulls_in_turn(read(name)):
        with suppress(UnreadableLine):
            account_event(data)


def test_null_flags_mean_absent() -> None:
    line = {**read("game-gameFull.json"), "clock": None, "initialFen": None}
    full = game_event(line)
    assert (full.clock, full.initial_fen) == (None, "startpos")


@pytest.mark.parametrize("initial", [None, 0.5, "180000", []])
def test_an_unreadable_part_hides_only_the_object_around_it(initial: object) -> None:
    line = {**read("game-gameFull.json"), "clock": {"initial": initial, "increment": None}}
    full = game_event(line)
    assert full.clock is None
    assert full.state.moves


def numbers_in(model: Any) -> Iterator[float]:
    """Yield every number of a model, at any depth."""
    for _, value in model if isinstance(model, BaseModel) else enumerate(model):
        if isinstance(value, BaseModel | tuple):
            yield from numbers_in(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield value


@pytest.mark.parametrize("number", ["9" * 400, "-" + "9" * 400, "9" * 6000, "-" + "9" * 6000])
@pytest.mark.parametrize("path", sorted(DATA.glob("*-game*.json")), ids=lambda path: path.name)
def test_huge_numbers_hide_no_game_and_overflow_nothing(path: Path, number: str) -> None:
    text = path.read_text(encoding="utf-8")
    parse = parsing.parse_account_event if path.name.startswith("event-") else parsing.parse_game_event
    for found in re.finditer(r"(?<=: )-?\d+", text):
        event = parse((text[: found.start()] + number + text[found.end() :]).encode())
        assert type(event) is type(parse(text.encode()))
        for value in numbers_in(event):
            assert math.isfinite(float(value))
            assert timedelta(seconds=value / 1000) < timedelta(days=10**6)


def test_an_absurd_clock_is_limited() -> None:
    line = {**read("game-gameState.json"), "wtime": 10**400, "btime": -(10**400)}
    state = game_event(line)
    assert (state.wtime, state.btime) == (2**31 - 1, 1 - 2**31)


@pytest.mark.parametrize(
    ("sent", "known"),
    [(120_000.7, 120_001), ("120000", 120_000), ("PT120S", 0), (None, 0), ([], 0), ({}, 0), (math.nan, 0)],
)
def test_a_clock_that_cannot_be_read_hides_no_move(sent: object, known: int) -> None:
    full = read("game-gameFull.json")
    line = {**full, "state": {**full["state"], "wtime": sent}}
    event = game_event(line)
    assert (event.state.moves, event.state.wtime) == (full["state"]["moves"], known)
    assert event.state.btime == full["state"]["btime"]
    assert ("wtime" in event.state.model_fields_set) is (known > 0)


def test_a_time_with_a_fraction_is_rounded() -> None:
    gone = parsing.parse_game_event(b'{"type":"opponentGone","gone":true,"claimWinInSeconds":8.6}')
    assert gone == events.OpponentGone(gone=True, claimWinInSeconds=9)
    line = {**read("game-gameFull.json"), "createdAt": 1_600_000_000_000.4}
    assert game_event(line).created_at_ms == 1_600_000_000_000
    info = parsing.parse_token_test({"lip_good": {"userId": "testbot", "expires": 1_600_000_000_000.4}}, "lip_good")
    assert info.expires == 1_600_000_000_000


def test_the_field_that_is_wrong_is_named_and_not_the_object_around_it() -> None:
    full = read("game-gameFull.json")
    line = {**full, "state": {**full["state"], "moves": []}}
    with pytest.raises(UnreadableLine, match=r"^GameFull: state\.moves: Input should be a valid string$"):
        game_event(line)
    with pytest.raises(UnreadableLine, match=r"^GameStart: game\.gameId: Field required$"):
        parsing.parse_account_event(b'{"type":"gameStart","game":{"variant":{"key":"atomic"}}}')


def test_an_absurd_pause_leaves_the_rest_of_the_error_readable() -> None:
    limit = {"key": "bot.vsBot.day", "seconds": 10**400}
    body = parsing.parse_error(json.dumps({"error": "played enough", "ratelimit": limit}).encode())
    assert (body.text, body.quota, body.pause) == ("played enough", "bot.vsBot.day", None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(deadline=None)  # a busy machine is no failure
@given(JSON)
def test_any_json_parses_or_raises_unreadable_line(data: Any) -> None:
    for kind in ("challenge", "gameStart", "gameFull", "gameState"):
        line = {**data, "type": kind} if isinstance(data, dict) else data
        for parse in (parsing.parse_account_event, parsing.parse_game_event):
            with suppress(UnreadableLine):
                parse(json.dumps(line).encode())


def test_the_chat_of_a_game_is_read_as_far_as_it_can_be() -> None:
    body = [{"text": "Hi\x1b", "user": "Ada"}, "?", {"text": 5, "user": None}, {}]
    as_lines = "\n\n".join(json.dumps(line) for line in body if "text" in line).encode() + b"\n"
    for form in (json.dumps(body).encode(), json.dumps(body, indent=1).encode(), as_lines):
        lines = [(line.room, line.username, line.text) for line in parsing.parse_chat(form)]
        assert lines[0][:2] == ("player", "Ada")
        assert "\x1b" not in lines[0][2]
        assert lines[1:] == [("player", "", "5")]
    assert parsing.parse_chat(b"[]") == parsing.parse_chat(b"") == ()
    for text in (b"<html>", b'{"error":"No such game"}', b"5"):
        with pytest.raises(UnreadableLine, match=r"not JSON|not lines of a chat"):
            parsing.parse_chat(text)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parsing.parse_chat, b'[{"text":"my secret","user":"Ada"}, {"te'),
        (parsing.parse_game_event, b'{"room":"player","text":"my\nsecret","type":"chatLine"'),
    ],
)
def test_what_was_said_is_not_in_the_error_of_a_cut_text(parse: Callable[[bytes], object], text: bytes) -> None:
    with pytest.raises(UnreadableLine) as refusal:
        parse(text)
    assert "text" in str(refusal.value)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("perf", [None, "?", 1600, [], {"games": None, "rating": "?"}])
def test_a_rating_that_cannot_be_read_hides_no_account(perf: object) -> None:
    perfs = {"blitz": {"games": 5, "rating": 1600.4}, "puzzle": perf}
    account = parsing.validated(Account, {"id": "testbot", "username": "TestBot", "title": "BOT", "perfs": perfs})
    assert (account.rating("blitz"), account.rating("puzzle"), account.is_bot) == (1600, None, True)


def test_the_scopes_of_a_token_are_separated_by_commas() -> None:
    info = parsing.parse_token_test(read("token-test.json"), "lip_good")
    assert info.scope_names == {"bot:play", "challenge:read", "challenge:write"}
    assert parsing.parse_token_test(read("token-test.json"), "lip_bad") is None
