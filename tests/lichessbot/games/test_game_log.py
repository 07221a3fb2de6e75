"""What the log tells people of a game: its start, moves, chat, offers and end."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from engine.facade import Board
from lichessbot.control.status import PlayedMove
from lichessbot.errors import Refused
from lichessbot.games.actions import Fallback, GameOver
from lichessbot.games.game_log import GameLog, log_rating
from lichessbot.games.move_search import ChosenMove
from lichessbot.inbox import Report
from lichessbot.lichess.commands import Abort, AnswerTakeback, ClaimDraw, CommandFailed, Resign, SendMove
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import ChatLine, GameFull, GameInfo, GameState, OpponentGone, UnknownEvent
from lichessbot.lichess.streams import StreamEvent, StreamLost
from lichessbot.log.formats import JournalFormatter
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.uci.search import FALLBACK, BestMove, SearchInfo
from tests.lichessbot.games.bench import GAME, THEM, US, state

URL = "http://lichess.test"
CLOCK = {"initial": 180_000, "increment": 2000}
HIDDEN = ("the stream shows",)


class Listener:
    """The log of one game, and what it has told people since the last look."""

    def __init__(self, caplog: pytest.LogCaptureFixture, **changes: Any) -> None:
        """`changes`: fields of the game's first line."""
        self._caplog = caplog
        info = {"gameId": GAME, "variant": {"key": "standard"}, "opponent": {"username": "Ferdinand"}}
        self.log = GameLog(US, URL, GameInfo.model_validate(info))
        self._full = {
            "id": GAME,
            "variant": {"key": "standard"},
            "speed": "blitz",
            "rated": True,
            "white": {"id": US, "name": "TestBot", "title": "BOT"},
            "black": {"id": THEM, "name": "Ferdinand", "title": "GM", "rating": 2203},
            "clock": CLOCK,
            **changes,
        }

    def hear(self, report: Report) -> list[str]:
        self.log.note(report, awaited=False)
        self.log.catch_up()
        return self.told()

    def full(self, moves: str = "", flags: str = "", **changes: Any) -> list[str]:
        full = GameFull.model_validate({**self._full, "state": state(moves, flags, **changes)})
        return self.hear(StreamEvent(GAME, full, 0.0))

    def state(self, moves: str, flags: str = "", **changes: Any) -> list[str]:
        return self.hear(StreamEvent(GAME, GameState.model_validate(state(moves, flags, **changes)), 0.0))

    def chat(self, room: str, name: str, text: str) -> list[str]:
        return self.hear(StreamEvent(GAME, ChatLine(room=room, username=name, text=text), 0.0))

    def play(
        self,
        ply: int,
        move: str,
        answer: BestMove | SourceAnswer | None = None,
        narrowed_by: str = "",
        *,
        draw: bool = False,
    ) -> list[str]:
        chosen = ChosenMove(Board(), move, answer, narrowed_by)
        self.log.note_sent(SendMove(GAME, ply, move, offering_draw=draw), chosen)
        return self.told()

    def think(self, ply: int, move: str, summary: SearchInfo | None = None) -> None:
        """Send a move that the engine found."""
        summary = summary or SearchInfo(depth=12, score="cp 31", nps=1_204_000)
        self.play(ply, move, BestMove(GAME, 1, move, summary))

    def end(self, status: GameStatus, winner: Colour | None = None, plies: int = 0, *missing: str) -> list[str]:
        self.log.log_end(GameOver(status, winner, plies, missing=missing))
        return self.told()

    def told(self) -> list[str]:
        """Return the lines for people, without the priority and the game's id."""
        lines = [JournalFormatter([]).format(record) for record in self._caplog.records]
        self._caplog.clear()
        assert all(line[3:].startswith(f"{GAME} ") for line in lines)
        return [line[12:] for line in lines if not line[12:].startswith(HIDDEN)]


@pytest.fixture(autouse=True)
def _at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "lichessbot")


@pytest.fixture
def game(caplog: pytest.LogCaptureFixture) -> Listener:
    return Listener(caplog)


def test_a_game_begins_with_all_that_people_ask_for(caplog: pytest.LogCaptureFixture) -> None:
    assert Listener(caplog).full() == [
        f"started against GM Ferdinand (2203), rated blitz 3+2, standard, we play white: {URL}/{GAME}"
    ]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"clock": None, "daysPerTurn": 2, "speed": "correspondence"}, "rated correspondence 2 days per move, "),
        ({"clock": None, "speed": "correspondence", "rated": False}, "casual correspondence without a clock, "),
        ({"variant": {"key": "chess960"}, "tournamentId": "abcd"}, "chess960, we play white, tournament abcd:"),
        ({"black": {"id": US}, "white": {"aiLevel": 3}}, "against AI-3, rated blitz 3+2, standard, we play black"),
        ({"black": {}}, "started against anonymous, rated"),
    ],
)
def test_games_differ(caplog: pytest.LogCaptureFixture, changes: dict[str, Any], told: str) -> None:
    (line,) = Listener(caplog, **changes).full()
    assert told in line


def test_each_move_has_number_name_clocks_and_for_ours_evaluation_speed_and_source(game: Listener) -> None:
    game.full(time_ms=180_000)
    game.play(1, "g1f3", SourceAnswer(GAME, 1, ("g1f3",), "own_book"))
    assert game.state("g1f3", time_ms=180_000) == ["  1.   Nf3      us   3:00  them   3:00  own book"]
    assert game.state("g1f3 d7d5", time_ms=9380) == ["  1... d5       us 0:09.3  them 0:09.3"]
    game.think(3, "f3e5")
    assert game.state("g1f3 d7d5 f3e5") == [
        "  2.   Ne5      us   1:00  them   1:00   +0.31  depth 12  1.2M n/s  engine"
    ]


def test_our_move_and_the_answer_to_it_may_come_in_one_line(game: Listener) -> None:
    game.full()
    game.think(1, "e2e4", SearchInfo(depth=3, score="mate 3"))
    assert game.state("e2e4 e7e5") == [
        "  1.   e4           #3  depth  3  engine",
        "  1... e5       us   1:00  them   1:00",
    ]


def test_a_line_that_comes_again_or_late_tells_no_move_twice(game: Listener) -> None:
    game.full()
    assert len(game.state("e2e4 e7e5")) == 2
    assert game.state("e2e4 e7e5") == []
    assert game.state("e2e4") == []
    assert len(game.state("e2e4 e7e5 g1f3")) == 1


def test_moves_that_were_taken_back_are_followed_by_those_played_instead(game: Listener) -> None:
    game.full()
    game.state("e2e4 e7e5 g1f3")
    game.log.note_action(AnswerTakeback(GAME, granted=True))
    assert game.state("e2e4") == ["granting the takeback"]
    assert game.full("e2e4") == []
    assert game.state("e2e4 c7c5") == ["  1... c5       us   1:00  them   1:00"]


def test_a_move_without_a_choice_says_so(game: Listener) -> None:
    game.full()
    game.think(1, "f2f3")
    game.play(3, "e1f2")
    told = game.state("f2f3 e7e5 e1f2")
    assert told[0].endswith("engine")
    assert told[2] == "  2.   Kf2      us   1:00  them   1:00  only move"


def test_a_move_that_is_sent_again_keeps_its_source(game: Listener) -> None:
    game.full()
    game.think(1, "e2e4")
    game.think(1, "e2e4")
    assert game.state("e2e4")[0].endswith("engine")


def test_the_engine_may_choose_among_the_moves_of_a_source_and_the_daemon_may_move_itself(game: Listener) -> None:
    game.full()
    game.play(1, "d2d4", BestMove(GAME, 1, "d2d4"), "syzygy")
    assert game.state("d2d4")[0].endswith("syzygy, engine")
    game.state("d2d4 d7d5")
    game.log.note_action(Fallback(7, Board(), 0.5))
    assert game.told() == ["warning: choosing a move without the engine, within 500 ms"]
    game.play(3, "c2c4", BestMove(GAME, 7, "c2c4", source=FALLBACK))
    assert game.state("d2d4 d7d5 c2c4")[0].endswith("them   1:00  fallback")


def test_a_game_from_before_the_start_of_the_daemon_is_continued(game: Listener) -> None:
    (line,) = game.full("e2e4 e7e5 g1f3")
    assert line.startswith("continued after 2 moves against GM Ferdinand (2203), rated")
    assert game.state("e2e4 e7e5 g1f3 b8c6") == ["  2... Nc6      us   1:00  them   1:00"]


def test_an_opponents_move_before_the_stream_opens_starts_the_game(
    caplog: pytest.LogCaptureFixture,
) -> None:
    first, second = Listener(caplog).full("e2e4")
    assert first.startswith("started against")
    assert second.startswith("  1.   e4")


def test_a_lost_stream_is_told_and_that_it_is_back(game: Listener) -> None:
    game.full()
    assert game.hear(StreamLost(GAME, "the connection was reset", timedelta(seconds=2))) == [
        "warning: lost the game's stream (the connection was reset); retrying in 2 s"
    ]
    assert game.full("e2e4 e7e5") == [
        "the game's stream is open again after 1 move",
        "  1.   e4",
        "  1... e5       us   1:00  them   1:00",
    ]
    assert game.full("e2e4 e7e5") == [], "a visit of a correspondence game is no news"


@pytest.mark.parametrize("variant", ["fromPosition", "chess960"])
def test_numbers_and_castling_follow_the_position_that_the_game_began_with(
    caplog: pytest.LogCaptureFixture, variant: str
) -> None:
    fen = "4k2r/8/8/8/8/8/8/R3K3 b Qk - 3 30"
    game = Listener(caplog, variant={"key": variant}, initialFen=fen, clock=None)
    game.full()
    assert game.state("e8h8 e1a1") == [" 30... O-O", " 31.   O-O-O"]


def test_chat_names_the_room_and_the_author_and_leaves_out_what_lichess_says(game: Listener) -> None:
    assert game.chat("player", "Ferdinand", "hello") == ["chat, Ferdinand: hello"]
    assert game.chat("spectator", "Eve", "warning:\x1b[2J") == [r"spectators' chat, Eve: warning:\x1b[2J"]
    assert game.chat("player", "lichess", "White offers draw") == []


def test_a_draw_accepted_with_the_only_move_is_told_as_accepted(game: Listener) -> None:
    game.full("e2e4 e7e5 d1h5")
    game.told()
    offer = GameState.model_validate(state("e2e4 e7e5 d1h5 b8c6", "bdraw"))
    game.log.note(StreamEvent(GAME, offer, 0.0), awaited=False)
    told = game.play(5, "h5f7", draw=True)
    assert told[1:] == ["the opponent offers a draw", "we accept the draw"]
    game.log.catch_up()
    assert game.told() == []


def test_draw_offers_of_both_sides_are_told_once(game: Listener) -> None:
    game.full()
    assert game.play(1, "e2e4", draw=True) == ["we offer a draw"]
    assert game.play(1, "e2e4", draw=True) == [], "sent again"
    assert game.state("e2e4 e7e5", "bdraw")[2:] == ["the opponent offers a draw"]
    assert len(game.state("e2e4 e7e5 g1f3", "bdraw")) == 1, "Lichess shows an offer for one move longer"
    assert len(game.state("e2e4 e7e5 g1f3 b8c6")) == 1
    assert game.state("e2e4 e7e5 g1f3 b8c6", "bdraw") == ["the opponent offers a draw"]
    assert game.play(5, "f1c4", draw=True) == ["we accept the draw"]


def test_an_opponent_who_leaves_and_what_follows(game: Listener, caplog: pytest.LogCaptureFixture) -> None:
    assert game.hear(StreamEvent(GAME, OpponentGone(gone=True), 0.0)) == ["the opponent has left"]
    assert game.hear(StreamEvent(GAME, OpponentGone(gone=True), 5.0)) == [], "the countdown goes on"
    assert game.hear(StreamEvent(GAME, OpponentGone(gone=False), 0.0)) == ["the opponent is back"]
    with caplog.at_level(logging.DEBUG, "lichessbot"):
        assert game.hear(StreamEvent(GAME, UnknownEvent(type="ad"), 0.0)) == ["ignored an event of type ad"]
    for action in (ClaimDraw(GAME), Abort(GAME, "no move"), Resign(GAME, "lost"), AnswerTakeback(GAME, granted=False)):
        game.log.note_action(action)
    assert game.told() == [
        "claiming the draw, as the opponent has left",
        "aborting the game: no move",
        "resigning: lost",
        "denying the takeback",
    ]


def test_what_fails_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    told = Listener(caplog).hear(CommandFailed(SendMove(GAME, 1, "e2e4"), Refused(400, "Not your turn")))
    assert told[0].startswith("warning: send move failed: ")
    assert "Not your turn" in told[0]


@pytest.mark.parametrize(
    ("status", "winner", "told"),
    [
        (GameStatus.MATE, Colour.WHITE, "won against Ferdinand: checkmate, 2 moves"),
        (GameStatus.RESIGN, Colour.BLACK, "lost against Ferdinand: resignation, 2 moves"),
        (GameStatus.OUT_OF_TIME, Colour.BLACK, "lost against Ferdinand: out of time, 2 moves"),
        (GameStatus.OUT_OF_TIME, None, "drawn against Ferdinand: out of time, 2 moves"),
        (GameStatus.STALEMATE, None, "drawn against Ferdinand: stalemate, 2 moves"),
        (GameStatus.DRAW, None, "drawn against Ferdinand: agreement, 2 moves"),
        (GameStatus.ABORTED, None, "aborted against Ferdinand: before both had moved, 2 moves"),
        (GameStatus.UNKNOWN_FINISH, None, "ended against Ferdinand: for an unknown reason, 2 moves"),
    ],
)
def test_a_game_ends_in_words(game: Listener, status: GameStatus, winner: Colour | None, told: str) -> None:
    game.full("e2e4 e7e5 d1h5")
    assert game.end(status, winner, plies=3) == [told]


@pytest.mark.parametrize(
    ("variant", "fen", "moves", "how"),
    [
        ("fromPosition", "8/8/8/4k3/8/8/4q3/4K3 w - - 0 1", "e1e2", "insufficient material"),
        ("fromPosition", "4k3/8/8/8/8/8/8/R3K3 w - - 99 80", "a1a2", "fifty-move rule"),
        (
            "fromPosition",
            "4k3/8/8/8/8/8/8/R3K3 w - - 0 1",
            "a1a2 e8e7 a2a1 e7e8 a1a2 e8e7 a2a1 e7e8",
            "threefold repetition",
        ),
        ("racingKings", "8/1K5k/8/8/8/8/8/8 w - - 0 1", "b7b8 h7h8", "both kings on the eighth rank"),
        ("racingKings", "8/8/8/1K5k/8/8/8/8 w - - 0 1", "b5b6 h5h6", "agreement"),
    ],
)
def test_the_board_tells_which_rule_made_a_draw(
    caplog: pytest.LogCaptureFixture, variant: str, fen: str, moves: str, how: str
) -> None:
    game = Listener(caplog, variant={"key": variant}, initialFen=fen)
    game.full()
    game.state(moves, status="draw")
    assert f": {how}, " in game.end(GameStatus.DRAW)[0]


@pytest.mark.parametrize(("seen", "missing"), [("f2f3 e7e5 g2g4", ["d8h4"]), ("f2f3 e7e5", ["g2g4", "d8h4"])])
def test_moves_are_told_even_if_the_end_comes_first(game: Listener, seen: str, missing: list[str]) -> None:
    game.full(seen)
    game.play(3, "g2g4")
    assert game.end(GameStatus.MATE, Colour.BLACK, 4, *missing)[-2:] == [
        "  2... Qh4#",
        "lost against Ferdinand: checkmate, 2 moves",
    ]


def test_a_move_refused_after_a_third_repetition_is_no_trouble(game: Listener) -> None:
    twice = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1"
    game.full(twice)
    refused = CommandFailed(SendMove(GAME, 8, "f6g8"), Refused(400, "Not your turn, or game already over"))
    assert [line for line in game.hear(refused) if "Not your turn" in line] != []
    game.state(f"{twice} f6g8")
    assert game.hear(refused) == []


def test_a_game_that_was_over_before_we_came_has_only_an_end(game: Listener) -> None:
    assert game.full("e2e4 e7e5", status="resign", winner="white") == []
    assert game.end(GameStatus.RESIGN, Colour.WHITE, 2) == ["won against Ferdinand: resignation, 1 move"]


def test_a_game_whose_stream_never_opened_has_an_end_as_well(caplog: pytest.LogCaptureFixture) -> None:
    assert Listener(caplog).end(GameStatus.UNKNOWN_FINISH) == [
        "ended against Ferdinand: for an unknown reason, 0 moves"
    ]


def test_moves_that_our_rules_refuse_are_left_to_the_game(game: Listener, caplog: pytest.LogCaptureFixture) -> None:
    game.full()
    assert game.state("e2e5") == []
    assert game.full("e2e4") == ["  1.   e4       us   1:00  them   1:00"]
    assert Listener(caplog, initialFen="nonsense").full()[0].startswith("started")


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"ratingDiff": 6, "rating": 1500}, ["our rating changed by +6 to 1506"]),
        ({"ratingDiff": -7}, ["our rating changed by -7"]),
        ({"ratingDiff": 0, "rating": 1500}, ["our rating changed by +0 to 1500"]),
        ({"rating": 1500}, []),
    ],
)
def test_the_rating_change_is_told_if_lichess_tells_it(
    caplog: pytest.LogCaptureFixture, facts: dict[str, int], told: list[str]
) -> None:
    log_rating(GameInfo.model_validate({"gameId": GAME, "variant": {"key": "standard"}, **facts}))
    assert Listener(caplog).told() == told


# What is kept for the operator


def test_what_was_played_has_clocks_and_for_ours_source_and_evaluation_from_whites_view(
    caplog: pytest.LogCaptureFixture,
) -> None:
    game = Listener(caplog, white={"id": THEM, "name": "Ferdinand"}, black={"id": US, "name": "TestBot"})
    game.full()
    game.state("e2e4", time_ms=9380)
    game.play(2, "c7c5", SourceAnswer(GAME, 1, ("c7c5",), "own_book", took_s=0.25))
    game.state("e2e4 c7c5", time_ms=9000)
    game.state("e2e4 c7c5 g1f3", time_ms=0)
    game.think(4, "d7d6", SearchInfo(depth=14, score="mate 3"))
    game.state("e2e4 c7c5 g1f3 d7d6", time_ms=8000)
    assert game.log.played == (
        PlayedMove(1, "e4", 9.38),
        PlayedMove(2, "c5", 9.0, "own_book", search_s=0.25),
        PlayedMove(3, "Nf3"),
        PlayedMove(4, "d6", 8.0, "engine", None, -3, 14, 0.0),
    )


def test_what_was_played_follows_takebacks_and_begins_with_the_moves_before_we_came(game: Listener) -> None:
    game.full("e2e4 e7e5")
    game.think(3, "g1f3")
    game.state("e2e4 e7e5 g1f3")
    game.state("e2e4 e7e5 g1f3 b8c6")
    game.full("e2e4 e7e5 g1f3")
    assert [it.san for it in game.log.played] == ["e4", "e5", "Nf3"]
    assert [it.source for it in game.log.played] == [None, None, "engine"], "what is known is kept"
    assert game.log.played[2].score_cp == 31
    game.full("e2e4 e7e5 f1c4")
    assert [(it.ply, it.san, it.source) for it in game.log.played[2:]] == [(3, "Bc4", None)]


def test_what_lichess_says_in_both_rooms_is_kept_once(game: Listener) -> None:
    game.chat("spectator", "lichess", "White offers draw")
    game.chat("player", "lichess", "White offers draw")
    assert [(line.author, line.room) for line in game.log.chat] == [("lichess", "player")]


def test_the_latest_lines_of_the_chat_are_kept_as_they_came(game: Listener) -> None:
    game.chat("player", "lichess", "White offers draw")
    for number in range(29):
        game.chat("spectator", "Eve", f"{number}<script>")
    assert (len(game.log.chat), game.log.chat[0].author) == (30, "lichess")
    game.chat("player", "Ferdinand", "bye")
    assert len(game.log.chat) == 30
    assert (game.log.chat[0].text, game.log.chat[0].room) == ("0<script>", "spectator")
    assert (game.log.chat[-1].author, game.log.chat[-1].text) == ("Ferdinand", "bye")
