"""Threads of the caller for tasks whose grading runs no code: as many as may wait for others (a judge) at once."""

from __future__ import annotations

import queue
import threading
import time

from evaluator.options import Options
from evaluator.sandbox import SandboxUnavailable
from evaluator.workers.batches import Batch, Item
from evaluator.workers.bell import Bell
from evaluator.workers.worker import Worker

_PATIENCE_S = 0.3
_WAITING_PER_THREAD = 8


class InlineWorkers:
    """The threads. They are started with the first rollout; close them."""

    def __init__(self, options: Options, threads: int) -> None:
        self._options = options
        self._count = threads
        self._threads: list[threading.Thread] = []
        self._waiting: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Batch | BaseException] = queue.SimpleQueue()
        self.bell = Bell()
        """Rings when there are grades."""
        self._ending = False
        self.pending = 0

    @property
    def has_room(self) -> bool:
        return self.pending < _WAITING_PER_THREAD * self._count

    def add(self, item: Item) -> None:
        """A rollout to be graded. Raises `SandboxUnavailable` if not a single thread can be started."""
        self.pending += 1
        self._waiting.put(item)
        if len(self._threads) < min(self._count, self.pending):
            thread = threading.Thread(target=self._work, daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                if not self._threads:
                    fix = "raise the limit of processes (ulimit -u)"
                    raise SandboxUnavailable("no thread can be started", fix) from error
                return
            self._threads.append(thread)

    def finished(self) -> list[Batch]:
        """The grades that are there. Raises what a thread could not handle."""
        found: list[Batch] = []
        while True:
            try:
                done = self._done.get_nowait()
            except queue.Empty:
                return found
            if isinstance(done, BaseException):
                raise done
            self.pending -= len(done)
            found.append(done)

    def close(self) -> None:
        """Ends the threads; one that is in the middle of a rollout ends after it, for which nobody waits long."""
        self._ending = True
        for _ in self._threads:
            self._waiting.put(None)
        end = time.monotonic() + _PATIENCE_S
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _work(self) -> None:
        worker = Worker(self._options)
        while (item := self._waiting.get()) is not None and not self._ending:
            try:
                self._tell(Batch([item], [worker.grade(item.order.task, item.rollout)]))
            except BaseException as error:
                self._tell(error)

    def _tell(self, done: Batch | BaseException) -> None:
        self._done.put(done)
        self.bell.ring()
