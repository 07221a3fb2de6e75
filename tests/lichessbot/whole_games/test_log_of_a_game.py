"""The log of a whole game in each format, read as its readers read it."""

import json
import os
import pty
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, NamedTuple

import chess
import pytest

from lichessbot.log.phrases import PHRASES
from lichessbot.rehearsal.rules.enums import Color
from lichessbot.rehearsal.server.game_session import GameSession
from tests.fakes import forked
from tests.fakes.arena import PATIENCE_S, Arena, SlowOpponent, judge

GREETING = "greeting: {hello: 'Hi {opponent}'}\n"
FIELDS = r"\d{4}-\d\d-\d\d [\d:,]{12} (?P<level>[A-Z]+) (?P<rest>.*)"


class Told(NamedTuple):
    """What a log tells of a game: moves as (number, dots, name), and the number of evaluations and of clocks."""

    moves: list[tuple[int, str, str]]
    evaluations: int
    clocks: int


def start(arena: Arena, output: IO[bytes], environment: dict[str, str]) -> None:
    arena._process = forked.start(arena.words("run"), environment, output, output)


def run_at_a_terminal(arena: Arena) -> threading.Thread:
    """Run the daemon at a terminal; what it shows is copied into the log file by a thread that ends with it."""
    ours, theirs = pty.openpty()
    environment = {**arena.environment(), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    with os.fdopen(theirs, "wb") as terminal:
        start(arena, terminal, environment)

    def copy() -> None:
        with arena.log_path.open("ab", buffering=0) as log, suppress(OSError):
            while text := os.read(ours, 4096):
                log.write(text.replace(b"\r\n", b"\n"))
        os.close(ours)

    copier = threading.Thread(target=copy, daemon=True)
    copier.start()
    return copier


def run_under_systemd(arena: Arena) -> None:
    """Run the daemon with its standard error connected to a file that it takes for the journal."""
    with arena.log_path.open("ab") as log:
        status = os.fstat(log.fileno())
        environment = {**arena.environment(), "JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
        start(arena, log, environment)


def run_into_a_file(arena: Arena) -> None:
    with arena.log_path.open("ab") as log:
        start(arena, log, arena.environment())


def read_fields(lines: list[str], game_id: str) -> Told:
    found = [re.fullmatch(FIELDS, line) for line in lines]
    assert all(found), "every line has time, level and event"
    rests = [match["rest"] for match in found if match]
    # A promotion such as c8=Q is quoted, because of its sign.
    events = [dict(re.findall(r'(\w+)="?((?<=")[^"]*|\S+)', rest)) for rest in rests if rest.startswith("game.move ")]
    assert {event["game"] for event in events} == {game_id}
    assert f"chat game={game_id} room=player name=TestBot text=\"Hi Ferdinand\"" in rests
    assert any(re.fullmatch(rf"game\.over game={game_id} status=\w+ .*result=(won|lost|drawn) .*", it) for it in rests)
    dots = {"white": ".", "black": "..."}
    moves = [(int(event["number"]), dots[event["colour"]], event["san"]) for event in events]
    return Told(moves, sum("score" in it for it in events), sum("their_clock_s" in it for it in events))


def read_json(lines: list[str], game_id: str) -> Told:
    events = [json.loads(line) for line in lines]
    assert {tuple(event) for event in events} == {("time", "level", "event", "game", "text", "fields", "traceback")}
    assert {event["event"] for event in events} <= PHRASES.keys()
    ours = {event["event"]: event for event in events if event["game"] == game_id}
    assert ours["game.start"]["fields"]["rating"] == 1850
    assert ours["chat"]["fields"]["text"] == "Hi Ferdinand"
    assert ours["game.over"]["fields"]["result"] in ("won", "lost", "drawn")
    found = [event["fields"] for event in events if event["event"] == "game.move"]
    dots = {"white": ".", "black": "..."}
    moves = [(it["number"], dots[it["colour"]], it["san"]) for it in found]
    return Told(moves, sum("score" in it for it in found), sum("their_clock_s" in it for it in found))


def read_text(lines: list[str], game_id: str) -> Told:
    """Read lines for people: no event is shown by its bare name, and each line of the game begins with its id."""
    assert not [line for line in lines if line.split(" ")[0] in PHRASES and "." in line.split(" ")[0]]
    ours = [line.removeprefix(f"{game_id} ") for line in lines if line.startswith(game_id)]
    assert ours[0].startswith("started against GM Ferdinand (1850), casual blitz 3+0, standard, we play ")
    assert ours[0].endswith(f"/{game_id}")
    assert "chat, TestBot: Hi Ferdinand" in ours
    assert re.fullmatch(r"(won|lost|drawn) against Ferdinand: [\w ]+, \d+ moves?", ours[-1])
    found = [line for line in ours if re.match(r" *\d+\.", line)]
    names = [re.match(r" *(\d+)(\.+) +(\S+)", line) for line in found]
    moves = [(int(match[1]), match[2], match[3]) for match in names if match]
    evaluations = sum(bool(re.search(r"  [-+]\d+\.\d\d  |  #-?\d+  ", line)) for line in found)
    return Told(moves, evaluations, sum(bool(re.search(r"us +\d+:\d\d.*them +\d+:\d\d", line)) for line in found))


def read_terminal(lines: list[str], game_id: str) -> Told:
    plain = [re.sub(r"\x1b\[\d+m", "", line) for line in lines]
    assert all(re.match(r"\d\d:\d\d:\d\d ", line) for line in plain)
    assert any(re.search(rf"\x1b\[1m.*{game_id} (won|lost|drawn)", line) for line in lines), "the end stands out"
    return read_text([line[9:] for line in plain], game_id)


def read_journal(lines: list[str], game_id: str) -> Told:
    assert {line[:3] for line in lines} <= {"<6>", "<4>"}, "warnings can be filtered"
    assert "<6>every engine works; variants: " in "\n".join(lines)
    return read_text([line[3:] for line in lines], game_id)


def moves_of(session: GameSession) -> list[tuple[int, str, str]]:
    board, moves = chess.Board(), []
    for move in session.game.moves:
        played = board.parse_uci(move)
        moves.append((board.fullmove_number, "." if board.turn else "...", board.san(played)))
        board.push(played)
    return moves


@pytest.mark.parametrize(
    ("config", "run", "read"),
    [
        pytest.param("", run_into_a_file, read_fields, id="fields"),
        pytest.param("log_format: json\n", run_into_a_file, read_json, id="json"),
        pytest.param("", run_at_a_terminal, read_terminal, id="terminal"),
        pytest.param("", run_under_systemd, read_journal, id="journal"),
    ],
)
def test_the_log_tells_the_whole_game(
    arena: Arena, config: str, run: Callable[[Arena], threading.Thread | None], read: Callable[[list[str], str], Told]
) -> None:
    arena.configure(config + GREETING, depth=4)
    copier = run(arena)
    arena.until(lambda: "listening for challenges" in arena.log() or "events.open" in arena.log())
    game_id = arena.challenge(arena.player("Ferdinand", SlowOpponent, title="GM", rating=1850), base_s=180)
    arena.until_ended(1)
    (session,) = arena.ended
    judge(session)
    arena.until(lambda: re.search("game.over|(won|lost|drawn) against", arena.log()))
    assert arena.stop() == 0
    if copier is not None:
        copier.join(PATIENCE_S)
    told = read(arena.log().splitlines(), game_id)
    assert told.moves == moves_of(session)
    seat = session.game.setup.color_of(arena.bot) or Color.WHITE
    ours = [move for move in told.moves if (move[1] == ".") == (seat is Color.WHITE)]
    assert told.clocks >= len(told.moves) - 1, "the last move may be known only from the event stream"
    assert 0 < told.evaluations <= len(ours)
