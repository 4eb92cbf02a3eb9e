"""`server(config)`: the URL of a `rollscope serve nemo-gym` with this configuration, as YAML; one a configuration.

They end with their file of tests: others look through all processes of theirs, and end them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.interop.nemo_gym.serving import Served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    folder: Path = tmp_path_factory.mktemp("servers")
    running: dict[str, Served] = {}

    def started(config: str = "") -> str:
        if config not in running:
            path = folder / f"{len(running)}.yaml"
            path.write_text(config)
            running[config] = Served(*(["--config", path] if config else []))
        return running[config].url

    yield started
    for each in running.values():
        each.end()
