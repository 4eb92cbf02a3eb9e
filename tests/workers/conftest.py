"""Run alone: .venv/bin/python -m pytest tests/workers"""

from collections.abc import Iterator

import pytest

from evaluator.sandbox import Sandbox
from tests.workers.processes import set_apart


@pytest.fixture(scope="module", autouse=True)
def others_apart() -> None:
    """The sandboxes of other modules' tests would be found among those of this one."""
    set_apart()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One that is warm, in this process. Not for tests that look for processes."""
    with Sandbox() as made:
        made.warm_up()
        yield made
