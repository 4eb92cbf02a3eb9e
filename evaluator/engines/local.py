"""Grades with this machine's workers: one thread each, with its own sandbox.

The sandboxes' processes do the work; a thread here extracts, waits and compares. Tasks that run no code have their own
threads, which never start a sandbox: as many as may wait for others (a judge) at once.
"""

from __future__ import annotations

import hashlib
import os
import queue
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from evaluator.engines.gate import Gate
from evaluator.engines.shield import shielded
from evaluator.engines.stop import stoppable
from evaluator.engines.worker import Worker
from evaluator.graders import traits
from evaluator.graders.bench import Options
from evaluator.model import Grade, Mode, Rollout, Task, Verdict
from evaluator.sandbox import Sandbox, SandboxUnavailable

_WAITING_PER_WORKER = 8
_REMEMBERED = 1024
_REMEMBERED_CHARACTERS = 64 * 2**20
_PATIENCE_S = 0.3
_REST_S = 1.0
"""How long a worker that can't start its sandbox pauses, while others do its work."""


class Graded(NamedTuple):
    """A rollout with its grade; `row` is the rollout's place in the stream, from 0."""

    rollout: Rollout
    grade: Grade
    row: int


def grade_all(
    tasks: Mapping[str, Task] | Iterable[Task],
    rollouts: Iterable[Rollout],
    options: Options | None = None,
    *,
    workers: int | None = None,
    stop: threading.Event | None = None,
    on_wait: Callable[[], object] | None = None,
) -> Iterator[Graded]:
    """Grades each rollout and yields it when it is done. Order, memory, duplicates, errors: see `evaluator.grade_all`.

    When `stop` is set, no further rollout starts, unfinished ones are abandoned, and the iterator ends. `on_wait` is
    called in the calling thread a few times a second while no grade arrives.
    """
    if workers is not None and workers < 0:
        raise ValueError(f"workers is {workers}: give 1 or more")
    by_id = tasks if isinstance(tasks, Mapping) else {task.task_id: task for task in tasks}
    crew = _Crew(by_id, options or Options(), workers, stop or threading.Event())
    return crew.grades(_named(rollouts), on_wait)


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


Waiting = queue.SimpleQueue[tuple[int, Rollout] | None]


class _Lane(NamedTuple):
    """Threads that grade the same kind of tasks, and their queue."""

    threads: int
    runs_code: bool
    waiting: Waiting


class _Crew:
    def __init__(self, tasks: Mapping[str, Task], options: Options, workers: int | None, stop: threading.Event) -> None:
        self._tasks = tasks
        self._options = options
        self._lanes = list(_lanes(tasks, options.grader, workers))
        self._stop = stop
        self._done: queue.SimpleQueue[Graded | BaseException] = queue.SimpleQueue()
        self._known = _Known()
        self._ending = threading.Event()
        self._running_code = 0
        """Threads that run code."""
        self._stranded: set[Worker] = set()

    def grades(self, rollouts: Iterable[Rollout], on_wait: Callable[[], object] | None) -> Iterator[Graded]:
        first = Sandbox(self._options.sandbox)
        if any(lane.runs_code for lane in self._lanes):
            _warm_up(first)  # raises if there is no sandbox, before anything is graded
        gate = Gate()
        sandboxes: list[Sandbox] = []
        threads: list[tuple[threading.Thread, Waiting]] = []
        try:
            for lane in self._lanes:
                for _ in range(lane.threads):
                    sandboxes.append(first.another() if sandboxes else first)
                    worker = Worker(self._options, gate, sandboxes[-1])
                    if not self._start(worker, lane, threads):
                        break
            yield from self._exchange(iter(enumerate(rollouts)), on_wait)
        finally:
            self._ending.set()
            for _, waiting in threads:
                waiting.put(None)
            patience = time.monotonic() + _PATIENCE_S
            for thread, _ in threads:
                thread.join(max(0.0, patience - time.monotonic()))
            for sandbox in sandboxes:
                sandbox.abort()  # makes a thread in the middle of a rollout give up
            for thread, _ in threads:
                thread.join()
            for sandbox in sandboxes:
                sandbox.close()

    def _start(self, worker: Worker, lane: _Lane, threads: list[tuple[threading.Thread, Waiting]]) -> bool:
        """Starts a worker's thread; False if the machine allows no more, but the lane already has some."""
        self._running_code += lane.runs_code  # before it can be stranded
        thread = threading.Thread(target=self._work, args=(worker, lane), daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            self._running_code -= lane.runs_code
            if any(waiting is lane.waiting for _, waiting in threads):
                return False
            fix = "raise the limit of processes (ulimit -u)"
            raise SandboxUnavailable("no thread can be started", fix) from error
        threads.append((thread, lane.waiting))
        return True

    def _put(self, row: int, rollout: Rollout) -> None:
        """Adds it to the queue of the lane that grades its task; without a task, to any."""
        task = self._tasks.get(rollout.task_id)
        needs_code = task is not None and traits(task, self._options.grader).runs_code
        lane = next((lane for lane in self._lanes if lane.runs_code == needs_code), self._lanes[0])
        lane.waiting.put((row, rollout))

    def _exchange(
        self, numbered: Iterator[tuple[int, Rollout]], on_wait: Callable[[], object] | None
    ) -> Iterator[Graded]:
        pending = 0
        exhausted = False
        most = _WAITING_PER_WORKER * sum(lane.threads for lane in self._lanes)
        while not self._stop.is_set():
            while not exhausted and pending < most:
                item = next(numbered, None)
                if item is None:
                    exhausted = True
                else:
                    self._put(*item)
                    pending += 1
            if not pending:
                return
            try:
                done = self._done.get(timeout=0.2)
            except queue.Empty:
                if on_wait is not None:
                    on_wait()
                continue
            if isinstance(done, BaseException):
                raise done
            pending -= 1
            yield done

    def _work(self, worker: Worker, lane: _Lane) -> None:
        with worker.sandbox:
            while (item := lane.waiting.get()) is not None and not self._ending.is_set():
                row, rollout = item
                try:
                    self._grade(worker, row, rollout)
                except BaseException as error:
                    self._done.put(error)

    def _grade(self, worker: Worker, row: int, rollout: Rollout) -> None:
        task = self._tasks.get(rollout.task_id)
        if task is None or not traits(task, self._options.grader).by_completion:
            self._done.put(Graded(rollout, worker.grade(task, rollout), row))
            return
        key = _key(rollout)
        known = self._known.grade_or_wait(key, (row, rollout))
        if known is _IN_PROGRESS:
            return
        if isinstance(known, Grade):
            self._done.put(Graded(rollout, _copied(known, rollout), row))
            return
        grade: Grade | None = None
        try:
            grade = self._graded(worker, task, rollout)
            if grade is None:
                self._put(row, rollout)
            else:
                self._done.put(Graded(rollout, grade, row))
        finally:
            # Without a grade, or with one that says nothing about the program, the waiting ones go back to the queue.
            reusable = grade if grade is not None and grade.verdict is not Verdict.SANDBOX_ERROR else None
            for other_row, other in self._known.settle(key, reusable):
                if reusable is None:
                    self._put(other_row, other)
                else:
                    self._done.put(Graded(other, _copied(reusable, other), other_row))
        if grade is None:
            self._ending.wait(_REST_S)

    def _graded(self, worker: Worker, task: Task, rollout: Rollout) -> Grade | None:
        """None if the worker can't start a sandbox but others can: they grade the rollout then."""
        grade = worker.grade(task, rollout)
        if not worker.stranded:
            self._stranded.discard(worker)
            return grade
        self._stranded.add(worker)
        return grade if len(self._stranded) >= self._running_code else None


def _warm_up(sandbox: Sandbox) -> None:
    def warmed() -> None:
        with stoppable(sandbox):
            sandbox.warm_up()

    shielded(warmed)


def _lanes(tasks: Mapping[str, Task], grader: str | None, workers: int | None) -> Iterator[_Lane]:
    """One for the tasks whose grading runs code, one for the others; at least one of the two."""
    kinds = {(task.grader, task.mode is Mode.ANSWER): task for task in tasks.values()}.values()
    light = [each for task in kinds if not (each := traits(task, grader)).runs_code]
    cpus = len(os.sched_getaffinity(0))
    if len(light) < len(kinds):
        yield _Lane(workers or cpus, runs_code=True, waiting=queue.SimpleQueue())
    if light or not kinds:
        at_once = max((each.waits for each in light), default=0)
        yield _Lane(workers or max(cpus, at_once), runs_code=False, waiting=queue.SimpleQueue())


_IN_PROGRESS = object()


class _Known:
    """The last grades by completion, and the duplicates that wait for a grade in progress. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._grades: OrderedDict[bytes, Grade] = OrderedDict()
        self._characters = 0
        self._waiting: dict[bytes, list[tuple[int, Rollout]]] = {}

    def grade_or_wait(self, key: bytes, duplicate: tuple[int, Rollout]) -> object:
        """The grade; or `_IN_PROGRESS`, and the duplicate now waits for it; or None: the caller must grade it."""
        with self._lock:
            grade = self._grades.get(key)
            if grade is not None:
                self._grades.move_to_end(key)
                return grade
            if key in self._waiting:
                self._waiting[key].append(duplicate)
                return _IN_PROGRESS
            self._waiting[key] = []
            return None

    def settle(self, key: bytes, grade: Grade | None) -> list[tuple[int, Rollout]]:
        """Stores the grade, if there is one; returns the duplicates that waited for it."""
        with self._lock:
            if grade is not None:
                self._grades[key] = grade
                self._characters += _characters(grade)
                while len(self._grades) > _REMEMBERED or self._characters > _REMEMBERED_CHARACTERS:
                    self._characters -= _characters(self._grades.popitem(last=False)[1])
            return self._waiting.pop(key, [])


def _characters(grade: Grade) -> int:
    """The size of the texts that make a grade large."""
    shown = sum(
        len(case.expected or "") + len(case.actual or "") + len(case.stdout) + len(case.stderr) for case in grade.cases
    )
    return shown + len(grade.code or "")


def _copied(grade: Grade, rollout: Rollout) -> Grade:
    return msgspec.structs.replace(grade, sample_id=rollout.sample_id, duplicate_of=grade.sample_id)


def _key(rollout: Rollout) -> bytes:
    text = f"{len(rollout.task_id)} {rollout.kind} {rollout.task_id}{rollout.completion}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
