"""A sandbox of each way, for modules whose subject differs between the two."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evaluator.sandbox import Sandbox, Settings, Way


@pytest.fixture(scope="module", params=list(Way), name="sandbox")
def both_ways(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """With namespaces, then without them."""
    with Sandbox(Settings(way=request.param)) as made:
        yield made
