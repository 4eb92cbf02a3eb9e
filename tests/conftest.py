"""What holds for every test."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator

import hypothesis
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# How long an example takes says more of the machine than of the code.
hypothesis.settings.register_profile(
    "patient", deadline=None, max_examples=50, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")


def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are processors: many tests wait for a limit, a server or a page."""
    return len(os.sched_getaffinity(0)) + 2


class ByFile(LoadFileScheduling):
    """A file's tests in one worker, and all tests of the pages in one: they share a server, and a browser that is warm.

    The other workers have the tests that wait meanwhile; a browser in each would keep all processors busy at the end.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "tests/browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """For `--dist loadfile`, which all test commands use."""
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_configure() -> None:
    """What the program keeps for its user is not this user's. And Ctrl-C ends the tests.

    A script that starts the tests in the background has them ignore Ctrl-C, and all that they start with them."""
    cache = tempfile.mkdtemp(prefix="rollscope-tests-")
    atexit.register(shutil.rmtree, cache, ignore_errors=True)
    os.environ["XDG_CACHE_HOME"] = cache
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_numbers = itertools.count()


@pytest.fixture(autouse=True)
def cache_of_its_own() -> Iterator[None]:
    """What one test keeps is not there for the next: neither grades nor indexes."""
    common = os.environ["XDG_CACHE_HOME"]
    os.environ["XDG_CACHE_HOME"] = f"{common}/{next(_numbers)}"
    yield
    os.environ["XDG_CACHE_HOME"] = common
