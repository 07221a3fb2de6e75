"""Matches: fair to both sides and reproducible."""

import random
from pathlib import Path

import pytest

from engine.cli.main import run
from engine.evaluation import net_file
from engine.selfplay.match import Match, play, play_pair, read_openings
from engine.selfplay.records import InvalidRecord
from tests.engine.nets import random_net

NODES = 60
OPENINGS = Path(__file__).parents[2] / "data" / "openings.epd"


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A network with random weights."""
    path = tmp_path_factory.mktemp("nets") / "weak.net"
    net_file.write(random_net(seed=1, hidden=32, buckets=1), path)
    return str(path)


def test_equal_players_share_every_pair() -> None:
    assert [play_pair(Match("none", "none", NODES), number) for number in range(3)] == [2, 2, 2]


def test_a_random_network_loses_as_first_and_as_second_player(weak: str) -> None:
    assert sum(play_pair(Match("none", weak, NODES), number) for number in range(2)) >= 7
    assert sum(play_pair(Match(weak, "none", NODES), number) for number in range(2)) <= 1


def test_pairs_start_from_the_given_openings(weak: str) -> None:
    won = "4k3/8/8/8/8/8/8/QQQQK3 w - - 0 1"               # won for White: each player wins once
    assert play_pair(Match("none", weak, NODES, openings=(won,)), 5) == 2


def test_every_pair_is_played_once(weak: str) -> None:
    found = dict(play(Match("none", weak, 10), range(3), workers=2))
    assert sorted(found) == [0, 1, 2]
    assert found[1] == play_pair(Match("none", weak, 10), 1)


def test_the_openings_of_the_repository_can_be_read() -> None:
    found = read_openings(OPENINGS)
    assert len(found) == 100
    assert found[0].startswith("rn1qkbnr/p1p1pp1p/bp4p1/3p4/")


@pytest.mark.parametrize("variant", ["standard", "threeCheck"])
def test_the_operations_of_an_opening_are_ignored(variant: str, tmp_path: Path) -> None:
    path = tmp_path / "openings.epd"
    fen = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq -"
    path.write_text(f'{fen} bm Bxf7+; id "a+b";\n')
    assert read_openings(path, variant) == (fen,)


def test_a_broken_opening_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.epd"
    path.write_text("# openings\n\n8/8/8/8/8/8/8/8 w - - id \"none\";\n")
    with pytest.raises(InvalidRecord, match=r"broken\.epd:3: invalid FEN '8/8/8/8/8/8/8/8 w - -'"):
        read_openings(path)
    path.write_bytes(random.Random(1).randbytes(3000))
    with pytest.raises(InvalidRecord, match=r"broken\.epd:1: invalid FEN"):
        read_openings(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", ": expected an opening"),
        ("# none yet\n\n", ": expected an opening"),
        # The pair of such an opening would be a draw in which nobody has played.
        ("7k/5Q2/6K1/8/8/8/8/8 b - -", ":1: no opening, as the game is over: "),
        ("8/8/8/8/8/8/8/K1k5 w - -", ":1: no opening, as the game is over: "),
    ],
)
def test_a_file_without_openings_that_can_be_played_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "useless.epd"
    path.write_text(text)
    with pytest.raises(InvalidRecord, match=rf"useless\.epd{complaint}"):
        read_openings(path)


def run_match(*arguments: str) -> int:
    return run(["match", *arguments, "--nodes", "20", "--processes", "1"])


def test_the_command_prints_the_score(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_match("none", "none", "--games", "3", "--openings", str(OPENINGS)) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("none against none: 4 games, 50.0 %, Elo +0 (")


def test_no_opening_is_played_a_second_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "few.epd"
    path.write_text("\n".join(read_openings(OPENINGS)[:2] * 3))
    assert run_match("none", "none", "--openings", str(path)) == 0
    output, error = capsys.readouterr()
    end = "as each opening is played once with both colours"
    assert error == f"{path}: playing 4 games instead of 300, {end}\n"
    assert output.startswith("none against none: 4 games, ")


def test_a_missing_network_is_reported_before_the_match(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_match("none", "nowhere.net") == 2
    output, error = capsys.readouterr()
    assert error.startswith("nowhere.net: cannot be read")
    assert output == ""
