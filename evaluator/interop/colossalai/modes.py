"""The switch for ColossalAI's own mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_strict: ContextVar[bool] = ContextVar("strict_compat", default=False)


@contextmanager
def strict_compat() -> Iterator[None]:
    """A context in which `run_test` and `check_correctness` repeat the original's mistakes, where that is safe.

    Holds for the current thread or asyncio task. The mistakes are listed in docs/colossalai.md.

        with strict_compat():
            run_test({"inputs": ["1"], "outputs": ["1"]}, "print(1)", timeout=1.5)  # TypeError: whole seconds only
    """
    token = _strict.set(True)
    try:
        yield
    finally:
        _strict.reset(token)


def is_strict() -> bool:
    return _strict.get()
