"""How large a test of a guarantee is: small by default, as promised under `--full`."""

from collections.abc import Callable

import pytest


@pytest.fixture
def scale(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """Returns a function that picks the small number, or under `--full` the promised one."""
    full = bool(request.config.getoption("--full"))
    return lambda small, promised: promised if full else small
