"""Warm sandboxes for single calls, as many at once as this process may have workers."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from evaluator.engines.gate import Gate
from evaluator.engines.room import place
from evaluator.engines.shield import shielded
from evaluator.engines.stop import stoppable
from evaluator.engines.workers import WORKERS, worker_count
from evaluator.sandbox import FaultError, Sandbox, SandboxUnavailable, Settings, UndecidedError
from evaluator.stages import stage

Result = TypeVar("Result")

FAULTS: Final = (FaultError, SandboxUnavailable, OSError, MemoryError)
"""Errors of the sandbox or the machine, not of a completion."""


@contextmanager
def lease(settings: Settings) -> Iterator[Sandbox]:
    """A warm sandbox, for one thread; waits while all are in use. Raises `SandboxUnavailable`."""
    pool = _pool
    room = pool.room()
    with stage("queue"):
        room.acquire()
    try:
        sandbox = pool.take(settings)
        try:
            with stoppable(sandbox):
                with stage("sandbox start"):
                    sandbox.warm_up()
                yield sandbox
        finally:
            pool.give_back(settings, sandbox)
    finally:
        room.release()


def warm_up(settings: Settings) -> None:
    """Starts a sandbox, so that callers fail early. Raises `SandboxUnavailable` if there can't be one."""

    def warmed() -> None:
        with lease(settings):
            return

    shielded(warmed)


def in_sandbox(settings: Settings, work: Callable[[Sandbox], Result]) -> Result:
    """Does the work in a warm sandbox; after a fault, once more in a renewed one.

    Raises `FaultError` after a second fault, `SandboxUnavailable` if there is no sandbox at all, and whatever the
    caller's signal handlers raise. So that it is not taken for one of those, our own `OSError` becomes a `FaultError`.
    """

    def done() -> Result:
        with lease(settings) as sandbox:
            try:
                return _gated(sandbox, work)
            except UndecidedError:
                raise
            except FAULTS:
                try:
                    return _gated(sandbox, work)
                except (OSError, MemoryError) as error:
                    raise FaultError(str(error) or repr(error)) from error

    return shielded(done)


def _gated(sandbox: Sandbox, work: Callable[[Sandbox], Result]) -> Result:
    try:
        with place(), gate().shared():
            return work(sandbox)
    except FAULTS:
        sandbox.renew()
        raise


def gate() -> Gate:
    """The gate for all that this process runs, and its worker processes."""
    global _gate  # noqa: PLW0603 - made when it is first needed
    with _gate_lock:
        if _gate is None:
            _gate = Gate()
        return _gate


class _Pool:
    def __init__(self) -> None:
        self._rooms: dict[str | None, threading.Semaphore] = {}
        """By what was told when they were made: free memory, which counts too, changes all the time."""
        self._idle: dict[Settings, list[Sandbox]] = {}
        """By the requested settings: a sandbox's own settings say how it was started."""
        self._lock = threading.Lock()

    def room(self) -> threading.Semaphore:
        """For as many as this process may have workers."""
        told = os.environ.get(WORKERS)
        with self._lock:
            if told not in self._rooms:
                self._rooms[told] = threading.Semaphore(worker_count())
            return self._rooms[told]

    def take(self, settings: Settings) -> Sandbox:
        with self._lock:
            idle = self._idle.get(settings)
            return idle.pop() if idle else Sandbox(settings)

    def give_back(self, settings: Settings, sandbox: Sandbox) -> None:
        if sandbox.closed:  # because the work was stopped
            sandbox.close()
            sandbox = sandbox.another()
        with self._lock:
            self._idle.setdefault(settings, []).append(sandbox)

    def close(self) -> None:
        with self._lock:
            for idle in self._idle.values():
                while idle:
                    idle.pop().close()


_pool = _Pool()
_gate: Gate | None = None
_gate_lock = threading.Lock()


def _renew_in_child() -> None:
    global _pool, _gate, _gate_lock  # noqa: PLW0603 - a child must neither use nor end its parent's sandboxes
    _pool = _Pool()
    _gate_lock = threading.Lock()
    if _gate is not None:  # the same gate, but opened anew
        _gate = Gate(os.dup(_gate.descriptor))


os.register_at_fork(after_in_child=_renew_in_child)
atexit.register(lambda: _pool.close())
