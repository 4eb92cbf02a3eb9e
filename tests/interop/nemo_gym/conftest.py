"""`server(config)`: the URL of a resource server with this configuration, as YAML; one per configuration.

They answer from this process, and end with their file of tests: others look through all its processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evaluator.engines import pool
from evaluator.interop.http_guard import Guard, Hosts
from evaluator.interop.nemo_gym import CodeResourcesServer, ServerConfig
from evaluator.interop.nemo_gym.config import config_from_file
from tests.interop.serving import InThread


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    path: Path = tmp_path_factory.mktemp("servers") / "config.yaml"
    running: dict[str, InThread] = {}

    def started(config: str = "") -> str:
        if config not in running:
            path.write_text(config)
            fields = config_from_file(ServerConfig, path) if config else ServerConfig()
            application = CodeResourcesServer(fields).setup_webserver()
            running[config] = InThread(Guard(application, Hosts("127.0.0.1", ()), fields.max_request_mb))
        return running[config].url

    yield started
    for each in running.values():
        each.end()
    pool._pool.close()
