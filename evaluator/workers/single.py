"""Single calls: one rollout, a few, or a function that needs a sandbox. Warm workers (`pool`) do what runs code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from evaluator.graders import Bench, GraderError, grader_or_refusal
from evaluator.graders.spec import anchored
from evaluator.model import Grade, Rollout, Task, brief
from evaluator.options import Options
from evaluator.sandbox import Settings
from evaluator.stages import Spent, measuring
from evaluator.workers.choice import Place, place_of
from evaluator.workers.interrupts import shielded, stoppable
from evaluator.workers.pool import Answer, Pending, pool_for
from evaluator.workers.worker import Worker

Result = TypeVar("Result")


HERE: Final = Place()


def grade_one(task: Task, rollout: Rollout, options: Options, place: Place = HERE) -> Grade:
    """The grade of one rollout; waits while all workers are in use. Safe to call from several threads.

    Raises `SandboxUnavailable` if no sandbox can be started, and whatever the caller's signal handlers raise.
    """
    return grade_together([(task, rollout)], options, place)[0]


async def agrade_one(task: Task, rollout: Rollout, options: Options, place: Place = HERE) -> Grade:
    """As `grade_one`, without a thread for it if its grader runs code. One that is cancelled is given up."""
    import asyncio  # a third of what importing this package would cost

    if not grader_or_refusal(task, options.grader).runs_code:
        return await asyncio.to_thread(Worker(options).grade, task, rollout)
    return (await _awaited(_call(task, rollout, options, place))).grade


async def answer_here(task: Task, rollout: Rollout, options: Options, *, measure: bool) -> Answer:
    """What `agrade_one` returns, by this machine's workers whatever `ROLLSCOPE_SERVER` says, with the time by stage."""
    return await _awaited(pool_for("local", None, options).grade(task, rollout, options, measure=measure))


async def _awaited(call: Pending[Result]) -> Result:
    import asyncio

    try:
        return await asyncio.wrap_future(call.future)
    except asyncio.CancelledError:
        call.abort()
        raise


def grade_together(pairs: Sequence[tuple[Task, Rollout]], options: Options, place: Place = HERE) -> list[Grade]:
    """The grades of many rollouts, in their order, as many at once as there are workers. Raises as `grade_one`."""
    return shielded(lambda: _grade_together(pairs, options, place))


def _grade_together(pairs: Sequence[tuple[Task, Rollout]], options: Options, place: Place) -> list[Grade]:
    spent, began = measuring(), time.perf_counter()
    calls = _Calls([])
    grades: list[Grade] = []
    with _given_up_on_error(calls), stoppable(calls):
        for task, rollout in pairs:
            runs_code = grader_or_refusal(task, options.grader).runs_code
            call = _call(task, rollout, options, place, measure=spent is not None) if runs_code else None
            calls.calls.append(call)
        for (task, rollout), call in zip(pairs, calls.calls, strict=True):
            if call is None:
                grades.append(Worker(options).grade(task, rollout))
                continue
            answer = call.future.result()
            grades.append(answer.grade)
            if spent is not None:
                _add(answer, time.perf_counter() - began, spent)
    return grades


def _add(answer: Answer, waited_s: float, spent: Spent) -> None:
    for stage, seconds in answer.spent.items():
        spent.add(stage, seconds)
    spent.add("queue", waited_s - sum(answer.spent.values()))


async def agrade_together(pairs: Sequence[tuple[Task, Rollout]], options: Options, place: Place = HERE) -> list[Grade]:
    """As `grade_together`, without a thread. If it is cancelled, or one of them raises, the others are given up."""
    import asyncio

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(agrade_one(*pair, options, place)) for pair in pairs]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def in_worker(function: Callable[..., Result], *arguments: object, options: Options | None = None) -> Result:
    """What `function(bench, *arguments)` returns or raises in a warm worker process.

    The function is a module's own, and calls nothing that its caller changed; arguments and result can be pickled.
    After a fault of the sandbox it is called once more. Raises `FaultError` after a second one, `SandboxUnavailable` if
    there is no sandbox, and whatever the caller's signal handlers raise.
    """

    def called() -> Result:
        options_ = options or Options()
        call = pool_for("local", None, options_).call(function, arguments, options_)
        with _given_up_on_error(call), stoppable(call):
            return call.future.result()

    return shielded(called)


def warm_up(settings: Settings | None = None) -> None:
    """Starts a worker, so that callers fail early. Raises `SandboxUnavailable` if there can't be a sandbox."""
    in_worker(_nothing, options=Options(sandbox=settings or Settings()))


def _nothing(bench: Bench) -> None:
    """Does nothing: that a worker calls it shows that it has a sandbox."""


class _Calls(NamedTuple):
    """Those of one caller; None for one that runs no code."""

    calls: list[Pending[Answer] | None]

    def abort(self) -> None:
        for call in self.calls:
            if call is not None:
                call.abort()


@contextmanager
def _given_up_on_error(calls: Pending[Any] | _Calls) -> Iterator[None]:
    try:
        yield
    except BaseException:
        calls.abort()
        raise


def _call(task: Task, rollout: Rollout, options: Options, place: Place, *, measure: bool = False) -> Pending[Answer]:
    if not isinstance(rollout.completion, str):
        raise TypeError(f"the completion of task {task.task_id!r} is {brief(rollout.completion)}: give text")
    options = _anchored(options)
    return pool_for(*place_of(*place, options), options).grade(task, rollout, options, measure=measure)


def _anchored(options: Options) -> Options:
    """With full paths: a worker process stays in the folder in which it was started."""
    if options.grader is None or ".py:" not in options.grader:
        return options
    try:
        return msgspec.structs.replace(options, grader=anchored(options.grader, Path.cwd()))
    except GraderError:  # which the grade says
        return options
