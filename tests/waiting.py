"""How tests wait: for a condition, with a limit that only a hang reaches. Nothing else under `tests/` sleeps."""

import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
HANG_S = 240.0
"""A machine that is merely busy never needs as long."""


def wait_until(condition: Callable[[], _T], what: str) -> _T:
    """What `condition` returns once that is true. `what` says in the failure what never came."""
    end = time.monotonic() + HANG_S
    while not (found := condition()):
        assert time.monotonic() < end, f"after {HANG_S:g} s: {what}"
        time.sleep(0.01)
    return found
