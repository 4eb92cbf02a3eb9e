"""`server(config)`: the URL of a resource server with this configuration, as YAML; one per configuration.

They answer from this process, and end with their file of tests.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from evaluator.interop.nemo_gym import CodeResourcesServer, ServerConfig
from evaluator.interop.nemo_gym.config import config_from_file
from tests.interop.serving import in_thread


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    path: Path = tmp_path_factory.mktemp("servers") / "config.yaml"
    urls: dict[str, str] = {}
    with ExitStack() as running:

        def started(config: str = "") -> str:
            if config not in urls:
                path.write_text(config or "{}")
                fields = config_from_file(ServerConfig, path)
                application = CodeResourcesServer(fields).setup_webserver()
                urls[config] = running.enter_context(in_thread(application, fields.max_request_mb))
            return urls[config]

        yield started
