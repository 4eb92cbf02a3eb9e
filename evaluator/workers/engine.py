"""Where grading runs, as the dispatcher sees it: an engine starts workers, and a client stands for each of them.

A worker grades one rollout after the other with a sandbox of its own: a process of this machine (`process_client`), or
several of them behind one client at a server, or on a machine of a Ray cluster (`server.client`).
Client and worker exchange messages (`messages`):

1. The worker gets a `Setup` and answers `Ready`. Until then it gets no work. If `Ready.refusal` says that it has no
   sandbox, it is closed; if no worker has one, the run ends with `SandboxUnavailable` before anything was graded.
2. It gets `Work` and answers `Done`. It may answer several rollouts in one `Done`, and answers each exactly once, in
   any order. A process of this machine also gets `Call` and answers `Returned`.
3. What nobody wants any more is dropped; a worker that can't drop a rollout is ended, and replaced.
4. When it is lost, for whichever reason, `receive` raises `WorkerLostError`. Its rollouts are graded again. If one of
   them may be why (`suspicious`), each is given to a worker alone, and one that costs a second worker is a
   `sandbox_error`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, Protocol

from evaluator.workers.messages import FromWorker, ToWorker

EngineName = Literal["local", "ray", "server"]


class EngineError(Exception):
    """There is no such engine, or it has no workers any more. The message is one line with the reason and the fix."""


class WorkerLostError(Exception):
    """A worker has ended, with what it was doing. The message says how, in one line."""

    def __init__(self, message: str, *, suspicious: bool = True) -> None:
        """`suspicious`: what it was doing may be why, so each of its rollouts is graded alone from here on."""
        super().__init__(message)
        self.suspicious = suspicious


class WorkerClient(Protocol):
    """The caller's end of a worker. For one thread at a time."""

    def fileno(self) -> int:
        """A descriptor that can be read from when `receive` has something to give, for `select`."""

    def send(self, message: ToWorker) -> None:
        """Sends a message and never waits; what can't be sent yet goes out with `flush`. Never raises."""

    def flush(self) -> bool:
        """Sends what waits, as far as it can be sent now. Whether something still waits."""

    def receive(self) -> list[FromWorker]:
        """What has arrived; does not wait. Raises `WorkerLostError`, after everything that arrived before."""

    def drop(self, number: int, /) -> bool:
        """Makes it answer a rollout soon, with whatever, and stop grading it. False if it can only be ended whole."""

    def end(self) -> None:
        """Makes it end at once, with whatever it is doing; does not wait."""

    def gone(self) -> bool:
        """Whether nothing of it is left, after `end`; does not wait."""

    def close(self) -> None:
        """Ends it; nothing of it is left when this returns."""


class Engine(NamedTuple):
    """Starts workers."""

    start: Callable[[], WorkerClient]
    """Starts one, which waits for its `Setup`. Raises `WorkerLostError` if it can't be started."""
    workers: int
    """At most so many."""
    same_machine: bool = True
    """Whether what the sandbox of one worker proves holds for all of them."""
    cores: tuple[int, ...] = ()
    """The cores of the machine, if each is to have a worker of its own."""
    is_full: Callable[[], bool] | None = None
    """Whether other processes leave no room for one more worker now; None: there are no others."""


class Place(NamedTuple):
    """Where completions run."""

    engine: EngineName = "local"
    address: str | None = None


HERE: Final = Place()


class Bell:
    """A descriptor that can be read from once it was rung, from any thread: it wakes whoever waits for it."""

    def __init__(self) -> None:
        self.descriptor: Final = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def ring(self) -> None:
        os.eventfd_write(self.descriptor, 1)

    def silence(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.descriptor)

    def __del__(self) -> None:  # not before the last call that rings it
        os.close(self.descriptor)
