"""What the tests of several rooms share."""

import pytest

from tests.engine.positions import Start


@pytest.fixture(params=[False, True], ids=["standard", "chess960"])
def chess960(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=Start, ids=lambda start: start.value)
def start(request: pytest.FixtureRequest) -> Start:
    assert isinstance(request.param, Start)
    return request.param
