"""Options of the whole suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--suite",
        action="append",
        default=[],
        metavar="PATH",
        help="an EPD file of positions with leaf counts, for `pytest -m long tests/engine/test_perft.py`; repeatable",
    )
