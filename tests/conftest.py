"""What holds for every test. Run one folder alone: .venv/bin/python -m pytest tests/checkers"""

import atexit
import gc
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from tests.lifeline import MARK

# How long an example takes says more of the machine than of the code.
_patient = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("few", _patient, max_examples=20)
hypothesis.settings.register_profile("many", _patient, max_examples=500)
hypothesis.settings.load_profile("few")  # `make test-all` asks for the other one, too

_lifelines: list[subprocess.Popen[bytes]] = []
"""One, in the process that hands the tests out. Its stdin closes when that is killed, too: nobody inherits it."""

LONG = ("tests/browser/", "tests/dashboard/")
"""Folders whose files take longest: begun first, so that none is left alone at the end."""


def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are processors: many tests wait for a limit, a server or a page."""
    return len(os.sched_getaffinity(0)) + 2


class ByFile(LoadFileScheduling):
    """A file's tests in one worker; in `make test` all of the browser's in one, which share a server and a browser."""

    def _split_scope(self, nodeid: str) -> str:
        together = nodeid.startswith("tests/browser/") and "not slow" in self.config.option.markexpr
        return "tests/browser" if together else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """For `--dist loadfile`, which all test commands use."""
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first; the Makefile has xdist keep the order."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_configure(config: pytest.Config) -> None:
    """What the program keeps for its user is not this user's. When the tests end, so does all that they started.

    A script that starts the tests in the background has them ignore Ctrl-C, and all that they start with them."""
    cache = tempfile.mkdtemp(prefix="rollscope-tests-")
    atexit.register(shutil.rmtree, cache, ignore_errors=True)
    os.environ["XDG_CACHE_HOME"] = cache
    if not hasattr(config, "workerinput"):
        os.environ[MARK] = uuid.uuid4().hex
        lifeline = [sys.executable, "-I", Path(__file__).with_name("lifeline.py"), os.environ[MARK]]
        unmarked = {name: value for name, value in os.environ.items() if name != MARK}
        _lifelines.append(subprocess.Popen(lifeline, stdin=subprocess.PIPE, start_new_session=True, env=unmarked))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The tests stay: looking through all of them for garbage again and again took a tenth of the time."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    atexit.register(gc.unfreeze)  # else nanobind complains of leaks
    return collected


def pytest_unconfigure() -> None:
    for lifeline in _lifelines:
        lifeline.communicate()  # closes its stdin, and waits until it has ended the others


_numbers = itertools.count()


@pytest.fixture(autouse=True)
def process_of_its_own() -> Iterator[None]:
    """What one test keeps is not there for the next: neither grades, nor indexes, nor how long numbers may be."""
    common = os.environ["XDG_CACHE_HOME"]
    os.environ["XDG_CACHE_HOME"] = f"{common}/{next(_numbers)}"
    sys.set_int_max_str_digits(sys.int_info.default_max_str_digits)
    yield
    os.environ["XDG_CACHE_HOME"] = common
