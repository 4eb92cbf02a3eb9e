"""A worker that is a machine of a Ray cluster: an actor that is told and heard in calls (`node`).

There is never more than one `tell` and one `hear` under way. What is to be said meanwhile goes with the next one, so
the busier a machine is, the more rollouts share a call.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait
from typing import Any, Final, NamedTuple, Protocol

from evaluator.workers.bell import Bell
from evaluator.workers.messages import Drop, Frames, FromWorker, Ready, ToWorker, framed, from_worker

_STARTS_WITHIN_S: Final = 120.0
_ENDS_WITHIN_S: Final = 10.0


class Machine(NamedTuple):
    """A machine of a cluster, for one run."""

    node: str
    """Ray's number of it."""
    name: str
    cpus: int
    """So many are taken there."""


class Owner(Protocol):
    """Who started it, and is told how it gets on."""

    def is_connected(self) -> bool:
        """Whether this process still belongs to the cluster. When it leaves, as at its end, its actors end too."""

    def is_ready(self) -> None:
        """It has a sandbox."""

    def refused(self, machine: Machine, ready: Ready) -> Exception:
        """It has none. Returns what `receive` raises: `WorkerLostError`, or what ends the run."""

    def lost(self, machine: Machine, error: Exception | None) -> Exception:
        """Its actor ended, with this error if any. Returns as `refused` does."""

    def kill(self, machine: Machine, actor: Any) -> None:
        """Ends its actor at once."""


class RayClient:
    """One machine."""

    def __init__(self, owner: Owner, machine: Machine, actor: Any) -> None:
        """`actor`: of `RollscopeNode`. It need not have started."""
        self._owner = owner
        self._machine = machine
        self._actor = actor
        self._bell = Bell()
        self._frames = Frames()
        self._waiting = bytearray()
        self._telling: Future[None] | None = None
        self._stopping: Future[None] | None = None
        self._hearing: Future[bytes] = self._listen()
        self._too_late = threading.Event()
        self._timer: threading.Timer | None = threading.Timer(_STARTS_WITHIN_S, self._give_up)
        self._timer.daemon = True
        self._timer.start()

    def fileno(self) -> int:
        return self._bell.descriptor

    def send(self, message: ToWorker) -> None:
        self._waiting += framed(message)
        self.flush()

    def flush(self) -> bool:
        if self._waiting and (self._telling is None or self._telling.done()):
            data = bytes(self._waiting)
            self._waiting.clear()
            self._telling = self._actor.tell.remote(data).future()
            self._telling.add_done_callback(self._bell.ring)
        return False  # `receive` sees to the rest

    def receive(self) -> list[FromWorker]:
        self._bell.silence()
        self.flush()
        if self._too_late.is_set():
            raise self._owner.lost(self._machine, TimeoutError(f"it did not start within {_STARTS_WITHIN_S:g} s"))
        if not self._hearing.done():
            return []
        try:
            data = self._hearing.result()
        except Exception as error:
            raise self._owner.lost(self._machine, error) from error
        if not data:
            raise self._owner.lost(self._machine, None)
        self._hearing = self._listen()
        found = [from_worker(body) for body in self._frames.feed(data)]
        for message in found:
            if isinstance(message, Ready):
                self._started(message)
        return found

    def drop(self, number: int) -> bool:
        self.send(Drop(number))
        return True

    def end(self) -> None:
        self._in_time()
        if self._stopping is None and self._owner.is_connected():
            self._stopping = self._actor.stop.remote().future()

    def gone(self) -> bool:
        if not self._owner.is_connected():
            return True
        if self._stopping is None or not self._stopping.done():
            return False
        self._owner.kill(self._machine, self._actor)
        return True

    def close(self) -> None:
        self.end()
        if self._stopping is not None:
            wait([self._stopping], _ENDS_WITHIN_S)
        if self._owner.is_connected():
            self._owner.kill(self._machine, self._actor)

    def _listen(self) -> Future[bytes]:
        heard: Future[bytes] = self._actor.hear.remote().future()
        heard.add_done_callback(self._bell.ring)
        return heard

    def _started(self, ready: Ready) -> None:
        self._in_time()
        if ready.reason:
            raise self._owner.refused(self._machine, ready)
        self._owner.is_ready()

    def _in_time(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._too_late.set()
        self._bell.ring()
