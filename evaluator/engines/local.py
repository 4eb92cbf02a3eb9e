"""Grades with this machine's workers: a thread each, with a sandbox of its own.

The work is done in the sandboxes' processes; a thread here extracts, waits and compares. What runs no code has threads
of its own, which never start a sandbox: as many as wait for others (a judge) at once.
"""

from __future__ import annotations

import hashlib
import os
import queue
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from evaluator.engines.gate import Gate
from evaluator.engines.shielded import shielded
from evaluator.engines.stopping import stoppable
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
"""Of a worker that can't start its sandbox, while others do its work."""


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
) -> Iterator[Graded]:
    """Grades each rollout and yields it when it is done. Order, memory, duplicates, errors: see `evaluator.grade_all`.

    When `stop` is set, no further rollout is begun, those under way are given up, and the iterator ends.
    """
    if workers is not None and workers < 0:
        raise ValueError(f"workers is {workers}: give 1 or more")
    by_id = tasks if isinstance(tasks, Mapping) else {task.task_id: task for task in tasks}
    crew = _Crew(by_id, options or Options(), workers, stop or threading.Event())
    return crew.grades(_named(rollouts))


def _named(rollouts: Iterable[Rollout]) -> Iterator[Rollout]:
    """Each with a `sample_id`: its grade has no other name, and the grades of its duplicates point at it."""
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
    """Threads that grade the same kind of tasks, and what waits for them."""

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
        self._at_work = 0
        """Threads that run code."""
        self._stranded: set[Worker] = set()

    def grades(self, rollouts: Iterable[Rollout]) -> Iterator[Graded]:
        first = Sandbox(self._options.sandbox)
        if any(lane.runs_code for lane in self._lanes):
            _warm_up(first)  # raises here where there is none, before anything is graded
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
            yield from self._exchange(iter(enumerate(rollouts)))
        finally:
            self._ending.set()
            for _, waiting in threads:
                waiting.put(None)
            patience = time.monotonic() + _PATIENCE_S
            for thread, _ in threads:
                thread.join(max(0.0, patience - time.monotonic()))
            for sandbox in sandboxes:
                sandbox.abort()  # a thread in the middle of a rollout sees its sandbox die and gives up
            for thread, _ in threads:
                thread.join()
            for sandbox in sandboxes:
                sandbox.close()

    def _start(self, worker: Worker, lane: _Lane, threads: list[tuple[threading.Thread, Waiting]]) -> bool:
        """A thread for a worker; False where the machine gives no more, and the lane has some."""
        self._at_work += lane.runs_code  # before it can be stranded
        thread = threading.Thread(target=self._work, args=(worker, lane), daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            self._at_work -= lane.runs_code
            if any(waiting is lane.waiting for _, waiting in threads):
                return False
            mend = "see to the limit of processes (ulimit -u)"
            raise SandboxUnavailable("no thread can be started", mend) from error
        threads.append((thread, lane.waiting))
        return True

    def _put(self, row: int, rollout: Rollout) -> None:
        """To the lane that grades its task; what has no task costs nobody anything."""
        task = self._tasks.get(rollout.task_id)
        needs_code = task is not None and traits(task, self._options.grader).runs_code
        lane = next((lane for lane in self._lanes if lane.runs_code == needs_code), self._lanes[0])
        lane.waiting.put((row, rollout))

    def _exchange(self, numbered: Iterator[tuple[int, Rollout]]) -> Iterator[Graded]:
        under_way = 0
        exhausted = False
        most = _WAITING_PER_WORKER * sum(lane.threads for lane in self._lanes)
        while not self._stop.is_set():
            while not exhausted and under_way < most:
                item = next(numbered, None)
                if item is None:
                    exhausted = True
                else:
                    self._put(*item)
                    under_way += 1
            if not under_way:
                return
            try:
                done = self._done.get(timeout=0.2)
            except queue.Empty:
                continue
            if isinstance(done, BaseException):
                raise done
            under_way -= 1
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
        known = self._known.ask(key, (row, rollout))
        if known is _UNDER_WAY:
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
            # Without a grade, or with one that says nothing of the program, those who wait are put back in the queue.
            reusable = grade if grade is not None and grade.verdict is not Verdict.SANDBOX_ERROR else None
            for other_row, other in self._known.settle(key, reusable):
                if reusable is None:
                    self._put(other_row, other)
                else:
                    self._done.put(Graded(other, _copied(reusable, other), other_row))
        if grade is None:
            self._ending.wait(_REST_S)

    def _graded(self, worker: Worker, task: Task, rollout: Rollout) -> Grade | None:
        """None where the worker can't start a sandbox while others can: they are to grade it."""
        grade = worker.grade(task, rollout)
        if not worker.stranded:
            self._stranded.discard(worker)
            return grade
        self._stranded.add(worker)
        return grade if len(self._stranded) >= self._at_work else None


def _warm_up(sandbox: Sandbox) -> None:
    def warmed() -> None:
        with stoppable(sandbox):
            sandbox.warm_up()

    shielded(warmed)


def _lanes(tasks: Mapping[str, Task], asked: str | None, workers: int | None) -> Iterator[_Lane]:
    """One for the tasks whose grading runs code, one for the others; at least one of the two."""
    kinds = {(task.grader, task.mode is Mode.ANSWER): task for task in tasks.values()}.values()
    light = [found for task in kinds if not (found := traits(task, asked)).runs_code]
    cpus = len(os.sched_getaffinity(0))
    if len(light) < len(kinds):
        yield _Lane(workers or cpus, runs_code=True, waiting=queue.SimpleQueue())
    if light or not kinds:
        at_once = max((each.waits for each in light), default=0)
        yield _Lane(workers or max(cpus, at_once), runs_code=False, waiting=queue.SimpleQueue())


_UNDER_WAY = object()


class _Known:
    """The last grades by completion, and who waits for one that is being made. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._grades: OrderedDict[bytes, Grade] = OrderedDict()
        self._characters = 0
        self._waiting: dict[bytes, list[tuple[int, Rollout]]] = {}

    def ask(self, key: bytes, asker: tuple[int, Rollout]) -> object:
        """The grade; or `_UNDER_WAY`, the asker being noted; or None: the asker is to make it."""
        with self._lock:
            grade = self._grades.get(key)
            if grade is not None:
                self._grades.move_to_end(key)
                return grade
            if key in self._waiting:
                self._waiting[key].append(asker)
                return _UNDER_WAY
            self._waiting[key] = []
            return None

    def settle(self, key: bytes, grade: Grade | None) -> list[tuple[int, Rollout]]:
        """Notes the grade, if there is one; returns those who waited for it."""
        with self._lock:
            if grade is not None:
                self._grades[key] = grade
                self._characters += _characters(grade)
                while len(self._grades) > _REMEMBERED or self._characters > _REMEMBERED_CHARACTERS:
                    self._characters -= _characters(self._grades.popitem(last=False)[1])
            return self._waiting.pop(key, [])


def _characters(grade: Grade) -> int:
    """Of the texts that make a grade large."""
    shown = sum(
        len(case.expected or "") + len(case.actual or "") + len(case.stdout) + len(case.stderr) for case in grade.cases
    )
    return shown + len(grade.code or "")


def _copied(grade: Grade, rollout: Rollout) -> Grade:
    return msgspec.structs.replace(grade, sample_id=rollout.sample_id, duplicate_of=grade.sample_id)


def _key(rollout: Rollout) -> bytes:
    text = f"{len(rollout.task_id)} {rollout.kind} {rollout.task_id}{rollout.completion}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
