"""Matches: players described in words, batches that are kept, games in pairs."""

import sys
import time
from pathlib import Path

import pytest

from engine.facade import build_mode
from engine.selfplay.sprt import MatchScore, Sprt
from tests.benchmarks import match as command
from tests.benchmarks.batches import OPENINGS, Match, Player, Table
from tests.benchmarks.match import BadPlayer, Plan, Tally, play, player, sprt_of, table_lines, tally
from tests.scripts import script

PYTHON = sys.executable
EACH = "tc=8+0.08 option.Hash=64"

# As fastchess wrote it, cut down to what counts: games of two rounds in the order in which they ended.
RECORDED = """\
[Event "Fastchess Tournament"]
[Round "1"]
[White "ours"]
[Black "toga2"]
[Result "1-0"]
[SetUp "1"]
[FEN "rnbqkb1r/p1ppp2p/6pn/1p3p2/1P6/2N5/P1PPPPPP/R1BQKBNR w KQkq - 0 5"]
[Termination "normal"]
[TimeControl "8+0.08"]

5. Nxb5 {+0.98/1 0.038s} Nc6 {-0.80/1 0.087s} 6. Bb2 {+0.74/1 0.173s, White mates} 1-0

[Event "Fastchess Tournament"]
[Round "2"]
[White "ours"]
[Black "toga2"]
[Result "0-1"]
[Termination "time forfeit"]

1. e4 {book, White loses on time} 0-1

[Event "Fastchess Tournament"]
[Round "1"]
[White "toga2"]
[Black "ours"]
[Result "1/2-1/2"]
[Termination "normal"]

1. e4 e5 1/2-1/2

[Event "Fastchess Tournament"]
[Round "2"]
[White "toga2"]
[Black "ours"]
[Result "1-0"]
[Termination "normal"]

1. e4 e5 1-0

[Event "Fastchess Tournament"]
[Round "3"]
[White "ours"]
[Black "toga2"]
[Result "*"]
[Termination "unterminated"]

1. e4 *

"""

# Plays the requested games: the first player wins with White and draws with Black. Slow if a file `slow` is beside it.
FASTCHESS = f"""#!{PYTHON}
import sys, time
from pathlib import Path
words = sys.argv
first, second = [word[5:] for word in words if word.startswith("name=")]
if Path("../../slow").exists():
    time.sleep(600)
games = ""
for number in range(int(words[words.index("-rounds") + 1])):
    for white, black, result in ((first, second, "1-0"), (second, first, "1/2-1/2")):
        games += f'[Round "{{number + 1}}"]\\n[White "{{white}}"]\\n[Black "{{black}}"]\\n[Result "{{result}}"]\\n'
        games += f'[Termination "normal"]\\n\\n{{result}}\\n\\n'
Path("games.pgn").write_text(games)
Path("words").write_text("\\n".join(words))
"""


@pytest.fixture
def fastchess(tmp_path: Path) -> str:
    return script(tmp_path / "fastchess", FASTCHESS)


def match_in(folder: Path, fastchess: str, opponent: str = "toga2", agreed_ends: bool = False) -> Match:
    ours, theirs = (Player(name, ("engine",), {"nodes": "10"}) for name in ("ours", opponent))
    return Match(Table(fastchess, agreed_ends=agreed_ends), (ours, theirs), folder / "games" / opponent)


# --- Players -------------------------------------------------------------------------------------------------------


def test_a_player_says_what_differs_from_the_others() -> None:
    found = player(f"cmd='{PYTHON} -m engine' name=ours option.Threads=2", EACH)
    assert found == Player(
        "ours", (PYTHON, "-m", "engine"), {"tc": "8+0.08"}, {"Hash": "64", "Threads": "2"}
    )
    assert found.arguments() == [
        "-engine", f"cmd={PYTHON}", "args=-m engine", "name=ours", "tc=8+0.08", "option.Hash=64", "option.Threads=2",
    ]  # fmt: skip


def test_a_limit_of_none_removes_a_common_limit() -> None:
    found = player(f"cmd={PYTHON} nodes=5000 tc=none option.Hash= option.EvalFile=none", EACH)
    assert (found.limits, found.options) == ({"nodes": "5000"}, {"EvalFile": "none"})
    assert found.name == Path(PYTHON).name


@pytest.mark.parametrize(
    ("text", "each", "complaint"),
    [
        ("name=a tc=1", "", "expected cmd=COMMAND"),
        (f"cmd={PYTHON} node=10", "", "'node=10' is no word of .*, did you mean nodes=?"),
        (f"cmd={PYTHON} fast", "", "'fast' is no word of"),
        (f"cmd={PYTHON}", "", "expected a limit such as tc="),
        ("cmd=no-such-engine tc=1", "", "no program 'no-such-engine' here"),
        (f"cmd={PYTHON} name=../a", "tc=1", "expected a name that a folder can have"),
    ],
)
def test_mistakes_in_the_words_are_named(text: str, each: str, complaint: str) -> None:
    with pytest.raises(BadPlayer, match=complaint):
        player(text, each)


def test_a_test_is_for_two_players_and_two_leads() -> None:
    assert sprt_of(None, 3) is None
    assert sprt_of([], 1) == Sprt(0, 10)
    assert sprt_of([-10, 0], 1) == Sprt(-10, 0)
    for numbers, opponents in (([], 2), ([10, 0], 1)):
        with pytest.raises(BadPlayer, match="one opponent and two leads"):
            sprt_of(numbers, opponents)


# --- Results -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "pairs"), [("ours", [1, 0, 0, 1, 0]), ("toga2", [0, 1, 0, 0, 1])])
def test_games_of_a_round_are_a_pair_and_the_unfinished_is_left_out(
    tmp_path: Path, first: str, pairs: list[int]
) -> None:
    pgn = tmp_path / "games.pgn"
    pgn.write_text(RECORDED)
    found = Tally()
    found.add_batch(pgn, first)
    assert found.score.counts == pairs
    assert found.faults == {"ours: time forfeit": 1, "nobody: unterminated": 1}


def test_the_table_has_a_line_for_each_opponent_and_one_for_all() -> None:
    weak, strong = Tally(MatchScore([0, 0, 2, 4, 4])), Tally(MatchScore([5, 5, 0, 0, 0]))
    strong.faults["ours: time forfeit"] = 3
    lines = table_lines("ours", [("weak", weak), ("strong", strong)])
    assert [line.split()[:4] for line in lines[1:4]] == [
        ["weak", "20", "80.0", "%"], ["strong", "20", "12.5", "%"], ["all", "40", "46.2", "%"],
    ]  # fmt: skip
    assert lines[4] == "  3 x ours: time forfeit"
    assert len(table_lines("ours", [("weak", weak)])) == 2


# --- Playing -------------------------------------------------------------------------------------------------------


def test_every_opponent_gets_his_games_in_batches_and_the_table_is_shown_on_the_way(
    tmp_path: Path, fastchess: str, capsys: pytest.CaptureFixture[str]
) -> None:
    matches = [match_in(tmp_path, fastchess, name) for name in ("toga2", "glaurung")]
    play(matches, Plan(games=10, batch=6))
    assert [match.played() for match in matches] == [10, 10]
    assert [len(match.batches()) for match in matches] == [2, 2]
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("toga2")] == [
        "0", "6", "10",
    ]  # fmt: skip
    assert tally(matches[0]).score.counts == [0, 0, 0, 5, 0]


def test_batches_go_on_in_the_openings_where_the_last_one_ended(tmp_path: Path, fastchess: str) -> None:
    match = match_in(tmp_path, fastchess)
    play([match], Plan(games=10, batch=6))
    words = [(batch / "words").read_text().splitlines() for batch in match.batches()]
    assert [next(word for word in some if word.startswith("start=")) for some in words] == ["start=1", "start=4"]


@pytest.mark.parametrize("agreed_ends", [True, False])
def test_games_end_by_agreement_only_when_that_is_wanted(tmp_path: Path, fastchess: str, agreed_ends: bool) -> None:
    match = match_in(tmp_path, fastchess, agreed_ends=agreed_ends)
    play([match], Plan(games=2, batch=2))
    words = (match.batches()[0] / "words").read_text().splitlines()
    assert ("-resign" in words, "twosided=true" in words, "-draw" in words) == (agreed_ends,) * 3


def test_playing_ends_with_the_test(tmp_path: Path, fastchess: str) -> None:
    match = match_in(tmp_path, fastchess)
    plan = Plan(games=100_000, batch=20, sprt=Sprt(0, 10))
    play([match], plan)
    assert plan.sprt.is_decided(tally(match).score)
    assert match.played() < 1000


def test_when_time_is_up_fastchess_ends_and_finished_batches_stay(tmp_path: Path, fastchess: str) -> None:
    match = match_in(tmp_path, fastchess)
    play([match], Plan(games=2, batch=2))
    (match.folder.parent / "slow").touch()
    begun = time.monotonic()
    with pytest.raises(TimeoutError, match="time was up within a batch of 2 games"):
        play([match], Plan(games=4, batch=2, until=begun + 0.5))
    assert time.monotonic() - begun < 300
    assert match.played() == 2


def words_for(tmp_path: Path, fastchess: str, each: str) -> list[str]:
    return [
        "--fastchess", fastchess, "--folder", str(tmp_path / "games"), "--games", "6", "--batch", "4",
        "--each", each, "--engine", f"cmd={PYTHON} name=ours", "--opponent", f"cmd={PYTHON} name=theirs",
    ]  # fmt: skip


def openings_played(tmp_path: Path) -> list[tuple[str, str]]:
    """The file of openings of each batch, and where it began in it."""
    found = []
    for batch in sorted((tmp_path / "games" / "theirs").glob("batch-*")):
        words = (batch / "words").read_text().splitlines()
        file, start = (next(it for it in words if it.startswith(name)) for name in ("file=/", "start="))
        found.append((file.removeprefix("file="), start.removeprefix("start=")))
    return found


@pytest.mark.skipif(build_mode() == "plain", reason="too slow as plain Python to wait for")
def test_without_a_clock_every_pair_has_a_new_opening(tmp_path: Path, fastchess: str) -> None:
    """Games of an opening that is played again would be copies, which a sequential test takes for new evidence."""
    file = tmp_path / "games" / "openings.epd"
    assert command.main(words_for(tmp_path, fastchess, "nodes=10")) == 0
    assert openings_played(tmp_path) == [(str(file), "1"), (str(file), "3")]
    known = file.read_text().splitlines()
    assert len(set(known)) == len(known) == 3
    assert command.main([*words_for(tmp_path, fastchess, "nodes=10"), "--games", "10"]) == 0
    assert file.read_text().splitlines()[:3] == known, "openings that were played stay"
    assert len(set(file.read_text().splitlines())) == 5


def test_with_a_clock_the_common_openings_are_played(tmp_path: Path, fastchess: str) -> None:
    assert command.main(words_for(tmp_path, fastchess, "tc=1+0.01")) == 0
    assert openings_played(tmp_path) == [(str(OPENINGS), "1"), (str(OPENINGS), "3")]


@pytest.mark.parametrize(("each", "played"), [("nodes=10", 4), ("nodes=10 st=1", 6)])
def test_without_a_clock_a_file_of_openings_limits_the_games(
    tmp_path: Path, fastchess: str, each: str, played: int, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.epd"
    file.write_text("\n".join(OPENINGS.read_text().splitlines()[:2]))
    assert command.main([*words_for(tmp_path, fastchess, each), "--openings", str(file)]) == 0
    assert tally(match_in(tmp_path, fastchess, "theirs")).score.games == played
    assert ("playing 4 games instead of 6" in capsys.readouterr().out) is (played == 4)


def test_a_file_that_repeats_an_opening_or_is_missing_is_refused(
    tmp_path: Path, fastchess: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, words = tmp_path / "some.epd", words_for(tmp_path, fastchess, "nodes=10")
    assert command.main([*words, "--openings", str(file)]) == 2
    opening = OPENINGS.read_text().splitlines()[0]
    for text in ("", f"{opening}\n{opening}\n", f"{opening}\n\n"):
        file.write_text(text)
        assert command.main([*words, "--openings", str(file)]) == 2
        assert capsys.readouterr().out.endswith(f"{file}: expected a different opening on each line\n")


def test_the_command_continues_and_then_has_nothing_to_do(
    tmp_path: Path, fastchess: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = words_for(tmp_path, fastchess, "tc=1")
    assert command.main(words) == 0
    assert command.main(words) == 0
    assert len(list((tmp_path / "games" / "theirs").glob("batch-*"))) == 2
    assert capsys.readouterr().out.count("ours against") == 4
    assert command.main([*words, "--opponent", f"cmd={PYTHON} name=ours"]) == 2
    assert "expected a different name=NAME for each player, found ours, theirs, ours" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main([*words, "--fastchess", "no-such-program"])
    assert "no no-such-program here; it is built from https://" in capsys.readouterr().err
