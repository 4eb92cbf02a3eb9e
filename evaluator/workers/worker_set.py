"""The workers of one dispatcher: started as they are needed, listened to, ended."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Iterator
from typing import Final

from evaluator.sandbox import InterpreterError, SandboxUnavailable
from evaluator.workers.engine import Engine, WorkerClient, WorkerLostError
from evaluator.workers.messages import Done, Ready, Returned, Setup, Stay, ToWorker
from evaluator.workers.task_cache import EncodedTasks
from evaluator.workers.worker_state import WorkerState

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_PAUSE_S: Final = 0.05
_FAILED_STARTS: Final = 3
_NO_ROOM: Final = "check free memory, and the limit of processes (ulimit -u)"


class WorkerSet:
    """For one thread at a time; close it."""

    def __init__(self, engine: Engine, setup: Setup) -> None:
        self._engine = engine
        self._setup = setup
        self._selector = selectors.DefaultSelector()
        self._encoded = EncodedTasks()
        self._ending: list[WorkerClient] = []
        self._failed_starts = 0
        self._failure = ""
        self.not_before = 0.0
        """When a worker may be started again."""
        self.workers: list[WorkerState] = []

    @property
    def unstarted(self) -> int:
        """How many more there may be."""
        return self._engine.workers - len(self.workers)

    @property
    def hopeless(self) -> str:
        """Why there is no worker and none can be started; "" if there may be one. Raises if there never was one."""
        if self.workers or self._failed_starts < _FAILED_STARTS:
            return ""
        if self._setup.proof is None:
            raise SandboxUnavailable(self._failure, _NO_ROOM)
        return self._failure

    def watch(self, descriptor: int, on_ready: Callable[[], object]) -> None:
        """Has `listen` end, and a function called, when a descriptor can be read from."""
        self._selector.register(descriptor, _READ, on_ready)

    def start(self, wanted: int) -> None:
        """Starts as many as are wanted beside those that are starting already."""
        self._ending = [client for client in self._ending if not client.gone()]
        wanted -= sum(not worker.ready for worker in self.workers)
        most = self._most() if wanted > 0 else 0
        while wanted > 0 and len(self.workers) < most and time.monotonic() >= self.not_before:
            wanted -= 1
            try:
                client = self._engine.start()
            except WorkerLostError as error:
                self._start_failed(str(error))
                break
            worker = WorkerState(client, self._encoded)
            self.workers.append(worker)
            self._selector.register(client.fileno(), _READ, worker)
            self.send(worker, self._setup)  # those that start together prove their sandboxes each, at the same time
        if self._engine.cores:
            self._spread()

    def send(self, worker: WorkerState, message: ToWorker) -> None:
        worker.client.send(message)
        if worker.client.flush():
            self._selector.modify(worker.client.fileno(), _READ | _WRITE, worker)

    def listen(self, timeout_s: float) -> Iterator[tuple[WorkerState, Done | Returned | WorkerLostError]]:
        """What they say, as soon as there is something. One that is lost is not in `workers` any more.

        Raises `SandboxUnavailable` or `InterpreterError` if the first to answer has no sandbox.
        """
        for key, events in self._selector.select(timeout_s):
            worker = key.data
            if not isinstance(worker, WorkerState):
                worker()
                continue
            if worker not in self.workers:  # it was lost a moment ago
                continue
            if events & _WRITE and not worker.client.flush():
                self._selector.modify(key.fileobj, _READ, worker)
            if not events & _READ:
                continue
            try:
                for message in worker.client.receive():
                    if isinstance(message, Ready):
                        self._answered(worker, message)
                    else:
                        yield worker, message
            except WorkerLostError as error:
                self.end(worker)
                if not worker.ready and error.suspicious:
                    self._start_failed(str(error))
                yield worker, error

    def end(self, worker: WorkerState) -> None:
        """Ends one, with whatever it is doing."""
        self.workers.remove(worker)
        self._selector.unregister(worker.client.fileno())
        worker.client.end()
        self._ending.append(worker.client)

    def close(self) -> None:
        """Ends all, with whatever they are doing."""
        clients = [*self._ending, *(worker.client for worker in self.workers)]
        for client in clients:
            client.end()
        for client in clients:
            client.close()
        self._ending.clear()
        self.workers.clear()
        self._selector.close()

    def _most(self) -> int:
        """How many there may be now. Where other processes have some too, they become more step by step."""
        has, most = len(self.workers), self._engine.workers
        if self._engine.is_full is None or has >= most:
            return most
        if has and (not all(worker.ready for worker in self.workers) or self._engine.is_full()):
            return has
        return min(max(1, 2 * has), most)

    def _spread(self) -> None:
        """Once all are there, each gets a core of its own, which then has all that it needs in its caches.

        Not while there are fewer: other programs may have chosen the same cores.
        """
        if len(self.workers) < len(self._engine.cores) or not all(worker.ready for worker in self.workers):
            return
        free = set(self._engine.cores).difference(worker.core for worker in self.workers if worker.core is not None)
        for worker in self.workers:
            if worker.core is None:
                worker.core = free.pop()
                self.send(worker, Stay(worker.core))

    def _answered(self, worker: WorkerState, ready: Ready) -> None:
        if not ready.reason:
            worker.ready = True
            worker.at_once = ready.workers
            self._failed_starts = 0
            if self._engine.same_machine:
                self._setup.proof = self._setup.proof or ready.proof
            return
        self.end(worker)
        if self._setup.proof is None:  # nothing was graded yet
            if ready.bad_interpreter:
                path, _, what = ready.reason.removeprefix("Python ").partition(": ")
                raise InterpreterError(path, what)
            raise SandboxUnavailable(ready.reason, ready.mend or "see `rollscope doctor`")
        self._start_failed(ready.reason)

    def _start_failed(self, why: str) -> None:
        self._failed_starts += 1
        self._failure = why
        self.not_before = time.monotonic() + _PAUSE_S * 2**self._failed_starts
