"""Grades one rollout, or a few: in warm worker processes, or on a cluster, if their grader runs code; else here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from evaluator.engines import warm
from evaluator.engines.borrowed_hand import can_borrow
from evaluator.engines.choice import EngineName
from evaluator.engines.room import is_machine_wide
from evaluator.engines.shield import shielded
from evaluator.engines.stop import stoppable
from evaluator.engines.worker import Worker
from evaluator.graders import GraderError, traits
from evaluator.graders.spec import anchored
from evaluator.model import Grade, Rollout, Task, brief
from evaluator.options import Options
from evaluator.stages import measuring


class Place(NamedTuple):
    """Where completions run."""

    engine: EngineName = "local"
    address: str | None = None


HERE: Final = Place()


def grade_one(task: Task, rollout: Rollout, options: Options, place: Place = HERE) -> Grade:
    """The grade of one rollout; waits while all workers are in use. Safe to call from several threads.

    Raises `SandboxUnavailable` if no sandbox can be started, and whatever the caller's signal handlers raise.
    """
    return shielded(lambda: _grade_one(task, rollout, options, place))


def _grade_one(task: Task, rollout: Rollout, options: Options, place: Place) -> Grade:
    if not traits(task, options.grader).runs_code:
        return Worker(options).grade(task, rollout)
    spent, began = measuring(), time.perf_counter()
    call = _call(task, rollout, options, place, measure=spent is not None)
    try:
        with stoppable(call):
            answer = call.future.result()
    except BaseException:
        call.abort()
        raise
    if spent is not None:
        for stage, seconds in answer.spent.items():
            spent.add(stage, seconds)
        spent.add("queue", time.perf_counter() - began - sum(answer.spent.values()))
    return answer.grade


async def agrade_one(task: Task, rollout: Rollout, options: Options, place: Place = HERE) -> Grade:
    """As `grade_one`, without a thread for it if its grader runs code. One that is cancelled is given up."""
    import asyncio  # a third of what importing this package would cost

    if not traits(task, options.grader).runs_code:
        return await asyncio.to_thread(Worker(options).grade, task, rollout)
    call = _call(task, rollout, options, place)
    try:
        return (await asyncio.wrap_future(call.future)).grade
    except asyncio.CancelledError:
        call.abort()
        raise


def grade_together(pairs: Sequence[tuple[Task, Rollout]], options: Options, place: Place = HERE) -> list[Grade]:
    """The grades of many rollouts, in their order, as many at once as there are workers. Raises as `grade_one`."""
    return shielded(lambda: _grade_together(pairs, options, place))


def _grade_together(pairs: Sequence[tuple[Task, Rollout]], options: Options, place: Place) -> list[Grade]:
    calls = _Calls(
        [_call(*pair, options, place) if traits(pair[0], options.grader).runs_code else None for pair in pairs]
    )
    try:
        with stoppable(calls):
            return [
                call.future.result().grade if call is not None else _grade_one(*pair, options, HERE)
                for pair, call in zip(pairs, calls.calls, strict=True)
            ]
    except BaseException:
        calls.abort()
        raise


async def agrade_together(pairs: Sequence[tuple[Task, Rollout]], options: Options, place: Place = HERE) -> list[Grade]:
    """As `grade_together`, without a thread. If it is cancelled, or one of them raises, the others are given up."""
    import asyncio

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(agrade_one(*pair, options, place)) for pair in pairs]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


class _Calls(NamedTuple):
    """Those of one caller; None for one that runs no code."""

    calls: list[warm.Call | None]

    def abort(self) -> None:
        for call in self.calls:
            if call is not None:
                call.abort()


def _call(task: Task, rollout: Rollout, options: Options, place: Place, *, measure: bool = False) -> warm.Call:
    if not isinstance(rollout.completion, str):
        raise TypeError(f"the completion of task {task.task_id!r} is {brief(rollout.completion)}: give text")
    options = _anchored(options)
    borrows = place == HERE and _can_borrow(task, options)
    return warm.service(*place, options, borrows=borrows).call(task, rollout, options, measure=measure)


def _can_borrow(task: Task, options: Options) -> bool:
    """Not where a grader has code of its own or asks a judge: a server has other folders, and other keys."""
    own = ".py:" in (options.grader or "")
    return not own and not traits(task, options.grader).waits and is_machine_wide() and can_borrow()


def _anchored(options: Options) -> Options:
    """With full paths: a worker process stays in the folder in which it was started."""
    if options.grader is None or ".py:" not in options.grader:
        return options
    try:
        return msgspec.structs.replace(options, grader=anchored(options.grader, Path.cwd()))
    except GraderError:  # which the grade says
        return options
