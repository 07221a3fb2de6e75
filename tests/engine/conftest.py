"""What the tests of several rooms share."""

import pytest


@pytest.fixture(params=[False, True], ids=["standard", "chess960"])
def chess960(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)
