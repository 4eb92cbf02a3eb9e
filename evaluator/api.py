"""`grade`, `grade_all` and `agrade`: the library's front door."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterable, Iterator, Mapping

from evaluator.engines import local
from evaluator.engines.gate import Gate
from evaluator.engines.worker import Worker
from evaluator.graders.bench import Isolation, Options, Unverified
from evaluator.model import Grade, Kind, Limits, Rollout, Task
from evaluator.sandbox import Sandbox, Settings


def grade(
    task: Task,
    completion: str,
    *,
    limits: Limits | None = None,
    checker: str | None = None,
    grader: str | None = None,
    kind: Kind | str | None = None,
    sandbox: Settings | None = None,
    unverified: Unverified = "keep",
) -> Grade:
    """Grades one completion of a task. Safe to call from several threads; the sandbox stays warm between calls.

    `kind` says what the text is (full, continuation or chat); None: it is told from the text. `sandbox`: how strict it
    is and which Python it shows; None: strict, with this process's own. `unverified`: whether a grade that is not
    verified keeps its reward, or is `unknown` and has none.
    Raises `SandboxUnavailable` when no sandbox can be had, `ValueError` for an unknown kind.
    """
    options = Options(
        limits=limits or Limits(),
        checker=checker,
        grader=grader,
        sandbox=sandbox or Settings(),
        unverified=unverified,
    )
    rollout = Rollout(
        task_id=task.task_id,
        sample_id=f"{task.task_id}#0",
        completion=completion,
        kind=Kind(kind) if kind else None,
    )
    with _pool.lease(options.sandbox) as leased:
        leased.warm_up()
        return Worker(options, _pool.gate, leased).grade(task, rollout)


async def agrade(
    task: Task,
    completion: str,
    *,
    limits: Limits | None = None,
    checker: str | None = None,
    grader: str | None = None,
    kind: Kind | str | None = None,
    sandbox: Settings | None = None,
    unverified: Unverified = "keep",
) -> Grade:
    """`grade`, for `await`: the event loop goes on meanwhile. As many run at once as this process has CPUs."""
    import asyncio  # a third of what importing this package would cost

    return await asyncio.to_thread(
        grade,
        task,
        completion,
        limits=limits,
        checker=checker,
        grader=grader,
        kind=kind,
        sandbox=sandbox,
        unverified=unverified,
    )


def grade_all(
    tasks: Mapping[str, Task] | Iterable[Task],
    rollouts: Iterable[Rollout],
    *,
    workers: int | None = None,
    limits: Limits | None = None,
    checker: str | None = None,
    grader: str | None = None,
    fail_fast: bool = False,
    isolation: Isolation = "completion",
    sandbox: Settings | None = None,
    unverified: Unverified = "keep",
) -> Iterator[Grade]:
    """Grades many rollouts: streams, and yields each grade when it is done (see `evaluator.engines.local`)."""
    options = Options(
        limits=limits or Limits(),
        checker=checker,
        grader=grader,
        fail_fast=fail_fast,
        isolation=isolation,
        sandbox=sandbox or Settings(),
        unverified=unverified,
    )
    graded = local.grade_all(tasks, rollouts, options, workers=workers)
    return (each.grade for each in graded)


class _Lease:
    def __init__(self, pool: _Pool, settings: Settings) -> None:
        self._pool = pool
        self._settings = settings

    def __enter__(self) -> Sandbox:
        self._sandbox = self._pool.take(self._settings)
        return self._sandbox

    def __exit__(self, *_: object) -> None:
        self._pool.give_back(self._settings, self._sandbox)


class _Pool:
    """Warm sandboxes for single calls, as many at work as this process has CPUs. Its fork's child gets an empty one."""

    def __init__(self) -> None:
        self.gate = Gate()
        self._room = threading.Semaphore(len(os.sched_getaffinity(0)))
        self._idle: dict[Settings, list[Sandbox]] = {}
        """By what was asked for: a sandbox's own settings say which way it took."""
        self._lock = threading.Lock()

    def lease(self, settings: Settings) -> _Lease:
        return _Lease(self, settings)

    def take(self, settings: Settings) -> Sandbox:
        self._room.acquire()
        with self._lock:
            idle = self._idle.get(settings)
            return idle.pop() if idle else Sandbox(settings)

    def give_back(self, settings: Settings, sandbox: Sandbox) -> None:
        with self._lock:
            self._idle.setdefault(settings, []).append(sandbox)
        self._room.release()

    def close(self) -> None:
        with self._lock:
            for idle in self._idle.values():
                while idle:
                    idle.pop().close()


_pool = _Pool()


def _renew_in_child() -> None:
    global _pool  # noqa: PLW0603 - the parent's sandboxes are not the child's to use or to end
    _pool = _Pool()


os.register_at_fork(after_in_child=_renew_in_child)
atexit.register(lambda: _pool.close())
