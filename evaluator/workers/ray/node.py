"""The grading of one machine of a Ray cluster: what its actor does. It knows nothing of Ray.

It is a worker (`engine`) whose messages travel in calls: `tell` brings some, `hear` waits for some. Behind it are a
`Dispatcher` and this machine's worker processes, which end with this process, however that ends.
"""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from pathlib import Path
from typing import Final

from evaluator import version
from evaluator.graders.spec import files_named
from evaluator.model import Verdict
from evaluator.sandbox import InterpreterError, SandboxUnavailable, Settings, python_version
from evaluator.workers.batches import Batch, Item
from evaluator.workers.bell import Bell
from evaluator.workers.dispatcher import Dispatcher
from evaluator.workers.engine import Engine
from evaluator.workers.interrupts import STOPPED
from evaluator.workers.messages import (
    Drop,
    Frames,
    FromWorker,
    Ready,
    Setup,
    ToWorker,
    Work,
    framed,
    task_in,
    to_worker,
)
from evaluator.workers.process_client import ProcessClient
from evaluator.workers.task_cache import Order
from evaluator.workers.worker import ungraded
from evaluator.workers.worker_count import cores_for, worker_count

_IDLE_S: Final = 1.0
_SAME: Final = "install the same on every machine"
Digests = dict[str, str]
"""Of the files that a grader names, by full path: each machine that grades must have them."""


class RollscopeNode:
    """Grades on one machine for one driver. `tell`, `hear` and `stop` are called in threads of their own."""

    def __init__(self, most: int, workers: int | None, versions: tuple[str, str], files: Digests) -> None:
        """`workers`: how many; None: as many as this machine has room for, `most` at most.

        `versions`: the driver's own, and that of the Python that completions run on there; `files`: those that graders
        name, which must be here too.
        """
        self._workers = workers or min(most, worker_count())
        self._versions = versions
        self._files = files
        self._frames = Frames()
        self._arrived: deque[ToWorker] = deque()
        self._told = threading.Condition()
        self._answers: list[bytes] = []
        self._ending = False
        self._failure: BaseException | None = None
        self._bell = Bell()
        self._orders: dict[int, Order] = {}
        self._items: dict[int, Item] = {}
        """Those without a grade, by number."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def tell(self, frames: bytes) -> None:
        """Brings messages to it."""
        with self._told:
            self._arrived.extend(map(to_worker, self._frames.feed(frames)))
            self._told.notify_all()
        self._bell.ring()

    def hear(self) -> bytes:
        """What it has to say, as soon as that is something; nothing once it has ended."""
        with self._told:
            self._told.wait_for(lambda: self._answers or self._ending)
            answers, self._answers = self._answers, []
        if self._failure is not None and not answers:
            raise self._failure
        return b"".join(answers)

    def stop(self) -> None:
        """Ends the worker processes, with what they are doing; waits for that."""
        with self._told:
            self._ending = True
            self._told.notify_all()
        self._bell.ring()
        self._thread.join()

    def _run(self) -> None:
        try:
            with self._told:
                self._told.wait_for(lambda: self._arrived or self._ending)
            if not self._ending:
                setup = self._arrived.popleft()
                assert isinstance(setup, Setup)
                self._grade(setup)
        except BaseException as error:
            self._failure = error
        finally:
            with self._told:
                self._ending = True
                self._told.notify_all()

    def _grade(self, setup: Setup) -> None:
        ready = self._unfit(setup.sandbox)
        if ready is not None:
            self._say(ready)
            return
        dispatcher = Dispatcher(Engine(ProcessClient, self._workers, cores=cores_for(self._workers)), setup)
        try:
            dispatcher.watch(self._bell.descriptor, self._bell.silence)
            try:
                dispatcher.warm_up()
            except SandboxUnavailable as error:
                self._say(Ready(reason=error.reason, mend=error.mend))
                return
            except InterpreterError as error:
                self._say(Ready(reason=str(error), bad_interpreter=True))
                return
            self._say(Ready(workers=self._workers))
            while not self._ending:
                self._exchange(dispatcher)
        finally:
            dispatcher.close()

    def _unfit(self, settings: Settings) -> Ready | None:
        """Why grades from here would not be those of the driver; None: they are."""
        try:
            versions = version.VERSION, python_version(settings.python)
        except InterpreterError as error:
            return Ready(reason=str(error), bad_interpreter=True)
        for name, here, there in zip(("Rollscope", "Python"), versions, self._versions, strict=True):
            if here != there:
                return Ready(reason=f"it has {name} {here}, and the driver has {there}", mend=_SAME, unfit=True)
        missing = missing_files(self._files)
        return Ready(reason=missing, mend="put the same file there", unfit=True) if missing else None

    def _exchange(self, dispatcher: Dispatcher) -> None:
        while self._arrived:
            message = self._arrived.popleft()
            if isinstance(message, Drop):
                self._drop(message.number, dispatcher)
                continue
            assert isinstance(message, Work)
            dispatcher.measure = message.measure
            for number in message.forget:
                self._orders.pop(number, None)
            for each in message.tasks:
                self._orders[each.number] = Order(each.number, *task_in(each))
            for job in message.jobs:
                item = self._items[job.number] = Item(job.number, job.rollout, self._orders[job.task])
                dispatcher.add(item)
        for batch in dispatcher.wait(_IDLE_S):
            for place in batch.places:
                del self._items[place]
            self._say(batch.done)

    def _drop(self, number: int, dispatcher: Dispatcher) -> None:
        item = self._items.pop(number, None)
        if item is not None:  # its grade is not on its way
            dispatcher.drop(item)
            self._say(Batch([item], [ungraded(item.rollout, Verdict.SANDBOX_ERROR, STOPPED)]).done)

    def _say(self, message: FromWorker) -> None:
        with self._told:
            self._answers.append(framed(message))
            self._told.notify_all()


def digests_of(grader: str | None) -> Digests:
    """Those of the files of a grader with full paths. Raises `OSError` and `GraderError`."""
    return {path: _digest(path) for path in files_named(grader)} if grader is not None else {}


def missing_files(wanted: Digests) -> str:
    """Which file is not here, or is another one, in a few words; "" if all are here."""
    for path, digest in wanted.items():
        try:
            found = _digest(path)
        except OSError:
            return f"it has no {path}"
        if found != digest:
            return f"its {path} is not that of the driver"
    return ""


def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
