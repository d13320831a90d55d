"""How large a test of a guarantee is: small by default, as promised under `--full`."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Lets the promised numbers take as long as they take."""
    if config.getoption("--full"):
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.timeout(0))


@pytest.fixture
def scale(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """Returns a function that picks the small number, or under `--full` the promised one."""
    full = bool(request.config.getoption("--full"))
    return lambda small, promised: promised if full else small
