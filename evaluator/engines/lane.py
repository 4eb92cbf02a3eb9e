"""Threads for tasks whose grading runs no code: as many as may wait for others (a judge) at once."""

from __future__ import annotations

import os
import queue
import threading
import time

from evaluator.engines.batches import Batch, Item
from evaluator.engines.known import Known, completion_key
from evaluator.engines.worker import Worker
from evaluator.graders import traits
from evaluator.model import Grade
from evaluator.options import Options
from evaluator.sandbox import SandboxUnavailable

_PATIENCE_S = 0.3
_WAITING_PER_THREAD = 8


class Lane:
    """The threads. They are started with the first rollout; close it."""

    def __init__(self, options: Options, threads: int) -> None:
        self._options = options
        self._count = threads
        self._threads: list[threading.Thread] = []
        self._waiting: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Batch | BaseException] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._known = Known()
        self._under_way: dict[bytes, list[Item]] = {}
        """By completion, its equals that wait for its grade."""
        self._reader, self._writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._ending = False
        self.pending = 0

    @property
    def has_room(self) -> bool:
        return self.pending < _WAITING_PER_THREAD * self._count

    def fileno(self) -> int:
        """A descriptor that can be read from when there are grades."""
        return self._reader

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

    def drained(self) -> None:
        """Empties the descriptor; `finished` follows."""
        try:
            os.read(self._reader, 4096)
        except BlockingIOError:
            return

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
        if not any(thread.is_alive() for thread in self._threads):
            os.close(self._reader)
            os.close(self._writer)

    def _work(self) -> None:
        worker = Worker(self._options)
        while (item := self._waiting.get()) is not None and not self._ending:
            try:
                self._grade(worker, item)
            except BaseException as error:
                self._tell(error)

    def _grade(self, worker: Worker, item: Item) -> None:
        order, rollout = item.order, item.rollout
        if not traits(order.task, self._options.grader).by_completion:
            self._tell(Batch([item], [worker.grade(order.task, rollout)]))
            return
        key = completion_key(order.number, rollout)
        with self._lock:
            known = self._known.get(key, rollout)
            if known is None and key in self._under_way:
                self._under_way[key].append(item)
                return
            if known is None:
                self._under_way[key] = []
        if known is not None:
            self._tell(Batch([item], [known]))
            return
        equal: list[Item] = []
        try:
            grade: Grade = worker.grade(order.task, rollout)
            with self._lock:
                self._known.add(key, grade)
        finally:
            with self._lock:
                equal = self._under_way.pop(key)
            for each in equal:
                self._waiting.put(each)  # they find it, or are graded themselves
        self._tell(Batch([item], [grade]))

    def _tell(self, done: Batch | BaseException) -> None:
        self._done.put(done)
        try:
            os.write(self._writer, b".")
        except BlockingIOError:  # it is full, so it can be read from
            return
