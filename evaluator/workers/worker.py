"""Grades one rollout at a time in one sandbox. A fault of the sandbox costs a retry, then the grade, never the run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from evaluator.extras import MissingExtraError
from evaluator.graders import Bench, Grader, GraderError, grader_of, needs_tasks
from evaluator.graders.grader import within_range
from evaluator.model import Grade, Mode, RecordError, Rollout, Task, Verdict
from evaluator.options import Options
from evaluator.sandbox import FaultError, Sandbox, SandboxUnavailable, UndecidedError
from evaluator.tasks.parts import MADE_ID
from evaluator.workers.cached_grades import CachedGrades
from evaluator.workers.locks import Gate

FAULTS: Final = (FaultError, SandboxUnavailable, OSError, MemoryError)
"""Errors of the sandbox or the machine, not of a completion."""
_ATTEMPTS = 2
_SHOWN = 500
_NO_PROMPT = (
    "the rollout names no task, and not exactly one task of the dataset has its prompt: compare the prompts of both "
    "files, or give the rollout its task_id"
)


class Worker:
    """Not for several threads at once."""

    def __init__(
        self,
        options: Options,
        gate: Gate | None = None,
        sandbox: Sandbox | None = None,
        alone: Callable[[], AbstractContextManager[object]] | None = None,
    ) -> None:
        """`alone`: for one that grades within the call of another; see `Bench`."""
        self.sandbox = sandbox or Sandbox()
        self._options = options
        self._gate = gate or Gate()
        self._bench = Bench(self.sandbox, options, alone or self._gate.alone)
        self._kept = CachedGrades(options, options.cache) if options.cache is not None else None
        self.no_sandbox: SandboxUnavailable | None = None
        """Why no sandbox could be started for the last rollout; None if one could."""

    def grade(self, task: Task | None, rollout: Rollout) -> Grade:
        """Grades a rollout; never raises because of the rollout, its task or the sandbox."""
        if task is None and not needs_tasks(self._options.grader):
            task = Task(task_id=rollout.task_id, mode=Mode.ANSWER)  # its file has grown since its tasks were read
        if task is None:
            is_made = rollout.task_id.startswith(MADE_ID)
            reason = _NO_PROMPT if is_made else f"task {rollout.task_id!r} is not in the dataset"
            return ungraded(rollout, Verdict.UNKNOWN, reason)
        try:
            grader = grader_of(task, self._options.grader)
        except (GraderError, MissingExtraError) as error:
            unknown = ungraded(rollout, Verdict.UNKNOWN, str(error))
            unknown.grader = (task.grader or self._options.grader or unknown.grader)[:_SHOWN]
            return unknown
        fault = ""
        for _ in range(_ATTEMPTS):
            self.no_sandbox = None
            try:
                return self._graded(grader, task, rollout)
            except (RecordError, MissingExtraError) as error:
                return ungraded(rollout, Verdict.UNKNOWN, str(error))
            except UndecidedError as error:
                return ungraded(rollout, Verdict.SANDBOX_ERROR, str(error)[:_SHOWN])
            except FAULTS as error:
                fault = str(error) or repr(error)
                self.no_sandbox = error if isinstance(error, SandboxUnavailable) else None
                self.sandbox.renew()
            except Exception as error:  # our own bug must not end the run or fail the rollout
                return ungraded(rollout, Verdict.SANDBOX_ERROR, f"the grader failed: {error!r}"[:_SHOWN])
        return ungraded(rollout, Verdict.SANDBOX_ERROR, fault[:_SHOWN])

    def call(self, function: Callable[..., object], arguments: tuple[object, ...]) -> object:
        """What `function(bench, *arguments)` returns or raises; after a fault, it is called once more.

        Raises `FaultError` after a second fault, `SandboxUnavailable` if there is no sandbox any more.
        """
        for attempt in range(_ATTEMPTS):
            try:
                with self._gate.shared():
                    return function(self._bench, *arguments)
            except FAULTS as error:
                self.sandbox.renew()
                if isinstance(error, UndecidedError) or attempt + 1 == _ATTEMPTS:
                    if isinstance(error, (FaultError, SandboxUnavailable)):
                        raise
                    raise FaultError(str(error) or repr(error)) from error
        raise AssertionError

    def close(self) -> None:
        """Writes what the cache of grades has not written yet. The sandbox is the caller's to close."""
        if self._kept is not None:
            self._kept.close()

    def _graded(self, grader: Grader, task: Task, rollout: Rollout) -> Grade:
        """From the cache if it has the grade. Raises what the grader and the sandbox raise."""
        kept = self._kept
        key = kept.key(task, rollout, grader, self.sandbox) if kept is not None else None
        if kept is not None and key is not None and (found := kept.get(key, rollout)) is not None:
            return found
        with self._gate.shared() if grader.runs_code else nullcontext():
            grade = within_range(grader.grade(task, rollout, self._bench), grader)
        if kept is not None and key is not None:
            kept.put(key, grade)
        return grade


def stay(bench: Bench, core: int) -> None:
    """Has a worker, and its completions, stay on one core of the machine; called by it."""
    with contextlib.suppress(OSError):  # the core is not ours any more: all goes on as before
        os.sched_setaffinity(0, {core})
    bench.sandbox.stay(core)


def ungraded(rollout: Rollout, verdict: Verdict, reason: str) -> Grade:
    return Grade(
        task_id=rollout.task_id,
        sample_id=rollout.sample_id,
        verdict=verdict,
        reward=None,
        error_message=reason,
    )
