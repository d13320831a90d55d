"""Under `--full` a test of a guarantee takes as long as it takes."""

from collections.abc import Sequence
from pathlib import Path

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Lets the promised numbers take as long as they take."""
    if config.getoption("--full"):
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.timeout(0))
