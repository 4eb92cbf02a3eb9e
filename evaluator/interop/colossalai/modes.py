"""The switch for ColossalAI's own mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_strict: ContextVar[bool] = ContextVar("strict_compat", default=False)


@contextmanager
def strict_compat() -> Iterator[None]:
    """A context in which `run_test` and `check_correctness` repeat the original's mistakes, where that is safe.

    Holds for the current thread or asyncio task: `with strict_compat(): run_test(...)`. The mistakes are listed in
    docs/colossalai.md.
    """
    token = _strict.set(True)
    try:
        yield
    finally:
        _strict.reset(token)


def is_strict() -> bool:
    return _strict.get()
