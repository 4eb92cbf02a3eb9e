"""Grades a stream of rollouts: reads a few ahead of the workers, and gives the grades as they arrive.

What runs code goes to the engine's workers (`dispatcher`), the rest to threads of the caller. Of a long stream that is
graded on this machine, the rest goes to the workers too, which then need no sandbox: threads would take turns. Equal
completions are graded once.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import Final

import msgspec

from evaluator.graders import Grader, GraderError, grader_or_refusal, needs_tasks
from evaluator.graders.spec import names_file
from evaluator.model import Mode, Rollout, Task
from evaluator.options import Options
from evaluator.workers.batches import Batch, Duplicates, Graded, Item, Order
from evaluator.workers.dispatcher import Dispatcher
from evaluator.workers.engine import Bell, Engine
from evaluator.workers.messages import Setup
from evaluator.workers.process_client import local_engine
from evaluator.workers.worker import Worker
from evaluator.workers.worker_count import cores

_LINGER_S: Final = 0.25
_WAIT_S: Final = 0.2
_MOST_READY: Final = 64
_PATIENCE_S: Final = 0.3
_WAITING_PER_THREAD: Final = 8
_FEW: Final = 1_000
"""So many rollouts are graded in threads before a process is worth its start."""


def grade_all(
    tasks: Mapping[str, Task] | Iterable[Task],
    rollouts: Iterable[Rollout],
    options: Options | None = None,
    *,
    workers: int | None = None,
    stop: threading.Event | None = None,
    on_wait: Callable[[], object] | None = None,
    engine: Engine | None = None,
) -> Iterator[Graded]:
    """Grades each rollout and yields it when it is done. Order, memory, duplicates, errors: see `evaluator.grade_all`.

    When `stop` is set, no further rollout starts, unfinished ones are abandoned, and the iterator ends. `on_wait` is
    called in the calling thread a few times a second while no grade arrives. `engine`: see `grade_batches`.
    """
    batches = grade_batches(
        tasks, rollouts, options, workers=workers, stop=stop, on_wait=on_wait, linger_s=0.0, engine=engine
    )
    return _one_by_one(batches, stop)


def _one_by_one(batches: Iterator[Batch], stop: threading.Event | None) -> Iterator[Graded]:
    with ExitStack() as stack:
        stack.callback(batches.close)  # type: ignore[attr-defined]
        for batch in batches:
            for each in batch.graded():
                yield each
                if stop is not None and stop.is_set():
                    return


def grade_batches(
    tasks: Mapping[str, Task] | Iterable[Task],
    rollouts: Iterable[Rollout],
    options: Options | None = None,
    *,
    workers: int | None = None,
    stop: threading.Event | None = None,
    on_wait: Callable[[], object] | None = None,
    columns: bool = False,
    linger_s: float = _LINGER_S,
    engine: Engine | None = None,
) -> Iterator[Batch]:
    """As `grade_all`, in batches of what arrived together, whose grades need not be decoded.

    `columns`: whether the workers make the columns of a run (`Batch.columns`). `linger_s`: how long a grade may wait
    for others. `engine`: whose workers grade; None: this machine's.
    """
    if workers is not None and workers < 0:
        raise ValueError(f"workers is {workers}: give 1 or more")
    by_id = tasks if isinstance(tasks, Mapping) else {task.task_id: task for task in tasks}
    options = options or Options()
    setup = Setup(options.sandbox, columns=columns, linger_s=linger_s)
    stream = _Stream(by_id, options, workers, engine or local_engine(workers), setup)
    return stream.batches(_named(rollouts), stop or threading.Event(), on_wait)


def _named(rollouts: Iterable[Rollout]) -> Iterator[Rollout]:
    """Each with a `sample_id`: it identifies the grade, and the grades of duplicates point to it."""
    of_task: Counter[str] = Counter()
    for rollout in rollouts:
        if rollout.sample_id:
            yield rollout
        else:
            sample_id = f"{rollout.task_id}#{of_task[rollout.task_id]}"
            yield msgspec.structs.replace(rollout, sample_id=sample_id)  # the caller's own stays as it is
        of_task[rollout.task_id] += 1


class _Stream:
    """One stream of rollouts and who grades them."""

    def __init__(
        self, tasks: Mapping[str, Task], options: Options, workers: int | None, engine: Engine, setup: Setup
    ) -> None:
        kinds = {(task.grader, task.mode is Mode.ANSWER): task for task in tasks.values()}.values()
        light = [each for task in kinds if not (each := grader_or_refusal(task, options.grader)).runs_code]
        self._runs_code = setup.runs_code = len(light) < len(kinds)
        self._threads_alone = _is_own_file(options.grader) or not engine.same_machine
        at_once = max((each.waits for each in light), default=0)
        self._tasks = tasks
        self._options = options
        self._orders: dict[str, tuple[Order, Grader]] = {}
        self._numbers = itertools.count()
        self._dispatcher = Dispatcher(engine, setup)
        self._inline = InlineWorkers(options, workers or max(cores(), at_once))
        self._duplicates = Duplicates()
        self._ready: list[Batch] = []

    def batches(
        self, rollouts: Iterator[Rollout], stop: threading.Event, on_wait: Callable[[], object] | None
    ) -> Iterator[Batch]:
        with ExitStack() as stack:
            stack.callback(self._dispatcher.close)
            stack.callback(self._inline.close)
            self._dispatcher.watch(self._inline.bell.descriptor, self._inline.bell.silence)
            numbered = enumerate(rollouts)
            exhausted = self._fill(numbered)
            if self._runs_code:
                self._dispatcher.warm_up()  # raises if there is no sandbox, before anything is graded
            while not stop.is_set():
                found = self._arrived()
                for batch in found:
                    yield batch
                    if stop.is_set():
                        return
                exhausted = exhausted or self._fill(numbered)
                if exhausted and not (self._ready or self._pending):
                    return
                if not found and on_wait is not None:
                    on_wait()

    @property
    def _pending(self) -> int:
        return self._dispatcher.pending + self._inline.pending + self._duplicates.pending

    def _arrived(self) -> list[Batch]:
        """Grades; waits for some for a moment."""
        found = [*self._dispatcher.wait(0.0 if self._ready else _WAIT_S), *self._inline.finished()]
        for batch in list(found):
            equals, again = self._duplicates.settled(batch)
            if equals is not None:
                found.append(equals)
            for item in again:
                self._begin(item)
        found += self._ready
        self._ready = []
        return found

    def _fill(self, numbered: Iterator[tuple[int, Rollout]]) -> bool:
        """Reads as many as there is room for. Whether those were the last ones."""
        dispatcher, inline, duplicates = self._dispatcher, self._inline, self._duplicates
        while dispatcher.has_room and inline.has_room and duplicates.has_room and len(self._ready) < _MOST_READY:
            item = next(numbered, None)
            if item is None:
                return True
            self._add(*item)
        return False

    def _add(self, place: int, rollout: Rollout) -> None:
        found = self._orders.get(rollout.task_id)
        if found is None:
            task = self._tasks.get(rollout.task_id)
            if task is None:
                self._add_without_task(place, rollout)
                return
            order = Order(next(self._numbers), task, self._options)
            found = self._orders[rollout.task_id] = (order, grader_or_refusal(task, self._options.grader))
        item = Item(place, rollout, found[0])
        if found[1].by_completion:
            grade = self._duplicates.grade_of(item)
            if grade is not None:
                self._ready.append(Batch([item], [grade]))
                return
            if self._duplicates.must_wait(item):
                return
        self._begin(item)

    def _add_without_task(self, place: int, rollout: Rollout) -> None:
        task = Task(task_id=rollout.task_id, mode=Mode.ANSWER)
        item = Item(place, rollout, Order(next(self._numbers), task, self._options))
        if needs_tasks(self._options.grader):
            self._ready.append(Batch([item], [Worker(self._options).grade(None, rollout)]))
        else:  # its file has grown since its tasks were read
            self._inline.add(item)

    def _begin(self, item: Item) -> None:
        known = self._orders.get(item.rollout.task_id)
        grader = None if known is None else known[1]
        many = item.place >= _FEW and not self._threads_alone
        if grader is not None and (grader.runs_code or (many and not grader.waits)):
            self._dispatcher.add(item)
        else:
            self._inline.add(item)


def _is_own_file(grader: str | None) -> bool:
    """Whether it is a function in a file, which is loaded here once, with all that it keeps in memory."""
    try:
        return grader is not None and names_file(grader)
    except GraderError:
        return False


class InlineWorkers:
    """Threads for tasks whose grading runs no code: as many as may wait for others (a judge) at once.

    They are started with the first rollout; close them.
    """

    def __init__(self, options: Options, threads: int) -> None:
        self._options = options
        self._count = threads
        self._threads: list[threading.Thread] = []
        self._waiting: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._done: deque[Batch | BaseException] = deque()
        self.bell = Bell()
        """Rings when there are grades."""
        self._ending = False
        self.pending = 0

    @property
    def has_room(self) -> bool:
        return self.pending < _WAITING_PER_THREAD * self._count

    def add(self, item: Item) -> None:
        """A rollout to be graded."""
        self.pending += 1
        self._waiting.put(item)
        if len(self._threads) < min(self._count, self.pending):
            self._threads.append(threading.Thread(target=self._work, daemon=True))
            self._threads[-1].start()

    def finished(self) -> list[Batch]:
        """The grades that are there. Raises what a thread could not handle."""
        found: list[Batch] = []
        while self._done:
            done = self._done.popleft()
            if isinstance(done, BaseException):
                raise done
            self.pending -= len(done)
            found.append(done)
        return found

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
        self._done.append(done)
        self.bell.ring()
