"""What is read of the lines in which an engine describes its search."""

import pytest

from lichessbot.uci.search import Findings, SearchInfo, search_info


@pytest.mark.parametrize("nodes", [str(2**64 - 1), "9" * 5000])
def test_numbers_that_fit_no_record_are_left_out(nodes: str) -> None:
    words = f"depth 3 nodes {nodes} score cp 20 pv e2e4".split()
    assert search_info(words) == (1, SearchInfo(3, 0, "cp 20", "e2e4"))


def test_a_variation_without_a_score_is_kept() -> None:
    assert search_info(["depth", "3", "pv", "e2e4", "e7e5"]) == (1, SearchInfo(3, 0, "", "e2e4 e7e5"))


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["depth 3 score cp 20 nodes 9", "depth 4 nodes 12 score cp 25"], SearchInfo(4, 12, "cp 25")),
        (["depth 3 score cp 20", "depth 3 score cp 30 pv d2d4", "depth 4 score cp 25"],
         SearchInfo(3, 0, "cp 30", "d2d4")),
        (["depth 3 score cp 20", "depth 4 currmove e2e4", "depth 4 string no score"], SearchInfo(3, 0, "cp 20")),
    ],
)  # fmt: skip
def test_a_score_alone_counts_until_a_variation_comes(lines: list[str], found: SearchInfo) -> None:
    findings = Findings(lines_wanted=2)
    for line in lines:
        findings.note(line.split())
    assert findings.summary == found
    answer = findings.answer("abcd1234", 1, "e2e4", None, 0)
    assert all(it.move for it in (*answer.lines, *answer.iterations)), "what names no move is no choice"


def test_the_move_is_the_variation_of_a_score_alone() -> None:
    """Chat and `postmortem` name the best move by it."""
    findings = Findings()
    findings.note(["depth", "4", "score", "cp", "25"])
    assert findings.answer("abcd1234", 1, "E2E4", None, 0).summary == SearchInfo(4, 0, "cp 25", "e2e4")
    assert findings.answer("abcd1234", 1, "0000", None, 0).summary == SearchInfo(4, 0, "cp 25")
