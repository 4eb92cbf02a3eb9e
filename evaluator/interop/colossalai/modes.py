"""Whether ColossalAI's own mistakes are wanted too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_strict: ContextVar[bool] = ContextVar("strict_compat", default=False)


@contextmanager
def strict_compat() -> Iterator[None]:
    """Within it `run_test` and `check_correctness` do as the original, where that is safe (see docs/colossalai.md).

    Holds for this thread, and for the asyncio task that entered it.
    """
    token = _strict.set(True)
    try:
        yield
    finally:
        _strict.reset(token)


def is_strict() -> bool:
    return _strict.get()
