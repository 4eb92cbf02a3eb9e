"""Strengthens many tasks on all workers of this machine."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evaluator.model import Task
from evaluator.options import Options
from evaluator.sandbox import FaultError
from evaluator.strengthening.differences import Request, strengthen
from evaluator.strengthening.report import Program, TaskReport
from evaluator.workers.pool import Pending, local_pool
from evaluator.workers.worker_count import worker_count


def strengthened(
    tasks: Iterable[Task],
    programs: Mapping[str, Sequence[Program]],
    request: Request,
    options: Options,
    stop: threading.Event,
    workers: int | None = None,
) -> Iterator[tuple[TaskReport, Task]]:
    """What was found for each task, and the task with what is added, in order; as many at once as there are workers.

    `programs`: by task. After `stop` only those that have begun are waited for. Raises `SandboxUnavailable`.
    """
    pool, most = local_pool(options), workers or worker_count()
    waiting: deque[tuple[Task, Pending[Any]]] = deque()
    pending = iter(tasks)
    try:
        while True:
            while len(waiting) < most and not stop.is_set() and (task := next(pending, None)) is not None:
                waiting.append((task, pool.call(strengthen, (task, programs.get(task.task_id, ()), request), options)))
            if not waiting:
                return
            task, call = waiting.popleft()
            try:
                yield call.result()
            except FaultError as error:
                yield TaskReport(task.task_id, "not strengthened", f"the sandbox failed: {error}"), task
    finally:
        for _, call in waiting:
            call.abort()
