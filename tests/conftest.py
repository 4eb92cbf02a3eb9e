"""What holds for every test."""

from __future__ import annotations

import os
import signal

import hypothesis

# How long an example takes says more of the machine than of the code.
hypothesis.settings.register_profile(
    "patient", deadline=None, max_examples=50, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: many tests wait for a limit, a server or a page."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_configure() -> None:
    """A script that starts the tests in the background has them ignore Ctrl-C, and all that they start with them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
