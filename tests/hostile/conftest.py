"""The servers that get the corpus of requests. Run alone: .venv/bin/python -m pytest tests/hostile"""

from collections.abc import Callable, Iterator

import pytest

from tests.hostile.serving import ORDERS, Served, System, start, system_in_thread

LONG = {
    "agentfly": ("--config", "[limits]\nwall_s = 600\ncpu_s = 600\ntotal_s = 600\n"),
    "colossalai": ("--max-timeout", "600"),
    "nemo-gym": ("--config", "unit_test_timeout_secs = 600\nmax_request_mb = 8\n"),
    "sandbox-fusion": ("--max-timeout", "600"),
}
"""Options with which programs have ten minutes; a text with lines is a file's."""


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=pytest.mark.slow if name == "nemo-gym" else ()) for name in ORDERS]
)
def here(request: pytest.FixtureRequest) -> Iterator[System]:
    """A server in a thread of this process."""
    with system_in_thread(request.param) as system:
        yield system


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.slow) for name in ORDERS])
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A server as people start it. It ends with nothing to say."""
    option, value = LONG[request.param]
    if "\n" in value:
        file = tmp_path_factory.mktemp(request.param) / "config.toml"
        file.write_text(value)
        value = str(file)
    served = start(request.param, option, value)
    yield System(request.param, served)
    assert served.end() == (0, "")


@pytest.fixture
def served() -> Iterator[Callable[[Served], Served]]:
    running: list[Served] = []

    def keep(server: Served) -> Served:
        running.append(server)
        return server

    yield keep
    for server in running:
        assert server.end()[0] == 0
